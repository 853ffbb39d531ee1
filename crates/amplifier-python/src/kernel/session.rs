//! `RustSession`: the life of a session as Python sees it.

pub(crate) mod execute;
pub(crate) mod initialize;
pub(crate) mod shutdown;

use std::sync::{Mutex, MutexGuard, PoisonError};

use amplifier_core::error::SessionError;
use amplifier_core::session;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use pyo3::{PyTraverseError, PyVisit, intern};

use crate::contents::Contents;
use crate::error::Error;
use crate::kernel::coordinator::RustCoordinator;
use crate::kernel::coordinator::mounted::Identity;
use crate::kernel::drive::Driver;
use crate::kernel::hook::defaults::Defaults;
use crate::kernel::report::type_name;
use crate::kernel::session::execute::Execute;
use crate::kernel::session::initialize::Initialize;
use crate::kernel::session::shutdown::Shutdown;
use crate::module::module;

static INITIALIZE: Driver = Driver::new("RustSession.initialize");
static EXECUTE: Driver = Driver::new("RustSession.execute");
static CLEANUP: Driver = Driver::new("RustSession.cleanup");

/// Runs turns: it loads the modules of a configuration and has their loop answer prompts.
#[pyclass(frozen, subclass, dict, weakref, module = "amplifier_core._engine")]
pub(crate) struct RustSession {
    inside: Contents<Inside>,
}

/// What a session holds.
struct Inside {
    session_id: Py<PyString>,
    parent_id: Py<PyAny>,
    config: Py<PyDict>,
    coordinator: Py<RustCoordinator>,
    state: Mutex<session::Session>,
    /// Set by whoever waits for a load that runs.
    loaded: Mutex<Option<Py<PyAny>>>,
}

impl RustSession {
    /// The decisions of this session's life.
    pub(crate) fn state(&self) -> MutexGuard<'_, session::Session> {
        self.inside
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn id<'py>(&self, py: Python<'py>) -> &Bound<'py, PyString> {
        self.inside.session_id.bind(py)
    }

    pub(crate) fn parent<'py>(&self, py: Python<'py>) -> &Bound<'py, PyAny> {
        self.inside.parent_id.bind(py)
    }

    pub(crate) fn configuration<'py>(&self, py: Python<'py>) -> &Bound<'py, PyDict> {
        self.inside.config.bind(py)
    }

    pub(crate) fn coordinator<'py>(&self, py: Python<'py>) -> &Bound<'py, RustCoordinator> {
        self.inside.coordinator.bind(py)
    }

    /// The event that a load which runs now sets at its end.
    pub(crate) fn wait_for_load<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let waiting = self.loaded().as_ref().map(|event| event.clone_ref(py));
        if let Some(event) = waiting {
            return Ok(event.into_bound(py));
        }
        let event = py.import("anyio")?.call_method0("Event")?;
        *self.loaded() = Some(event.clone().unbind());
        Ok(event)
    }

    /// Ends a load and wakes whoever waits for it.
    pub(crate) fn end_load(&self, py: Python<'_>, succeeded: bool) -> PyResult<()> {
        self.state().end_initialize(succeeded);
        let event = self.loaded().take();
        match event {
            Some(event) => event.call_method0(py, "set").map(drop),
            None => Ok(()),
        }
    }

    fn loaded(&self) -> MutexGuard<'_, Option<Py<PyAny>>> {
        self.inside
            .loaded
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// A setting of the configuration's section `session`, read live.
    pub(crate) fn setting<'py>(
        &self,
        py: Python<'py>,
        name: &str,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(section) = self
            .inside
            .config
            .bind(py)
            .get_item(intern!(py, "session"))?
        else {
            return Ok(None);
        };
        match section.cast::<PyDict>() {
            Ok(section) => section.get_item(name),
            Err(_) => Ok(None),
        }
    }
}

/// Checks that a configuration names what every session needs.
fn check(config: &Bound<'_, PyDict>) -> Result<(), Error> {
    if config.is_empty() {
        return Err(SessionError::ConfigMissing.into());
    }
    let section = config.get_item("session")?;
    let section = section
        .as_ref()
        .and_then(|section| section.cast::<PyDict>().ok());
    for name in ["orchestrator", "context"] {
        let module = section.map_or(Ok(None), |section| section.get_item(name))?;
        let is_named = module.map_or(Ok(false), |module| module.is_truthy())?;
        if !is_named {
            return Err(SessionError::ModuleMissing(name).into());
        }
    }
    Ok(())
}

#[pymethods]
impl RustSession {
    #[new]
    #[pyo3(signature = (
        config, loader=None, session_id=None, parent_id=None,
        approval_system=None, display_system=None, is_resumed=false,
    ))]
    fn new(
        config: &Bound<'_, PyAny>,
        loader: Option<&Bound<'_, PyAny>>,
        session_id: Option<Bound<'_, PyString>>,
        parent_id: Option<Bound<'_, PyString>>,
        approval_system: Option<&Bound<'_, PyAny>>,
        display_system: Option<&Bound<'_, PyAny>>,
        is_resumed: bool,
    ) -> PyResult<Self> {
        let py = config.py();
        let Ok(config) = config.cast::<PyDict>() else {
            let found = type_name(config);
            return Err(PyTypeError::new_err(format!(
                "`config` must be a dict with a section `session`, not `{found}`"
            )));
        };
        check(config)?;
        let session_id =
            session_id.unwrap_or_else(|| PyString::new(py, &uuid::Uuid::new_v4().to_string()));
        let parent_id = parent_id.map_or_else(|| py.None(), |parent| parent.into_any().unbind());
        let identity = Identity {
            session_id: session_id.clone().into_any(),
            parent_id: parent_id.bind(py).clone(),
            config: config.clone().into_any(),
        };
        let coordinator = RustCoordinator::of_session(identity, approval_system, display_system)?;
        let defaults = Defaults::Session {
            session_id: session_id.clone().unbind(),
            parent_id: parent_id.clone_ref(py),
        };
        coordinator
            .mounted
            .registry(py)
            .get()
            .set_defaults(defaults);
        let coordinator = Bound::new(py, coordinator)?;
        if let Some(loader) = loader {
            coordinator.setattr(intern!(py, "loader"), loader)?;
        }
        let inside = Inside {
            session_id: session_id.unbind(),
            parent_id,
            config: config.clone().unbind(),
            coordinator: coordinator.unbind(),
            state: Mutex::new(session::Session::new(is_resumed)),
            loaded: Mutex::new(None),
        };
        Ok(Self {
            inside: Contents::new(inside),
        })
    }

    /// The id of the session.
    #[getter(session_id)]
    fn get_session_id(&self, py: Python<'_>) -> Py<PyString> {
        self.inside.session_id.clone_ref(py)
    }

    /// The id of the session that this one was forked from, or None.
    #[getter(parent_id)]
    fn get_parent_id(&self, py: Python<'_>) -> Py<PyAny> {
        self.inside.parent_id.clone_ref(py)
    }

    /// The configuration, the same object as was given and live.
    #[getter(config)]
    fn get_config(&self, py: Python<'_>) -> Py<PyDict> {
        self.inside.config.clone_ref(py)
    }

    /// The coordinator, which holds what is mounted.
    #[getter(coordinator)]
    fn get_coordinator(&self, py: Python<'_>) -> Py<RustCoordinator> {
        self.inside.coordinator.clone_ref(py)
    }

    /// Whether the session continues an earlier one.
    #[getter]
    fn is_resumed(&self) -> bool {
        self.state().is_resumed()
    }

    /// Whether the modules are loaded and turns can run.
    #[getter]
    fn initialized(&self) -> bool {
        self.state().is_initialized()
    }

    /// Load and mount the modules of the configuration, once.
    fn initialize<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let machine = Initialize::new(slf.clone().unbind());
        INITIALIZE.run(py, machine)
    }

    /// Run a turn and return the answer.
    fn execute<'py>(
        slf: &Bound<'py, Self>,
        prompt: &Bound<'py, PyString>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if !slf.get().state().is_initialized() {
            return Err(Error::from(SessionError::NotInitialized).into());
        }
        let machine = Execute::new(slf.clone().unbind(), prompt.clone().unbind());
        EXECUTE.run(py, machine)
    }

    /// Announce the end of the session, then run every clean-up function and forget the loader's
    /// paths. A second call has nothing left to do.
    fn cleanup<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let machine = Shutdown::new(slf.clone().unbind());
        CLEANUP.run(py, machine)
    }

    fn __aenter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        module(py, intern!(py, "amplifier_core._session_init"))?
            .call_method1("_session_aenter", (slf,))
    }

    #[pyo3(signature = (*_exception))]
    fn __aexit__<'py>(
        slf: &Bound<'py, Self>,
        _exception: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.call_method0(intern!(slf.py(), "cleanup"))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let session = slf.get();
        let phase = if session.state().is_initialized() {
            "initialized"
        } else {
            "not initialized"
        };
        let name = slf.get_type().name()?;
        Ok(format!(
            "<{name}: {}, {phase}>",
            session.inside.session_id.bind(slf.py()).repr()?
        ))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        let Some(inside) = self.inside.get() else {
            return Ok(());
        };
        visit.call(&inside.config)?;
        visit.call(&inside.coordinator)?;
        match inside.loaded.try_lock() {
            Ok(loaded) => visit.call(&*loaded),
            // A lock that is taken means that the event is being changed: nothing to collect now.
            Err(_) => Ok(()),
        }
    }
}
