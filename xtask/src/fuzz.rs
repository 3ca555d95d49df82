//! `cargo xtask fuzz`: every fuzz target for a given time. Needs a nightly compiler and
//! cargo-fuzz, which the other tasks do not, so it is not part of `ci`.

use crate::steps::{Failure, Outcome, Steps, output_of, succeeds};
use crate::workspace::Workspace;

pub(crate) fn run(
    workspace: &Workspace,
    steps: &mut Steps,
    seconds: u64,
    targets: &[String],
) -> Outcome {
    let known = list(workspace)?;
    for target in chosen(&known, targets)? {
        // New inputs go to the corpus, which is not kept; the hand-made seeds are.
        let (corpus, seeds) = (format!("fuzz/corpus/{target}"), format!("fuzz/seeds/{target}"));
        std::fs::create_dir_all(workspace.path(&corpus))
            .map_err(|e| Failure::new(format!("cannot make the folder {corpus}: {e}")))?;
        // A Parquet page may claim 2 GiB, which its reader reserves without touching.
        let limits = "-malloc_limit_mb=4096 -rss_limit_mb=4096";
        let line =
            format!("fuzz run {target} {corpus} {seeds} -- -max_total_time={seconds} {limits}");
        steps.run(&format!("fuzz {target}"), &mut workspace.nightly(&line))?;
    }
    Ok(())
}

fn list(workspace: &Workspace) -> Outcome<Vec<String>> {
    if !workspace.path("fuzz/Cargo.toml").exists() {
        return Err(Failure::new("there is no fuzz crate (fuzz/Cargo.toml) in this project"));
    }
    if !succeeds(&mut workspace.nightly("--version")) {
        let message = "fuzzing needs a nightly compiler: rustup toolchain install nightly";
        return Err(Failure::new(message));
    }
    if !succeeds(&mut workspace.nightly("fuzz --version")) {
        return Err(Failure::new("fuzzing needs cargo-fuzz: cargo install cargo-fuzz"));
    }
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
