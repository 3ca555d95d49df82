//! Turns panics of other crates into errors.
//!
//! The arrow, parquet and tantivy crates panic on some damaged files. Such a panic is caught here.
//! A program whose panic hook prints messages should print none while [`panics_are_caught`] is
//! true.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static CATCHING: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic on this thread would be caught and become an error.
pub fn panics_are_caught() -> bool {
    CATCHING.get()
}

/// Runs `work` and returns its result, or the message of its panic. After a panic, the caller must
/// not use what `work` was changing: it may be half changed.
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let before = CATCHING.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    // Calls may be nested: when the inner call is done, the outer call still catches panics.
    CATCHING.set(before);
    result.map_err(|panic| message(&*panic))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("the panic has no message").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_caught_inside_of_the_call_only_and_gives_its_message() {
        assert!(!panics_are_caught());
        assert_eq!(catch_panic(|| assert!(panics_are_caught())), Ok(()));
        let result = catch_panic(|| -> u32 { panic!("row {} is odd", 7) });
        assert_eq!(result, Err("row 7 is odd".into()));
        assert!(!panics_are_caught());
    }

    #[test]
    fn after_a_nested_call_the_outer_call_still_catches() {
        let outer = catch_panic(|| {
            assert_eq!(catch_panic(|| 1), Ok(1));
            assert!(panics_are_caught());
            2
        });
        assert_eq!(outer, Ok(2));
        assert!(!panics_are_caught());
    }
}
