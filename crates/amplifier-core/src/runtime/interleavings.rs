//! What threads may do to the driver at the same time, tried in other orders than chance would.
//!
//! They are tests of this crate that exist only where a checker is asked for, by `--cfg loom` or
//! `--cfg shuttle`; `make prove` does. The driver they run is the product's own: only its locks and
//! its signal are the checker's, see [`super::sync`]. `loom` runs each small model in every order
//! of at most three preemptions, `shuttle` a larger program in a hundred thousand random orders.
//! That each of them finds what it is there for, `tests/proof/test_planted_faults.py` shows.
//!
//! References are counted by `std`'s `Arc`, as `loom` has no weak ones: that counting is not
//! explored.

#[cfg(shuttle)]
mod mixed;
#[cfg(loom)]
mod small;

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use super::sync::{Mutex, lock};

/// What happened, noted under a lock at which threads may switch.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<&'static str>>>);

impl Notes {
    fn add(&self, note: &'static str) {
        lock(&self.0).push(note);
    }

    fn count(&self, note: &str) -> usize {
        lock(&self.0).iter().filter(|one| **one == note).count()
    }
}

/// Answers when it is polled again.
async fn suspend() {
    let has_suspended = AtomicBool::new(false);
    std::future::poll_fn(|context| {
        if has_suspended.swap(true, Ordering::Relaxed) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Polls a future this often and drops it, unless it ends before; whether it did.
fn cut(mut future: Pin<Box<dyn Future<Output = ()> + Send + '_>>, polls: usize) -> bool {
    let mut context = Context::from_waker(Waker::noop());
    (0..polls).any(|_| future.as_mut().poll(&mut context).is_ready())
}
