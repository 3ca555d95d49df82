//! Runs the built command in a temporary folder.
#![allow(dead_code, unreachable_pub, clippy::print_stdout)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// A temporary folder in which the command runs.
pub struct Bench(TempDir);

impl Bench {
    pub fn new() -> Bench {
        Bench(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file into the folder.
    pub fn put(&self, name: &str, text: &str) -> &Self {
        std::fs::write(self.path(name), text).unwrap();
        self
    }

    pub fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs the command with these words, separated by `|` where one holds spaces.
    pub fn run(&self, line: &str) -> Ran {
        let words: Vec<&str> = match line.contains('|') {
            true => line.split('|').collect(),
            false => line.split_whitespace().collect(),
        };
        let command = Command::new(env!("CARGO_BIN_EXE_rankwright"))
            .args(words)
            .current_dir(self.0.path())
            .output();
        Ran(command.unwrap())
    }

    /// Runs a line in a shell, in which `rankwright` is the command.
    pub fn shell(&self, line: &str) -> Ran {
        let command = Command::new("sh")
            .args(["-c", &format!("rankwright() {{ \"$COMMAND\" \"$@\"; }}\n{line}")])
            .env("COMMAND", env!("CARGO_BIN_EXE_rankwright"))
            .current_dir(self.0.path())
            .output();
        Ran(command.unwrap())
    }
}

/// The output of a run.
pub struct Ran(pub Output);

impl Ran {
    pub fn code(&self) -> i32 {
        self.0.status.code().unwrap_or(-1)
    }

    pub fn out(&self) -> String {
        String::from_utf8(self.0.stdout.clone()).unwrap()
    }

    pub fn err(&self) -> String {
        String::from_utf8(self.0.stderr.clone()).unwrap()
    }

    /// Checks that the run succeeded.
    pub fn ok(self) -> Self {
        assert_eq!(self.code(), 0, "{}{}", self.out(), self.err());
        self
    }

    /// The one JSON document on standard output.
    pub fn json(self) -> Value {
        serde_json::from_str(&self.ok().out()).unwrap()
    }
}

/// Small generated data: `train.txt`, `valid.txt`.
pub fn bench() -> Bench {
    let bench = Bench::new();
    for (name, queries, seed) in [("train", 20, 1), ("valid", 12, 2)] {
        let line = format!(
            "data generate letor --queries {queries} --documents 20 --seed {seed} --out {name}.txt"
        );
        bench.run(&line).ok();
    }
    bench
}

/// The command with these arguments, to be started.
pub fn command(bench: &Bench, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rankwright"));
    command.args(words).current_dir(bench.path(""));
    command
}

/// Sends Ctrl-C after a while; returns the output of the command.
pub fn interrupted(bench: &Bench, words: &[&str]) -> Ran {
    signalled(bench, words, "-INT")
}

/// Sends a signal after a while; returns the output of the command. If the command had not
/// installed its handler yet, tries again with a longer delay.
pub fn signalled(bench: &Bench, words: &[&str], signal: &str) -> Ran {
    let mut delay = Duration::from_millis(400);
    loop {
        let mut running = command(bench, words);
        let running = running.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        sleep(delay);
        let id = running.id().to_string();
        Command::new("kill").args([signal, &id]).status().unwrap();
        let output = running.wait_with_output().unwrap();
        // On a busy machine a training may not have begun yet: then nothing was saved.
        let message = String::from_utf8_lossy(&output.stderr);
        let saves = words.first() == Some(&"train");
        let ends = ["error: interrupted", "\"kind\":\"interrupted\""];
        let last = message.lines().last().unwrap_or_default();
        let too_early = saves && ends.iter().any(|end| last.contains(end));
        if output.status.code().is_some() && (!too_early || delay > Duration::from_secs(20)) {
            return Ran(output);
        }
        delay *= 2;
    }
}

/// Standard output of a command that runs in a pseudo-terminal.
#[cfg(target_os = "linux")]
pub fn on_terminal(bench: &Bench, words: &[&str]) -> String {
    use std::io::Read;
    use std::os::fd::{FromRawFd, OwnedFd};

    let (mut main, mut terminal) = (0, 0);
    let nothing = std::ptr::null_mut();
    // SAFETY: the two numbers live until the call returns; the other arguments may be null.
    let opened =
        unsafe { libc::openpty(&mut main, &mut terminal, nothing, nothing.cast(), nothing.cast()) };
    assert_eq!(opened, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: the call has opened both descriptors, and nothing else owns them.
    let (main, terminal) = unsafe { (OwnedFd::from_raw_fd(main), OwnedFd::from_raw_fd(terminal)) };
    let mut running = {
        let mut command = command(bench, words);
        command.stdin(Stdio::null()).stdout(terminal).stderr(Stdio::null()).spawn().unwrap()
    };
    // The terminal is closed here now, and by the command at its end; reading ends with an error
    // then.
    let mut shown = Vec::new();
    let _ = std::fs::File::from(main).read_to_end(&mut shown);
    assert!(running.wait().unwrap().success());
    String::from_utf8(shown).unwrap()
}

/// Trains with these further arguments; returns the JSON document.
pub fn train(bench: &Bench, learner: &str, more: &str) -> Value {
    let words = ["train", "train.txt", "--learner", learner, "--out", "m.model", "--json"];
    let words: Vec<&str> = words.into_iter().chain(more.split_whitespace()).collect();
    Ran(command(bench, &words).output().unwrap()).json()
}

/// The folder of real data; prints a line where there is none.
pub fn real_data() -> Option<PathBuf> {
    let folder = std::env::var_os("RANKWRIGHT_DATA").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: RANKWRIGHT_DATA is not set");
    }
    folder.filter(|folder| Path::exists(folder))
}
