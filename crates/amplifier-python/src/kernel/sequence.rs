//! Functions that are called one after another, whatever each of them does.

use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};

use crate::kernel::awaitable::is_awaitable;
use crate::kernel::drive::{Machine, Next};
use crate::traverse::Traverse;

/// What becomes of an error that one of the functions raised.
pub(crate) enum Fate {
    /// It was reported; the next function is called.
    Reported,
    /// It is raised when all functions have been called, if it is the first of its kind.
    Held,
    /// It is raised at once.
    Raised,
}

/// Where the functions come from, and how their errors are judged.
pub(crate) trait Functions: Traverse + Send + Sync {
    /// The next function to call without arguments.
    fn next<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>>;

    /// Judges an error, and reports it where that is its fate.
    fn judge(&self, py: Python<'_>, error: &PyErr) -> Fate;
}

/// The machine that calls them, and awaits what can be awaited.
pub(crate) struct Sequence<F> {
    functions: F,
    held: Option<PyErr>,
}

impl<F: Functions> Sequence<F> {
    pub(crate) fn new(functions: F) -> Self {
        Self {
            functions,
            held: None,
        }
    }

    fn run<'py>(&mut self, py: Python<'py>) -> PyResult<Next<'py>> {
        while let Some(function) = self.functions.next(py)? {
            match function.call0() {
                Ok(value) if !value.is_none() && is_awaitable(&value)? => {
                    return Ok(Next::Await(value));
                }
                Ok(_) => {}
                Err(error) => self.settle(py, error)?,
            }
        }
        match self.held.take() {
            Some(error) => Err(error),
            None => Ok(Next::Return(py.None().into_bound(py))),
        }
    }

    fn settle(&mut self, py: Python<'_>, error: PyErr) -> PyResult<()> {
        match self.functions.judge(py, &error) {
            Fate::Reported => Ok(()),
            Fate::Held => {
                self.held.get_or_insert(error);
                Ok(())
            }
            Fate::Raised => Err(error),
        }
    }
}

impl<F: Functions> Machine for Sequence<F> {
    fn start<'py>(&mut self, py: Python<'py>) -> PyResult<Next<'py>> {
        self.run(py)
    }

    fn returned<'py>(&mut self, value: Bound<'py, PyAny>) -> PyResult<Next<'py>> {
        self.run(value.py())
    }

    fn raised<'py>(&mut self, py: Python<'py>, error: PyErr) -> PyResult<Next<'py>> {
        self.settle(py, error)?;
        self.run(py)
    }
}

impl<F: Traverse> Traverse for Sequence<F> {
    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.functions.traverse(visit)
    }
}
