//! `cargo xtask`: the project's tests, checks and benchmarks as one command. It sets up everything
//! it needs, and continuous integration runs the same tasks as a contributor.
//!
//! Each task is a list of named steps (`steps`). The first step that fails ends the task with
//! exit code 1; a request that cannot be understood gives 2 and the usage text.
#![allow(clippy::print_stderr, reason = "a build tool prints to a terminal")]

mod args;
mod bench;
mod browser;
mod chaos;
mod ci;
mod dist;
mod examples;
mod fuzz;
mod licences;
mod package;
mod python;
mod steps;
mod test;
mod tracked;
mod workspace;

use std::process::ExitCode;

use args::{Task, USAGE};
use steps::Steps;
use workspace::Workspace;

fn main() -> ExitCode {
    let task = match Task::parse(std::env::args().skip(1)) {
        Ok(task) => task,
        Err(problem) => {
            eprintln!("xtask: {problem}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let mut steps = Steps::new();
    let outcome = Workspace::locate().and_then(|workspace| run(&task, &workspace, &mut steps));
    steps.print_summary();
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: &Task, workspace: &Workspace, steps: &mut Steps) -> steps::Outcome {
    match task {
        Task::Help => {
            steps::print_line(USAGE);
            Ok(())
        }
        Task::Test { oracles } => test::run(workspace, steps, *oracles),
        Task::Oracles { pytest } => test::oracles(workspace, steps, pytest),
        Task::Python { pytest } => test::package(workspace, steps, pytest),
        Task::Ci { oracles } => ci::run(workspace, steps, *oracles),
        Task::Bench { names, script_arguments } => {
            bench::run(workspace, steps, names, script_arguments)
        }
        Task::Fuzz { seconds, targets } => fuzz::run(workspace, steps, *seconds, targets),
        Task::Chaos { seconds } => chaos::run(workspace, steps, *seconds),
        Task::Records => test::write_records(workspace, steps),
        Task::Dist { profile } => dist::run(workspace, steps, profile),
        Task::Wheel { profile } => package::wheel(workspace, steps, profile),
        Task::Licences => steps.call("licences", || licences::check(workspace)),
    }
}
