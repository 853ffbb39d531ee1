//! `RustSession`: what Python can ask of a session.

pub(crate) mod execute;
pub(crate) mod initialize;
pub(crate) mod plain_plan;
pub(crate) mod shutdown;
pub(crate) mod state;

use std::sync::Mutex;

use amplifier_core::error::SessionError;
use amplifier_core::session;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use pyo3::{PyTraverseError, PyVisit, intern};

use crate::contents::Contents;
use crate::error::Error;
use crate::kernel::coordinator::mounted::{Identity, RustCoordinator};
use crate::kernel::drive::Driver;
use crate::kernel::hook::defaults::Defaults;
use crate::kernel::report::type_name;
use crate::kernel::session::execute::Execute;
use crate::kernel::session::initialize::Initialize;
use crate::kernel::session::shutdown::Shutdown;
use crate::kernel::session::state::{Inside, RustSession};
use crate::lazy_object::ImportedClass;
use crate::module::module;
use crate::traverse::Traverse;
use crate::world;

static TURNS: ImportedClass = ImportedClass::new("amplifier_core.turns", "Turns");
static INITIALIZE: Driver = Driver::new("RustSession.initialize");
static EXECUTE: Driver = Driver::new("RustSession.execute");
static CLEANUP: Driver = Driver::new("RustSession.cleanup");

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
        let session_id = match session_id {
            Some(id) => id,
            None => PyString::new(py, &world::new_uuid(py)?.to_string()),
        };
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
        let turns = TURNS.get(py)?.call0()?;
        let inside = Inside {
            session_id: session_id.unbind(),
            parent_id,
            config: config.clone().unbind(),
            coordinator: coordinator.unbind(),
            state: Mutex::new(session::Session::new(is_resumed)),
            loaded: Mutex::new(None),
            turns: turns.unbind(),
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

    /// The mount plan: the object that was passed in, live.
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
        let turns = slf.get().inside.turns.bind(py);
        EXECUTE.run_in_turn(py, machine, turns)
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
        self.traverse(&visit)
    }
}
