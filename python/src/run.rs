//! Work of the library outside of the interpreter lock.
//!
//! Every call runs in a thread pool of this module, never in rayon's global one: a pool is made for
//! each number of threads, and made anew in a forked process, whose pools have no threads. Results
//! do not depend on the number of threads.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use rankwright::data::catch_panic;
use rankwright::tasks::TaskError;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::{OrRaise, of_kind, panic_exception};

/// The time between two checks for signals such as Ctrl-C.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// The pools of one process, by their number of threads.
#[derive(Default)]
struct ProcessPools {
    process: u32,
    pools: HashMap<usize, Arc<ThreadPool>>,
}

/// Locked only while the interpreter lock is held, so that a fork never happens in between.
static POOLS: Mutex<Option<ProcessPools>> = Mutex::new(None);

/// The pool of this many threads; 0 for one thread for each processor.
fn pool(py: Python<'_>, threads: usize) -> PyResult<Arc<ThreadPool>> {
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if pools.as_ref().is_none_or(|pools| pools.process != process) {
        // The threads of the old pools are in the parent process. Dropping the pools would wait for
        // them.
        std::mem::forget(pools.replace(ProcessPools { process, pools: HashMap::new() }));
    }
    let pools = &mut pools.get_or_insert_default().pools;
    if let Some(pool) = pools.get(&threads) {
        return Ok(pool.clone());
    }
    let made = ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|number| format!("rankwright-{number}"))
        .build();
    match made {
        Ok(pool) => Ok(pools.entry(threads).or_insert(Arc::new(pool)).clone()),
        Err(error) => Err(of_kind(py, "threads", &format!("cannot start threads: {error}"), None)),
    }
}

/// Runs short work in a pool, without the interpreter lock.
pub(crate) fn in_pool<T: Send, E: Into<TaskError> + Send>(
    py: Python<'_>,
    threads: usize,
    work: impl FnOnce() -> Result<T, E> + Send,
) -> PyResult<T> {
    let pool = pool(py, threads)?;
    match py.detach(|| catch_panic(|| pool.install(work))) {
        Ok(result) => result.or_raise(py),
        Err(message) => Err(panic_exception(py, &message)),
    }
}

/// Runs long work in a pool, without the interpreter lock; a signal whose handler raises, such as
/// Ctrl-C, sets the flag and is raised when the work has ended.
pub(crate) fn interruptible<T: Send, E: Into<TaskError> + Send>(
    py: Python<'_>,
    threads: usize,
    work: impl FnOnce(&AtomicBool) -> Result<T, E> + Send,
) -> PyResult<T> {
    let pool = pool(py, threads)?;
    let cancel = AtomicBool::new(false);
    let (result, raised) = py.detach(|| {
        std::thread::scope(|scope| {
            let (sender, receiver) = channel::<()>();
            let (pool, cancel) = (&pool, &cancel);
            let worker = scope.spawn(move || {
                let result = catch_panic(|| pool.install(|| work(cancel)));
                drop(sender);
                result
            });
            let mut raised = None;
            while receiver.recv_timeout(SIGNAL_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if raised.is_none() {
                    raised = Python::attach(|py| py.check_signals().err());
                    if raised.is_some() {
                        cancel.store(true, Ordering::Relaxed);
                    }
                }
            }
            (worker.join(), raised)
        })
    });
    if let Some(error) = raised {
        return Err(error);
    }
    match result {
        Ok(Ok(result)) => result.or_raise(py),
        Ok(Err(message)) => Err(panic_exception(py, &message)),
        Err(_) => Err(panic_exception(py, "a thread ended with a panic")),
    }
}

/// Panics in a pool, so that the tests of the package see that a panic becomes an exception.
#[pyfunction]
pub(crate) fn panic_for_tests(py: Python<'_>, message: String, long: bool) -> PyResult<()> {
    match long {
        true => interruptible(py, 0, |_| -> Result<(), TaskError> { panic!("{message}") }),
        false => in_pool(py, 0, || -> Result<(), TaskError> { panic!("{message}") }),
    }
}
