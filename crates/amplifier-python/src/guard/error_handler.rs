//! `ErrorHandler`: whether a failed operation is retried, and when.

use std::sync::{Mutex, PoisonError};

use amplifier_guard as guard;
use amplifier_guard::{Backoff, Decision, ErrorFrequency, ErrorKind, Failure, Moment};
use pyo3::prelude::*;

use crate::error::Error;

/// Judges failures; `amplifier_guard.ErrorHandler` passes in the facts, the time and a random
/// number.
#[pyclass(frozen, module = "amplifier_core._engine")]
pub(crate) struct ErrorHandler {
    handler: Mutex<guard::ErrorHandler>,
}

impl ErrorHandler {
    fn with<T>(&self, action: impl FnOnce(&mut guard::ErrorHandler) -> T) -> T {
        let mut handler = self.handler.lock().unwrap_or_else(PoisonError::into_inner);
        action(&mut handler)
    }
}

#[expect(clippy::too_many_arguments, reason = "keyword arguments in Python")]
#[pymethods]
impl ErrorHandler {
    #[new]
    #[pyo3(signature = (
        *, max_retries, initial_delay, backoff_factor, max_delay, jitter, budget, max_types,
        forget_after,
    ))]
    fn new(
        max_retries: u32,
        initial_delay: f64,
        backoff_factor: f64,
        max_delay: f64,
        jitter: f64,
        budget: Option<f64>,
        max_types: usize,
        forget_after: f64,
    ) -> Result<Self, Error> {
        let backoff = Backoff::new(initial_delay, backoff_factor, max_delay)?;
        let forget_after = guard::nanoseconds("forget_after", forget_after)?;
        let settings = guard::RetrySettings {
            max_retries,
            backoff,
            jitter,
            budget,
        };
        let frequency = ErrorFrequency::new(max_types, forget_after);
        Ok(Self {
            handler: guard::ErrorHandler::new(settings, frequency)?.into(),
        })
    }

    /// Return `(delay, attempt)` and None for a retry, or None and the reason not to retry.
    #[pyo3(signature = (
        names, *, status, retryable, retry_after, delay_multiplier, retries, now, elapsed, random,
    ))]
    fn handle(
        &self,
        names: Vec<String>,
        status: Option<u16>,
        retryable: Option<bool>,
        retry_after: Option<f64>,
        delay_multiplier: Option<f64>,
        retries: u32,
        now: u64,
        elapsed: f64,
        random: f64,
    ) -> (Option<(f64, u32)>, Option<&'static str>) {
        let failure = Failure {
            kind: ErrorKind::of_exception(names.iter().map(String::as_str), status),
            name: names.into_iter().next().unwrap_or_default(),
            retryable,
            retry_after,
            delay_multiplier,
        };
        let moment = Moment {
            now,
            elapsed,
            random,
        };
        match self.with(|handler| handler.handle(&failure, retries, moment)) {
            Decision::Retry { delay, attempt } => (Some((delay, attempt)), None),
            Decision::GiveUp { reason } => (None, Some(reason.as_str())),
        }
    }

    /// Return each type of error and how often it occurred recently, the latest one last.
    fn frequency(&self, now: u64) -> Vec<(String, u64)> {
        self.with(|handler| {
            let counts = handler.frequency().counts(now);
            counts
                .map(|(name, count)| (name.to_owned(), count))
                .collect()
        })
    }
}
