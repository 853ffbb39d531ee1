//! Python modules that the engine calls.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::lazy_object::LazyObject;

/// The module of this name as it is in `sys.modules` now, imported if it is not there.
///
/// An import statement of Python looks there first too; the C function behind
/// [`PyModule::import`] costs ten times as much. Only that one waits for another thread which is
/// still importing the module.
pub(crate) fn module<'py>(
    py: Python<'py>,
    name: &Bound<'py, PyString>,
) -> PyResult<Bound<'py, PyAny>> {
    if let Some(module) = loaded(py)?.get_item(name)?
        && !module.is_none()
        && !is_initializing(py, &module)
    {
        return Ok(module);
    }
    py.import(name).map(Bound::into_any)
}

/// Whether a thread, perhaps this one, is in the middle of importing the module.
fn is_initializing(py: Python<'_>, module: &Bound<'_, PyAny>) -> bool {
    module
        .getattr(intern!(py, "__spec__"))
        .and_then(|spec| spec.getattr(intern!(py, "_initializing")))
        .is_ok_and(|value| value.is_truthy().unwrap_or(false))
}

/// `sys.modules`.
pub(crate) fn loaded(py: Python<'_>) -> PyResult<&Bound<'_, PyDict>> {
    static MODULES: LazyObject<Py<PyDict>> = LazyObject::new();
    let modules = MODULES.get(py, || {
        Ok(py
            .import("sys")?
            .getattr("modules")?
            .cast_into::<PyDict>()?
            .unbind())
    })?;
    Ok(modules.bind(py))
}
