//! Parses the arguments of `cargo xtask` into a [`Task`]. An unknown argument is an error: if a
//! misspelt `--no-oracle` were ignored, the wrong tests would run.

/// The usage text, printed for `help` and below every usage error.
pub(crate) const USAGE: &str = "\
usage: cargo xtask TASK

  test [--no-oracles]         unit, integration and doc tests, a short `chaos`, the examples, then
                              all tests in Python, unless --no-oracles is given: the oracle tests
                              (which compare results with those of other programs), the tests of
                              the Python package and those of the reports in a Chromium
  oracles [PYTEST ARG...]     only the oracle tests
  python [PYTEST ARG...]      only the tests of the Python package
  ci [--no-oracles]           formatting, lints, documentation, tracked files, then `test`
  bench [NAME...] [-- ARG...] compare with peers; without a name, list the comparisons
  fuzz [SECONDS] [TARGET...]  run fuzz targets (default: all), 60 seconds each by default
  chaos [SECONDS]             attack the command with kills, full disks, limits, damaged files and
                              more, for 900 seconds by default
  records                     write anew the files that tests compare with: docs/reference, the
                              table of docs/interchange.md, golden scores, printed conventions
  dist [--profile NAME]       stripped command, manual pages and completions in one archive, under
                              target/shipped
  wheel [--profile NAME]      a wheel of the Python package, under target/wheels
  licences                    licences of all dependencies, and those with several versions
  help                        this text";

const DEFAULT_FUZZ_SECONDS: u64 = 60;
const DEFAULT_CHAOS_SECONDS: u64 = 900;

/// A task with its arguments.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Help,
    Test { oracles: bool },
    Oracles { pytest: Vec<String> },
    Python { pytest: Vec<String> },
    Ci { oracles: bool },
    Bench { names: Vec<String>, script_arguments: Vec<String> },
    Fuzz { seconds: u64, targets: Vec<String> },
    Chaos { seconds: u64 },
    Records,
    Dist { profile: String },
    Wheel { profile: String },
    Licences,
}

impl Task {
    /// Parses the arguments; an error is one line of text.
    pub(crate) fn parse(words: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut words = words.into_iter();
        let Some(task) = words.next() else {
            return Err("no task is given".into());
        };
        let rest: Vec<String> = words.collect();
        match task.as_str() {
            "help" | "-h" | "--help" => Ok(Self::Help),
            "test" => Ok(Self::Test { oracles: oracle_switch("test", &rest)? }),
            "ci" => Ok(Self::Ci { oracles: oracle_switch("ci", &rest)? }),
            "oracles" => Ok(Self::Oracles { pytest: rest }),
            "python" => Ok(Self::Python { pytest: rest }),
            "bench" => bench(rest),
            "fuzz" => fuzz(rest),
            "chaos" => chaos(&rest),
            "records" if rest.is_empty() => Ok(Self::Records),
            "dist" => Ok(Self::Dist { profile: shipped_profile("dist", &rest)? }),
            "wheel" => Ok(Self::Wheel { profile: shipped_profile("wheel", &rest)? }),
            "licences" if rest.is_empty() => Ok(Self::Licences),
            "licences" | "records" => Err(format!("`{task}` has no options")),
            other => Err(format!("unknown task `{other}`")),
        }
    }
}

/// Whether the oracle tests run: `false` after `--no-oracles`.
fn oracle_switch(task: &str, rest: &[String]) -> Result<bool, String> {
    let mut oracles = true;
    for word in rest {
        if word != "--no-oracles" {
            return Err(format!(
                "`{task}` has no option `{word}`; its only option is --no-oracles"
            ));
        }
        oracles = false;
    }
    Ok(oracles)
}

/// Parses the names of comparisons; arguments after `--` are passed to their scripts.
fn bench(rest: Vec<String>) -> Result<Task, String> {
    let mut names = rest;
    let mut script_arguments = Vec::new();
    if let Some(dashes) = names.iter().position(|word| word == "--") {
        script_arguments = names.split_off(dashes).into_iter().skip(1).collect();
    }
    match names.iter().find(|name| name.starts_with('-')) {
        Some(option) => Err(format!("`{option}` is not a name; put a script's options after `--`")),
        None => Ok(Task::Bench { names, script_arguments }),
    }
}

/// Parses an optional number of seconds, then the names of targets.
fn fuzz(rest: Vec<String>) -> Result<Task, String> {
    let mut targets = rest;
    let mut seconds = DEFAULT_FUZZ_SECONDS;
    if let Some(first) = targets.first()
        && first.starts_with(|c: char| c.is_ascii_digit() || c == '-')
    {
        seconds = parse_seconds(first)?;
        targets.remove(0);
    }
    Ok(Task::Fuzz { seconds, targets })
}

fn chaos(rest: &[String]) -> Result<Task, String> {
    match rest {
        [] => Ok(Task::Chaos { seconds: DEFAULT_CHAOS_SECONDS }),
        [seconds] => Ok(Task::Chaos { seconds: parse_seconds(seconds)? }),
        _ => Err("`chaos` has one argument, a number of seconds".into()),
    }
}

/// The profile of something that is shipped: `dist` unless another is given.
fn shipped_profile(task: &str, rest: &[String]) -> Result<String, String> {
    match rest {
        [] => Ok("dist".to_owned()),
        [option, profile] if option == "--profile" => Ok(profile.clone()),
        _ => Err(format!("`{task}` has one option, --profile NAME")),
    }
}

fn parse_seconds(text: &str) -> Result<u64, String> {
    let seconds = text.parse().ok().filter(|&seconds| seconds > 0);
    seconds.ok_or_else(|| format!("`{text}` is not a number of seconds above 0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Task, String> {
        Task::parse(line.split_whitespace().map(String::from))
    }

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(String::from).collect()
    }

    #[test]
    fn oracles_run_unless_switched_off() {
        assert_eq!(parse("test"), Ok(Task::Test { oracles: true }));
        assert_eq!(parse("test --no-oracles"), Ok(Task::Test { oracles: false }));
        assert_eq!(parse("ci --no-oracles"), Ok(Task::Ci { oracles: false }));
    }

    #[test]
    fn a_misspelt_switch_is_an_error_that_names_it() {
        let problem = parse("test --no-oracle").unwrap_err();
        assert!(problem.contains("`--no-oracle`"), "{problem}");
        assert!(parse("tset").unwrap_err().contains("`tset`"));
        assert!(parse("").is_err());
    }

    #[test]
    fn words_after_two_dashes_go_to_the_bench_script() {
        assert_eq!(
            parse("bench load evaluate_run -- --queries 100"),
            Ok(Task::Bench {
                names: words("load evaluate_run"),
                script_arguments: words("--queries 100")
            })
        );
        assert_eq!(parse("bench"), Ok(Task::Bench { names: vec![], script_arguments: vec![] }));
        assert!(parse("bench --queries 100").is_err());
    }

    #[test]
    fn fuzz_takes_seconds_then_targets() {
        assert_eq!(parse("fuzz"), Ok(Task::Fuzz { seconds: 60, targets: vec![] }));
        assert_eq!(
            parse("fuzz 600 letor run"),
            Ok(Task::Fuzz { seconds: 600, targets: words("letor run") })
        );
        assert_eq!(parse("fuzz letor"), Ok(Task::Fuzz { seconds: 60, targets: words("letor") }));
    }

    #[test]
    fn chaos_has_a_time_and_nothing_else() {
        assert_eq!(parse("chaos"), Ok(Task::Chaos { seconds: 900 }));
        assert_eq!(parse("chaos 60"), Ok(Task::Chaos { seconds: 60 }));
        for line in ["chaos now", "chaos 0", "chaos 60 60", "licences all", "records now"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn what_is_shipped_is_built_with_its_own_profile() {
        assert_eq!(parse("dist"), Ok(Task::Dist { profile: "dist".into() }));
        assert_eq!(parse("dist --profile ci"), Ok(Task::Dist { profile: "ci".into() }));
        assert!(parse("dist ci").is_err() && parse("dist --profile").is_err());
        assert_eq!(parse("wheel"), Ok(Task::Wheel { profile: "dist".into() }));
        assert_eq!(parse("wheel --profile ci"), Ok(Task::Wheel { profile: "ci".into() }));
    }

    #[test]
    fn fuzz_refuses_times_that_are_not_positive_numbers() {
        for line in ["fuzz 0", "fuzz -5", "fuzz 10s"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
