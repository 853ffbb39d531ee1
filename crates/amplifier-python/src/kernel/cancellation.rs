//! `RustCancellationToken`: cancellation as Python sees it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use amplifier_core::cancellation::{Cancellation, CancellationState};
use pyo3::exceptions::{PyKeyboardInterrupt, PySystemExit, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PySet};
use pyo3::{PyTraverseError, PyVisit, intern};

use crate::contents::Contents;
use crate::kernel::drive::Driver;
use crate::kernel::report::{Level, Logger, is_own_failure, log, type_name};
use crate::kernel::sequence::{Fate, Functions, Sequence};
use crate::traverse::{Traverse, traverse};

static TRIGGER_CALLBACKS: Driver = Driver::new("RustCancellationToken.trigger_callbacks");

type State = Cancellation<Py<PyAny>, Py<PyAny>>;

/// Stops a session and its children, gracefully or at once.
#[pyclass(frozen, subclass, dict, weakref, module = "amplifier_core._engine")]
#[derive(Default)]
pub(crate) struct RustCancellationToken {
    state: Contents<Mutex<State>>,
}

traverse!(RustCancellationToken: state);

impl RustCancellationToken {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The level now.
    pub(crate) fn level(&self) -> CancellationState {
        self.state().state()
    }

    /// Raises the level here, then at every child; true if it rose here.
    fn request(&self, py: Python<'_>, level: CancellationState) -> PyResult<bool> {
        let children: Vec<Py<PyAny>> = {
            let mut state = self.state();
            if !state.request(level) {
                return Ok(false);
            }
            state
                .children()
                .iter()
                .map(|child| child.clone_ref(py))
                .collect()
        };
        for child in children {
            pass_on(child.bind(py), level)?;
        }
        Ok(true)
    }
}

/// Asks a child token, of either engine, for a level.
fn pass_on(child: &Bound<'_, PyAny>, level: CancellationState) -> PyResult<()> {
    let py = child.py();
    match level {
        CancellationState::None => return Ok(()),
        CancellationState::Graceful => child.call_method0(intern!(py, "request_graceful"))?,
        CancellationState::Immediate => child.call_method0(intern!(py, "request_immediate"))?,
    };
    Ok(())
}

/// Refuses what could not be asked for a level later, when others have to be asked too.
fn check_child(child: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = child.py();
    for request in [
        intern!(py, "request_graceful"),
        intern!(py, "request_immediate"),
    ] {
        if !child
            .getattr_opt(request)?
            .is_some_and(|one| one.is_callable())
        {
            return Err(PyTypeError::new_err(format!(
                "`child` must be a cancellation token, not `{}`",
                type_name(child)
            )));
        }
    }
    Ok(())
}

#[pymethods]
impl RustCancellationToken {
    #[new]
    #[pyo3(signature = ())]
    fn new() -> Self {
        Self::default()
    }

    /// The level: "none", "graceful" or "immediate".
    #[getter(state)]
    fn state_name(&self) -> &'static str {
        self.level().as_str()
    }

    /// Whether cancellation was requested, gracefully or at once.
    #[getter]
    fn is_cancelled(&self) -> bool {
        self.level() != CancellationState::None
    }

    /// Whether the level is exactly graceful.
    #[getter]
    fn is_graceful(&self) -> bool {
        self.level() == CancellationState::Graceful
    }

    /// Whether everything has to stop at once.
    #[getter]
    fn is_immediate(&self) -> bool {
        self.level() == CancellationState::Immediate
    }

    /// The ids of the tool calls that run now.
    #[getter]
    fn running_tools<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PySet>> {
        let ids: Vec<String> = self
            .state()
            .running_tools()
            .map(|(id, _)| id.to_owned())
            .collect();
        PySet::new(py, ids)
    }

    /// The names of the tools that run now.
    #[getter]
    fn running_tool_names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let names: Vec<String> = self
            .state()
            .running_tools()
            .map(|(_, name)| name.to_owned())
            .collect();
        PyList::new(py, names)
    }

    /// Ask to stop after what runs now; true if nothing was requested before.
    fn request_graceful(&self, py: Python<'_>) -> PyResult<bool> {
        self.request(py, CancellationState::Graceful)
    }

    /// Ask to stop at once; true if that was not requested before.
    fn request_immediate(&self, py: Python<'_>) -> PyResult<bool> {
        self.request(py, CancellationState::Immediate)
    }

    /// Ask to stop after what runs now.
    fn request_cancellation(&self, py: Python<'_>) -> PyResult<()> {
        self.request(py, CancellationState::Graceful).map(drop)
    }

    /// Back to not cancelled, with no running tools; children and callbacks stay as they are.
    fn reset(&self) {
        self.state().reset();
    }

    /// Note that a tool call runs.
    fn register_tool_start(&self, tool_call_id: String, tool_name: String) {
        self.state().tool_started(tool_call_id, tool_name);
    }

    /// Note that a tool call is over; an unknown one is ignored.
    fn register_tool_complete(&self, tool_call_id: &str) {
        self.state().tool_completed(tool_call_id);
    }

    /// Pass every request on to this token too, and what was requested already at once.
    fn register_child(&self, child: &Bound<'_, PyAny>) -> PyResult<()> {
        check_child(child)?;
        let level = self.state().add_child(child.clone().unbind());
        pass_on(child, level)
    }

    /// Stop passing requests on to this token, however often it was registered; an unknown one is
    /// ignored.
    fn unregister_child(&self, child: &Bound<'_, PyAny>) {
        let removed = self.state().remove_children(|known| known.is(child));
        drop(removed);
    }

    /// Run a function, plain or async, whenever `trigger_callbacks` is called.
    fn on_cancel(&self, callback: Py<PyAny>) {
        self.state().add_callback(callback);
    }

    /// Run every callback in the order of registration; what they raise is logged.
    fn trigger_callbacks<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let callbacks = Callbacks {
            token: slf.clone().unbind(),
            left: None,
        };
        TRIGGER_CALLBACKS.run(py, Sequence::new(callbacks))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let name = slf.get_type().name()?;
        Ok(format!("<{name}: {}>", slf.get().level().as_str()))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.traverse(&visit)
    }

    fn __clear__(&self) {
        let taken = self.state().clear();
        drop(taken);
    }
}

/// The callbacks of a token, as they are when the first of them is called.
struct Callbacks {
    token: Py<RustCancellationToken>,
    /// The callbacks still to run, the next one last; none before the first call.
    left: Option<Vec<Py<PyAny>>>,
}

traverse!(Callbacks: token, left);

impl Functions for Callbacks {
    fn next<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let token = self.token.get();
        let left = self.left.get_or_insert_with(|| {
            let state = token.state();
            let callbacks = state.callbacks().iter().rev();
            callbacks.map(|callback| callback.clone_ref(py)).collect()
        });
        Ok(left.pop().map(|callback| callback.into_bound(py)))
    }

    fn judge(&self, py: Python<'_>, error: &PyErr) -> Fate {
        if is_own_failure(py, error) {
            let message = "cancellation callback failed; continuing";
            log(py, Logger::Cancellation, Level::Error, message, Some(error));
            Fate::Reported
        } else if error.is_instance_of::<PyKeyboardInterrupt>(py)
            || error.is_instance_of::<PySystemExit>(py)
        {
            Fate::Held
        } else {
            // The task itself is cancelled, or its coroutine closed.
            Fate::Raised
        }
    }
}
