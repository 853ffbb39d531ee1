//! A hook registry: its class, what it holds, and what its operations ask of it.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use amplifier_core::hook;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyFrozenSet, PyString, PyTuple};

use crate::contents::Contents;
use crate::kernel::drive::Driver;
use crate::kernel::hook::defaults::Defaults;
use crate::kernel::hook::handlers::{self, Entry, Handlers};
use crate::kernel::hook::result as hook_result;
use crate::kernel::payload::Payload;
use crate::kernel::report::{Level, Logger, is_own_failure, log};
use crate::lazy_object::LazyObject;
use crate::module::module;
use crate::traverse::traverse;

pub(crate) static EMIT: Driver = Driver::new("RustHookRegistry.emit");
pub(crate) static EMIT_EACH: Driver = Driver::new("RustHookRegistry.emit_each");
pub(crate) static EMIT_AND_COLLECT: Driver = Driver::new("RustHookRegistry.emit_and_collect");

#[derive(Default)]
pub(crate) struct State {
    pub(crate) registry: hook::HookRegistry<Py<PyAny>>,
    /// The handlers of each event as one tuple, made when first asked for: a snapshot is then
    /// one reference, which the collector can follow from each of its owners.
    snapshots: HashMap<String, Py<PyTuple>>,
    /// Grows with every change, so that a snapshot of an older state is not kept.
    version: u64,
    defaults: Defaults,
    /// A function for each event that somebody listens to, by the name of the event.
    listeners: Option<Py<PyDict>>,
    watch: Option<Watch>,
    /// How often `cancel:completed` was emitted.
    pub(crate) cancellations_told: usize,
}

traverse!(State: registry, snapshots, defaults, listeners, watch);

/// One handler of many events: as many registrations would take 250 bytes each.
pub(crate) struct Watch {
    pub(crate) events: Py<PyFrozenSet>,
    pub(crate) handler: Py<PyAny>,
    pub(crate) priority: i32,
    pub(crate) name: String,
}

traverse!(Watch: events, handler);

impl State {
    fn watched_events(&self, py: Python<'_>) -> Option<Py<PyFrozenSet>> {
        self.watch.as_ref().map(|watch| watch.events.clone_ref(py))
    }
}

/// Runs handlers for events, in the order of their priority.
#[pyclass(frozen, subclass, dict, weakref, module = "amplifier_core._engine")]
#[derive(Default)]
pub(crate) struct RustHookRegistry {
    state: Contents<Mutex<State>>,
}

traverse!(RustHookRegistry: state);

impl RustHookRegistry {
    /// A registry without handlers.
    ///
    /// It imports what emits need, so that no emit imports anything: code that an import runs, or
    /// that interrupts it, could emit itself and find modules that are not complete.
    pub(crate) fn make(py: Python<'_>) -> PyResult<Self> {
        static IMPORTED: LazyObject<()> = LazyObject::new();
        IMPORTED.get(py, || {
            hook_result::Models::get(py)?;
            for driver in [&EMIT, &EMIT_EACH, &EMIT_AND_COLLECT] {
                driver.prepare(py)?;
            }
            for name in [
                intern!(py, "amplifier_core.correlation"),
                intern!(py, "amplifier_core._kernel.answer_mistakes"),
                intern!(py, "amplifier_core._kernel.timeout"),
                intern!(py, "inspect"),
                intern!(py, "logging"),
            ] {
                module(py, name)?;
            }
            Ok(())
        })?;
        Ok(Self::default())
    }

    /// What it holds, locked: no Python code may run meanwhile.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the registrations; what the change takes out is dropped after the lock, as
    /// dropping may run Python code.
    pub(crate) fn change<T>(&self, event: Option<&str>, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state();
        state.version += 1;
        let outdated: Vec<Py<PyTuple>> = match event {
            Some(event) => state.snapshots.remove(event).into_iter().collect(),
            None => state
                .snapshots
                .drain()
                .map(|(_, snapshot)| snapshot)
                .collect(),
        };
        let result = change(&mut state);
        drop(state);
        drop(outdated);
        result
    }

    /// The handlers that an event has now.
    pub(crate) fn snapshot(
        &self,
        py: Python<'_>,
        event: &Bound<'_, PyString>,
    ) -> PyResult<Handlers> {
        let event = event.to_string_lossy();
        let (version, watched) = {
            let state = self.state();
            if let Some(snapshot) = state.snapshots.get(&*event) {
                return Ok(Handlers::new(snapshot.clone_ref(py)));
            }
            (state.version, state.watched_events(py))
        };
        let is_watched = watched.map_or(Ok(false), |events| events.bind(py).contains(&*event))?;
        let entries: Vec<Entry> = {
            let state = self.state();
            let judges = state.registry.handlers(&event);
            let watch = state.watch.as_ref().filter(|_| is_watched);
            let place = watch.map_or(0, |watch| {
                judges.partition_point(|one| one.priority <= watch.priority)
            });
            let (before, after) = judges.split_at(place);
            let observers = state.registry.observers().iter();
            before
                .iter()
                .map(|one| Entry::of(py, one))
                .chain(watch.map(|one| Entry::usual(one.handler.clone_ref(py), one.name.clone())))
                .chain(after.iter().map(|one| Entry::of(py, one)))
                .chain(observers.map(|one| Entry::of_observer(py, one)))
                .collect()
        };
        // Made outside the lock: an allocation may run the collector, and that any Python code. So
        // the registrations may have changed meanwhile, which the version tells.
        let snapshot = handlers::snapshot(py, entries)?.unbind();
        let mut state = self.state();
        if state.version == version {
            state
                .snapshots
                .insert(event.into_owned(), snapshot.clone_ref(py));
        }
        Ok(Handlers::new(snapshot))
    }

    /// Whether emitting an event would do nothing: it has no handler, and `emit` is the method of
    /// this class.
    pub(crate) fn is_unheard(registry: &Bound<'_, Self>, event: &str) -> PyResult<bool> {
        if !Self::emits_itself(registry)? {
            return Ok(false);
        }
        let py = registry.py();
        let watched = {
            let state = registry.get().state();
            if !state.registry.handlers(event).is_empty() || !state.registry.observers().is_empty()
            {
                return Ok(false);
            }
            state.watched_events(py)
        };
        watched.map_or(Ok(true), |events| Ok(!events.bind(py).contains(event)?))
    }

    /// Whether `emit` is the method of this class, not of a subclass.
    pub(crate) fn emits_itself(registry: &Bound<'_, Self>) -> PyResult<bool> {
        let emit = registry.getattr(intern!(registry.py(), "emit"))?;
        Ok(emit.is_exact_instance_of::<PyCFunction>())
    }

    /// The data of an event for handlers: defaults below it, a time stamp above.
    pub(crate) fn payload(&self, data: &Bound<'_, PyAny>) -> PyResult<Payload> {
        let py = data.py();
        let defaults = self.state().defaults.clone_ref(py);
        Payload::stamped(data, &defaults)
    }

    /// The result of an event without handlers: the caller's own data.
    pub(crate) fn unhandled<'py>(data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = data.py();
        if data.is_instance_of::<PyDict>() {
            hook_result::continuing(py, data)
        } else {
            hook_result::continuing(py, PyDict::new(py).as_any())
        }
    }

    /// Sets the fields that every event carries.
    pub(crate) fn set_defaults(&self, defaults: Defaults) {
        let before = std::mem::replace(&mut self.state().defaults, defaults);
        drop(before);
    }

    /// Sets who listens to events.
    pub(crate) fn set_listeners(&self, listeners: Option<Py<PyDict>>) {
        let before = std::mem::replace(&mut self.state().listeners, listeners);
        drop(before);
    }

    /// Sets the handler of many events.
    pub(crate) fn set_watch(&self, watch: Option<Watch>) {
        drop(self.change(None, |state| std::mem::replace(&mut state.watch, watch)));
    }

    /// Whether somebody listens to an event.
    pub(crate) fn is_listened_to(&self, event: &Bound<'_, PyString>) -> PyResult<bool> {
        let py = event.py();
        let listeners = {
            let state = self.state();
            state.listeners.as_ref().map(|each| each.clone_ref(py))
        };
        listeners.map_or(Ok(false), |each| each.bind(py).contains(event))
    }

    /// Tells who listens to an event of its data, which is the caller's own.
    pub(crate) fn tell(
        &self,
        event: &Bound<'_, PyString>,
        data: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let py = event.py();
        let listeners = {
            let state = self.state();
            match &state.listeners {
                Some(listeners) => listeners.clone_ref(py),
                None => return Ok(()),
            }
        };
        let Some(listener) = listeners.bind(py).get_item(event)? else {
            return Ok(());
        };
        match listener.call1((data,)) {
            Err(error) if is_own_failure(py, &error) => {
                let event = event.to_string_lossy();
                let message = format!("what listens to `{event}` failed; continuing");
                log(py, Logger::Hooks, Level::Error, &message, Some(&error));
                Ok(())
            }
            called => called.map(drop),
        }
    }

    /// Removes one registration, an observer's without an event; one that is gone is ignored.
    pub(crate) fn remove(&self, event: Option<&str>, serial: u64) {
        drop(self.change(event, |state| match event {
            Some(event) => state.registry.unregister(event, serial),
            None => state.registry.unregister_observer(serial),
        }));
    }
}
