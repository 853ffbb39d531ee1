//! Python objects that are made at first use and kept.

use std::sync::OnceLock;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use pyo3::{PyTraverseError, PyVisit};

use crate::traverse::Traverse;

/// A value that is made at first use, without a lock while it is made.
///
/// Making it runs Python code, which may come back to the same value: an import hook, a signal
/// handler, a finalizer. It is then made more than once, and everyone uses the first one.
pub(crate) struct LazyObject<T>(OnceLock<T>);

impl<T> LazyObject<T> {
    pub(crate) const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// The value, made by `make` if there is none yet.
    pub(crate) fn get(&self, _py: Python<'_>, make: impl FnOnce() -> PyResult<T>) -> PyResult<&T> {
        if let Some(value) = self.0.get() {
            return Ok(value);
        }
        let value = make()?;
        Ok(self.0.get_or_init(|| value))
    }
}

impl<T: Traverse> Traverse for LazyObject<T> {
    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.0.get().map_or(Ok(()), |value| value.traverse(visit))
    }
}

/// A class of a Python module, imported at first use.
pub(crate) struct ImportedClass {
    module: &'static str,
    name: &'static str,
    class: LazyObject<Py<PyType>>,
}

impl ImportedClass {
    pub(crate) const fn new(module: &'static str, name: &'static str) -> Self {
        Self {
            module,
            name,
            class: LazyObject::new(),
        }
    }

    pub(crate) fn get<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyType>> {
        let class = self.class.get(py, || {
            let class = py.import(self.module)?.getattr(self.name)?;
            Ok(class.cast_into::<PyType>()?.unbind())
        })?;
        Ok(class.bind(py))
    }
}

/// Whether a value is a mapping of any type.
///
/// `PyMapping` of `PyO3` imports the same class under a lock.
pub(crate) fn is_mapping(value: &Bound<'_, PyAny>) -> bool {
    static MAPPING: ImportedClass = ImportedClass::new("collections.abc", "Mapping");
    let is_one = |class: &Bound<'_, PyType>| value.is_instance(class);
    value.is_instance_of::<PyDict>() || MAPPING.get(value.py()).and_then(is_one).unwrap_or(false)
}
