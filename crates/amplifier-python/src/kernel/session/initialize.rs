//! `initialize`: the modules of a session are loaded once, however many ask for it, and what the
//! mount plan says in vain is reported.

use pyo3::exceptions::{PyException, PyRuntimeError};
use pyo3::intern;
use pyo3::prelude::*;

use amplifier_core::session::Initialization;

use crate::kernel::awaitable::is_awaitable;
use crate::kernel::drive::{Machine, Next};
use crate::kernel::report::describe;
use crate::kernel::session::plain_plan::is_plain_plan;
use crate::kernel::session::state::RustSession;
use crate::module::module;
use crate::traverse::traverse;

/// How far a load is.
#[derive(Clone, Copy)]
enum Stage {
    /// Another task loads, or nobody yet.
    Waiting,
    Loading,
    Reviewing,
}

/// The machine of `initialize`.
pub(crate) struct Initialize {
    session: Py<RustSession>,
    stage: Stage,
}

traverse!(Initialize: session);

impl Initialize {
    pub(crate) fn new(session: Py<RustSession>) -> Self {
        Self {
            session,
            stage: Stage::Waiting,
        }
    }

    fn load<'py>(&mut self, py: Python<'py>) -> PyResult<Next<'py>> {
        self.stage = Stage::Loading;
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
            self.review(py)
        }
    }

    /// Reports what is wrong with the mount plan, where all modules are mounted.
    fn review<'py>(&mut self, py: Python<'py>) -> PyResult<Next<'py>> {
        self.stage = Stage::Reviewing;
        if !self.is_reviewable(py)? {
            return self.loaded(py);
        }
        let session = self.session.get();
        let review = module(py, intern!(py, "amplifier_core._loading.review"))?.call_method1(
            intern!(py, "review"),
            (session.configuration(py), session.coordinator(py)),
        )?;
        if review.is_none() {
            return self.loaded(py);
        }
        Ok(Next::Await(review))
    }

    /// Whether a review could find anything, which it does in few sessions.
    fn is_reviewable(&self, py: Python<'_>) -> PyResult<bool> {
        let session = self.session.get();
        let coordinator = session.coordinator(py);
        let mounted = &coordinator.get().mounted;
        if !is_plain_plan(session.configuration(py))
            || !mounted.approval(py).is_none()
            || mounted.registry(py).get().state().registry.next_serial() > 0
        {
            return Ok(true);
        }
        match coordinator.getattr_opt(intern!(py, "_load_report"))? {
            Some(report) if !report.is_none() => report.is_truthy(),
            _ => Ok(false),
        }
    }

    /// The error of a failed load, which lists all mistakes where the plan is strict.
    fn reviewed(&self, py: Python<'_>, error: PyErr) -> PyResult<PyErr> {
        let session = self.session.get();
        let reviewed = module(py, intern!(py, "amplifier_core._loading.review"))?.call_method1(
            intern!(py, "reviewed_failure"),
            (
                session.configuration(py),
                session.coordinator(py),
                error.into_value(py),
            ),
        )?;
        Ok(PyErr::from_value(reviewed))
    }

    fn loaded<'py>(&mut self, py: Python<'py>) -> PyResult<Next<'py>> {
        self.stage = Stage::Waiting;
        let session = self.session.get();
        session.note_stored(py)?;
        session.end_load(py, true)?;
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
        match self.stage {
            Stage::Waiting => self.start(py),
            Stage::Loading => self.review(py).or_else(|error| self.raised(py, error)),
            Stage::Reviewing => self.loaded(py),
        }
    }

    fn raised<'py>(&mut self, py: Python<'py>, error: PyErr) -> PyResult<Next<'py>> {
        let failed = std::mem::replace(&mut self.stage, Stage::Waiting);
        if matches!(failed, Stage::Waiting) {
            return Err(error);
        }
        self.session.get().end_load(py, false)?;
        if matches!(failed, Stage::Loading) && error.is_instance_of::<PyException>(py) {
            return Err(wrapped(py, self.reviewed(py, error)?));
        }
        Err(wrapped(py, error))
    }
}
