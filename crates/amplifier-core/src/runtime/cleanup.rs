//! Clean-up functions: each once, the last registered first.

use super::sync::{Mutex, lock};
use crate::error::AmplifierError;
use crate::traits::BoxFuture;

type Function = Box<dyn FnOnce() -> BoxFuture<'static, Result<(), AmplifierError>> + Send>;

/// The clean-up functions that have not run yet.
#[derive(Default)]
pub(super) struct Cleanup {
    functions: Mutex<Vec<Function>>,
}

impl Cleanup {
    pub(super) fn register<F, R>(&self, function: F)
    where
        F: FnOnce() -> R + Send + 'static,
        R: Future<Output = Result<(), AmplifierError>> + Send + 'static,
    {
        lock(&self.functions).push(Box::new(move || Box::pin(function())));
    }

    /// Runs the remaining functions. If a run is dropped, the next one continues with the rest.
    pub(super) async fn run(&self) {
        while let Some(function) = self.next() {
            if let Err(error) = function().await {
                log::error!(
                    target: "amplifier_core.coordinator",
                    "Error during cleanup: {}",
                    error.describe(),
                );
            }
        }
    }

    fn next(&self) -> Option<Function> {
        lock(&self.functions).pop()
    }
}
