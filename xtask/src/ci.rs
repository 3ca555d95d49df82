//! `cargo xtask ci`: all checks that a change must pass. Fast checks come first.

use std::thread;

use crate::steps::{Failure, Outcome, Steps};
use crate::test::Environments;
use crate::workspace::Workspace;
use crate::{licences, test, tracked};

/// Sets of cargo features of the facade crate `rankwright`; each is linted.
const FEATURE_SETS: [&str; 8] =
    ["", "explain", "train", "search", "report", "columnar", "clicks", "experiment"];

pub(crate) fn run(workspace: &Workspace, steps: &mut Steps, oracles: bool) -> Outcome {
    // Python packages and the browser are downloaded while the compiler runs.
    let environments = thread::scope(|scope| {
        let set_up = oracles.then(|| scope.spawn(|| Environments::set_up(workspace)));
        checks(workspace, steps)?;
        let wait = |set_up: thread::ScopedJoinHandle<'_, _>| {
            let joined = steps.call("environments", || {
                set_up.join().map_err(|_| Failure::new("the set-up of the environments panicked"))
            });
            joined?
        };
        set_up.map(wait).transpose()
    })?;
    test::run_with(workspace, steps, environments)
}

fn checks(workspace: &Workspace, steps: &mut Steps) -> Outcome {
    steps.run("formatting", &mut workspace.cargo("fmt --all --check"))?;
    steps.call("tracked files", || tracked::check(workspace))?;
    steps.call("licences", || licences::check(workspace))?;
    // The programs of the fuzz targets are checked too, without a build of libFuzzer.
    let clippy = "clippy --workspace --all-targets --profile ci --features rankwright-fuzz/programs \
                  -- -D warnings";
    steps.run("lints", &mut workspace.cargo(clippy))?;
    for features in FEATURE_SETS {
        let name = if features.is_empty() { "none" } else { features };
        let mut cargo = workspace
            .cargo("clippy -p rankwright --lib --examples --profile ci --no-default-features");
        cargo.args(["--features", features, "--", "-D", "warnings"]);
        steps.run(&format!("lints, features: {name}"), &mut cargo)?;
    }
    documentation(workspace, steps)
}

/// Builds the documentation of programs and of libraries separately, because the command and the
/// facade library are both called `rankwright` and have the same page. The libraries come last, so
/// that the page of the library stays.
fn documentation(workspace: &Workspace, steps: &mut Steps) -> Outcome {
    for (name, kind) in [("program docs", "--bins"), ("library docs", "--lib")] {
        let line = format!("doc --no-deps --workspace --profile ci {kind}");
        steps.run(name, workspace.cargo(&line).env("RUSTDOCFLAGS", "-D warnings"))?;
    }
    Ok(())
}
