//! Hooks: who is called for an event, in which order, and what their answers decide.
//!
//! The registry orders handlers and a [`Dispatch`] judges their answers. Neither calls a handler:
//! a driver does, and says what came back.

mod dispatch;
mod notice;

use std::time::Duration;

use indexmap::IndexMap;

pub use dispatch::{Answer, Decision, Dispatch, Flow, Injection, Outcome, Projection};
pub use notice::Notice;

/// How the driver treats a handler that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Policy {
    /// Whether a failure denies; otherwise the handler is skipped.
    pub fails_closed: bool,
    /// How long an asynchronous handler may take before it counts as failed.
    pub timeout: Option<Duration>,
}

/// One handler of one event.
#[derive(Debug, Clone)]
pub struct Registration<H> {
    /// Unique within its registry, growing with time.
    pub serial: u64,
    /// Lower runs first.
    pub priority: i32,
    /// The name under which it was registered.
    pub name: String,
    /// The driver's handle of the handler.
    pub handler: H,
    /// How its failure is treated.
    pub policy: Policy,
}

/// Handlers by event, in the order in which they run.
#[derive(Debug)]
pub struct HookRegistry<H> {
    events: IndexMap<String, Vec<Registration<H>>>,
    observers: Vec<Registration<H>>,
    next_serial: u64,
}

impl<H> Default for HookRegistry<H> {
    fn default() -> Self {
        Self {
            events: IndexMap::new(),
            observers: Vec::new(),
            next_serial: 0,
        }
    }
}

impl<H> HookRegistry<H> {
    /// Adds a handler after those of the same priority and returns its serial number.
    pub fn register(&mut self, event: &str, handler: H, priority: i32, name: String) -> u64 {
        self.register_with(event, handler, priority, name, Policy::default())
    }

    /// Adds a handler whose failure means what `policy` says; otherwise like [`Self::register`].
    pub fn register_with(
        &mut self,
        event: &str,
        handler: H,
        priority: i32,
        name: String,
        policy: Policy,
    ) -> u64 {
        let serial = self.new_serial();
        if !self.events.contains_key(event) {
            // Most events have one handler: room for four would be most of what a registry takes.
            self.events.insert(event.to_owned(), Vec::with_capacity(1));
        }
        let handlers = &mut self.events[event];
        // Behind those of the same priority, which run in the order of their registration.
        let place = handlers.partition_point(|other| other.priority <= priority);
        handlers.insert(
            place,
            Registration {
                serial,
                priority,
                name,
                handler,
                policy,
            },
        );
        serial
    }

    /// Adds a handler that sees every event after it was judged, and returns its serial number.
    ///
    /// What it answers is ignored.
    pub fn observe(&mut self, handler: H, name: String) -> u64 {
        let serial = self.new_serial();
        self.observers.push(Registration {
            serial,
            priority: i32::MAX,
            name,
            handler,
            policy: Policy::default(),
        });
        serial
    }

    /// Removes exactly one registration; `None` if it is gone already.
    pub fn unregister(&mut self, event: &str, serial: u64) -> Option<Registration<H>> {
        let handlers = self.events.get_mut(event)?;
        remove(handlers, serial)
    }

    /// Removes exactly one observer; `None` if it is gone already.
    pub fn unregister_observer(&mut self, serial: u64) -> Option<Registration<H>> {
        remove(&mut self.observers, serial)
    }

    /// Removes every registration of a name and returns them with their events, `*` of observers.
    pub fn unregister_name(&mut self, name: &str) -> Vec<(String, Registration<H>)> {
        let observers = self
            .observers
            .extract_if(.., |registration| registration.name == name)
            .map(|registration| ("*".to_owned(), registration));
        let mut removed: Vec<_> = observers.collect();
        for (event, handlers) in &mut self.events {
            removed.extend(
                handlers
                    .extract_if(.., |registration| registration.name == name)
                    .map(|registration| (event.clone(), registration)),
            );
        }
        removed
    }

    /// The handlers of an event in the order of running.
    #[must_use]
    pub fn handlers(&self, event: &str) -> &[Registration<H>] {
        self.events.get(event).map_or(&[], Vec::as_slice)
    }

    /// The observers of every event, in the order of running.
    #[must_use]
    pub fn observers(&self) -> &[Registration<H>] {
        &self.observers
    }

    /// Every event that ever had a handler, with its handlers.
    pub fn events(&self) -> impl Iterator<Item = (&str, &[Registration<H>])> {
        self.events
            .iter()
            .map(|(event, handlers)| (event.as_str(), handlers.as_slice()))
    }

    /// The serial number of the next registration, which is how many there were so far.
    #[must_use]
    pub fn next_serial(&self) -> u64 {
        self.next_serial
    }

    fn new_serial(&mut self) -> u64 {
        self.next_serial += 1;
        self.next_serial - 1
    }
}

fn remove<H>(registered: &mut Vec<Registration<H>>, serial: u64) -> Option<Registration<H>> {
    let place = registered.iter().position(|one| one.serial == serial)?;
    Some(registered.remove(place))
}
