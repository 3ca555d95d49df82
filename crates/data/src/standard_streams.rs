//! Whether the path `-` means standard input or standard output.
//!
//! In a program with a command line `-` means a standard stream; such a program calls
//! [`allow_standard_streams`] at its start. In every other program, such as a server, `-` is a file
//! of that name, so that no request can read or write the standard streams of the process.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

static ALLOWED: AtomicBool = AtomicBool::new(false);

/// Makes the path `-` mean standard input or standard output in this process. To be called by the
/// `main` function of a program with a command line.
pub fn allow_standard_streams() {
    ALLOWED.store(true, Ordering::Relaxed);
}

/// Whether a path means standard input or standard output.
pub fn is_standard_stream(path: &Path) -> bool {
    path == Path::new("-") && ALLOWED.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use crate::bytes::Input;
    use crate::store::write_atomic;

    use super::*;

    #[test]
    fn a_dash_is_a_file_unless_the_program_says_otherwise() {
        assert!(!is_standard_stream(Path::new("-")));
        let error = Input::open("-").unwrap_err().to_string();
        assert!(error.starts_with("cannot read -: "), "{error}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("-");
        write_atomic(&path, |out| out.write_all(b"x")).unwrap();
        assert_eq!(&*Input::open(&path).unwrap().bytes, b"x");
    }
}
