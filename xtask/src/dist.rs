//! `cargo xtask dist`: the files that users install, in one archive under `target/shipped`.
//!
//! The archive has the stripped command, a manual page and completions for each shell, and the
//! licences, in the folders in which Unix systems look for them: unpacked into `/usr/local` (with
//! `tar --strip-components=1`), it is installed. Manual pages and completions are written by the
//! command itself, so that they cannot lag behind it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::steps::{Failure, Outcome, Steps, output_of, print_line};
use crate::workspace::Workspace;

/// The folder of each shell's completions, and the name of the file there.
const COMPLETIONS: [(&str, &str, &str); 3] = [
    ("bash", "share/bash-completion/completions", "rankwright"),
    ("zsh", "share/zsh/site-functions", "_rankwright"),
    ("fish", "share/fish/vendor_completions.d", "rankwright.fish"),
];

/// Files of the project that are part of the archive.
const DOCUMENTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Builds the command with a cargo profile and packs the archive.
pub(crate) fn run(workspace: &Workspace, steps: &mut Steps, profile: &str) -> Outcome {
    let build = format!("build --profile {profile} --package rankwright-cli --locked");
    steps.run("build command", &mut workspace.cargo(&build))?;
    let command = workspace.built(profile, "rankwright");
    let name = archive_name(&command)?;
    let shipped = workspace.target("shipped");
    let folder = shipped.join(&name);
    steps.call("collect files", || collect(workspace, &command, &folder))?;
    let archive = shipped.join(format!("{name}.tar.gz"));
    steps.run("pack archive", &mut pack(workspace, &shipped, &name, &archive))?;
    let bytes = fs::metadata(&archive).map_err(|error| file_error(&archive, &error))?.len();
    let megabytes = bytes as f64 / 1e6;
    print_line(&format!("target/shipped/{name}.tar.gz: {megabytes:.1} MB"));
    Ok(())
}

/// The command that packs the folder `name` of `shipped` into an archive.
fn pack(workspace: &Workspace, shipped: &Path, name: &str, archive: &Path) -> Command {
    let mut tar = workspace.command("tar");
    tar.arg("-czf").arg(archive).arg("-C").arg(shipped).arg(name);
    tar
}

/// The name of the archive without its extension: `rankwright-0.1.0-x86_64-linux`.
fn archive_name(command: &Path) -> Outcome<String> {
    let version = output_of(Command::new(command).arg("--version"))?;
    let version = String::from_utf8_lossy(&version).trim().replace(' ', "-");
    Ok(format!("{version}-{}-{}", std::env::consts::ARCH, std::env::consts::OS))
}

/// Puts all files into a new folder.
fn collect(workspace: &Workspace, command: &Path, folder: &Path) -> Outcome {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|error| file_error(folder, &error))?;
    }
    let program = format!("rankwright{}", std::env::consts::EXE_SUFFIX);
    copy(command, &created_folder(folder, "bin")?.join(program))?;
    let manual = created_folder(folder, "share/man/man1")?;
    output_of(Command::new(command).args(["man", "--out"]).arg(&manual))?;
    for (shell, inside, file) in COMPLETIONS {
        let script = output_of(Command::new(command).args(["completions", shell]))?;
        let path = created_folder(folder, inside)?.join(file);
        fs::write(&path, script).map_err(|error| file_error(&path, &error))?;
    }
    let documents = created_folder(folder, "share/doc/rankwright")?;
    DOCUMENTS.iter().try_for_each(|name| copy(&workspace.path(name), &documents.join(name)))
}

/// Creates a folder inside the folder of the archive, and returns its path.
fn created_folder(folder: &Path, inside: &str) -> Outcome<PathBuf> {
    let path = folder.join(inside);
    fs::create_dir_all(&path).map_err(|error| file_error(&path, &error))?;
    Ok(path)
}

fn copy(from: &Path, to: &Path) -> Outcome {
    fs::copy(from, to).map(|_| ()).map_err(|error| file_error(from, &error))
}

/// A failure that names the file by its last component, without the folders of this machine.
fn file_error(path: &Path, error: &std::io::Error) -> Failure {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Failure::new(format!("{name}: {error}"))
}

#[cfg(all(test, unix))]
mod tests {
    use std::collections::BTreeSet;
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::steps::exits_with_zero;

    /// Stands in for the command, which takes minutes to build.
    const COMMAND: &str = "#!/bin/sh\ncase \"$1\" in\n--version) echo rankwright 9.9.9 ;;\n\
        man) echo page > \"$3/rankwright.1\"; echo page > \"$3/rankwright-train.1\" ;;\n\
        completions) echo \"completions of $2\" ;;\nesac\n";

    #[test]
    fn the_archive_has_the_command_its_pages_completions_and_licences() {
        let workspace = Workspace::locate().ok().unwrap();
        let shipped = std::env::temp_dir().join(format!("rankwright-dist-{}", std::process::id()));
        let command = shipped.join("stand-in");
        fs::create_dir_all(&shipped).unwrap();
        fs::write(&command, COMMAND).unwrap();
        fs::set_permissions(&command, fs::Permissions::from_mode(0o755)).unwrap();
        let name = archive_name(&command).ok().unwrap();
        assert!(name.starts_with("rankwright-9.9.9-"), "{name}");
        let folder = shipped.join(&name);
        // A file of an earlier version must not be shipped again.
        fs::create_dir_all(folder.join("bin")).unwrap();
        fs::write(folder.join("bin/old"), "").unwrap();
        assert!(collect(&workspace, &command, &folder).is_ok());
        let archive = shipped.join("a.tar.gz");
        assert!(exits_with_zero(&mut pack(&workspace, &shipped, &name, &archive)).is_ok());
        let listed = output_of(Command::new("tar").arg("-tzf").arg(&archive)).ok().unwrap();
        let listed = String::from_utf8(listed).unwrap();
        let inside = format!("{name}/");
        let files: BTreeSet<&str> = listed
            .lines()
            .filter_map(|line| line.strip_prefix(&inside))
            .filter(|file| !file.is_empty() && !file.ends_with('/'))
            .collect();
        let expected = [
            "bin/rankwright",
            "share/bash-completion/completions/rankwright",
            "share/doc/rankwright/CHANGELOG.md",
            "share/doc/rankwright/LICENSE-APACHE",
            "share/doc/rankwright/LICENSE-MIT",
            "share/doc/rankwright/README.md",
            "share/fish/vendor_completions.d/rankwright.fish",
            "share/man/man1/rankwright-train.1",
            "share/man/man1/rankwright.1",
            "share/zsh/site-functions/_rankwright",
        ];
        assert_eq!(files, BTreeSet::from(expected));
        let permissions = fs::metadata(folder.join("bin/rankwright")).unwrap().permissions();
        assert_eq!(permissions.mode() & 0o111, 0o111, "everybody may execute it");
        let fish =
            fs::read_to_string(folder.join("share/fish/vendor_completions.d/rankwright.fish"));
        assert_eq!(fish.unwrap(), "completions of fish\n");
        fs::remove_dir_all(&shipped).unwrap();
    }
}
