//! The cancellation token: one level shared by all clones, passed on to children.

use std::cell::RefCell;
use std::fmt;
use std::pin::pin;
use std::sync::{Arc, PoisonError, Weak};

use super::sync::{Mutex, Notify, lock};
use crate::cancellation::{Cancellation, CancellationState};
use crate::traits::BoxFuture;

/// A function that runs when callbacks are triggered.
type Callback = Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>;

/// A cancellation level. Clones share it.
///
/// A token holds its children weakly: they follow every rise while other code keeps them alive.
///
/// # Examples
///
/// ```
/// use amplifier_core::cancellation::CancellationState;
/// use amplifier_core::runtime::CancellationToken;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let token = CancellationToken::default();
/// let child = CancellationToken::default();
/// token.register_child(&child);
///
/// assert!(token.request_graceful());
/// assert!(child.is_graceful());
/// assert!(!token.request_graceful(), "it was cancelled already");
///
/// token.request_immediate();
/// child.reached(CancellationState::Immediate).await;
/// # }
/// ```
#[derive(Clone, Default)]
pub struct CancellationToken {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    state: Mutex<Cancellation<Weak<Inner>, Callback>>,
    rises: Notify,
}

thread_local! {
    /// The callbacks that are still to be dropped, while some are.
    static DROPPED: RefCell<Option<Vec<Callback>>> = const { RefCell::new(None) };
}

/// Drops the callbacks one after another and not one inside the other: each may hold the last
/// clone of a further token, in chains longer than a stack is deep.
impl Drop for Inner {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let (_, callbacks) = state.clear();
        // Without the list, at the end of a thread, the closure drops them.
        let is_first = DROPPED.try_with(|dropped| {
            let mut dropped = dropped.borrow_mut();
            let is_first = dropped.is_none();
            dropped.get_or_insert_default().extend(callbacks);
            is_first
        });
        if !is_first.unwrap_or(false) {
            return;
        }
        let next = || DROPPED.with_borrow_mut(|dropped| dropped.as_mut().and_then(Vec::pop));
        while let Some(callback) = next() {
            drop(callback);
        }
        DROPPED.set(None);
    }
}

impl CancellationToken {
    /// The current level.
    #[must_use]
    pub fn state(&self) -> CancellationState {
        lock(&self.inner.state).state()
    }

    /// Whether it is cancelled, gracefully or immediately.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.state() != CancellationState::None
    }

    /// Whether the work in progress may still finish.
    #[must_use]
    pub fn is_graceful(&self) -> bool {
        self.state() == CancellationState::Graceful
    }

    /// Whether all work must stop at once.
    #[must_use]
    pub fn is_immediate(&self) -> bool {
        self.state() == CancellationState::Immediate
    }

    /// Requests a stop after the work in progress; true if the level rose. Calls no callbacks.
    #[expect(clippy::must_use_candidate, reason = "most callers only want the rise")]
    pub fn request_graceful(&self) -> bool {
        self.request(CancellationState::Graceful)
    }

    /// Requests a stop at once; true if the level rose. Calls no callbacks.
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

    /// Resets the level to none and forgets the running tools; children keep their level.
    pub fn reset(&self) {
        lock(&self.inner.state).reset();
    }

    /// Waits until the level is reached; race it against the work to be dropped.
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

    /// Records that the tool call `id` of the tool `name` is running.
    pub fn register_tool_start(&self, id: &str, name: &str) {
        lock(&self.inner.state).tool_started(id.to_owned(), name.to_owned());
    }

    /// Records that the tool call `id` has ended; an unknown id is ignored.
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

    /// Passes the current level and every later rise on to another token.
    pub fn register_child(&self, child: &Self) {
        let level = {
            let mut state = lock(&self.inner.state);
            // A long-lived parent must not keep entries for children that no longer exist; looking
            // for them at every registration would cost more than the entries.
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

    /// Registers a function that runs whenever callbacks are triggered.
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
