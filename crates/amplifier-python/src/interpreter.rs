//! One interpreter a process, as Python objects are kept in statics, which all would share; and one
//! thread at its end.

use std::sync::OnceLock;
use std::thread::{self, ThreadId};

use pyo3::exceptions::{PyImportError, PyRuntimeError};
use pyo3::prelude::*;

/// Take the extension for this interpreter, known by its module `builtins`; others are refused.
///
/// The package calls it at its import, as an extension module itself is made once a process.
#[pyfunction(name = "_claim_interpreter")]
pub(crate) fn claim(py: Python<'_>) -> PyResult<()> {
    static OWNER: OnceLock<usize> = OnceLock::new();
    let builtins = py.import("builtins")?.as_ptr() as usize;
    if *OWNER.get_or_init(|| builtins) == builtins {
        return Ok(());
    }
    Err(PyImportError::new_err(
        "`amplifier_core._engine` cannot be imported in a subinterpreter: it works in one \
         interpreter of a process; use a thread or another process instead",
    ))
}

/// The thread that ends the interpreter, once it does.
static ENDING: OnceLock<ThreadId> = OnceLock::new();

/// Refuse all operations of the kernel from now on, except in this thread.
///
/// The package calls it at exit: Python then unwinds the remaining threads, and unwinding cannot
/// pass through frames of Rust.
#[pyfunction(name = "_leave_to_this_thread")]
pub(crate) fn leave_to_this_thread() {
    ENDING.get_or_init(|| thread::current().id());
}

/// Check that the interpreter is not ending in another thread.
pub(crate) fn may_go_on() -> PyResult<()> {
    match ENDING.get() {
        Some(ending) if *ending != thread::current().id() => Err(PyRuntimeError::new_err(
            "the program is ending: a daemon thread can no longer use the kernel; \
             end and join the thread before",
        )),
        _ => Ok(()),
    }
}
