//! `cargo xtask fuzz`: every fuzz target for a given time, under libFuzzer if a nightly compiler
//! and cargo-fuzz are installed. Otherwise the targets run on mutations of their seeds, with any
//! compiler; the tests do the same for a few seconds.

use crate::steps::{Failure, Outcome, Steps, output_of, print_line, succeeds};
use crate::workspace::Workspace;

pub(crate) fn run(
    workspace: &Workspace,
    steps: &mut Steps,
    seconds: u64,
    targets: &[String],
) -> Outcome {
    if let Err(missing) = check_tools(workspace) {
        print_line(&format!("{missing}; without it, mutations of the seeds are tried"));
        return mutations(workspace, steps, seconds, targets);
    }
    let known = known_targets(workspace)?;
    for target in chosen(&known, targets)? {
        // New inputs go to the corpus, which is not kept; the hand-made seeds are.
        let (corpus, seeds) = (format!("fuzz/corpus/{target}"), format!("fuzz/seeds/{target}"));
        std::fs::create_dir_all(workspace.path(&corpus))
            .map_err(|e| Failure::new(format!("cannot make the folder {corpus}: {e}")))?;
        // A damaged Parquet page may claim to be 2 GiB long; its reader reserves that memory
        // without using it.
        let limits = "-malloc_limit_mb=4096 -rss_limit_mb=4096";
        let line = format!(
            "fuzz run --features libfuzzer {target} {corpus} {seeds} -- -max_total_time={seconds} {limits}"
        );
        steps.run(&format!("fuzz {target}"), &mut workspace.nightly(&line))?;
    }
    Ok(())
}

/// Runs the targets without libFuzzer.
fn mutations(
    workspace: &Workspace,
    steps: &mut Steps,
    seconds: u64,
    targets: &[String],
) -> Outcome {
    let mut test = workspace.cargo("test --profile ci --workspace --test smoke -- --exact");
    test.args(targets).env("RANKWRIGHT_FUZZ_SECONDS", seconds.to_string());
    steps.run("fuzz targets", &mut test)
}

/// Checks that the tools of libFuzzer are installed; the failure names the first missing one.
fn check_tools(workspace: &Workspace) -> Outcome {
    if !succeeds(&mut workspace.nightly("--version")) {
        let message = "fuzzing needs a nightly compiler: rustup toolchain install nightly";
        return Err(Failure::new(message));
    }
    if !succeeds(&mut workspace.nightly("fuzz --version")) {
        return Err(Failure::new("fuzzing needs cargo-fuzz: cargo install cargo-fuzz"));
    }
    Ok(())
}

/// The names of all fuzz targets.
fn known_targets(workspace: &Workspace) -> Outcome<Vec<String>> {
    let names = output_of(&mut workspace.nightly("fuzz list"))?;
    Ok(String::from_utf8_lossy(&names).split_whitespace().map(String::from).collect())
}

/// The requested targets, or all of them; an unknown name is an error.
fn chosen<'a>(known: &'a [String], wanted: &'a [String]) -> Outcome<&'a [String]> {
    match wanted.iter().find(|name| !known.contains(name)) {
        Some(name) => Err(Failure::new(format!(
            "there is no fuzz target `{name}`; the targets are {}",
            known.join(", ")
        ))),
        None if wanted.is_empty() => Ok(known),
        None => Ok(wanted),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_wanted_target_means_all() {
        let known = ["letor".to_string(), "run".to_string()];
        assert_eq!(chosen(&known, &[]).unwrap(), &known);
        assert_eq!(chosen(&known, &known[1..]).unwrap(), &known[1..]);
    }

    #[test]
    fn an_unknown_target_lists_the_known_ones() {
        let message = chosen(&["letor".into()], &["lettor".into()]).unwrap_err().to_string();
        assert_eq!(message, "there is no fuzz target `lettor`; the targets are letor");
    }
}
