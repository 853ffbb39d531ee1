//! One interpreter a process: Python objects are kept in statics, which all would share.

use std::sync::OnceLock;

use pyo3::exceptions::PyImportError;
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
