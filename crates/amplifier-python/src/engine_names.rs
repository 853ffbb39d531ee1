//! Names of the extension module that are implemented in Python, once for both engines.

use pyo3::exceptions::PyAttributeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::module::module;

/// Look up a name that is not compiled, in `amplifier_core._native.engine_names`.
#[pyfunction(name = "__getattr__")]
pub(crate) fn look_up_name<'py>(name: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
    let py = name.py();
    let text = name.to_string_lossy();
    if text.starts_with("__") {
        // Asked by the import system and by `hasattr`, for which nothing should be imported.
        let message = format!("module 'amplifier_core._engine' has no attribute '{text}'");
        return Err(PyAttributeError::new_err(message));
    }
    module(py, intern!(py, "amplifier_core._native.engine_names"))?
        .call_method1(intern!(py, "lookup"), (name,))
}
