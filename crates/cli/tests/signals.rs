//! Commands that are asked to end: by SIGTERM and SIGHUP as by Ctrl-C, and by a limit on the size
//! of files.

use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::{Bench, Ran, bench, command, interrupted, signalled};

const ENDLESS: [&str; 6] =
    ["train", "train.txt", "--learner", "mart(trees=10000000, leaves=7)", "--out", "m.model"];

fn send(child: &Child, signal: &str) {
    Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
}

/// The names in a folder, sorted.
fn names(bench: &Bench, folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(bench.path(folder)).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Starts a command with a standard input that stays open and has nothing to read.
fn waiting(bench: &Bench, words: &[&str]) -> Child {
    let mut command = command(bench, words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// The output of a command whose standard input stays open until it ends.
fn output(mut child: Child) -> Ran {
    let input = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(input);
    Ran(output)
}

/// Whether a signal is ignored by this process, and so by those that it starts (`nohup`).
fn is_hangup_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & 1 == 1))
}

#[test]
fn sigterm_and_sighup_save_a_training_like_ctrl_c() {
    for signal in ["-TERM", "-HUP"] {
        if signal == "-HUP" && is_hangup_ignored() {
            println!("skipped: SIGHUP is ignored here");
            continue;
        }
        let bench = bench();
        let ran = signalled(&bench, &ENDLESS, signal);
        assert_eq!(ran.code(), 130, "{signal}: {}", ran.err());
        assert!(ran.err().contains("stopping after the current tree"), "{}", ran.err());
        assert!(ran.err().contains("saved in m.model.checkpoint"), "{}", ran.err());
        assert_eq!(names(&bench, ""), ["m.model.checkpoint", "train.txt", "valid.txt"]);
    }
}

#[test]
fn a_command_that_was_started_to_survive_its_terminal_does() {
    let bench = bench();
    let mut shell = Command::new("sh");
    let run = "trap '' HUP; exec \"$0\" \"$@\"";
    shell.args(["-c", run, env!("CARGO_BIN_EXE_rankwright")]).args(ENDLESS);
    shell.current_dir(bench.path("")).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = shell.spawn().unwrap();
    sleep(Duration::from_millis(800));
    send(&child, "-HUP");
    sleep(Duration::from_millis(800));
    assert!(child.try_wait().unwrap().is_none(), "SIGHUP ended a command of nohup");
    send(&child, "-TERM");
    let ran = Ran(child.wait_with_output().unwrap());
    assert_eq!(ran.code(), 130, "{}", ran.err());
}

#[test]
fn the_second_signal_ends_a_training_at_once() {
    let bench = bench();
    let child = waiting(&bench, &["train", "-", "--learner", "mart", "--out", "m.model"]);
    sleep(Duration::from_millis(800));
    send(&child, "-TERM");
    sleep(Duration::from_millis(800));
    send(&child, "-TERM");
    let ran = output(child);
    assert_eq!(ran.code(), 130, "{}", ran.err());
    assert!(ran.err().contains("stopping after the current tree"), "{}", ran.err());
    assert!(ran.err().contains("error: interrupted"), "{}", ran.err());
}

#[test]
fn commands_that_wait_for_input_end_by_the_first_signal() {
    let bench = bench();
    for words in ["data inspect -", "data convert - w.rwd", "data split - --out w"] {
        for signal in ["-INT", "-TERM"] {
            let child = waiting(&bench, &words.split(' ').collect::<Vec<_>>());
            sleep(Duration::from_millis(800));
            let start = Instant::now();
            send(&child, signal);
            let ran = output(child);
            assert_eq!(ran.code(), 130, "{words} {signal}: {}", ran.err());
            assert_eq!(ran.err(), "error: interrupted\n", "{words}");
            assert!(start.elapsed() < Duration::from_secs(20), "{words}");
        }
    }
    assert_eq!(names(&bench, ""), ["train.txt", "valid.txt"]);
}

#[test]
fn longer_commands_end_with_code_130_and_leave_no_file() {
    let bench = bench();
    std::fs::create_dir(bench.path("temporary")).unwrap();
    for words in [
        "data generate letor --queries 6000 --documents 60 --out big.txt",
        "data generate store --records 400000 --out store",
        "cv train.txt --learner mart(trees=10000000)",
        "tune train.txt --valid valid.txt --learner mart(trees=10000000)",
        "report shrinkage train.txt --trees 10000000 --out page.html",
    ] {
        let ran = signalled(&bench, &words.split(' ').collect::<Vec<_>>(), "-TERM");
        assert_eq!(ran.code(), 130, "{words}: {}", ran.err());
        assert!(ran.err().contains("interrupted"), "{words}: {}", ran.err());
    }
    assert_eq!(names(&bench, ""), ["temporary", "train.txt", "valid.txt"]);
}

/// Whether a process has a file without a name open, or one of these files exists.
#[cfg(target_os = "linux")]
fn is_writing(child: &Child, bench: &Bench, folder: &str) -> bool {
    let descriptors = std::fs::read_dir(format!("/proc/{}/fd", child.id())).into_iter().flatten();
    let links = descriptors.flatten().filter_map(|entry| entry.path().read_link().ok());
    let here = bench.path("").canonicalize().unwrap();
    let is_unnamed = |path: std::path::PathBuf| {
        path.starts_with(&here) && path.to_string_lossy().ends_with(" (deleted)")
    };
    links.into_iter().any(is_unnamed)
        || bench.path(folder).is_dir()
            && names(bench, folder).iter().any(|name| name.starts_with(".rankwright-"))
}

/// A signal in the middle of a write: of a file that has no name yet, and, for several files that
/// belong together, of files with temporary names.
#[cfg(target_os = "linux")]
#[test]
fn sigterm_during_a_write_leaves_no_file() {
    let bench = Bench::new();
    let row: String = (1..=136).map(|id| format!(" {id}:0.{id}")).collect();
    let rows: String = (0..120_000).map(|n| format!("{} qid:{}{row}\n", n % 3, n / 20)).collect();
    bench.put("large.txt", &rows);
    std::fs::create_dir(bench.path("w")).unwrap();
    // One thread: the writes must take longer than the half second that a command has to end.
    for words in [
        "data convert large.txt w/out.csv.gz --threads 1",
        "data split large.txt --out w --to jsonl --threads 1",
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        // The command may finish before the signal reaches it; then it is tried again.
        let mut tries = (0..10).map(|_| terminated_while_writing(&bench, &words));
        let ran = tries.find(|ran| ran.code() != 0);
        let ran = ran.expect("a command that is ended while it writes");
        assert_eq!(ran.code(), 130, "{words:?}: {}", ran.err());
        assert_eq!(names(&bench, "w"), Vec::<String>::new(), "{words:?}");
    }
}

/// Runs a command that writes into the empty folder `w`, and sends SIGTERM as soon as it does.
fn terminated_while_writing(bench: &Bench, words: &[&str]) -> Ran {
    let _ = std::fs::remove_dir_all(bench.path("w"));
    std::fs::create_dir(bench.path("w")).unwrap();
    let mut child = command(bench, words);
    let mut child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while !is_writing(&child, bench, "w") {
        assert!(child.try_wait().unwrap().is_none(), "{words:?} ended before it wrote");
        assert!(start.elapsed() < Duration::from_secs(60), "{words:?} writes nothing");
    }
    send(&child, "-TERM");
    Ran(child.wait_with_output().unwrap())
}

#[test]
fn an_interrupted_demo_leaves_no_temporary_folder() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("temporary")).unwrap();
    let mut demo = command(&bench, &["demo"]);
    demo.env("TMPDIR", bench.path("temporary")).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = demo.spawn().unwrap();
    let start = Instant::now();
    while names(&bench, "temporary").is_empty() {
        assert!(child.try_wait().unwrap().is_none(), "the demo ended before it wrote");
        assert!(start.elapsed() < Duration::from_secs(60), "the demo writes nothing to TMPDIR");
        sleep(Duration::from_millis(20));
    }
    send(&child, "-TERM");
    let ran = Ran(child.wait_with_output().unwrap());
    assert_eq!(ran.code(), 130, "{}", ran.err());
    assert!(names(&bench, "temporary").is_empty());
}

#[test]
fn an_interrupted_experiment_is_resumed() {
    let bench = Bench::new();
    let study = "name = \"s\"\nmetrics = [\"ndcg@10\"]\nseeds = [1]\nbaseline = \"mart\"\n\n\
                 [[data]]\nname = \"g\"\ngenerate = \"letor(queries=20, documents=8)\"\nseed = 7\n\
                 folds = 3\n\n[[learner]]\nname = \"mart\"\nspec = \"mart(trees=10000000)\"\n";
    bench.put("s.toml", study);
    let ran = signalled(&bench, &["experiment", "s.toml", "--out", "study"], "-TERM");
    assert_eq!(ran.code(), 130, "{}", ran.err());
    assert!(ran.err().contains("run the command again to resume"), "{}", ran.err());
    let again = interrupted(&bench, &["experiment", "s.toml", "--out", "study"]);
    assert_eq!(again.code(), 130, "{}", again.err());
}

#[test]
fn a_limit_on_the_size_of_files_is_an_error() {
    let bench = bench();
    for words in [
        "data convert train.txt big.csv",
        "data convert train.txt big.rwd",
        "data generate letor --queries 20 --documents 20 --out big.txt",
        "train train.txt --learner mart(trees=50) --out big.model",
    ] {
        let mut shell = Command::new("sh");
        shell.args(["-c", "ulimit -f 8; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_rankwright")]);
        shell.args(words.split(' ')).current_dir(bench.path(""));
        let ran = Ran(shell.output().unwrap());
        assert_eq!(ran.code(), 1, "{words}: {}", ran.err());
        assert!(ran.err().contains("File too large"), "{words}: {}", ran.err());
    }
    assert_eq!(names(&bench, ""), ["train.txt", "valid.txt"]);
}
