//! `RustUnregisterFn`: the handle that undoes one registration.

use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};

use crate::kernel::hook::registry::RustHookRegistry;
use crate::traverse::{Traverse, traverse};

/// Unregisters exactly the registration that returned it; calling it again does nothing.
#[pyclass(frozen, weakref, module = "amplifier_core._engine")]
pub(crate) struct RustUnregisterFn {
    registry: Py<RustHookRegistry>,
    /// None for an observer of every event.
    event: Option<String>,
    serial: u64,
    name: String,
}

traverse!(RustUnregisterFn: registry);

impl RustUnregisterFn {
    pub(crate) fn new(
        registry: Py<RustHookRegistry>,
        event: Option<String>,
        serial: u64,
        name: String,
    ) -> Self {
        Self {
            registry,
            event,
            serial,
            name,
        }
    }
}

#[pymethods]
impl RustUnregisterFn {
    fn __call__(&self) {
        self.registry
            .get()
            .remove(self.event.as_deref(), self.serial);
    }

    fn __repr__(&self) -> String {
        format!("<unregister '{}'>", self.name)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.traverse(&visit)
    }
}
