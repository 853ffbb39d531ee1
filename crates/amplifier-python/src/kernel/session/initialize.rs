//! `initialize`: the modules of a session are loaded once, however many ask for it.

use pyo3::exceptions::{PyException, PyRuntimeError};
use pyo3::intern;
use pyo3::prelude::*;

use amplifier_core::session::Initialization;

use crate::kernel::awaitable::is_awaitable;
use crate::kernel::drive::{Machine, Next};
use crate::kernel::report::describe;
use crate::kernel::session::state::RustSession;
use crate::module::module;
use crate::traverse::traverse;

/// The machine of `initialize`.
pub(crate) struct Initialize {
    session: Py<RustSession>,
    is_loading: bool,
}

traverse!(Initialize: session);

impl Initialize {
    pub(crate) fn new(session: Py<RustSession>) -> Self {
        Self {
            session,
            is_loading: false,
        }
    }

    fn load<'py>(&mut self, py: Python<'py>) -> PyResult<Next<'py>> {
        self.is_loading = true;
        let session = self.session.bind(py);
        let inside = session.get();
        let coordinator = inside.coordinator(py);
        coordinator.call_method1(intern!(py, "_set_session"), (session,))?;
        let value = module(py, intern!(py, "amplifier_core._session_init"))?.call_method1(
            intern!(py, "initialize_session"),
            (
                inside.configuration(py),
                coordinator,
                inside.id(py),
                inside.parent(py),
            ),
        )?;
        if is_awaitable(&value)? {
            Ok(Next::Await(value))
        } else {
            self.loaded(py)
        }
    }

    fn loaded<'py>(&mut self, py: Python<'py>) -> PyResult<Next<'py>> {
        self.is_loading = false;
        self.session.get().end_load(py, true)?;
        Ok(Next::Return(py.None().into_bound(py)))
    }
}

/// What a failed load raises: a `RuntimeError` as it is, any other exception as its cause.
fn wrapped(py: Python<'_>, error: PyErr) -> PyErr {
    if error.is_instance_of::<PyRuntimeError>(py) || !error.is_instance_of::<PyException>(py) {
        return error;
    }
    let message = format!("Session initialization failed: {}", describe(py, &error));
    let wrapper = PyRuntimeError::new_err(message);
    wrapper.set_cause(py, Some(error));
    wrapper
}

impl Machine for Initialize {
    fn start<'py>(&mut self, py: Python<'py>) -> PyResult<Next<'py>> {
        let begun = self.session.get().state().begin_initialize();
        match begun {
            Initialization::Done => Ok(Next::Return(py.None().into_bound(py))),
            Initialization::Wait => {
                let event = self.session.get().wait_for_load(py)?;
                Ok(Next::Await(event.call_method0(intern!(py, "wait"))?))
            }
            Initialization::Load => self.load(py).or_else(|error| self.raised(py, error)),
        }
    }

    fn returned<'py>(&mut self, value: Bound<'py, PyAny>) -> PyResult<Next<'py>> {
        let py = value.py();
        if self.is_loading {
            self.loaded(py)
        } else {
            self.start(py)
        }
    }

    fn raised<'py>(&mut self, py: Python<'py>, error: PyErr) -> PyResult<Next<'py>> {
        if !self.is_loading {
            return Err(error);
        }
        self.is_loading = false;
        self.session.get().end_load(py, false)?;
        Err(wrapped(py, error))
    }
}
