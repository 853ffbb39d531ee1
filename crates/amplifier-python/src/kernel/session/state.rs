//! A session: its class, what it holds, and what its operations ask of it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use amplifier_core::session;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::contents::Contents;
use crate::kernel::coordinator::mounted::RustCoordinator;
use crate::traverse::traverse;

/// Runs turns: it loads the modules of a configuration and has their loop answer prompts.
#[pyclass(frozen, subclass, dict, weakref, module = "amplifier_core._engine")]
pub(crate) struct RustSession {
    pub(crate) inside: Contents<Inside>,
}

traverse!(RustSession: inside);

/// What a session holds.
pub(crate) struct Inside {
    pub(crate) session_id: Py<PyString>,
    pub(crate) parent_id: Py<PyAny>,
    pub(crate) config: Py<PyDict>,
    pub(crate) coordinator: Py<RustCoordinator>,
    pub(crate) state: Mutex<session::Session>,
    /// The event that is set at the end of a load; the first task that waits makes it.
    pub(crate) loaded: Mutex<Option<Py<PyAny>>>,
    /// The queue of its turns: `amplifier_core.turns.Turns`.
    pub(crate) turns: Py<PyAny>,
}

traverse!(Inside: config, coordinator, loaded, turns);

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

    /// Notes that the session goes on with what is stored of it, if a module has found that.
    pub(crate) fn note_stored(&self, py: Python<'_>) -> PyResult<()> {
        let capabilities = self.coordinator(py).get().mounted.capabilities_so_far(py);
        if let Some(capabilities) = capabilities
            && capabilities.contains(intern!(py, "session.stored_history"))?
        {
            self.state().resume();
        }
        Ok(())
    }

    /// The event that a load which runs now sets at its end.
    pub(crate) fn wait_for_load<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let waiting = self.loaded().as_ref().map(|event| event.clone_ref(py));
        if let Some(event) = waiting {
            return Ok(event.into_bound(py));
        }
        let event = py.import("anyio")?.call_method0("Event")?;
        let mut loaded = self.loaded();
        // The import may have run code that waits for the load, too.
        let first = loaded.get_or_insert_with(|| event.clone().unbind());
        Ok(first.bind(py).clone())
    }

    /// Ends a load and wakes the tasks that wait for it.
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
