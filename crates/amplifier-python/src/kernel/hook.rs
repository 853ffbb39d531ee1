//! `RustHookRegistry`: what Python can ask of a hook registry.

pub(crate) mod answer;
pub(crate) mod collect;
pub(crate) mod defaults;
pub(crate) mod emit;
pub(crate) mod emit_each;
pub(crate) mod handlers;
pub(crate) mod injection;
pub(crate) mod registry;
pub(crate) mod result;
pub(crate) mod unfinished_text;
pub(crate) mod unregister;

use amplifier_core::{event, hook};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet, PyList, PyString};
use pyo3::{PyTraverseError, PyVisit, intern};

use crate::kernel::hook::collect::Collect;
use crate::kernel::hook::defaults::Defaults;
use crate::kernel::hook::emit::Emit;
use crate::kernel::hook::emit_each::EmitEach;
use crate::kernel::hook::registry::{EMIT, EMIT_AND_COLLECT, EMIT_EACH, RustHookRegistry, Watch};
use crate::kernel::hook::unregister::RustUnregisterFn;
use crate::kernel::payload::top_level;
use crate::kernel::timeout::TimeLimit;
use crate::module::module;
use crate::traverse::Traverse;
use crate::world;

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
    // An invalid id counts as missing, so that all events of a call have the same id.
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

/// Refuses a handler that cannot be called with an event and its data.
fn check_handler(handler: &Bound<'_, PyAny>, event: &str) -> PyResult<()> {
    let py = handler.py();
    module(py, intern!(py, "amplifier_core.handlers"))?
        .call_method1(intern!(py, "check_handler"), (handler, event))
        .map(drop)
}

/// A registration as `_registrations` lists it.
type Listed = (u64, String, Py<PyAny>, bool, Option<f64>);

/// A registration as `_all_registrations` lists it.
type Placed = (
    Option<String>,
    u64,
    i32,
    String,
    Py<PyAny>,
    bool,
    Option<f64>,
);

#[pymethods]
impl RustHookRegistry {
    #[new]
    #[pyo3(signature = ())]
    fn new(py: Python<'_>) -> PyResult<Self> {
        Self::make(py)
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
    ///
    /// A handler that raises or is too late is skipped and logged: the event goes on as if it had
    /// agreed. With `fail_closed` its failure denies.
    #[pyo3(
        signature = (
            event, handler, priority=0, name=None, *, fail_closed=false, timeout=TimeLimit::NONE,
        ),
        text_signature = "($self, event, handler, priority=0, name=None, *, fail_closed=False, timeout=None)"
    )]
    fn register(
        slf: &Bound<'_, Self>,
        event: String,
        handler: &Bound<'_, PyAny>,
        priority: i32,
        name: Option<String>,
        fail_closed: bool,
        timeout: TimeLimit,
    ) -> PyResult<RustUnregisterFn> {
        check_handler(handler, &format!("`{event}`"))?;
        let handler = handler.clone().unbind();
        let name = match name {
            Some(name) => name,
            None => format!("_auto_{event}_{}", world::new_uuid(slf.py())?),
        };
        let policy = handlers::policy(fail_closed, timeout);
        let serial = slf.get().change(Some(&event), |state| {
            let name = name.clone();
            state
                .registry
                .register_with(&event, handler, priority, name, policy)
        });
        let registry = slf.clone().unbind();
        Ok(RustUnregisterFn::new(registry, Some(event), serial, name))
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
        handler: &Bound<'_, PyAny>,
        priority: i32,
        name: Option<String>,
        fail_closed: bool,
        timeout: TimeLimit,
    ) -> PyResult<RustUnregisterFn> {
        Self::register(slf, event, handler, priority, name, fail_closed, timeout)
    }

    /// Call a handler for every event, after it was judged; call what is returned to end that.
    ///
    /// It gets the data as the last judge left it, of denied events too. What it answers is
    /// ignored, and what it raises is logged.
    #[pyo3(signature = (handler, name=None))]
    fn observe(
        slf: &Bound<'_, Self>,
        handler: &Bound<'_, PyAny>,
        name: Option<String>,
    ) -> PyResult<RustUnregisterFn> {
        check_handler(handler, "every event")?;
        let handler = handler.clone().unbind();
        let name = match name {
            Some(name) => name,
            None => format!("_auto_*_{}", world::new_uuid(slf.py())?),
        };
        let serial = slf
            .get()
            .change(None, |state| state.registry.observe(handler, name.clone()));
        Ok(RustUnregisterFn::new(
            slf.clone().unbind(),
            None,
            serial,
            name,
        ))
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

    /// Call these functions, by event, with the data of an event as soon as it is emitted.
    ///
    /// They replace those set before. They get the caller's own data, only to look at it.
    fn _listen(&self, listeners: Option<Bound<'_, PyDict>>) {
        self.set_listeners(listeners.map(Bound::unbind));
    }

    /// Call a handler for these events, after those of its priority; it replaces the one before.
    ///
    /// It is not listed among the handlers, and no registry inherits it.
    fn _watch(
        &self,
        events: Bound<'_, PyFrozenSet>,
        handler: Bound<'_, PyAny>,
        priority: i32,
        name: String,
    ) {
        self.set_watch(Some(Watch {
            events: events.unbind(),
            handler: handler.unbind(),
            priority,
            name,
        }));
    }

    /// Call the handler of `_watch` no more.
    fn _stop_watch(&self) {
        self.set_watch(None);
    }

    /// Whether emitting an event has an effect: somebody hears it, or it is counted or correlated.
    ///
    /// Where it has none, a caller can spare itself the data.
    fn is_heard(slf: &Bound<'_, Self>, event: &Bound<'_, PyString>) -> PyResult<bool> {
        Ok(Self::_has_handlers(slf, event)? || slf.get().is_listened_to(event)?)
    }

    /// Whether handlers hear an event, or it is counted or correlated; who only listens is none.
    fn _has_handlers(slf: &Bound<'_, Self>, event: &Bound<'_, PyString>) -> PyResult<bool> {
        let name = event.to_string_lossy();
        Ok(event::is_correlated(&name)
            || name == event::CANCEL_COMPLETED
            || !Self::is_unheard(slf, &name)?)
    }

    /// Tell who listens to an event of its data, where nobody else hears it; whether `emit` is needed.
    fn _must_emit(
        slf: &Bound<'_, Self>,
        event: &Bound<'_, PyString>,
        data: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        if Self::_has_handlers(slf, event)? {
            return Ok(true);
        }
        slf.get().tell(event, data)?;
        Ok(false)
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

    /// Name the events that have a handler and are not among these.
    fn _events_beside(&self, known: &Bound<'_, PyFrozenSet>) -> PyResult<Vec<String>> {
        let handled: Vec<String> = {
            let state = self.state();
            let events = state.registry.events();
            let handled = events.filter(|(_, handlers)| !handlers.is_empty());
            handled.map(|(event, _)| event.to_owned()).collect()
        };
        let mut beside = Vec::new();
        for event in handled {
            if !known.contains(&event)? {
                beside.push(event);
            }
        }
        Ok(beside)
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

    /// List all registrations in the order of running; the event of an observer is None.
    ///
    /// Each is event, serial, priority, name, handler, `fail_closed` and `timeout`.
    fn _all_registrations(&self, py: Python<'_>) -> Vec<Placed> {
        let state = self.state();
        let judges = state
            .registry
            .events()
            .flat_map(|(event, handlers)| handlers.iter().map(move |one| (Some(event), one)));
        let observers = state.registry.observers().iter().map(|one| (None, one));
        judges
            .chain(observers)
            .map(|(event, one)| {
                (
                    event.map(str::to_owned),
                    one.serial,
                    one.priority,
                    one.name.clone(),
                    one.handler.clone_ref(py),
                    one.policy.fails_closed,
                    one.policy.timeout.map(|limit| limit.as_secs_f64()),
                )
            })
            .collect()
    }

    /// How many registrations there were so far.
    #[getter(_next_serial)]
    fn next_serial(&self) -> u64 {
        self.state().registry.next_serial()
    }

    /// Emit an event: run its handlers in order and return what they decide.
    fn emit<'py>(
        slf: &Bound<'py, Self>,
        event: &Bound<'py, PyString>,
        data: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        EMIT.run(slf.py(), Emit::asked(slf, event, data)?)
    }

    /// Emit events, each given as its name and its data, one after another.
    ///
    /// Handlers are run as `emit` runs them; what they decide is not returned. Many events at once
    /// cost less than as many calls of `emit`.
    fn emit_each<'py>(
        slf: &Bound<'py, Self>,
        events: Vec<(Bound<'py, PyString>, Bound<'py, PyAny>)>,
    ) -> PyResult<Bound<'py, PyAny>> {
        EMIT_EACH.run(slf.py(), EmitEach::new(slf.clone().unbind(), events))
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
        self.traverse(&visit)
    }

    fn __clear__(&self) {
        let state = std::mem::take(&mut *self.state());
        drop(state);
    }
}
