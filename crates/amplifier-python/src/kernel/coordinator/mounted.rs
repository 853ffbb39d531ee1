//! A coordinator: its class, what it holds, and what the kernel itself asks of it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use amplifier_core::cancellation::CancellationState;
use amplifier_core::coordinator::{InjectionLimits, Slot, SlotKind};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyWeakrefReference};

use crate::contents::Contents;
use crate::kernel::cancellation::RustCancellationToken;
use crate::kernel::hook::registry::RustHookRegistry;
use crate::module::module;
use crate::traverse::traverse;

/// Holds a session's modules, hooks, capabilities and clean-up functions.
#[pyclass(frozen, subclass, dict, weakref, module = "amplifier_core._engine")]
pub(crate) struct RustCoordinator {
    pub(crate) mounted: Contents<Mounted>,
}

impl RustCoordinator {
    /// The coordinator of a session that is being made.
    pub(crate) fn of_session(
        identity: Identity<'_>,
        approval_system: Option<&Bound<'_, PyAny>>,
        display_system: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let py = identity.session_id.py();
        let mounted = Mounted::new(py, identity, None, approval_system, display_system)?;
        Ok(Self {
            mounted: Contents::new(mounted),
        })
    }
}

traverse!(RustCoordinator: mounted);

/// Has an error name the value that it is about, in a note, as those about arguments do.
pub(crate) fn named<T>(py: Python<'_>, name: &str, result: PyResult<T>) -> PyResult<T> {
    result.or_else(|error| {
        error.add_note(py, format!("while processing '{name}'"))?;
        Err(error)
    })
}

/// The key of a slot in `mount_points`, made once.
pub(crate) fn key(py: Python<'_>, slot: Slot) -> &Bound<'_, PyString> {
    match slot {
        Slot::Orchestrator => intern!(py, "orchestrator"),
        Slot::Providers => intern!(py, "providers"),
        Slot::Tools => intern!(py, "tools"),
        Slot::Context => intern!(py, "context"),
        Slot::Hooks => intern!(py, "hooks"),
        Slot::ModuleSourceResolver => intern!(py, "module-source-resolver"),
    }
}

/// The fields that Python code can replace.
pub(crate) struct State {
    /// The object given as the session; for a session's own coordinator, its namespace, made at the
    /// first access.
    pub(crate) owner: Option<Py<PyAny>>,
    /// The session that owns this coordinator. It holds the coordinator, so a strong reference
    /// back would leave each dropped session to the cycle collector.
    pub(crate) session: Option<Py<PyWeakrefReference>>,
    pub(crate) mount_points: Py<PyDict>,
    pub(crate) loader: Py<PyAny>,
    pub(crate) approval_system: Py<PyAny>,
    pub(crate) display_system: Py<PyAny>,
    pub(crate) injected_tokens: i64,
    /// Made when first asked for, as is what follows: most sessions of many never use it.
    pub(crate) cancellation: Option<Py<RustCancellationToken>>,
    pub(crate) shared: Option<Py<PyDict>>,
    pub(crate) capabilities: Option<Py<PyDict>>,
    pub(crate) cleanup_functions: Option<Py<PyList>>,
    pub(crate) channels: Option<Py<PyDict>>,
}

traverse!(
    State: owner, session, mount_points, loader, approval_system, display_system, cancellation,
    shared, capabilities, cleanup_functions, channels,
);

/// Whose coordinator it is.
pub(crate) struct Identity<'py> {
    pub(crate) session_id: Bound<'py, PyAny>,
    pub(crate) parent_id: Bound<'py, PyAny>,
    pub(crate) config: Bound<'py, PyAny>,
}

/// The contents of a coordinator.
pub(crate) struct Mounted {
    pub(crate) session_id: Py<PyAny>,
    pub(crate) parent_id: Py<PyAny>,
    pub(crate) config: Py<PyAny>,
    pub(crate) hooks: Py<RustHookRegistry>,
    state: Mutex<State>,
}

traverse!(Mounted: config, hooks, state);

impl Mounted {
    /// The fields that Python code can replace, locked.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a value in the place of another, which is dropped outside the lock.
    pub(crate) fn put<T>(&self, value: T, place: impl FnOnce(&mut State) -> &mut T) {
        let before = std::mem::replace(place(&mut self.state()), value);
        drop(before);
    }

    /// The value of a field that is made at the first access.
    ///
    /// It is made outside the lock, as making it may run the collector, and that any code.
    fn filled<'py, T>(
        &self,
        py: Python<'py>,
        place: impl Fn(&mut State) -> &mut Option<Py<T>>,
        fill: impl FnOnce() -> PyResult<Bound<'py, T>>,
    ) -> PyResult<Bound<'py, T>> {
        if let Some(found) = place(&mut self.state()).as_ref() {
            return Ok(found.bind(py).clone());
        }
        let made = fill()?;
        let mut state = self.state();
        let found = place(&mut state).get_or_insert_with(|| made.clone().unbind());
        Ok(found.bind(py).clone())
    }

    /// The object given as the session, else a namespace with the ids and the mount plan.
    pub(crate) fn owner<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let namespace = || {
            let fields = PyDict::new(py);
            fields.set_item(intern!(py, "session_id"), &self.session_id)?;
            fields.set_item(intern!(py, "parent_id"), &self.parent_id)?;
            fields.set_item(intern!(py, "config"), &self.config)?;
            module(py, intern!(py, "types"))?
                .getattr("SimpleNamespace")?
                .call((), Some(&fields))
        };
        self.filled(py, |state| &mut state.owner, namespace)
    }

    /// What modules share, live.
    pub(crate) fn shared<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.filled(py, |state| &mut state.shared, || Ok(PyDict::new(py)))
    }

    /// The values offered by name, live.
    pub(crate) fn capabilities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.filled(py, |state| &mut state.capabilities, || Ok(PyDict::new(py)))
    }

    /// The values offered by name, if there ever were any.
    pub(crate) fn capabilities_so_far<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyDict>> {
        let state = self.state();
        Some(state.capabilities.as_ref()?.bind(py).clone())
    }

    /// The clean-up functions, live.
    pub(crate) fn cleanup_functions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let empty = || Ok(PyList::empty(py));
        self.filled(py, |state| &mut state.cleanup_functions, empty)
    }

    /// Whether there is a clean-up function now.
    pub(crate) fn has_cleanup_functions(&self, py: Python<'_>) -> bool {
        let functions = self
            .state()
            .cleanup_functions
            .as_ref()
            .map(|all| all.clone_ref(py));
        functions.is_some_and(|functions| !functions.bind(py).is_empty())
    }

    /// The contributors by channel, live.
    pub(crate) fn channels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.filled(py, |state| &mut state.channels, || Ok(PyDict::new(py)))
    }

    pub(crate) fn approval<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.state().approval_system.bind(py).clone()
    }

    pub(crate) fn display<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.state().display_system.bind(py).clone()
    }

    /// The tokens that hooks have injected in this turn.
    pub(crate) fn turn_injections(&self) -> i64 {
        self.state().injected_tokens
    }

    pub(crate) fn set_turn_injections(&self, tokens: i64) {
        self.state().injected_tokens = tokens;
    }

    /// A whole number from the configuration's section `session`, read live.
    pub(crate) fn session_setting(&self, py: Python<'_>, name: &str) -> PyResult<Option<i64>> {
        let Ok(config) = self.config.bind(py).cast::<PyDict>() else {
            return Ok(None);
        };
        let Some(section) = config.get_item(intern!(py, "session"))? else {
            return Ok(None);
        };
        let Ok(section) = section.cast::<PyDict>() else {
            return Ok(None);
        };
        match section.get_item(name)? {
            Some(value) if !value.is_none() => {
                named(py, &format!("config.session.{name}"), value.extract()).map(Some)
            }
            _ => Ok(None),
        }
    }

    pub(crate) fn injection_limits(&self, py: Python<'_>) -> PyResult<InjectionLimits> {
        Ok(InjectionLimits {
            size: self.session_setting(py, "injection_size_limit")?,
            budget: self.session_setting(py, "injection_budget_per_turn")?,
            total: self.session_setting(py, "injection_limit_per_turn")?,
        })
    }

    /// Nothing mounted yet, for the session of this identity.
    pub(crate) fn new(
        py: Python<'_>,
        identity: Identity<'_>,
        session: Option<&Bound<'_, PyAny>>,
        approval_system: Option<&Bound<'_, PyAny>>,
        display_system: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let or_none = |value: Option<&Bound<'_, PyAny>>| {
            value.map_or_else(|| py.None(), |value| value.clone().unbind())
        };
        let hooks = Py::new(py, RustHookRegistry::make(py)?)?;
        let mount_points = PyDict::new(py);
        for slot in Slot::ALL {
            match slot.kind() {
                SlotKind::Single => mount_points.set_item(key(py, slot), py.None())?,
                SlotKind::Named => mount_points.set_item(key(py, slot), PyDict::new(py))?,
                SlotKind::Registry => mount_points.set_item(key(py, slot), &hooks)?,
            }
        }
        Ok(Self {
            session_id: identity.session_id.unbind(),
            parent_id: identity.parent_id.unbind(),
            config: identity.config.unbind(),
            hooks,
            state: Mutex::new(State {
                owner: session.map(|session| session.clone().unbind()),
                session: None,
                mount_points: mount_points.unbind(),
                loader: py.None(),
                approval_system: or_none(approval_system),
                display_system: or_none(display_system),
                injected_tokens: 0,
                cancellation: None,
                shared: None,
                capabilities: None,
                cleanup_functions: None,
                channels: None,
            }),
        })
    }

    /// The session's hook registry.
    pub(crate) fn registry<'py>(&self, py: Python<'py>) -> &Bound<'py, RustHookRegistry> {
        self.hooks.bind(py)
    }

    /// The session's cancellation token.
    pub(crate) fn token<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Bound<'py, RustCancellationToken>> {
        let fresh = || Bound::new(py, RustCancellationToken::default());
        self.filled(py, |state| &mut state.cancellation, fresh)
    }

    /// How far the session is cancelled.
    pub(crate) fn cancellation_level(&self) -> CancellationState {
        let state = self.state();
        let token = state.cancellation.as_ref();
        token.map_or(CancellationState::None, |token| token.get().level())
    }
}
