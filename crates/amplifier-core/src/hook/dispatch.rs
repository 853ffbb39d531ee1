//! The decision on one emitted event.

use super::notice::Notice;
use crate::model::{ContextInjection, ContextInjectionRole};

/// The target of traced decisions.
const TARGET: &str = "amplifier_core::hook";

/// What one handler answered, reduced to what the decision needs; `R` is the whole answer, `D` a payload.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer<R, D> {
    /// Go on.
    Continue,
    /// Stop at once and refuse.
    Deny(R),
    /// Go on with this payload instead of the previous one; `None` changes nothing.
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
    /// Call no further handler.
    Stop,
}

/// The joint decision of all handlers.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision<R> {
    /// No handler objected.
    Continue,
    /// This answer refused.
    Deny(R),
    /// This answer, the first of its kind, asks for the user's approval.
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

/// Several injections merged into one.
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
    /// Merges items into one; `None` if there are none.
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

/// The decision on one emitted event; takes the answers in the order of the handlers.
///
/// Precedence: the first deny, else the first ask, else all injections, else continue.
///
/// # Examples
///
/// The driver calls the handlers, and hands in what they answer:
///
/// ```
/// use amplifier_core::hook::{Answer, Decision, Dispatch, Flow};
///
/// let mut dispatch: Dispatch<&str, i64> = Dispatch::new(1);
/// assert_eq!(dispatch.accept("tool:pre", "raise", Answer::Modify(Some(2))), Flow::Next);
/// assert_eq!(dispatch.data(), &2);
/// assert_eq!(dispatch.accept("tool:pre", "gate", Answer::Deny("too much")), Flow::Stop);
/// assert_eq!(dispatch.finish().decision, Decision::Deny("too much"));
/// ```
#[derive(Debug)]
pub struct Dispatch<R, D> {
    data: D,
    denied: Option<R>,
    asked: Option<R>,
    first_injecting: Option<R>,
    injecting: usize,
    items: Vec<ContextInjection>,
    is_modified: bool,
    notice: Notice,
}

/// The outcome of an event.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome<R, D> {
    /// The decision.
    pub decision: Decision<R>,
    /// The payload as the last handler left it.
    pub data: D,
    /// Whether a handler replaced it.
    pub is_modified: bool,
    /// The messages to the user of the handlers that let the event continue.
    pub notice: Notice,
}

impl<R, D> Dispatch<R, D> {
    /// A dispatch that starts with this payload.
    pub fn new(data: D) -> Self {
        Self {
            data,
            denied: None,
            asked: None,
            first_injecting: None,
            injecting: 0,
            items: Vec::new(),
            is_modified: false,
            notice: Notice::default(),
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

    /// Takes the message to the user of a handler that neither denies nor asks.
    pub fn tell(&mut self, notice: Notice) {
        self.notice.add(notice);
    }

    /// Takes the answer of the handler `name` to `event`.
    pub fn accept(&mut self, event: &str, name: &str, answer: Answer<R, D>) -> Flow {
        match answer {
            Answer::Continue | Answer::Modify(None) => {}
            Answer::Deny(result) => {
                tracing::debug!(target: TARGET, event, hook = name, "denied");
                self.denied = Some(result);
                return Flow::Stop;
            }
            Answer::Modify(Some(data)) => {
                tracing::trace!(target: TARGET, event, hook = name, "changed the payload");
                self.data = data;
                self.is_modified = true;
            }
            Answer::Inject(result, items) => {
                tracing::debug!(target: TARGET, event, hook = name, items = items.len(), "injected");
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
                tracing::debug!(target: TARGET, event, hook = name, "asked the user");
                self.asked.get_or_insert(result);
            }
        }
        Flow::Next
    }

    /// The outcome of the event.
    pub fn finish(self) -> Outcome<R, D> {
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
        Outcome {
            decision,
            data: self.data,
            is_modified: self.is_modified,
            notice: self.notice,
        }
    }
}
