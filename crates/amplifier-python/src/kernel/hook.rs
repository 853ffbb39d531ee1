//! `RustHookRegistry`: the hook registry as Python sees it.

pub(crate) mod collect;
pub(crate) mod defaults;
pub(crate) mod emit;
pub(crate) mod handlers;
pub(crate) mod result;
pub(crate) mod unregister;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use amplifier_core::{event, hook};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use pyo3::{PyTraverseError, PyVisit, intern};

use crate::contents::Contents;
use crate::kernel::drive::Driver;
use crate::kernel::hook::collect::Collect;
use crate::kernel::hook::defaults::Defaults;
use crate::kernel::hook::emit::{Emit, Incoming};
use crate::kernel::hook::handlers::{Entry, Handlers};
use crate::kernel::hook::result as hook_result;
use crate::kernel::hook::unregister::RustUnregisterFn;
use crate::kernel::payload::{Payload, top_level};
use crate::kernel::time_limit::TimeLimit;
use crate::module::module;

static EMIT: Driver = Driver::new("RustHookRegistry.emit");
static EMIT_AND_COLLECT: Driver = Driver::new("RustHookRegistry.emit_and_collect");

#[derive(Default)]
struct State {
    registry: hook::HookRegistry<Py<PyAny>>,
    /// The handlers of each event as one tuple, made when first asked for: a snapshot is then
    /// one reference, which the collector can follow from each of its owners.
    snapshots: HashMap<String, Py<PyTuple>>,
    /// Grows with every change, so that a snapshot of an older state is not kept.
    version: u64,
    defaults: Defaults,
}

/// Runs handlers for events, in the order of their priority.
#[pyclass(frozen, subclass, dict, weakref, module = "amplifier_core._engine")]
#[derive(Default)]
pub(crate) struct RustHookRegistry {
    state: Contents<Mutex<State>>,
}

impl RustHookRegistry {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the registrations; what the change takes out is dropped after the lock, as
    /// dropping may run Python code.
    fn change<T>(&self, event: Option<&str>, change: impl FnOnce(&mut State) -> T) -> T {
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
        let (version, entries) = {
            let state = self.state();
            if let Some(snapshot) = state.snapshots.get(&*event) {
                return Ok(Handlers::new(snapshot.clone_ref(py)));
            }
            let handlers = state.registry.handlers(&event).iter();
            let entries: Vec<Entry> = handlers.map(|handler| Entry::of(py, handler)).collect();
            (state.version, entries)
        };
        let snapshot = handlers::snapshot(py, entries)?.unbind();
        let mut state = self.state();
        if state.version == version {
            state
                .snapshots
                .insert(event.into_owned(), snapshot.clone_ref(py));
        }
        Ok(Handlers::new(snapshot))
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
}

/// The data with the `request_id` of its model call, where the event belongs to one.
fn correlated<'py>(event: &str, data: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if !event::is_correlated(event) {
        return Ok(data);
    }
    let py = data.py();
    let Ok(fields) = data.cast::<PyDict>() else {
        return Ok(data);
    };
    let key = intern!(py, "request_id");
    // What is no id is none, so that all events of a call bear the same one.
    let explicit = fields.get_item(key)?.filter(is_id);
    let id = module(py, intern!(py, "amplifier_core.correlation"))?
        .call_method1("resolve_request_id", (event, explicit.clone()))?;
    if id.is_none() || explicit.is_some() {
        return Ok(data);
    }
    let fields = fields.copy()?;
    fields.set_item(key, id)?;
    Ok(fields.into_any())
}

fn is_id(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyString>() && value.is_truthy().unwrap_or(false)
}

/// A registration as `_registrations` lists it.
type Listed = (u64, String, Py<PyAny>, bool, Option<f64>);

#[pymethods]
impl RustHookRegistry {
    #[new]
    #[pyo3(signature = ())]
    fn new() -> Self {
        Self::default()
    }

    #[classattr]
    const SESSION_START: &'static str = event::SESSION_START;
    #[classattr]
    const SESSION_END: &'static str = event::SESSION_END;
    #[classattr]
    const PROMPT_SUBMIT: &'static str = event::PROMPT_SUBMIT;
    #[classattr]
    const TOOL_PRE: &'static str = event::TOOL_PRE;
    #[classattr]
    const TOOL_POST: &'static str = event::TOOL_POST;
    #[classattr]
    const CONTEXT_PRE_COMPACT: &'static str = event::CONTEXT_PRE_COMPACT;
    #[classattr]
    const ORCHESTRATOR_COMPLETE: &'static str = event::ORCHESTRATOR_COMPLETE;
    #[classattr]
    const USER_NOTIFICATION: &'static str = event::USER_NOTIFICATION;
    #[classattr]
    const TURN_START: &'static str = event::TURN_START;
    #[classattr]
    const TURN_END: &'static str = event::TURN_END;
    #[classattr]
    const LLM_PRE: &'static str = event::LLM_PRE;
    #[classattr]
    const LLM_POST: &'static str = event::LLM_POST;
    #[classattr]
    const CONTEXT_COMPACTION: &'static str = event::CONTEXT_COMPACTION;

    /// Register a handler for an event; call what is returned to unregister it.
    #[pyo3(
        signature = (
            event, handler, priority=0, name=None, *, fail_closed=false, timeout=TimeLimit::NONE,
        ),
        text_signature = "($self, event, handler, priority=0, name=None, *, fail_closed=False, timeout=None)"
    )]
    fn register(
        slf: &Bound<'_, Self>,
        event: String,
        handler: Py<PyAny>,
        priority: i32,
        name: Option<String>,
        fail_closed: bool,
        timeout: TimeLimit,
    ) -> RustUnregisterFn {
        let name = name.unwrap_or_else(|| format!("_auto_{event}_{}", uuid::Uuid::new_v4()));
        let policy = handlers::policy(fail_closed, timeout);
        let serial = slf.get().change(Some(&event), |state| {
            let name = name.clone();
            state
                .registry
                .register_with(&event, handler, priority, name, policy)
        });
        RustUnregisterFn::new(slf.clone().unbind(), event, serial, name)
    }

    /// Register a handler for an event; the same as `register`.
    #[pyo3(
        signature = (
            event, handler, priority=0, name=None, *, fail_closed=false, timeout=TimeLimit::NONE,
        ),
        text_signature = "($self, event, handler, priority=0, name=None, *, fail_closed=False, timeout=None)"
    )]
    fn on(
        slf: &Bound<'_, Self>,
        event: String,
        handler: Py<PyAny>,
        priority: i32,
        name: Option<String>,
        fail_closed: bool,
        timeout: TimeLimit,
    ) -> RustUnregisterFn {
        Self::register(slf, event, handler, priority, name, fail_closed, timeout)
    }

    /// Unregister every handler of this name; an unknown one is ignored.
    fn unregister(&self, name: &str) {
        drop(self.change(None, |state| state.registry.unregister_name(name)));
    }

    /// Set the fields that every event carries, in the place of those set before.
    #[pyo3(signature = (**defaults))]
    fn set_default_fields(
        &self,
        py: Python<'_>,
        defaults: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let defaults = match defaults {
            Some(defaults) => defaults.copy()?,
            None => PyDict::new(py),
        };
        self.set_defaults(Defaults::Given(defaults.unbind()));
        Ok(())
    }

    /// Name the handlers of one event or of all, in the order of running.
    #[pyo3(signature = (event=None))]
    fn list_handlers<'py>(
        &self,
        py: Python<'py>,
        event: Option<&str>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let names = |handlers: &[hook::Registration<Py<PyAny>>]| {
            handlers
                .iter()
                .map(|registration| registration.name.clone())
                .collect::<Vec<_>>()
        };
        let listed: Vec<(String, Vec<String>)> = {
            let state = self.state();
            match event {
                Some(event) => vec![(event.to_owned(), names(state.registry.handlers(event)))],
                None => state
                    .registry
                    .events()
                    .map(|(event, handlers)| (event.to_owned(), names(handlers)))
                    .collect(),
            }
        };
        let result = PyDict::new(py);
        for (event, names) in listed {
            result.set_item(event, PyList::new(py, names)?)?;
        }
        Ok(result)
    }

    /// List an event's registrations: serial, name, handler, `fail_closed` and `timeout`.
    fn _registrations(&self, py: Python<'_>, event: &str) -> Vec<Listed> {
        let state = self.state();
        let handlers = state.registry.handlers(event).iter();
        handlers
            .map(|registration| {
                (
                    registration.serial,
                    registration.name.clone(),
                    registration.handler.clone_ref(py),
                    registration.policy.fails_closed,
                    registration.policy.timeout.map(|limit| limit.as_secs_f64()),
                )
            })
            .collect()
    }

    /// Emit an event: run its handlers in order and return what they decide.
    fn emit<'py>(
        slf: &Bound<'py, Self>,
        event: &Bound<'py, PyString>,
        data: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let registry = slf.get();
        let data = correlated(&event.to_string_lossy(), top_level(data))?;
        let entry = if registry.snapshot(py, event)?.is_empty(py) {
            Incoming::Raw(data.unbind())
        } else {
            Incoming::Ready(registry.payload(&data)?)
        };
        let machine = Emit::new(slf.clone().unbind(), event.clone().unbind(), entry);
        EMIT.run(py, machine)
    }

    /// Ask every handler and collect the data of their answers, each within `timeout` seconds.
    #[pyo3(
        signature = (event, data, timeout=TimeLimit::seconds(1.0)),
        text_signature = "($self, event, data, timeout=1.0)"
    )]
    fn emit_and_collect<'py>(
        slf: &Bound<'py, Self>,
        event: Bound<'py, PyString>,
        data: &Bound<'py, PyAny>,
        timeout: TimeLimit,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let data = top_level(data);
        let machine = Collect::new(slf.clone().unbind(), event, &data, timeout)?;
        EMIT_AND_COLLECT.run(py, machine)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let (events, handlers) = {
            let state = slf.get().state();
            let counts: Vec<usize> = state
                .registry
                .events()
                .map(|(_, handlers)| handlers.len())
                .collect();
            (
                counts.iter().filter(|count| **count > 0).count(),
                counts.iter().sum::<usize>(),
            )
        };
        let name = slf.get_type().name()?;
        Ok(format!("<{name}: {handlers} handlers on {events} events>"))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // A lock that is taken means that the state is being changed: nothing to collect now.
        let Some(Ok(state)) = self.state.get().map(Mutex::try_lock) else {
            return Ok(());
        };
        for (_, handlers) in state.registry.events() {
            handlers
                .iter()
                .try_for_each(|registration| visit.call(&registration.handler))?;
        }
        state
            .snapshots
            .values()
            .try_for_each(|snapshot| visit.call(snapshot))?;
        state.defaults.traverse(&visit)
    }

    fn __clear__(&self) {
        let state = std::mem::take(&mut *self.state());
        drop(state);
    }
}

impl RustHookRegistry {
    /// Sets the fields that every event carries.
    pub(crate) fn set_defaults(&self, defaults: Defaults) {
        let before = std::mem::replace(&mut self.state().defaults, defaults);
        drop(before);
    }

    /// Removes one registration; one that is gone already is ignored.
    pub(crate) fn remove(&self, event: &str, serial: u64) {
        drop(self.change(Some(event), |state| {
            state.registry.unregister(event, serial)
        }));
    }
}
