//! Hooks: who is called for an event, in which order, and what their answers decide.
//!
//! The registry orders handlers and a [`Dispatch`] judges their answers. Neither calls a handler:
//! a driver does, and says what came back.

use std::time::Duration;

use indexmap::IndexMap;

use crate::model::{ContextInjection, ContextInjectionRole};

/// How the driver treats a handler that does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Policy {
    /// Whether a failure denies; otherwise the handler is skipped.
    pub fails_closed: bool,
    /// How long an asynchronous handler may take; over it, it has failed.
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
    /// What its failure means.
    pub policy: Policy,
}

/// Handlers by event, each list in the order of running.
#[derive(Debug)]
pub struct HookRegistry<H> {
    events: IndexMap<String, Vec<Registration<H>>>,
    next_serial: u64,
}

impl<H> Default for HookRegistry<H> {
    fn default() -> Self {
        Self {
            events: IndexMap::new(),
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
        let serial = self.next_serial;
        self.next_serial += 1;
        if !self.events.contains_key(event) {
            self.events.insert(event.to_owned(), Vec::new());
        }
        let handlers = &mut self.events[event];
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

    /// Removes exactly one registration; `None` if it is gone already.
    pub fn unregister(&mut self, event: &str, serial: u64) -> Option<Registration<H>> {
        let handlers = self.events.get_mut(event)?;
        let place = handlers
            .iter()
            .position(|registration| registration.serial == serial)?;
        Some(handlers.remove(place))
    }

    /// Removes every registration of a name and returns them with their events.
    pub fn unregister_name(&mut self, name: &str) -> Vec<(String, Registration<H>)> {
        let mut removed = Vec::new();
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

    /// Every event that ever had a handler, with its handlers.
    pub fn events(&self) -> impl Iterator<Item = (&str, &[Registration<H>])> {
        self.events
            .iter()
            .map(|(event, handlers)| (event.as_str(), handlers.as_slice()))
    }

    /// Takes every registration out.
    pub fn clear(&mut self) -> Vec<Registration<H>> {
        self.events
            .drain(..)
            .flat_map(|(_, handlers)| handlers)
            .collect()
    }
}

/// What one handler answered, reduced to what the decision needs; `R` is the whole answer, `D` a payload.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer<R, D> {
    /// Go on.
    Continue,
    /// Stop at once and refuse.
    Deny(R),
    /// Go on with this payload in the place of the one before; `None` changes nothing.
    Modify(Option<D>),
    /// Add these texts to the context.
    Inject(R, Vec<ContextInjection>),
    /// Ask the user.
    Ask(R),
}

/// Whether the next handler is to be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Call the next handler.
    Next,
    /// Call none any more.
    Stop,
}

/// What the answers of all handlers amount to.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision<R> {
    /// Nobody objected.
    Continue,
    /// This answer refused.
    Deny(R),
    /// This answer, the first of its kind, wants the user to be asked.
    Ask(R),
    /// Texts for the context.
    Inject(Injection<R>),
}

/// The merged injections of all handlers.
#[derive(Debug, Clone, PartialEq)]
pub struct Injection<R> {
    /// The first answer that injected.
    pub first: R,
    /// Whether `first` is the only one, so that its other fields stay.
    pub is_single: bool,
    /// All items in the order of running, marked with their handler and event.
    pub items: Vec<ContextInjection>,
    /// The items as one text and one set of flags.
    pub projection: Projection,
}

/// Several injections seen as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Projection {
    /// The texts, joined by a blank line.
    pub content: String,
    /// The role of the first item.
    pub role: ContextInjectionRole,
    /// Whether any item is for one request only.
    pub ephemeral: bool,
    /// Whether any item belongs to the last tool result.
    pub append_to_last_tool_result: bool,
}

impl Projection {
    /// Projects items; `None` where there are none.
    #[must_use]
    pub fn of(items: &[ContextInjection]) -> Option<Self> {
        let first = items.first()?;
        let texts: Vec<&str> = items.iter().map(|item| item.content.as_str()).collect();
        Some(Self {
            content: texts.join("\n\n"),
            role: first.role,
            ephemeral: items.iter().any(|item| item.ephemeral),
            append_to_last_tool_result: items.iter().any(|item| item.append_to_last_tool_result),
        })
    }
}

/// The judgement over one emitted event: fed with answers in the order of running.
///
/// Precedence: the first deny, else the first ask, else all injections, else continue.
#[derive(Debug)]
pub struct Dispatch<R, D> {
    data: D,
    denied: Option<R>,
    asked: Option<R>,
    first_injecting: Option<R>,
    injecting: usize,
    items: Vec<ContextInjection>,
}

impl<R, D> Dispatch<R, D> {
    /// A judgement that starts with this payload.
    pub fn new(data: D) -> Self {
        Self {
            data,
            denied: None,
            asked: None,
            first_injecting: None,
            injecting: 0,
            items: Vec::new(),
        }
    }

    /// The payload for the next handler.
    pub fn data(&self) -> &D {
        &self.data
    }

    /// Every answer that is held, for a driver that must visit them.
    pub fn held(&self) -> impl Iterator<Item = &R> {
        [&self.denied, &self.asked, &self.first_injecting]
            .into_iter()
            .flatten()
    }

    /// Takes the answer of the handler `name` to `event`.
    pub fn accept(&mut self, event: &str, name: &str, answer: Answer<R, D>) -> Flow {
        match answer {
            Answer::Continue | Answer::Modify(None) => {}
            Answer::Deny(result) => {
                self.denied = Some(result);
                return Flow::Stop;
            }
            Answer::Modify(Some(data)) => self.data = data,
            Answer::Inject(result, items) => {
                self.injecting += 1;
                self.first_injecting.get_or_insert(result);
                self.items
                    .extend(items.into_iter().map(|item| ContextInjection {
                        hook_name: name.to_owned(),
                        event: event.to_owned(),
                        ..item
                    }));
            }
            Answer::Ask(result) => {
                self.asked.get_or_insert(result);
            }
        }
        Flow::Next
    }

    /// The decision, and the payload as the last handler left it.
    pub fn finish(self) -> (Decision<R>, D) {
        let decision = if let Some(result) = self.denied {
            Decision::Deny(result)
        } else if let Some(result) = self.asked {
            Decision::Ask(result)
        } else if let (Some(first), Some(projection)) =
            (self.first_injecting, Projection::of(&self.items))
        {
            let is_single = self.injecting == 1;
            Decision::Inject(Injection {
                first,
                is_single,
                items: self.items,
                projection,
            })
        } else {
            Decision::Continue
        };
        (decision, self.data)
    }
}
