//! `CircuitBreaker`: stops calls to a service after repeated failures.

#![expect(clippy::doc_markdown, reason = "docstrings of Python")]

use std::sync::{Mutex, PoisonError};

use amplifier_guard as guard;
use amplifier_guard::Permit;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;

use crate::error::{CircuitOpen, Error};
use crate::guard::clock::{Clock, Count};
use crate::traverse::Traverse;

/// Refuses calls to a service that failed several times in a row; safe to share.
///
/// After `recovery` seconds it lets one trial call through: if that succeeds it closes, if that
/// fails it stays open for as long again. Calls that began before it last changed its state do not
/// count.
///
/// Args:
///     failures: Failures in a row that open it.
///     recovery: Seconds until the trial; a trial without a result is given up after as long.
///     clock: Returns the time in seconds; a time before the latest one counts as the latest. None
///         for `world.monotonic`.
///
/// Raises:
///     ValueError: A setting is out of range.
#[pyclass(frozen, subclass, weakref, module = "amplifier_core._engine")]
pub(crate) struct CircuitBreaker {
    breaker: Mutex<guard::CircuitBreaker>,
    clock: Clock,
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
    #[pyo3(
        signature = (*, failures = Count::of(5), recovery = 60.0, clock = None),
        text_signature = "(*, failures=5, recovery=60.0, clock=None)"
    )]
    fn new(
        py: Python<'_>,
        failures: Count,
        recovery: f64,
        clock: Option<Py<PyAny>>,
    ) -> Result<Self, Error> {
        let failures = failures.named("failures")?;
        let recovery = guard::duration("recovery", recovery)?;
        Ok(Self {
            breaker: guard::CircuitBreaker::new(failures, recovery)?.into(),
            clock: Clock::of(py, clock)?,
        })
    }

    /// `closed` lets calls through, `open` refuses them, `half_open` waits for the trial.
    #[getter]
    fn state(&self, py: Python<'_>) -> PyResult<&'static str> {
        let now = self.clock.now(py)?;
        Ok(self.with(|breaker| breaker.state(now)).as_str())
    }

    /// Return the seconds until the next call is allowed, 0 for now.
    fn wait(&self, py: Python<'_>) -> PyResult<f64> {
        let now = self.clock.now(py)?;
        Ok(self.with(|breaker| breaker.wait(now)).as_secs_f64())
    }

    /// Ask for permission to make a call, and return the permit.
    ///
    /// Raises:
    ///     CircuitOpen: The circuit is open, or a trial is under way.
    fn admit(&self, py: Python<'_>) -> PyResult<u64> {
        let now = self.clock.now(py)?;
        let permit = self.with(|breaker| breaker.admit(now));
        permit
            .map(Permit::number)
            .map_err(|open| CircuitOpen.new_err((open.wait.as_secs_f64(),)))
    }

    /// Report that the call succeeded, which closes the breaker.
    fn succeeded(&self, permit: u64) {
        self.with(|breaker| breaker.succeeded(Permit::from_number(permit)));
    }

    /// Report that the call failed, which counts or, in a trial, opens the breaker again.
    fn failed(&self, py: Python<'_>, permit: u64) -> PyResult<()> {
        let now = self.clock.now(py)?;
        self.with(|breaker| breaker.failed(Permit::from_number(permit), now));
        Ok(())
    }

    /// Report that the call ended in a way that says nothing about the service.
    fn abandoned(&self, permit: u64) {
        self.with(|breaker| breaker.abandoned(Permit::from_number(permit)));
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.clock.traverse(&visit)
    }
}
