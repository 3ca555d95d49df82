//! Requests to end: Ctrl-C, SIGTERM (`kill`, a service manager) and SIGHUP (a closed terminal).
//!
//! Work that has something to save names the part that it finishes first (a tree, a batch of
//! documents); a second request ends the command at once. All other work is ended after a moment at
//! the latest: files are written whole or not at all, so that nothing is lost.

use std::io::IsTerminal;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rankwright::data::store::discard_unfinished;

use crate::failure::Failure;
use crate::logging;
use crate::output::Output;

/// The exit code of an interrupted command.
pub(crate) const CODE: u8 = 130;

/// The part of a training that is finished after a request to end.
pub(crate) const TRAINING_PART: &str = "the current tree or round";

/// The time in which work without anything to save may end by itself, between two of its steps.
const GRACE: Duration = Duration::from_millis(500);

/// Set by the first request.
static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Whether errors are JSON.
static JSON: AtomicBool = AtomicBool::new(false);

/// The part that is finished before the command ends, for work that has something to save.
static PART: OnceLock<&str> = OnceLock::new();

/// Installs the handler; called once, at the start of the command. `json` says whether errors are
/// JSON.
pub(crate) fn install(json: bool) -> Result<(), Failure> {
    JSON.store(json, Ordering::SeqCst);
    let is_hangup_ignored = signals::is_hangup_ignored();
    ctrlc::set_handler(end)
        .map_err(|error| Failure::request(format!("cannot install a signal handler: {error}")))?;
    if is_hangup_ignored {
        signals::ignore_hangup();
    }
    signals::ignore_file_size_limit();
    Ok(())
}

/// Runs on a thread of its own for each request, one after the other.
fn end() {
    let is_first = !REQUESTED.swap(true, Ordering::SeqCst);
    if is_first && PART.get().is_none() {
        std::thread::sleep(GRACE);
    }
    match PART.get() {
        Some(part) if is_first => {
            eprintln!("{}stopping after {part}; press Ctrl-C again to stop at once", line_end());
        }
        _ => end_at_once(),
    }
}

fn end_at_once() -> ! {
    discard_unfinished();
    logging::finish(Some(&Failure::Stopped));
    eprint!("{}", line_end());
    let output = Output { json: JSON.load(Ordering::SeqCst), ..Output::default() };
    output.fail(&Failure::Stopped);
    std::process::exit(CODE.into());
}

/// Ends the line of a progress bar.
fn line_end() -> &'static str {
    if std::io::stderr().is_terminal() { "\n" } else { "" }
}

/// Tells whether the command was asked to end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Interrupt;

impl Interrupt {
    /// From now on, a request to end lets `part` finish first: the work looks at the flag.
    pub(crate) fn after(part: &'static str) -> Interrupt {
        PART.get_or_init(|| part);
        Interrupt
    }

    /// The flag that a request sets.
    pub(crate) fn flag(self) -> &'static AtomicBool {
        &REQUESTED
    }

    /// Whether the command was asked to end.
    pub(crate) fn is_requested(self) -> bool {
        REQUESTED.load(Ordering::SeqCst)
    }
}

#[cfg(unix)]
mod signals {
    use std::mem::MaybeUninit;

    /// Whether SIGHUP was ignored when the command was started, as `nohup` does: then the command
    /// survives its terminal.
    pub(super) fn is_hangup_ignored() -> bool {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: without a new action the call only fills `action`, for which zeros are a valid
        // value too.
        let action = unsafe {
            libc::sigaction(libc::SIGHUP, std::ptr::null(), action.as_mut_ptr());
            action.assume_init()
        };
        action.sa_sigaction == libc::SIG_IGN
    }

    pub(super) fn ignore_hangup() {
        ignore(libc::SIGHUP);
    }

    /// A file that would exceed the limit of the shell (`ulimit -f`) is then an error of the write.
    pub(super) fn ignore_file_size_limit() {
        ignore(libc::SIGXFSZ);
    }

    fn ignore(signal: libc::c_int) {
        // SAFETY: SIG_IGN installs no function, and the call has no other effect.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

#[cfg(not(unix))]
mod signals {
    pub(super) fn is_hangup_ignored() -> bool {
        false
    }

    pub(super) fn ignore_hangup() {}

    pub(super) fn ignore_file_size_limit() {}
}
