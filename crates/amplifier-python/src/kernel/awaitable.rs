//! What can be awaited.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::{intern, types::PyType};

/// Whether a value can be awaited: a coroutine, or anything with `__await__`.
pub(crate) fn is_awaitable(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    static COROUTINE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static GENERATOR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let py = value.py();
    let class = value.get_type();
    if class.is(COROUTINE.import(py, "types", "CoroutineType")?) {
        return Ok(true);
    }
    if class.is(GENERATOR.import(py, "types", "GeneratorType")?) {
        // Only a generator made by `types.coroutine` can be awaited; `inspect` recognizes those.
        return py
            .import("inspect")?
            .call_method1("isawaitable", (value,))?
            .extract();
    }
    class.hasattr(intern!(py, "__await__"))
}
