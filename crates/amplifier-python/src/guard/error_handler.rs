//! `ErrorHandler`: whether a failed operation is retried, and when.

#![expect(clippy::doc_markdown, reason = "docstrings of Python")]

use std::sync::{Mutex, PoisonError};

use amplifier_guard as guard;
use amplifier_guard::{Backoff, Decision, ErrorFrequency, Moment};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::Error;
use crate::guard::clock::{Clock, Count};
use crate::guard::failure::read_failure;
use crate::lazy_object::ImportedClass;
use crate::traverse::Traverse;
use crate::world;

static RETRY: ImportedClass = ImportedClass::new("amplifier_guard.error_handler", "Retry");
static GIVE_UP: ImportedClass = ImportedClass::new("amplifier_guard.error_handler", "GiveUp");

/// Decides on retries, and counts errors by type; safe to share between threads.
///
/// The waits are those of the kernel's `compute_delay`: exponential, limited, with jitter, and at
/// least as long as the server asks for, unless that is negative or more than a day. No wait is
/// longer than a day.
///
/// Args:
///     max_retries: Maximum number of calls after the first one.
///     initial_delay: Seconds before the first retry.
///     backoff_factor: Factor from one wait to the next.
///     max_delay: Most seconds of a wait, before an error's `delay_multiplier` and `retry_after`.
///     jitter: Share of a wait, from 0 to 1, by which it is randomly longer or shorter; 0.5 is
///         the kernel's spread.
///     budget: Seconds after the first call beyond which no retry begins; None for no limit.
///     max_types: Most types of errors that are counted.
///     forget_after: Seconds after which a type is forgotten unless it occurs again.
///     clock: Returns the time in seconds; it must not run backwards. None for `world.monotonic`.
///     random: Returns a number from 0 to 1; None for `world.random`.
///
/// Raises:
///     ValueError: A setting is out of range.
#[pyclass(frozen, subclass, weakref, module = "amplifier_core._engine")]
pub(crate) struct ErrorHandler {
    handler: Mutex<guard::ErrorHandler>,
    /// Seconds after the first call beyond which no retry begins.
    #[pyo3(get)]
    budget: Option<f64>,
    clock: Clock,
    random: Py<PyAny>,
}

impl ErrorHandler {
    fn with<T>(&self, action: impl FnOnce(&mut guard::ErrorHandler) -> T) -> T {
        let mut handler = self.handler.lock().unwrap_or_else(PoisonError::into_inner);
        action(&mut handler)
    }
}

#[pymethods]
impl ErrorHandler {
    #[new]
    #[pyo3(
        signature = (
            *, max_retries = Count::of(3), initial_delay = 0.5, backoff_factor = 2.0,
            max_delay = 30.0, jitter = 0.1, budget = None, max_types = Count::of(100),
            forget_after = 300.0, clock = None, random = None,
        ),
        text_signature = "(*, max_retries=3, initial_delay=0.5, backoff_factor=2.0, max_delay=30.0, \
                          jitter=0.1, budget=None, max_types=100, forget_after=300.0, clock=None, \
                          random=None)"
    )]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments in Python")]
    fn new(
        py: Python<'_>,
        max_retries: Count,
        initial_delay: f64,
        backoff_factor: f64,
        max_delay: f64,
        jitter: f64,
        budget: Option<f64>,
        max_types: Count,
        forget_after: f64,
        clock: Option<Py<PyAny>>,
        random: Option<Py<PyAny>>,
    ) -> Result<Self, Error> {
        let settings = guard::RetrySettings {
            max_retries: max_retries.named("max_retries")?,
            backoff: Backoff::new(initial_delay, backoff_factor, max_delay)?,
            jitter,
            budget,
        };
        let max_types = max_types.named("max_types")? as usize;
        let forget_after = guard::duration("forget_after", forget_after)?;
        let frequency = ErrorFrequency::new(max_types, forget_after);
        Ok(Self {
            handler: guard::ErrorHandler::new(settings, frequency)?.into(),
            budget,
            clock: Clock::of(py, clock)?,
            random: match random {
                Some(random) => random,
                None => world::function(py, "random")?.unbind(),
            },
        })
    }

    /// Decide whether to retry after a failure.
    ///
    /// Args:
    ///     error: What was raised; its `retryable`, `retry_after`, `delay_multiplier` and
    ///         `status_code` are used if present.
    ///     context: What was being done; its `retry_count` is used.
    ///     elapsed: Seconds since the first call of the operation.
    #[pyo3(signature = (error, context, *, elapsed = 0.0))]
    fn handle<'py>(
        &self,
        error: &Bound<'py, PyAny>,
        context: &Bound<'py, PyAny>,
        elapsed: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = error.py();
        let failure = read_failure(error)?;
        let retries = context.getattr("retry_count")?.extract()?;
        let moment = Moment {
            now: self.clock.now(py)?,
            elapsed,
            random: self.random.call0(py)?.extract(py)?,
        };
        match self.with(|handler| handler.handle(&failure, retries, moment)) {
            Decision::Retry { delay, attempt } => RETRY.get(py)?.call1((delay, attempt)),
            Decision::GiveUp { reason } => GIVE_UP.get(py)?.call1((reason.as_str(),)),
        }
    }

    /// Return how often each type of error occurred recently, the latest type last.
    fn frequency<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let now = self.clock.now(py)?;
        let counts: Vec<_> = self.with(|handler| {
            let counts = handler.frequency().counts(now);
            counts
                .map(|(name, count)| (name.to_owned(), count))
                .collect()
        });
        let frequency = PyDict::new(py);
        for (name, count) in counts {
            frequency.set_item(name, count)?;
        }
        Ok(frequency)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.clock.traverse(&visit)?;
        self.random.traverse(&visit)
    }
}
