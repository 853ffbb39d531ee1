//! Futures that run together, and one that a request to stop at once ends.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use crate::cancellation::CancellationState;
use crate::traits::{BoxFuture, Kernel};

/// Runs futures at the same time, in the task of the caller, until all have ended.
pub(super) async fn run_together(futures: Vec<BoxFuture<'_, ()>>) {
    let mut running = futures;
    poll_fn(|context| {
        running.retain_mut(|future| future.as_mut().poll(context).is_pending());
        if running.is_empty() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

/// The output of a future; `None` if the session is cancelled immediately before it ends, which
/// drops it.
pub(super) async fn unless_stopped<T>(
    kernel: &dyn Kernel,
    work: impl Future<Output = T>,
) -> Option<T> {
    let mut stop = kernel.cancelled(CancellationState::Immediate);
    let mut work = pin!(work);
    poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => stop.as_mut().poll(context).map(|()| None),
    })
    .await
}
