//! The hook registry: registers handlers and calls them.

use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use indexmap::IndexMap;

use super::emission::{self, Handler};
use super::sync::{Mutex, lock};
use super::world::{SharedWorld, new_uuid};
use crate::event::CANCEL_COMPLETED;
use crate::hook::{self, Policy, Registration};
use crate::json::{Json, Object};
use crate::model::HookResult;
use crate::traits::HookHandler;

/// Handlers by event. Clones share their handlers.
///
/// # Examples
///
/// ```
/// use amplifier_core::runtime::{HookOptions, HookRegistry};
/// use amplifier_core::{HookAction, HookResult, Object};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let hooks = HookRegistry::default();
/// let no_shell = |_: &str, data: &Object| {
///     Ok(match data["tool_name"].as_str() {
///         Some("shell") => HookResult::deny("no shell here"),
///         _ => HookResult::proceed(),
///     })
/// };
/// let observe = |event: &str, data: &Object| {
///     log::info!("{event}: {data:?}");
///     Ok(HookResult::proceed())
/// };
/// hooks.register("tool:pre", no_shell, "no-shell");
/// // Lower numbers run first; this one sees what the other denies.
/// hooks.register("tool:pre", observe, HookOptions::named("observe").priority(-10));
///
/// let data = Object::from_iter([("tool_name".to_owned(), "shell".into())]);
/// assert_eq!(hooks.emit("tool:pre", data).await.action, HookAction::Deny);
/// # }
/// ```
#[derive(Clone, Default)]
pub struct HookRegistry {
    state: Arc<Mutex<State>>,
    world: SharedWorld,
}

#[derive(Default)]
struct State {
    handlers: hook::HookRegistry<Handler>,
    defaults: Object,
    cancellations_told: u64,
}

/// How a handler is registered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookOptions {
    /// The name in listings and logs; generated if there is none.
    pub name: Option<String>,
    /// Lower runs first, and equal ones in the order of registration.
    pub priority: i32,
    /// What a failure means.
    pub policy: Policy,
}

impl HookOptions {
    /// A handler of this name.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: Some(name.into()),
            ..Self::default()
        }
    }

    /// Sets the priority.
    #[must_use]
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// Sets a time limit; a handler that exceeds it has failed.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.policy.timeout = Some(limit);
        self
    }

    /// Makes a failure deny the event.
    #[must_use]
    pub fn fails_closed(mut self) -> Self {
        self.policy.fails_closed = true;
        self
    }
}

impl From<&str> for HookOptions {
    /// A handler of this name.
    fn from(name: &str) -> Self {
        Self::named(name)
    }
}

/// Removes one registration; dropping it does nothing.
#[derive(Clone)]
pub struct Unregister {
    state: Weak<Mutex<State>>,
    event: String,
    serial: u64,
}

impl Unregister {
    /// Removes the registration, if it still exists.
    pub fn unregister(&self) {
        if let Some(state) = self.state.upgrade() {
            let removed = lock(&state).handlers.unregister(&self.event, self.serial);
            drop(removed);
        }
    }
}

impl fmt::Debug for Unregister {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Unregister")
            .field("event", &self.event)
            .field("serial", &self.serial)
            .finish_non_exhaustive()
    }
}

impl HookRegistry {
    /// An empty registry in a world.
    pub(super) fn with_world(world: SharedWorld) -> Self {
        Self {
            world,
            ..Self::default()
        }
    }

    /// Registers a handler for an event, from the next emit on; as options, its name will do.
    ///
    /// A handler that holds a clone of its registry keeps both alive until it is unregistered.
    pub fn register(
        &self,
        event: &str,
        handler: impl HookHandler + 'static,
        options: impl Into<HookOptions>,
    ) -> Unregister {
        let HookOptions {
            name,
            priority,
            policy,
        } = options.into();
        let name = name.unwrap_or_else(|| format!("_auto_{event}_{}", new_uuid(&*self.world)));
        let handler: Handler = Arc::new(handler);
        let mut state = lock(&self.state);
        let handlers = &mut state.handlers;
        Unregister {
            serial: handlers.register_with(event, handler, priority, name, policy),
            event: event.to_owned(),
            state: Arc::downgrade(&self.state),
        }
    }

    /// Removes every registration of a name.
    pub fn unregister(&self, name: &str) {
        let removed = lock(&self.state).handlers.unregister_name(name);
        drop(removed);
    }

    /// The names of the handlers by event, in the order in which they run.
    #[must_use]
    pub fn list_handlers(&self) -> IndexMap<String, Vec<String>> {
        let names =
            |list: &[Registration<Handler>]| list.iter().map(|one| one.name.clone()).collect();
        lock(&self.state)
            .handlers
            .events()
            .map(|(event, list)| (event.to_owned(), names(list)))
            .collect()
    }

    /// Adds these entries to every payload that lacks them; replaces those set before.
    pub fn set_default_fields(&self, defaults: Object) {
        let earlier = std::mem::replace(&mut lock(&self.state).defaults, defaults);
        drop(earlier);
    }

    /// Calls the handlers of an event one by one, and returns their joint decision: the first denial,
    /// else the first question, else all injections, else the payload.
    ///
    /// Every handler gets the default fields, then `data`, then a `timestamp`. Without handlers,
    /// `data` is returned as it is.
    pub async fn emit(&self, event: &str, data: Object) -> HookResult {
        if event == CANCEL_COMPLETED {
            lock(&self.state).cancellations_told += 1;
        }
        let (handlers, payload) = {
            let state = lock(&self.state);
            let handlers = state.handlers.handlers(event).to_vec();
            if handlers.is_empty() {
                return emission::continuing(data);
            }
            (handlers, state.defaults.clone())
        };
        emission::emit(event, &handlers, payload, data, self.world.time()).await
    }

    /// How often the completion of a cancellation was emitted.
    pub(super) fn cancellations_told(&self) -> u64 {
        lock(&self.state).cancellations_told
    }

    /// Calls every handler of an event, each with this time limit and with the same data, and
    /// returns the `data` of their answers. `None` is no time limit.
    pub async fn emit_and_collect(
        &self,
        event: &str,
        data: &Object,
        timeout: Option<Duration>,
    ) -> Vec<Object> {
        let handlers = lock(&self.state).handlers.handlers(event).to_vec();
        emission::collect(event, &handlers, data, timeout).await
    }
}

impl fmt::Debug for HookRegistry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("HookRegistry")
            .field(&self.list_handlers())
            .finish()
    }
}

/// The entries of an event's payload.
pub(super) fn payload<const N: usize>(entries: [(&str, Json); N]) -> Object {
    entries
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}
