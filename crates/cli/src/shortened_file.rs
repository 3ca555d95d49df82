//! Large files are mapped into memory. If another program shortens one while it is read, the system
//! sends the signal SIGBUS, which would end the command without a word; here it ends with an error.

/// Installs the handler of the signal.
#[cfg(target_os = "linux")]
pub(crate) fn report() {
    // SAFETY: `sigaction` and `sigset_t` are plain data for which zeros are valid. The handler calls
    // only functions that are safe in a signal handler.
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
pub(crate) fn report() {}

#[cfg(target_os = "linux")]
extern "C" fn on_bus_error(
    _signal: libc::c_int,
    info: *mut libc::siginfo_t,
    _context: *mut libc::c_void,
) {
    const MESSAGE: &[u8] = b"\nerror: a file became shorter while it was read\n \
        help: another program has changed one of the input files; run the command again when it is \
        done\n";
    // SAFETY: `info` is valid during the signal. `write` and `_exit` are safe in a handler. Faults
    // for other reasons (damaged memory) come again when the handler returns, which has been reset.
    unsafe {
        if (*info).si_code == libc::BUS_ADRERR {
            libc::write(2, MESSAGE.as_ptr().cast(), MESSAGE.len());
            libc::_exit(1);
        }
    }
}
