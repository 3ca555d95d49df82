//! Finds the browser of the page tests: the system's own Chromium, because playwright's cannot be
//! downloaded everywhere. The environment variable `CHROMIUM` names it; otherwise the usual names
//! are tried. If none of them starts and the user is root on Debian, as in continuous integration,
//! Chromium is installed.

use std::ffi::OsString;
use std::process::Command;

use crate::steps::{Failure, Outcome, exits_with_zero, output_of, print_line, succeeds};

/// Names of the browser that are tried; the same as in tests/page/browser.py.
const NAMES: [&str; 5] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

/// The name or path of a browser that starts; installs one if there is none and that is possible.
pub(crate) fn find() -> Outcome<OsString> {
    find_with(std::env::var_os("CHROMIUM"), &NAMES, install)
}

/// The named browser, or the first of `names` that starts; `install` is called if none does.
fn find_with(
    named: Option<OsString>,
    names: &[&str],
    install: impl FnOnce() -> Outcome,
) -> Outcome<OsString> {
    if let Some(named) = named.filter(|named| !named.is_empty()) {
        return match starts(&named) {
            true => Ok(named),
            false => Err(Failure::new(format!(
                "CHROMIUM names {}, which does not start; name a Chromium or unset it",
                named.to_string_lossy()
            ))),
        };
    }
    let first_that_starts = || names.iter().map(OsString::from).find(starts);
    if let Some(name) = first_that_starts() {
        return Ok(name);
    }
    install()?;
    first_that_starts().ok_or_else(|| missing("chromium was installed and still does not start"))
}

fn starts(program: &OsString) -> bool {
    succeeds(Command::new(program).arg("--version"))
}

/// Installs Debian's package, if the user is allowed to.
fn install() -> Outcome {
    if !is_root() || !succeeds(Command::new("apt-get").arg("--version")) {
        return Err(missing("no Chromium was found"));
    }
    print_line("installing Debian's chromium (once)");
    let apt = |words: &[&str]| {
        let mut command = Command::new("apt-get");
        command.args(["-qq", "-o", "Dpkg::Use-Pty=0"]).args(words);
        exits_with_zero(command.env("DEBIAN_FRONTEND", "noninteractive"))
    };
    apt(&["update"])?;
    apt(&["install", "-y", "--no-install-recommends", "chromium"])
}

fn is_root() -> bool {
    cfg!(unix) && output_of(Command::new("id").arg("-u")).is_ok_and(|id| id.trim_ascii() == b"0")
}

fn missing(problem: &str) -> Failure {
    Failure::new(format!(
        "{problem}; the page tests need Chromium: install it (Debian: apt install chromium), set \
         the environment variable CHROMIUM to its path, or skip these tests with --no-oracles"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABSENT: &str = "rankwright-no-such-browser";

    fn refuse_to_install() -> Outcome {
        Err(missing("none"))
    }

    #[test]
    fn a_named_browser_that_does_not_start_is_an_error_that_names_it() {
        let named = Some(OsString::from(ABSENT));
        let message = find_with(named, &["cargo"], refuse_to_install).unwrap_err().to_string();
        assert!(message.contains(ABSENT), "{message}");
    }

    #[test]
    fn the_first_that_starts_is_taken_and_nothing_is_installed() {
        let found = find_with(None, &[ABSENT, "cargo"], refuse_to_install).unwrap();
        assert_eq!(found, "cargo");
    }

    #[test]
    fn without_a_browser_the_error_says_how_to_get_one() {
        let message =
            find_with(Some("".into()), &[ABSENT], refuse_to_install).unwrap_err().to_string();
        assert!(message.contains("apt install chromium") && message.contains("--no-oracles"));
        assert!(find_with(None, &[ABSENT], || Ok(())).is_err());
    }
}
