//! `RustCancellationToken`: cancellation as Python sees it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use amplifier_core::cancellation::{Cancellation, CancellationState};
use pyo3::exceptions::{PyKeyboardInterrupt, PySystemExit, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyList, PySet, PyString};
use pyo3::{PyTraverseError, PyVisit, intern};

use crate::contents::Contents;
use crate::kernel::drive::Driver;
use crate::kernel::report::{Level, Logger, is_own_failure, log, type_name};
use crate::kernel::sequence::{Fate, Functions, Sequence};
use crate::module::loaded;
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
        let Some(children) = self.rise(py, level) else {
            return Ok(false);
        };
        pass_on(py, children, level)?;
        Ok(true)
    }

    /// Raises the level here alone; the children that have to follow, or `None` if it did not
    /// rise.
    fn rise(&self, py: Python<'_>, level: CancellationState) -> Option<Vec<Py<PyAny>>> {
        let mut state = self.state();
        let children = |state: &State| {
            let children = state.children().iter();
            children.map(|child| child.clone_ref(py)).collect()
        };
        state.request(level).then(|| children(&state))
    }
}

/// Asks tokens and all that follow them, of either engine, for a level.
///
/// A list instead of calls within calls: tokens may be nested deeper than a stack is. All are
/// asked, whatever some of them raise; the first error is raised at the end.
fn pass_on(py: Python<'_>, tokens: Vec<Py<PyAny>>, level: CancellationState) -> PyResult<()> {
    let request = match level {
        CancellationState::None => return Ok(()),
        CancellationState::Graceful => intern!(py, "request_graceful"),
        CancellationState::Immediate => intern!(py, "request_immediate"),
    };
    let mut failure = None;
    let mut waiting = tokens;
    waiting.reverse();
    while let Some(token) = waiting.pop() {
        match ask(token.bind(py), request, level) {
            Ok(followers) => waiting.extend(followers.into_iter().rev()),
            Err(error) => {
                failure.get_or_insert(error);
            }
        }
    }
    failure.map_or(Ok(()), Err)
}

/// Asks one token for a level; returns the children that it leaves to be asked.
fn ask(
    token: &Bound<'_, PyAny>,
    request: &Bound<'_, PyString>,
    level: CancellationState,
) -> PyResult<Vec<Py<PyAny>>> {
    let py = token.py();
    let method = token.getattr(request)?;
    // A method of a subclass or of the instance itself is called; it asks its children itself.
    if let Ok(own) = token.cast::<RustCancellationToken>() {
        let is_own = method.is_exact_instance_of::<PyCFunction>()
            && method.getattr(intern!(py, "__self__"))?.is(token)
            && method.getattr(intern!(py, "__name__"))?.eq(request)?;
        if is_own {
            return Ok(own.get().rise(py, level).unwrap_or_default());
        }
    } else if let Some(children) = rise_of_twin(token, &method, request, level)? {
        return Ok(children);
    }
    method.call0()?;
    Ok(Vec::new())
}

/// Raises the level of a token in plain Python; `None` if it is not one, or not as it was made.
fn rise_of_twin(
    token: &Bound<'_, PyAny>,
    method: &Bound<'_, PyAny>,
    request: &Bound<'_, PyString>,
    level: CancellationState,
) -> PyResult<Option<Vec<Py<PyAny>>>> {
    let py = token.py();
    // Without its module in the process, there is none.
    let Some(module) = loaded(py)?.get_item(intern!(py, "amplifier_core.cancellation"))? else {
        return Ok(None);
    };
    let is_own = module.call_method1(intern!(py, "_is_own"), (method, token, request))?;
    if !is_own.is_truthy()? {
        return Ok(None);
    }
    let children = token.call_method1(intern!(py, "_rise"), (level as u8,))?;
    children.extract().map(Some)
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

    /// Raise the level here alone, to 1 or 2; return the children that have to follow.
    fn _rise(&self, py: Python<'_>, level: u8) -> Vec<Py<PyAny>> {
        let level = if level > 1 {
            CancellationState::Immediate
        } else {
            CancellationState::Graceful
        };
        self.rise(py, level).unwrap_or_default()
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
        pass_on(child.py(), vec![child.clone().unbind()], level)
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
