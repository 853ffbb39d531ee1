//! `execute`: a session announces itself, then its loop answers a prompt.

use amplifier_core::cancellation::CancellationState;
use amplifier_core::event;
use pyo3::exceptions::{PyGeneratorExit, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use pyo3::{PyTraverseError, PyVisit, intern};

use crate::error::Error;
use crate::kernel::drive::{Machine, Next, Step};
use crate::kernel::hook::registry::RustHookRegistry;
use crate::kernel::report::{describe, type_name};
use crate::kernel::session::state::RustSession;
use crate::module::module;
use crate::traverse::{Traverse, traverse};

/// How far a turn is.
enum Stage {
    Announcing,
    Disclosing,
    Running,
    /// The loop has answered, and the cancellation that it obeyed is announced.
    Answered(Py<PyAny>),
    /// The loop has failed, and the cancellation that it obeyed is announced.
    Failed(PyErr),
    Over,
}

impl Stage {
    /// The end of the turn.
    fn over(self, py: Python<'_>) -> PyResult<Next<'_>> {
        match self {
            Self::Answered(answer) => Ok(Next::Return(answer.into_bound(py))),
            Self::Failed(error) => Err(error),
            Self::Announcing | Self::Disclosing | Self::Running | Self::Over => {
                Err(Step::misused())
            }
        }
    }
}

impl Traverse for Stage {
    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self {
            Self::Answered(answer) => answer.traverse(visit),
            Self::Announcing | Self::Disclosing | Self::Running | Self::Failed(_) | Self::Over => {
                Ok(())
            }
        }
    }
}

/// The machine of `execute`.
pub(crate) struct Execute {
    session: Py<RustSession>,
    prompt: Py<PyString>,
    stage: Stage,
    /// How often `cancel:completed` was emitted before the loop ran.
    told_before: usize,
    /// Whether everything had to stop immediately before the turn began.
    was_immediate: bool,
}

traverse!(Execute: session, stage);

impl Execute {
    pub(crate) fn new(session: Py<RustSession>, prompt: Py<PyString>) -> Self {
        Self {
            session,
            prompt,
            stage: Stage::Announcing,
            told_before: 0,
            was_immediate: false,
        }
    }

    fn emit<'py>(
        &self,
        py: Python<'py>,
        event: &str,
        data: &Bound<'py, PyDict>,
    ) -> PyResult<Next<'py>> {
        let registry = self
            .session
            .get()
            .coordinator(py)
            .get()
            .mounted
            .registry(py);
        registry
            .call_method1(intern!(py, "emit"), (event, data))
            .map(Next::Await)
    }

    /// Emits the raw configuration where it asks for that.
    fn disclose<'py>(&mut self, py: Python<'py>) -> PyResult<Next<'py>> {
        let session = self.session.get();
        let raw = session.setting(py, "raw")?;
        if !raw.map_or(Ok(false), |raw| raw.is_truthy())? {
            return self.run(py);
        }
        self.stage = Stage::Disclosing;
        let disclosed = module(py, intern!(py, "amplifier_core._session_exec"))?.call_method1(
            intern!(py, "emit_raw_field_if_configured"),
            (
                session.coordinator(py),
                session.configuration(py),
                session.id(py),
                event::SESSION_CONFIG,
            ),
        )?;
        Ok(Next::Await(disclosed))
    }

    fn run<'py>(&mut self, py: Python<'py>) -> PyResult<Next<'py>> {
        self.stage = Stage::Running;
        self.told_before = self.told(py);
        let session = self.session.get();
        let module = module(py, intern!(py, "amplifier_core._session_exec"))?;
        let (coordinator, prompt) = (session.coordinator(py), self.prompt.bind(py));
        let name = intern!(py, "run_orchestrator");
        // A stop that was asked for in this turn, while hooks ran that the session called.
        let is_stopping = !self.was_immediate && self.is_immediate(py);
        let running = if is_stopping {
            module.call_method1(name, (coordinator, prompt, is_stopping))?
        } else {
            module.call_method1(name, (coordinator, prompt))?
        };
        Ok(Next::Await(running))
    }

    fn level(&self, py: Python<'_>) -> CancellationState {
        let coordinator = self.session.get().coordinator(py).get();
        coordinator.mounted.cancellation_level()
    }

    fn is_immediate(&self, py: Python<'_>) -> bool {
        self.level(py) == CancellationState::Immediate
    }

    /// How often `cancel:completed` was emitted.
    fn told(&self, py: Python<'_>) -> usize {
        let coordinator = self.session.get().coordinator(py).get();
        coordinator
            .mounted
            .registry(py)
            .get()
            .state()
            .cancellations_told
    }

    /// The payload of `cancel:completed`, if the turn was cancelled and its loop has not said so.
    fn cancellation<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let level = self.level(py);
        if level == CancellationState::None || self.told(py) != self.told_before {
            return Ok(None);
        }
        let data = PyDict::new(py);
        data.set_item(
            intern!(py, "was_immediate"),
            level == CancellationState::Immediate,
        )?;
        Ok(Some(data))
    }

    fn answered<'py>(&mut self, answer: Bound<'py, PyAny>) -> PyResult<Next<'py>> {
        let py = answer.py();
        let ended = if answer.is_instance_of::<PyString>() {
            Stage::Answered(answer.unbind())
        } else {
            Stage::Failed(PyTypeError::new_err(format!(
                "the orchestrator must return the answer as a str, not `{}`",
                type_name(&answer)
            )))
        };
        match self.cancellation(py)? {
            None => ended.over(py),
            Some(data) => {
                self.stage = ended;
                self.emit(py, event::CANCEL_COMPLETED, &data)
            }
        }
    }
}

impl Machine for Execute {
    fn start<'py>(&mut self, py: Python<'py>) -> PyResult<Next<'py>> {
        self.was_immediate = self.is_immediate(py);
        let session = self.session.get();
        session.note_stored(py)?;
        let begun = session.state().begin_turn();
        let Some(announcement) = begun.map_err(Error::from)? else {
            return self.disclose(py);
        };
        let registry = session.coordinator(py).get().mounted.registry(py);
        if RustHookRegistry::is_unheard(registry, announcement)? {
            return self.disclose(py);
        }
        let data = PyDict::new(py);
        data.set_item(intern!(py, "session_id"), session.id(py))?;
        data.set_item(intern!(py, "parent_id"), session.parent(py))?;
        if let Some(metadata) = session.setting(py, "metadata")?
            && metadata.is_truthy()?
        {
            data.set_item(intern!(py, "metadata"), metadata)?;
        }
        module(py, intern!(py, "amplifier_core._session_exec"))?
            .call_method1(
                intern!(py, "announce"),
                (session.coordinator(py), announcement, data),
            )
            .map(Next::Await)
    }

    fn returned<'py>(&mut self, value: Bound<'py, PyAny>) -> PyResult<Next<'py>> {
        let py = value.py();
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Announcing => self.disclose(py),
            Stage::Disclosing => self.run(py),
            Stage::Running => self.answered(value),
            ended @ (Stage::Answered(_) | Stage::Failed(_) | Stage::Over) => ended.over(py),
        }
    }

    fn raised<'py>(&mut self, py: Python<'py>, error: PyErr) -> PyResult<Next<'py>> {
        let is_running = matches!(self.stage, Stage::Running);
        if !is_running || error.is_instance_of::<PyGeneratorExit>(py) {
            return Err(error);
        }
        match self.cancellation(py)? {
            None => Err(error),
            Some(data) => {
                data.set_item(intern!(py, "error"), describe(py, &error))?;
                self.stage = Stage::Failed(error);
                self.emit(py, event::CANCEL_COMPLETED, &data)
            }
        }
    }
}
