//! `cleanup` of a session: its end is announced while hooks still hear it.

use amplifier_core::event;
use pyo3::exceptions::{PyException, PyGeneratorExit, PyKeyboardInterrupt, PySystemExit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict};

use crate::kernel::awaitable::is_awaitable;
use crate::kernel::drive::{Machine, Next};
use crate::kernel::hook::registry::RustHookRegistry;
use crate::kernel::report::{Level, Logger, describe, is_own_failure, log};
use crate::kernel::session::state::RustSession;
use crate::traverse::traverse;

/// What is being done.
#[derive(Clone, Copy)]
enum Stage {
    Announcing,
    Cleaning,
    Unloading,
}

/// The machine of a session's `cleanup`.
pub(crate) struct Shutdown {
    session: Py<RustSession>,
    stage: Stage,
    /// The cancellation of the task itself, raised when all is done.
    cancelled: Option<PyErr>,
}

traverse!(Shutdown: session);

impl Shutdown {
    pub(crate) fn new(session: Py<RustSession>) -> Self {
        Self {
            session,
            stage: Stage::Announcing,
            cancelled: None,
        }
    }

    /// Goes on with the stage after this one, past every stage that has nothing to await.
    fn go_on<'py>(&mut self, py: Python<'py>) -> PyResult<Next<'py>> {
        loop {
            let attempt = match self.stage {
                Stage::Announcing => {
                    self.stage = Stage::Cleaning;
                    self.clean(py)
                }
                Stage::Cleaning => {
                    self.stage = Stage::Unloading;
                    self.unload(py)
                }
                Stage::Unloading => {
                    return match self.cancelled.take() {
                        Some(error) => Err(error),
                        None => Ok(Next::Return(py.None().into_bound(py))),
                    };
                }
            };
            match attempt {
                Ok(value) if is_awaitable(&value)? => return Ok(Next::Await(value)),
                Ok(_) => {}
                Err(error) => self.note(py, error)?,
            }
        }
    }

    /// Calls `cleanup` of the coordinator, unless that would do nothing.
    fn clean<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let coordinator = self.session.get().coordinator(py);
        let cleanup = coordinator.getattr(intern!(py, "cleanup"))?;
        if cleanup.is_exact_instance_of::<PyCFunction>()
            && !coordinator.get().mounted.has_cleanup_functions(py)
        {
            return Ok(py.None().into_bound(py));
        }
        cleanup.call0()
    }

    fn unload<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let loader = self
            .session
            .get()
            .coordinator(py)
            .getattr(intern!(py, "loader"))?;
        match loader.getattr_opt(intern!(py, "cleanup"))? {
            Some(cleanup) => cleanup.call0(),
            None => Ok(py.None().into_bound(py)),
        }
    }

    /// Logs an error, as the rest has to be cleaned up all the same.
    fn note(&mut self, py: Python<'_>, error: PyErr) -> PyResult<()> {
        if error.is_instance_of::<PyGeneratorExit>(py) {
            return Err(error);
        }
        let is_logged = is_own_failure(py, &error)
            || error.is_instance_of::<PyException>(py)
            || error.is_instance_of::<PyKeyboardInterrupt>(py)
            || error.is_instance_of::<PySystemExit>(py);
        if is_logged {
            let message = format!("Error during session cleanup: {}", describe(py, &error));
            log(py, Logger::Session, Level::Error, &message, Some(&error));
        } else {
            self.cancelled.get_or_insert(error);
        }
        Ok(())
    }
}

impl Machine for Shutdown {
    fn start<'py>(&mut self, py: Python<'py>) -> PyResult<Next<'py>> {
        let session = self.session.get();
        let was_open = session.state().close();
        if !was_open {
            return self.go_on(py);
        }
        let registry = session.coordinator(py).get().mounted.registry(py);
        if RustHookRegistry::is_unheard(registry, event::SESSION_END)? {
            return self.go_on(py);
        }
        let data = PyDict::new(py);
        data.set_item(intern!(py, "session_id"), session.id(py))?;
        let emitted = registry.call_method1(intern!(py, "emit"), (event::SESSION_END, data))?;
        Ok(Next::Await(emitted))
    }

    fn returned<'py>(&mut self, value: Bound<'py, PyAny>) -> PyResult<Next<'py>> {
        self.go_on(value.py())
    }

    fn raised<'py>(&mut self, py: Python<'py>, error: PyErr) -> PyResult<Next<'py>> {
        self.note(py, error)?;
        self.go_on(py)
    }
}
