//! Python modules that the engine calls.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::first_made::FirstMade;

/// The module of this name as it is in `sys.modules` now, imported if it is not there.
///
/// An import statement of Python looks there first too; the C function behind
/// [`PyModule::import`] costs ten times as much.
pub(crate) fn module<'py>(
    py: Python<'py>,
    name: &Bound<'py, PyString>,
) -> PyResult<Bound<'py, PyAny>> {
    if let Some(module) = loaded(py)?.get_item(name)?
        && !module.is_none()
    {
        return Ok(module);
    }
    py.import(name).map(Bound::into_any)
}

/// `sys.modules`.
pub(crate) fn loaded(py: Python<'_>) -> PyResult<&Bound<'_, PyDict>> {
    static MODULES: FirstMade<Py<PyDict>> = FirstMade::new();
    let modules = MODULES.get(py, || {
        Ok(py
            .import("sys")?
            .getattr("modules")?
            .cast_into::<PyDict>()?
            .unbind())
    })?;
    Ok(modules.bind(py))
}
