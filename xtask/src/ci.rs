//! `cargo xtask ci`: what must hold before a change goes in. Cheap checks come first.

use crate::steps::{Outcome, Steps};
use crate::workspace::Workspace;
use crate::{test, tracked};

pub(crate) fn run(workspace: &Workspace, steps: &mut Steps, oracles: bool) -> Outcome {
    steps.run("formatting", &mut workspace.cargo("fmt --all --check"))?;
    // A workspace of its own, which the line above does not see.
    let fuzz = "fmt --manifest-path fuzz/Cargo.toml --check";
    steps.run("formatting of fuzz", &mut workspace.cargo(fuzz))?;
    steps.call("tracked files", || tracked::check(workspace))?;
    let clippy = "clippy --workspace --all-targets --profile ci -- -D warnings";
    steps.run("lints", &mut workspace.cargo(clippy))?;
    documentation(workspace, steps)?;
    test::run(workspace, steps, oracles)
}

/// Programs and libraries separately: the command and the facade library are both called
/// `rankwright` and would write the same page in one go. Libraries last, so theirs stays.
fn documentation(workspace: &Workspace, steps: &mut Steps) -> Outcome {
    for (name, kind) in [("program docs", "--bins"), ("library docs", "--lib")] {
        let line = format!("doc --no-deps --workspace --profile ci {kind}");
        steps.run(name, workspace.cargo(&line).env("RUSTDOCFLAGS", "-D warnings"))?;
    }
    Ok(())
}
