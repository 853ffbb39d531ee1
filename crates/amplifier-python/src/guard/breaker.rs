//! `CircuitBreaker`: stops calls to a service after repeated failures.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use amplifier_guard as guard;
use amplifier_guard::Permit;
use pyo3::prelude::*;

use crate::error::Error;

/// Refuses calls to a service after several failures in a row; `amplifier_guard` passes in the time.
#[pyclass(frozen, module = "amplifier_core._engine")]
pub(crate) struct CircuitBreaker {
    breaker: Mutex<guard::CircuitBreaker>,
}

impl CircuitBreaker {
    fn with<T>(&self, action: impl FnOnce(&mut guard::CircuitBreaker) -> T) -> T {
        let mut breaker = self.breaker.lock().unwrap_or_else(PoisonError::into_inner);
        action(&mut breaker)
    }
}

#[pymethods]
impl CircuitBreaker {
    #[new]
    fn new(failures: u64, recovery: f64) -> Result<Self, Error> {
        let recovery = guard::nanoseconds("recovery", recovery)?;
        Ok(Self {
            breaker: guard::CircuitBreaker::new(failures, recovery)?.into(),
        })
    }

    /// Return `closed`, `open` or `half_open`.
    fn state(&self, now: u64) -> &'static str {
        self.with(|breaker| breaker.state(now)).as_str()
    }

    /// Return the seconds until a call is let through.
    fn wait(&self, now: u64) -> f64 {
        seconds(self.with(|breaker| breaker.wait(now)))
    }

    /// Return a permit, or None and the seconds until the next trial.
    fn admit(&self, now: u64) -> (Option<u64>, f64) {
        match self.with(|breaker| breaker.admit(now)) {
            Ok(permit) => (Some(permit.number()), 0.0),
            Err(open) => (None, seconds(open.wait)),
        }
    }

    /// Note that the call of a permit succeeded.
    fn succeeded(&self, permit: u64) {
        self.with(|breaker| breaker.succeeded(Permit::from_number(permit)));
    }

    /// Note that the call of a permit failed.
    fn failed(&self, permit: u64, now: u64) {
        self.with(|breaker| breaker.failed(Permit::from_number(permit), now));
    }

    /// Note that the call of a permit ended in a way that says nothing about the service.
    fn abandoned(&self, permit: u64) {
        self.with(|breaker| breaker.abandoned(Permit::from_number(permit)));
    }
}

/// The seconds of some nanoseconds.
pub(crate) fn seconds(nanoseconds: u64) -> f64 {
    Duration::from_nanos(nanoseconds).as_secs_f64()
}
