//! How Python awaits what Rust decides: state machines, driven by one native coroutine.
//!
//! A [`Machine`] says what to await next; the coroutines of `amplifier_core._native.drive` await it and
//! say what came back. No machine holds a lock or a borrow while Python code runs.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyNone, PyString};
use pyo3::{PyTraverseError, PyVisit, intern};

use crate::interpreter::may_go_on;
use crate::lazy_object::LazyObject;
use crate::traverse::{Traverse, traverse};

/// The next step of a machine.
pub(crate) enum Next<'py> {
    /// Await this and say what came back.
    Await(Bound<'py, PyAny>),
    /// The operation is over, with this result.
    Return(Bound<'py, PyAny>),
}

/// An operation that calls out, as a machine between its awaits.
pub(crate) trait Machine: Traverse + Send + Sync {
    /// Begins the operation.
    fn start<'py>(&mut self, py: Python<'py>) -> PyResult<Next<'py>>;

    /// Goes on after the last awaitable returned `value`.
    fn returned<'py>(&mut self, value: Bound<'py, PyAny>) -> PyResult<Next<'py>>;

    /// Goes on after the last awaitable raised; by default the error is the operation's own.
    fn raised<'py>(&mut self, _py: Python<'py>, error: PyErr) -> PyResult<Next<'py>> {
        Err(error)
    }
}

enum State {
    Fresh(Box<dyn Machine>),
    Waiting(Box<dyn Machine>),
    Running,
    Done(Option<Py<PyAny>>),
}

impl Traverse for State {
    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self {
            Self::Fresh(machine) | Self::Waiting(machine) => machine.traverse(visit),
            Self::Running => Ok(()),
            Self::Done(result) => result.traverse(visit),
        }
    }
}

/// One operation of the kernel in progress, called by the coroutine that drives it.
#[pyclass(frozen, module = "amplifier_core._engine")]
pub(crate) struct Step {
    state: Mutex<State>,
}

traverse!(Step: state);

impl Step {
    fn replace(&self, state: State) -> State {
        let mut guard = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *guard, state)
    }

    fn settle<'py>(
        &self,
        py: Python<'py>,
        machine: Box<dyn Machine>,
        next: PyResult<Next<'py>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match next {
            Ok(Next::Await(awaitable)) => {
                self.replace(State::Waiting(machine));
                Ok(awaitable)
            }
            Ok(Next::Return(result)) => {
                self.replace(State::Done(Some(result.unbind())));
                Ok(PyNone::get(py).to_owned().into_any())
            }
            Err(error) => {
                self.replace(State::Done(None));
                Err(error)
            }
        }
    }

    pub(crate) fn misused() -> PyErr {
        PyRuntimeError::new_err("a coroutine of the kernel can be awaited only once")
    }
}

#[pymethods]
impl Step {
    fn __call__<'py>(&self, value: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = value.py();
        may_go_on()?;
        // The machine is taken out while it runs: it calls Python code, which must find no lock
        // held, and for which a second await of the same coroutine is an error.
        match self.replace(State::Running) {
            State::Fresh(mut machine) => {
                let next = machine.start(py);
                self.settle(py, machine, next)
            }
            State::Waiting(mut machine) => {
                let next = machine.returned(value);
                self.settle(py, machine, next)
            }
            state @ (State::Running | State::Done(_)) => {
                self.replace(state);
                Err(Self::misused())
            }
        }
    }

    fn raised<'py>(&self, error: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = error.py();
        may_go_on()?;
        match self.replace(State::Running) {
            State::Waiting(mut machine) => {
                let next = machine.raised(py, PyErr::from_value(error));
                self.settle(py, machine, next)
            }
            state => {
                self.replace(state);
                Err(Self::misused())
            }
        }
    }

    #[getter]
    fn result(&self) -> PyResult<Py<PyAny>> {
        match self.replace(State::Done(None)) {
            State::Done(Some(result)) => Ok(result),
            state => {
                self.replace(state);
                Err(Self::misused())
            }
        }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.traverse(&visit)
    }

    fn __clear__(&self) {
        self.replace(State::Done(None));
    }
}

/// A coroutine function of `amplifier_core._native.drive` under the name of a method, made once.
pub(crate) struct Driver {
    qualname: &'static str,
    function: LazyObject<Py<PyAny>>,
}

impl Driver {
    /// A driver whose coroutines have this `__qualname__`.
    pub(crate) const fn new(qualname: &'static str) -> Self {
        Self {
            qualname,
            function: LazyObject::new(),
        }
    }

    /// Makes what [`Self::run`] needs, which it otherwise makes at its first call.
    pub(crate) fn prepare(&self, py: Python<'_>) -> PyResult<()> {
        self.function(py, intern!(py, "driver")).map(drop)
    }

    /// The coroutine of an operation.
    pub(crate) fn run<'py>(
        &self,
        py: Python<'py>,
        machine: impl Machine + 'static,
    ) -> PyResult<Bound<'py, PyAny>> {
        let state = Mutex::new(State::Fresh(Box::new(machine)));
        self.function(py, intern!(py, "driver"))?
            .call1((Bound::new(py, Step { state })?,))
    }

    /// The coroutine of an operation that waits for its turn among those of a queue.
    pub(crate) fn run_in_turn<'py>(
        &self,
        py: Python<'py>,
        machine: impl Machine + 'static,
        turns: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let state = Mutex::new(State::Fresh(Box::new(machine)));
        self.function(py, intern!(py, "turn_driver"))?
            .call1((Bound::new(py, Step { state })?, turns))
    }

    /// The coroutine of an operation that was over when it was called; it returns None.
    pub(crate) fn completed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.function(py, intern!(py, "wrap_result"))?
            .call1((py.None(),))
    }

    fn function<'py>(
        &self,
        py: Python<'py>,
        maker: &Bound<'py, PyString>,
    ) -> PyResult<&Bound<'py, PyAny>> {
        let function = self.function.get(py, || {
            let module = py.import("amplifier_core._native.drive")?;
            module
                .call_method1(maker, (self.qualname,))
                .map(Bound::unbind)
        })?;
        Ok(function.bind(py))
    }
}
