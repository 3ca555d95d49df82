//! The folder of the project and the target folder of cargo.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::steps::Failure;

/// The project's folders. All commands run in the root, whatever folder `cargo xtask` was
/// called in.
pub(crate) struct Workspace {
    root: PathBuf,
    target: PathBuf,
}

impl Workspace {
    /// Finds the folders from the environment that cargo sets.
    ///
    /// The target folder is taken from the path of this program (`TARGET/PROFILE/xtask`), which is
    /// right also when `CARGO_TARGET_DIR` or a cargo configuration moves it.
    pub(crate) fn locate() -> Result<Self, Failure> {
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = manifest.parent().map(Path::to_path_buf);
        let exe = std::env::current_exe().ok();
        let target = exe.as_deref().and_then(|exe| exe.ancestors().nth(2)).map(Path::to_path_buf);
        match (root, target) {
            (Some(root), Some(target)) => Ok(Self { root, target }),
            _ => Err(Failure::new(
                "cannot find the project's folder; run this program as `cargo xtask`",
            )),
        }
    }

    /// A path inside the project, given with forward slashes.
    pub(crate) fn path(&self, inside: &str) -> PathBuf {
        self.root.join(inside)
    }

    /// The path of the program `name` built with a profile.
    pub(crate) fn built(&self, profile: &str, name: &str) -> PathBuf {
        self.target.join(profile).join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
    }

    /// A folder inside the target folder.
    pub(crate) fn target(&self, inside: &str) -> PathBuf {
        self.target.join(inside)
    }

    /// A command that runs in the root.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        command
    }

    /// The cargo that runs this program, with the arguments in `line`.
    pub(crate) fn cargo(&self, line: &str) -> Command {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = self.command(cargo);
        command.args(line.split_whitespace());
        command
    }

    /// The nightly cargo, which only rustup's `cargo` (the one on the path) can choose.
    pub(crate) fn nightly(&self, line: &str) -> Command {
        let mut command = self.command("cargo");
        command.arg("+nightly").args(line.split_whitespace());
        command
    }
}
