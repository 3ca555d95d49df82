//! `cargo xtask test`: Rust tests and doc tests, the examples, the oracle tests, which compare the
//! results of the built command with those of other programs, the tests of the Python package, and
//! the page tests, which open reports in a browser.

use std::ffi::OsString;

use crate::browser;
use crate::chaos;
use crate::examples;
use crate::package;
use crate::python::Environment;
use crate::steps::{Outcome, Steps, print_line, succeeds};
use crate::workspace::Workspace;

const REQUIREMENTS: &str = "tests/oracle/requirements.txt";
const PAGE_REQUIREMENTS: &str = "tests/page/requirements.txt";

/// Runs all tests. The environments come first, so that a missing Python or browser is reported at
/// once and not after ten minutes of building.
pub(crate) fn run(workspace: &Workspace, steps: &mut Steps, oracles: bool) -> Outcome {
    let environments = match oracles {
        true => Some(steps.call("environments", || Environments::set_up(workspace))?),
        false => None,
    };
    run_with(workspace, steps, environments)
}

/// Runs all tests; without environments only the Rust tests.
pub(crate) fn run_with(
    workspace: &Workspace,
    steps: &mut Steps,
    environments: Option<Environments>,
) -> Outcome {
    // The tests build the command, too. Building it before them would take features of dependencies
    // that differ from those of tests, and so build most dependencies twice.
    rust_tests(workspace, steps)?;
    chaos::short(workspace, steps)?;
    examples::run(workspace, steps)?;
    match environments {
        Some(environments) => {
            pytest(workspace, steps, &environments.oracle, &[])?;
            package::test(workspace, steps, &environments.package, &[])?;
            environments.pages.test(workspace, steps)
        }
        None => {
            print_line("oracle, package and page tests left out (--no-oracles)");
            Ok(())
        }
    }
}

/// Writes the files that tests compare with anew: the tests whose name begins with `write_the_`.
pub(crate) fn write_records(workspace: &Workspace, steps: &mut Steps) -> Outcome {
    let writers = "nextest run --workspace --cargo-profile ci --run-ignored only";
    let mut command = workspace.cargo(writers);
    steps.run("records", command.args(["-E", "test(/(^|::)write_the_/)"]))
}

/// The Python environments and the browser of the tests.
pub(crate) struct Environments {
    oracle: Environment,
    package: Environment,
    pages: Pages,
}

impl Environments {
    pub(crate) fn set_up(workspace: &Workspace) -> Outcome<Self> {
        let oracle = Environment::set_up(workspace, "test", REQUIREMENTS)?;
        let package = package::environment(workspace)?;
        Ok(Self { oracle, package, pages: Pages::set_up(workspace)? })
    }
}

/// Runs only the oracle tests; `words` are arguments of pytest.
pub(crate) fn oracles(workspace: &Workspace, steps: &mut Steps, words: &[String]) -> Outcome {
    let environment = environment(workspace, steps)?;
    build_command(workspace, steps)?;
    pytest(workspace, steps, &environment, words)
}

/// Runs only the tests of the Python package; `words` are arguments of pytest.
pub(crate) fn package(workspace: &Workspace, steps: &mut Steps, words: &[String]) -> Outcome {
    let environment = steps.call("package environment", || package::environment(workspace))?;
    build_command(workspace, steps)?;
    package::test(workspace, steps, &environment, words)
}

fn environment(workspace: &Workspace, steps: &mut Steps) -> Outcome<Environment> {
    steps.call("oracle environment", || Environment::set_up(workspace, "test", REQUIREMENTS))
}

fn build_command(workspace: &Workspace, steps: &mut Steps) -> Outcome {
    steps.run(
        "build command",
        &mut workspace.cargo("build --profile ci --workspace --bin rankwright"),
    )
}

/// `cargo nextest` runs test programs at the same time but no doc tests; without it, `cargo test`
/// runs both, one program after the other.
fn rust_tests(workspace: &Workspace, steps: &mut Steps) -> Outcome {
    if !succeeds(&mut workspace.cargo("nextest --version")) {
        return steps.run("tests", &mut workspace.cargo("test --workspace --profile ci"));
    }
    let nextest = "nextest run --workspace --cargo-profile ci --no-tests=pass";
    steps.run("tests", &mut workspace.cargo(nextest))?;
    steps.run("doc tests", &mut workspace.cargo("test --doc --workspace --profile ci"))
}

fn pytest(
    workspace: &Workspace,
    steps: &mut Steps,
    environment: &Environment,
    words: &[String],
) -> Outcome {
    let mut command = environment.python();
    command
        .args(["-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "tests/oracle"])
        .args(words);
    command.env("RANKWRIGHT_BIN", workspace.built("ci", "rankwright"));
    // Otherwise Python would leave its compiled files in the source folders.
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    steps.run("oracle tests", command.current_dir(workspace.path("")))
}

/// The Python environment of the page tests, which is small and independent of the oracles, and the
/// browser.
struct Pages {
    environment: Environment,
    browser: OsString,
}

impl Pages {
    fn set_up(workspace: &Workspace) -> Outcome<Self> {
        let environment = Environment::set_up(workspace, "page", PAGE_REQUIREMENTS)?;
        Ok(Self { environment, browser: browser::find()? })
    }

    fn test(&self, workspace: &Workspace, steps: &mut Steps) -> Outcome {
        let sample = "build --profile ci --workspace --example sample_page";
        steps.run("build sample page", &mut workspace.cargo(sample))?;
        let mut command = self.environment.python();
        command.args(["-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "tests/page"]);
        command.env("RANKWRIGHT_BIN", workspace.built("ci", "rankwright"));
        command.env("RANKWRIGHT_SAMPLE_PAGE", workspace.built("ci", "examples/sample_page"));
        command.env("CHROMIUM", &self.browser);
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        steps.run("page tests", command.current_dir(workspace.path("")))
    }
}
