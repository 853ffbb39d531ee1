//! Clean-up: every registered function once, the last registered first.

use pyo3::exceptions::{PyException, PyGeneratorExit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::kernel::report::{Level, Logger, describe, log};
use crate::kernel::sequence::{Fate, Functions};
use crate::traverse::traverse;

/// The clean-up functions of a coordinator: the live list, emptied from its end.
pub(crate) struct Cleanup(pub(crate) Py<PyList>);

traverse!(Cleanup: 0);

impl Functions for Cleanup {
    fn next<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let functions = self.0.bind(py);
        while !functions.is_empty() {
            let function = functions.call_method0(intern!(py, "pop"))?;
            if function.is_callable() {
                return Ok(Some(function));
            }
        }
        Ok(None)
    }

    fn judge(&self, py: Python<'_>, error: &PyErr) -> Fate {
        if error.is_instance_of::<PyGeneratorExit>(py) {
            Fate::Raised
        } else if error.is_instance_of::<PyException>(py) {
            let message = format!("Error during cleanup: {}", describe(py, error));
            log(py, Logger::Coordinator, Level::Error, &message, Some(error));
            Fate::Reported
        } else {
            Fate::Held
        }
    }
}
