//! Large files are mapped into memory. If another program shortens one while it is read, the system
//! sends the signal SIGBUS, which would end the command without a message; here it ends with an
//! error.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether errors are JSON.
static JSON: AtomicBool = AtomicBool::new(false);

/// Installs the handler of the signal; `json` says whether errors are JSON.
#[cfg(target_os = "linux")]
pub(crate) fn install_handler(json: bool) {
    JSON.store(json, Ordering::SeqCst);
    // SAFETY: `sigaction` and `sigset_t` are plain data for which zeros are valid. The handler
    // calls only functions that are safe in a signal handler.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_bus_error as *const () as usize;
        // A second fault, in the handler, ends the process.
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESETHAND;
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut());
    }
}

/// Other systems end the process in their own way.
#[cfg(not(target_os = "linux"))]
pub(crate) fn install_handler(json: bool) {
    JSON.store(json, Ordering::SeqCst);
}

#[cfg(target_os = "linux")]
extern "C" fn on_bus_error(
    _signal: libc::c_int,
    info: *mut libc::siginfo_t,
    _context: *mut libc::c_void,
) {
    const MESSAGE: &[u8] = b"\nerror: a file became shorter while it was read\n \
        help: another program has changed one of the input files; run the command again when it is \
        done\n";
    const AS_JSON: &[u8] =
        b"\n{\"error\":{\"kind\":\"file-shortened\",\"message\":\"a file became \
        shorter while it was read\",\"help\":\"another program has changed one of the input files; \
        run the command again when it is done\",\"exit_code\":1}}\n";
    let message = if JSON.load(Ordering::SeqCst) { AS_JSON } else { MESSAGE };
    // SAFETY: `info` is valid during the signal. `write` and `_exit` are safe in a handler. Faults
    // for other reasons (damaged memory) come again when the handler returns, which has been reset.
    unsafe {
        if (*info).si_code == libc::BUS_ADRERR {
            libc::write(2, message.as_ptr().cast(), message.len());
            libc::_exit(1);
        }
    }
}
