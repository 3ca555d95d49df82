//! Ctrl-C during longer work: the first ends it after the current part (a tree, a batch of
//! documents), the second ends the command at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Failure;

/// The exit code of an interrupted command.
pub(crate) const CODE: u8 = 130;

/// The part of a training that is finished after Ctrl-C.
pub(crate) const TRAINING_PART: &str = "the current tree or round";

/// Records whether Ctrl-C was pressed.
#[derive(Debug, Clone)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Installs the handler, once per process. `part` is finished before the work ends.
    pub(crate) fn listen(part: &'static str) -> Result<Interrupt, Failure> {
        let pressed = Arc::new(AtomicBool::new(false));
        let handler = Arc::clone(&pressed);
        ctrlc::set_handler(move || {
            if handler.swap(true, Ordering::SeqCst) {
                std::process::exit(CODE.into());
            }
            eprintln!("\nstopping after {part}; press Ctrl-C again to stop at once");
        })
        .map_err(|error| {
            Failure::request(format!("cannot install a handler of Ctrl-C: {error}"))
        })?;
        Ok(Interrupt(pressed))
    }

    /// The flag that Ctrl-C sets.
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.0
    }

    /// Whether Ctrl-C was pressed.
    pub(crate) fn is_pressed(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
