//! `cargo xtask bench NAME...`: comparisons with other programs, one Python script each. A script
//! runs in a Python environment with these programs installed, and uses the release build of
//! Rankwright. What is installed is listed in `bench/requirements-NAME.txt` if this file exists,
//! otherwise in `bench/requirements.txt`.

use std::fs;
use std::path::Path;

use crate::package;
use crate::python::Environment;
use crate::steps::{Failure, Outcome, Steps, print_line};
use crate::workspace::Workspace;

pub(crate) fn run(
    workspace: &Workspace,
    steps: &mut Steps,
    names: &[String],
    script_arguments: &[String],
) -> Outcome {
    let known = scripts(&workspace.path("bench"))?;
    if names.is_empty() {
        print_line("comparisons (cargo xtask bench NAME... [-- ARG...]):");
        for (name, description) in &known {
            print_line(&format!("  {name:<14} {description}"));
        }
        return Ok(());
    }
    check_names(names, &known)?;
    build(workspace, steps)?;
    if names.iter().any(|name| name == "python") {
        package::build(workspace, steps, "release", "-p rankwright-python")?;
    }
    for name in names {
        let environment = steps.call("bench environment", || environment(workspace, name))?;
        let mut command = environment.python();
        command.arg(workspace.path("bench").join(format!("{name}.py"))).args(script_arguments);
        command.env("RANKWRIGHT_BIN", workspace.built("release", "rankwright"));
        command.env("RANKWRIGHT_CHART_BENCH", workspace.built("release", "chart-bench"));
        command.env("RANKWRIGHT_LOAD_BENCH", workspace.built("release", "load-bench"));
        command.env("RANKWRIGHT_SCORE_BENCH", workspace.built("release", "score-bench"));
        command.env("RANKWRIGHT_TEXT_BENCH", workspace.built("release", "text-bench"));
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        steps.run(name, command.current_dir(workspace.path("")))?;
    }
    Ok(())
}

/// The Python environment of a script, created if it is missing.
fn environment(workspace: &Workspace, name: &str) -> Outcome<Environment> {
    let requirements = format!("bench/requirements-{name}.txt");
    match workspace.path(&requirements).exists() {
        true => Environment::set_up(workspace, &format!("bench-{name}"), &requirements),
        false => Environment::set_up(workspace, "bench", "bench/requirements.txt"),
    }
}

/// Builds the command, and the programs of the package `bench` if it exists.
fn build(workspace: &Workspace, steps: &mut Steps) -> Outcome {
    let mut line = String::from("build --release -p rankwright-cli");
    if workspace.path("bench/Cargo.toml").exists() {
        line += " -p rankwright-bench";
    }
    steps.run("release build", &mut workspace.cargo(&line))
}

/// Name and first docstring line of each script in the folder, by name. Files that start with an
/// underscore are shared code.
fn scripts(folder: &Path) -> Outcome<Vec<(String, String)>> {
    let entries = fs::read_dir(folder)
        .map_err(|error| Failure::new(format!("cannot list the folder bench: {error}")))?;
    let mut found = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if path.extension().is_some_and(|extension| extension == "py") && !stem.starts_with('_') {
            let text = fs::read_to_string(&path).unwrap_or_default();
            found.push((stem, first_docstring_line(&text)));
        }
    }
    found.sort();
    Ok(found)
}

fn first_docstring_line(python: &str) -> String {
    let after = python.split_once("\"\"\"").map_or("", |(_, after)| after);
    after.lines().next().unwrap_or("").trim_end_matches("\"\"\"").trim().to_string()
}

fn check_names(names: &[String], known: &[(String, String)]) -> Outcome {
    match names.iter().find(|name| known.iter().all(|(known_name, _)| known_name != *name)) {
        None => Ok(()),
        Some(name) => {
            let list: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
            Err(Failure::new(format!(
                "there is no comparison `{name}`; the comparisons are {}",
                list.join(", ")
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_docstring_line_describes_a_script() {
        assert_eq!(first_docstring_line("\"\"\"Loads text.\n\nMore.\n\"\"\"\n"), "Loads text.");
        assert_eq!(first_docstring_line("#!x\n\"\"\"One line.\"\"\"\n"), "One line.");
        assert_eq!(first_docstring_line("import os\n"), "");
    }

    #[test]
    fn an_unknown_comparison_lists_the_known_ones() {
        let known = [("load".to_string(), String::new())];
        assert!(check_names(&["load".into()], &known).is_ok());
        let message = check_names(&["lode".into()], &known).unwrap_err().to_string();
        assert_eq!(message, "there is no comparison `lode`; the comparisons are load");
    }
}
