//! Builds and runs the examples of the facade. Each is a program that checks and prints its
//! results.

use std::path::Path;
use std::process::Command;

use crate::steps::{Failure, Outcome, Steps, output_of};
use crate::workspace::Workspace;

/// The folder of the examples.
const FOLDER: &str = "crates/rankwright/examples";

/// Builds all examples and runs each.
pub(crate) fn run(workspace: &Workspace, steps: &mut Steps) -> Outcome {
    // The same packages as for the tests, so that nothing is built twice.
    let build = "build --profile ci --workspace --examples";
    steps.run("build examples", &mut workspace.cargo(build))?;
    steps.call("examples", || {
        let names = names(&workspace.path(FOLDER))?;
        for name in &names {
            let program = workspace.built("ci", &format!("examples/{name}"));
            let printed = output_of(&mut Command::new(program))?;
            if printed.is_empty() {
                return Err(Failure::new(format!("the example {name} printed nothing")));
            }
        }
        Ok(())
    })
}

/// The names of the examples, in order.
fn names(folder: &Path) -> Outcome<Vec<String>> {
    let failed = |error| Failure::new(format!("cannot read {}: {error}", folder.display()));
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if let (Some("rs"), Some(stem)) =
            (path.extension().and_then(|end| end.to_str()), path.file_stem())
        {
            names.push(stem.to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_found() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(FOLDER);
        let names = names(&root).unwrap();
        let expected = [
            "compare",
            "custom_feature",
            "custom_learner",
            "custom_metric",
            "custom_model_format",
            "custom_objective",
            "early_stopping_and_cancel",
            "evaluate_slices",
            "explain",
            "from_memory",
            "import_export_bytes",
            "index_and_rerank",
            "score_raw_rows",
            "serve_scores_from_8_threads",
            "tune_typed",
        ];
        assert_eq!(names, expected);
    }
}
