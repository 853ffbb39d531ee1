//! What can be awaited.

use pyo3::intern;
use pyo3::prelude::*;

use crate::lazy_object::ImportedClass;

/// Whether a value can be awaited: a coroutine, or anything with `__await__`.
pub(crate) fn is_awaitable(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    static COROUTINE: ImportedClass = ImportedClass::new("types", "CoroutineType");
    static GENERATOR: ImportedClass = ImportedClass::new("types", "GeneratorType");
    let py = value.py();
    let class = value.get_type();
    if class.is(COROUTINE.get(py)?) {
        return Ok(true);
    }
    if class.is(GENERATOR.get(py)?) {
        // Only a generator made by `types.coroutine` can be awaited; `inspect` recognizes those.
        return py
            .import("inspect")?
            .call_method1("isawaitable", (value,))?
            .extract();
    }
    class.hasattr(intern!(py, "__await__"))
}
