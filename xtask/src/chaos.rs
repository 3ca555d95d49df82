//! `cargo xtask chaos`: attacks on the built command, in temporary folders
//! (`tests/chaos/chaos.py`). A short version is part of the tests.

use std::process::Command;

use crate::python::system_python;
use crate::steps::{Outcome, Steps, print_line, succeeds};
use crate::workspace::Workspace;

/// Builds the command and runs all attacks, within about this time.
pub(crate) fn run(workspace: &Workspace, steps: &mut Steps, seconds: u64) -> Outcome {
    let python = system_python()?;
    // With the features of the whole workspace, as the tests build it.
    let build = "build --profile ci --workspace --bin rankwright";
    steps.run("build command", &mut workspace.cargo(build))?;
    let mut command = script(workspace, python);
    let table = workspace.built("ci", "chaos.md");
    print_line(&format!("the table is written to {}", table.display()));
    command.args(["--seconds", &seconds.to_string(), "--table"]).arg(table);
    steps.run("chaos", &mut command)
}

/// A few attacks on the command that the tests have built; none if a tool for the attacks is
/// missing.
pub(crate) fn short(workspace: &Workspace, steps: &mut Steps) -> Outcome {
    let has_tools = cfg!(target_os = "linux")
        && succeeds(Command::new("cc").arg("--version"))
        && succeeds(Command::new("python3").arg("--version"));
    if !has_tools {
        print_line("chaos left out: it needs Linux, cc and python3");
        return Ok(());
    }
    steps.run("chaos, short", script(workspace, "python3").arg("--short"))
}

/// The command that runs the script on the built command.
fn script(workspace: &Workspace, python: &str) -> Command {
    let mut command = workspace.command(python);
    command.arg("tests/chaos/chaos.py").arg(workspace.built("ci", "rankwright"));
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command
}
