//! The steps of a task. Each has a name and is announced and timed; the summary at the end lists
//! the times. The first failure ends the task.

use std::fmt;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The reason why a task failed, in one or two lines of text.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The result of a step or of a whole task.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

/// A finished step.
struct Record {
    name: String,
    took: Duration,
    passed: bool,
}

/// The finished steps with their times.
pub(crate) struct Steps {
    records: Vec<Record>,
}

impl Steps {
    pub(crate) fn new() -> Self {
        Self { records: Vec::new() }
    }

    /// Runs a command with the terminal's own input and output; it passes when it exits with 0.
    pub(crate) fn run(&mut self, name: &str, command: &mut Command) -> Outcome {
        self.call(name, || exits_with_zero(command))
    }

    /// Runs a function as a step.
    pub(crate) fn call<T>(&mut self, name: &str, step: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
        print_line(&format!("==> {name}"));
        let started = Instant::now();
        let outcome = step();
        let took = started.elapsed();
        let passed = outcome.is_ok();
        let verdict = if passed { "done" } else { "FAILED" };
        print_line(&format!("<== {name}: {verdict} in {}", seconds(took)));
        self.records.push(Record { name: name.to_string(), took, passed });
        outcome.map_err(|Failure(why)| Failure(format!("step `{name}` failed: {why}")))
    }

    /// Prints the table of steps; nothing where there was no step.
    pub(crate) fn print_summary(&self) {
        if !self.records.is_empty() {
            print_line(&format!("\n{}", self.summary().trim_end()));
        }
    }

    fn summary(&self) -> String {
        let width = self.records.iter().map(|r| r.name.chars().count()).max().unwrap_or(0).max(5);
        let mut table = String::new();
        for Record { name, took, passed } in &self.records {
            let verdict = if *passed { "ok" } else { "FAILED" };
            table += &format!("{name:<width$}  {:>9}  {verdict}\n", seconds(*took));
        }
        let total: Duration = self.records.iter().map(|r| r.took).sum();
        table + &format!("{:<width$}  {:>9}\n", "total", seconds(total))
    }
}

/// Prints a line on standard output; a closed pipe (`| head`) is ignored.
pub(crate) fn print_line(line: &str) {
    writeln!(std::io::stdout(), "{line}").ok();
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

/// Runs a command to its end; anything but exit code 0 is a failure that shows the command.
pub(crate) fn exits_with_zero(command: &mut Command) -> Outcome {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure(format!("{} ({status})", command_line(command)))),
        Err(error) => Err(Failure(format!("{} did not start: {error}", command_line(command)))),
    }
}

/// Whether a command exists and succeeds, without showing what it prints.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// The standard output of a command that must succeed.
pub(crate) fn output_of(command: &mut Command) -> Outcome<Vec<u8>> {
    let output = command.stderr(Stdio::inherit()).output();
    match output {
        Ok(output) if output.status.success() => Ok(output.stdout),
        Ok(output) => Err(Failure(format!("{} ({})", command_line(command), output.status))),
        Err(error) => Err(Failure(format!("{} did not start: {error}", command_line(command)))),
    }
}

/// The command as a user would type it: the file name of the program, without its folder, and the
/// arguments.
fn command_line(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let mut line = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for word in command.get_args() {
        line.push(' ');
        line.push_str(&word.to_string_lossy());
    }
    format!("`{line}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(name: &str, milliseconds: u64, passed: bool) -> Record {
        Record { name: name.into(), took: Duration::from_millis(milliseconds), passed }
    }

    #[test]
    fn the_summary_lists_steps_in_order_and_adds_their_times() {
        let steps = Steps { records: vec![record("fmt", 1_250, true), record("lint", 500, false)] };
        assert_eq!(
            steps.summary(),
            "fmt        1.2 s  ok\nlint       0.5 s  FAILED\ntotal      1.8 s\n"
        );
    }

    #[test]
    fn a_failing_step_is_remembered_and_names_itself() {
        let mut steps = Steps::new();
        let outcome: Outcome = steps.call("weigh", || Err(Failure::new("scales are broken")));
        let message = outcome.unwrap_err().to_string();
        assert_eq!(message, "step `weigh` failed: scales are broken");
        assert!(steps.summary().contains("FAILED"));
    }

    #[test]
    fn a_program_that_does_not_exist_is_a_failure_and_does_not_work() {
        let mut absent = Command::new("rankwright-no-such-program");
        assert!(!succeeds(&mut absent));
        let message = exits_with_zero(absent.arg("--flag")).unwrap_err().to_string();
        assert!(message.starts_with("`rankwright-no-such-program --flag` did not start"));
    }
}
