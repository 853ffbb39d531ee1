//! The locks and the signal that threads meet at: those of `std` and tokio, or, while models are
//! checked, ones at which a checker may switch threads. See [`super::interleavings`].

#[cfg(all(test, loom))]
pub(super) use loom::sync::{Mutex, MutexGuard};
#[cfg(all(test, shuttle))]
pub(super) use shuttle::sync::{Mutex, MutexGuard};
#[cfg(not(all(test, any(loom, shuttle))))]
pub(super) use std::sync::{Mutex, MutexGuard};

#[cfg(all(test, any(loom, shuttle)))]
pub(super) use switching::Notify;
#[cfg(not(all(test, any(loom, shuttle))))]
pub(super) use tokio::sync::Notify;

use std::sync::PoisonError;

/// Locks a value that is consistent at any time, even after a panic in another thread.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(test, any(loom, shuttle)))]
mod switching {
    use tokio::sync::futures::Notified;

    use super::{Mutex, lock};

    /// tokio's signal, which no checker can inspect, behind a lock at which a checker may switch.
    #[derive(Debug, Default)]
    pub(in crate::runtime) struct Notify {
        place: Mutex<()>,
        signal: tokio::sync::Notify,
    }

    impl Notify {
        pub(in crate::runtime) fn new() -> Self {
            Self::default()
        }

        pub(in crate::runtime) fn notified(&self) -> Notified<'_> {
            drop(lock(&self.place));
            self.signal.notified()
        }

        pub(in crate::runtime) fn notify_waiters(&self) {
            drop(lock(&self.place));
            self.signal.notify_waiters();
        }
    }
}
