//! The Python package in `python/`: its tests, and its wheel.
//!
//! For tests the native module is built with the profile of the tests and together with an example,
//! so that it shares their dependencies: without a target that takes the dependencies of tests,
//! cargo would choose other features of them and build them again. The module is copied beside the
//! package's own files, where Python finds it without an installation. A wheel is built by maturin.

use std::fs;
use std::path::PathBuf;

use crate::python::Environment;
use crate::steps::{Failure, Outcome, Steps};
use crate::workspace::Workspace;

const TEST_REQUIREMENTS: &str = "python/requirements-test.txt";
const WHEEL_REQUIREMENTS: &str = "python/requirements-wheel.txt";

/// The environment of the package's tests.
pub(crate) fn environment(workspace: &Workspace) -> Outcome<Environment> {
    Environment::set_up(workspace, "package", TEST_REQUIREMENTS)
}

/// Builds the native module and runs the package's tests; `words` are arguments of pytest.
pub(crate) fn test(
    workspace: &Workspace,
    steps: &mut Steps,
    environment: &Environment,
    words: &[String],
) -> Outcome {
    build(workspace, steps, "ci", "--workspace --lib --example sample_page")?;
    let mut command = environment.python();
    command.args(["-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider"]).args(words);
    command.env("RANKWRIGHT_BIN", workspace.built("ci", "rankwright"));
    command.env("PYTHONPATH", workspace.path("python"));
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    steps.run("python package", command.current_dir(workspace.path("python")))
}

/// Builds the native module with a profile and copies it beside the package's files; `packages`
/// are the arguments of cargo that choose what is built with it.
pub(crate) fn build(
    workspace: &Workspace,
    steps: &mut Steps,
    profile: &str,
    packages: &str,
) -> Outcome {
    let line = format!("build --profile {profile} {packages}");
    steps.run("build python module", &mut workspace.cargo(&line))?;
    let folder = if profile == "dev" { "debug" } else { profile };
    steps.call("copy python module", || {
        let (from, to) = (built_module(workspace, folder), workspace.path(MODULE));
        // The file is replaced, not rewritten: a running interpreter may have it mapped.
        let partial = to.with_extension("part");
        fs::copy(&from, &partial)
            .and_then(|_| fs::rename(&partial, &to))
            .map_err(|error| Failure::new(format!("cannot copy {}: {error}", from.display())))
    })
}

/// The native module among the files of the package.
const MODULE: &str = if cfg!(windows) {
    "python/rankwright/_native.pyd"
} else {
    "python/rankwright/_native.abi3.so"
};

fn built_module(workspace: &Workspace, folder: &str) -> PathBuf {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
    workspace.target(folder).join(format!("{DLL_PREFIX}rankwright_native{DLL_SUFFIX}"))
}

/// `cargo xtask wheel`: a wheel of the package under `target/wheels`.
pub(crate) fn wheel(workspace: &Workspace, steps: &mut Steps, profile: &str) -> Outcome {
    let environment = steps.call("wheel environment", || {
        Environment::set_up(workspace, "wheel", WHEEL_REQUIREMENTS)
    })?;
    let mut command = environment.python();
    command.args(["-m", "maturin", "build", "--locked", "--manifest-path", "python/Cargo.toml"]);
    command.args(["--profile", profile, "--out"]).arg(workspace.target("wheels"));
    steps.run("wheel", command.current_dir(workspace.path("")))
}
