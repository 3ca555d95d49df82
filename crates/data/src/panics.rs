//! Turns panics of other crates on damaged bytes into errors.
//!
//! The arrow, parquet and tantivy crates panic on some damaged files. Such a panic is caught here;
//! a program that does not want it printed calls [`panics_are_caught`] in its panic hook.

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

/// Runs `work`, whose results must be dropped if it panics; a panic gives its message.
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let before = CATCHING.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    // Calls may be nested; the outer one still catches.
    CATCHING.set(before);
    result.map_err(|panic| message(&*panic))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("no reason given").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_gives_its_message_and_only_inside_it_is_caught() {
        assert!(!panics_are_caught());
        assert_eq!(catch_panic(|| assert!(panics_are_caught())), Ok(()));
        let result = catch_panic(|| -> u32 { panic!("row {} is odd", 7) });
        assert_eq!(result, Err("row 7 is odd".into()));
        assert!(!panics_are_caught());
    }

    #[test]
    fn one_inside_of_another_leaves_the_outer_one_catching() {
        let inner = catch_panic(|| {
            assert_eq!(catch_panic(|| 1), Ok(1));
            assert!(panics_are_caught());
            2
        });
        assert_eq!(inner, Ok(2));
        assert!(!panics_are_caught());
    }
}
