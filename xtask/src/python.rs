//! Python environments for the tests in Python and for the comparisons, created when first needed.
//!
//! After an installation the text of the requirements is copied into the environment (the stamp).
//! An environment is used again if its stamp equals the requirements and its interpreter starts.
//! Otherwise (changed requirements, an interrupted installation, a removed Python) it is deleted
//! and created again.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::steps::{Failure, Outcome, exits_with_zero, print_line, succeeds};
use crate::workspace::Workspace;

const STAMP: &str = "installed-requirements.txt";

/// An installed environment.
pub(crate) struct Environment {
    folder: PathBuf,
}

impl Environment {
    /// The environment `name` under `.oracles`, with the packages of the requirements file. It is
    /// created if there is none with these requirements.
    pub(crate) fn set_up(workspace: &Workspace, name: &str, requirements: &str) -> Outcome<Self> {
        let folder = workspace.path(".oracles").join(name);
        let requirements_path = workspace.path(requirements);
        let requirements_text = fs::read_to_string(&requirements_path)
            .map_err(|error| Failure::new(format!("cannot read {requirements}: {error}")))?;
        let environment = Self { folder };
        if environment.is_installed(&requirements_text)
            && succeeds(environment.python().args(["-c", ""]))
        {
            print_line(&format!("environment .oracles/{name} is up to date"));
            return Ok(environment);
        }
        environment.create(workspace, &requirements_path)?;
        environment.write_stamp(&requirements_text)?;
        Ok(environment)
    }

    /// Its interpreter.
    pub(crate) fn python(&self) -> Command {
        let inside = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };
        Command::new(self.folder.join(inside))
    }

    fn create(&self, workspace: &Workspace, requirements_path: &Path) -> Outcome {
        remove(&self.folder)?;
        let system = system_python()?;
        print_line("making a Python environment (once, about a minute)");
        let mut venv = workspace.command(system);
        if exits_with_zero(venv.args(["-m", "venv"]).arg(&self.folder)).is_err() {
            return Err(python_missing("python3 could not make a virtual environment"));
        }
        let mut pip = self.python();
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"])
            .arg(requirements_path);
        exits_with_zero(pip.current_dir(workspace.path("")))
    }

    /// Whether the stamp equals the text of the requirements.
    fn is_installed(&self, requirements_text: &str) -> bool {
        fs::read_to_string(self.folder.join(STAMP)).is_ok_and(|stamp| stamp == requirements_text)
    }

    /// Writes the stamp under another name and renames it, so that an interruption leaves no stamp
    /// rather than half of one.
    fn write_stamp(&self, requirements_text: &str) -> Outcome {
        let partial = self.folder.join(format!("{STAMP}.part"));
        fs::write(&partial, requirements_text)
            .and_then(|()| fs::rename(&partial, self.folder.join(STAMP)))
            .map_err(|error| Failure::new(format!("cannot mark the environment ready: {error}")))
    }
}

/// The name of a Python of the system that can create environments.
pub(crate) fn system_python() -> Outcome<&'static str> {
    let candidates = if cfg!(windows) { ["python", "python3"] } else { ["python3", "python"] };
    candidates
        .into_iter()
        .find(|name| succeeds(Command::new(name).args(["-c", "import venv, ensurepip"])))
        .ok_or_else(|| python_missing("no python3 with the venv module was found"))
}

fn python_missing(problem: &str) -> Failure {
    Failure::new(format!(
        "{problem}; install it (Debian: apt install python3-venv), or skip the tests that need it \
         with --no-oracles"
    ))
}

fn remove(folder: &Path) -> Outcome {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Failure::new(format!(
            "cannot remove the old environment {}: {error}",
            folder.display()
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An environment in a new folder, which is removed at the end of the test.
    struct TemporaryEnvironment(Environment);

    impl TemporaryEnvironment {
        fn new(name: &str) -> Self {
            let name = format!("xtask-{name}-{}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            fs::create_dir_all(&folder).unwrap();
            Self(Environment { folder })
        }
    }

    impl Drop for TemporaryEnvironment {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0.folder).ok();
        }
    }

    #[test]
    fn an_environment_without_a_stamp_is_not_used() {
        let temporary = TemporaryEnvironment::new("no-stamp");
        assert!(!temporary.0.is_installed("numpy==1\n"));
    }

    #[test]
    fn a_stamp_holds_for_the_same_requirements_only() {
        let temporary = TemporaryEnvironment::new("stamp");
        temporary.0.write_stamp("numpy==1\n").unwrap();
        assert!(temporary.0.is_installed("numpy==1\n"));
        assert!(!temporary.0.is_installed("numpy==2\n"));
    }

    #[test]
    fn a_half_written_stamp_does_not_count() {
        let temporary = TemporaryEnvironment::new("half");
        fs::write(temporary.0.folder.join(format!("{STAMP}.part")), "numpy==1\n").unwrap();
        assert!(!temporary.0.is_installed("numpy==1\n"));
    }

    #[test]
    fn removing_what_is_not_there_is_fine() {
        let temporary = TemporaryEnvironment::new("remove");
        remove(&temporary.0.folder).unwrap();
        remove(&temporary.0.folder).unwrap();
        assert!(!temporary.0.folder.exists());
    }
}
