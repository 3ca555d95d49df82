//! A spinner on standard error for work that takes a while; nothing where that is no terminal.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::Output;

/// Runs `work` under a spinner that says what is going on; gives its result and the seconds.
pub(crate) fn timed<T>(out: &Output, what: &str, work: impl FnOnce() -> T) -> (T, f64) {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if !out.quiet {
        bar.set_style(ProgressStyle::default_spinner());
        bar.set_message(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(120));
    }
    let start = Instant::now();
    let result = work();
    bar.finish_and_clear();
    (result, start.elapsed().as_secs_f64())
}
