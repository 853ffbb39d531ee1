//! The cancellation token: one level shared by all clones, passed on to children.

use std::fmt;
use std::pin::pin;
use std::sync::{Arc, Weak};

use super::sync::{Mutex, Notify, lock};
use crate::cancellation::{Cancellation, CancellationState};
use crate::traits::BoxFuture;

/// What runs when callbacks are triggered.
type Callback = Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>;

/// How far something is cancelled. Clones share the level.
///
/// Children hear of every rise for as long as somebody else holds them.
#[derive(Clone, Default)]
pub struct CancellationToken {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    state: Mutex<Cancellation<Weak<Inner>, Callback>>,
    rises: Notify,
}

impl CancellationToken {
    /// The level now.
    #[must_use]
    pub fn state(&self) -> CancellationState {
        lock(&self.inner.state).state()
    }

    /// Whether it is cancelled at all.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.state() != CancellationState::None
    }

    /// Whether what runs now may still end.
    #[must_use]
    pub fn is_graceful(&self) -> bool {
        self.state() == CancellationState::Graceful
    }

    /// Whether everything is to stop at once.
    #[must_use]
    pub fn is_immediate(&self) -> bool {
        self.state() == CancellationState::Immediate
    }

    /// Asks to stop after what runs now; true if that is news. Calls no callbacks.
    #[expect(clippy::must_use_candidate, reason = "most callers only want the rise")]
    pub fn request_graceful(&self) -> bool {
        self.request(CancellationState::Graceful)
    }

    /// Asks to stop at once; true if that is news. Calls no callbacks.
    #[expect(clippy::must_use_candidate, reason = "most callers only want the rise")]
    pub fn request_immediate(&self) -> bool {
        self.request(CancellationState::Immediate)
    }

    fn request(&self, level: CancellationState) -> bool {
        let mut told = vec![Arc::clone(&self.inner)];
        let mut is_news = None;
        // A list instead of calls within calls: children may be nested deeper than a stack is.
        while let Some(inner) = told.pop() {
            let mut state = lock(&inner.state);
            let rose = state.request(level);
            if rose {
                told.extend(state.children().iter().rev().filter_map(Weak::upgrade));
            }
            drop(state);
            if rose {
                inner.rises.notify_waiters();
            }
            is_news.get_or_insert(rose);
        }
        is_news.unwrap_or_default()
    }

    /// Back to not cancelled, with no running tools; children keep their level.
    pub fn reset(&self) {
        lock(&self.inner.state).reset();
    }

    /// Waits until the level is reached; use it to drop what runs.
    pub async fn reached(&self, level: CancellationState) {
        loop {
            let mut rise = pin!(self.inner.rises.notified());
            rise.as_mut().enable();
            if self.state() >= level {
                return;
            }
            rise.await;
        }
    }

    /// Notes that the tool call `id` of the tool `name` runs.
    pub fn register_tool_start(&self, id: &str, name: &str) {
        lock(&self.inner.state).tool_started(id.to_owned(), name.to_owned());
    }

    /// Notes that the tool call `id` is over; an unknown one is ignored.
    pub fn register_tool_complete(&self, id: &str) {
        lock(&self.inner.state).tool_completed(id);
    }

    /// The ids and names of the running tool calls, in the order of their start.
    #[must_use]
    pub fn running_tools(&self) -> Vec<(String, String)> {
        let state = lock(&self.inner.state);
        let tools = state.running_tools();
        tools
            .map(|(id, name)| (id.to_owned(), name.to_owned()))
            .collect()
    }

    /// Passes the level of now and every later rise on to another token.
    pub fn register_child(&self, child: &Self) {
        let level = {
            let mut state = lock(&self.inner.state);
            // A parent that lives long must not keep the places of children that nobody holds any
            // more; looking for them at every registration would cost more than they do.
            if state.children().len().is_power_of_two() {
                drop(state.remove_children(|one| one.strong_count() == 0));
            }
            state.add_child(Arc::downgrade(&child.inner))
        };
        child.request(level);
    }

    /// Stops passing on to a token, however often it was registered.
    pub fn unregister_child(&self, child: &Self) {
        let child = Arc::as_ptr(&child.inner);
        let removed = lock(&self.inner.state).remove_children(|one| Weak::as_ptr(one) == child);
        drop(removed);
    }

    /// Has a function run whenever callbacks are triggered.
    pub fn on_cancel<F, R>(&self, callback: F)
    where
        F: Fn() -> R + Send + Sync + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        let callback: Callback = Arc::new(move || Box::pin(callback()));
        lock(&self.inner.state).add_callback(callback);
    }

    /// Runs every callback, one after the other in the order of registration.
    pub async fn trigger_callbacks(&self) {
        let callbacks = lock(&self.inner.state).callbacks().to_vec();
        for callback in callbacks {
            callback().await;
        }
    }
}

impl fmt::Debug for CancellationToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CancellationToken")
            .field("state", &self.state())
            .field("running_tools", &self.running_tools())
            .finish_non_exhaustive()
    }
}
