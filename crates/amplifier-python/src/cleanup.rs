//! Clean-up: every registered function once, the last registered first.

use pyo3::exceptions::{PyException, PyGeneratorExit};
use pyo3::prelude::*;
use pyo3::types::PyList;
use pyo3::{PyTraverseError, PyVisit, intern};

use crate::awaitable::is_awaitable;
use crate::drive::{Machine, Next};
use crate::report::{Level, Logger, describe, log};

/// The machine of `cleanup`: it empties the live list from its end.
pub(crate) struct Cleanup {
    functions: Py<PyList>,
    /// The first error that must not be swallowed, raised when all functions have run.
    fatal: Option<PyErr>,
}

impl Cleanup {
    pub(crate) fn new(functions: Py<PyList>) -> Self {
        Self {
            functions,
            fatal: None,
        }
    }

    fn run<'py>(&mut self, py: Python<'py>) -> PyResult<Next<'py>> {
        let functions = self.functions.bind(py).clone();
        while !functions.is_empty() {
            let function = functions.call_method0(intern!(py, "pop"))?;
            if !function.is_callable() {
                continue;
            }
            match function.call0() {
                Ok(value) if !value.is_none() && is_awaitable(&value)? => {
                    return Ok(Next::Await(value));
                }
                Ok(_) => {}
                Err(error) => self.note(py, error)?,
            }
        }
        match self.fatal.take() {
            Some(error) => Err(error),
            None => Ok(Next::Return(py.None().into_bound(py))),
        }
    }

    fn note(&mut self, py: Python<'_>, error: PyErr) -> PyResult<()> {
        if error.is_instance_of::<PyGeneratorExit>(py) {
            return Err(error);
        }
        if error.is_instance_of::<PyException>(py) {
            let message = format!("Error during cleanup: {}", describe(py, &error));
            log(
                py,
                Logger::Coordinator,
                Level::Error,
                &message,
                Some(&error),
            );
        } else {
            self.fatal.get_or_insert(error);
        }
        Ok(())
    }
}

impl Machine for Cleanup {
    fn start<'py>(&mut self, py: Python<'py>) -> PyResult<Next<'py>> {
        self.run(py)
    }

    fn returned<'py>(&mut self, value: Bound<'py, PyAny>) -> PyResult<Next<'py>> {
        self.run(value.py())
    }

    fn raised<'py>(&mut self, py: Python<'py>, error: PyErr) -> PyResult<Next<'py>> {
        self.note(py, error)?;
        self.run(py)
    }

    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.functions)
    }
}
