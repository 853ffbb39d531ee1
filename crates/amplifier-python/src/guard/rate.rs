//! `RateLimiter`: how many calls a user, a tool and a provider may make in a span of time.

#![expect(clippy::doc_markdown, reason = "docstrings of Python")]

use std::sync::{Mutex, PoisonError};

use amplifier_guard as guard;
use amplifier_guard::Caller;
use pyo3::exceptions::PyValueError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;

use crate::error::{Error, RateLimited};
use crate::guard::clock::{Clock, Count};
use crate::traverse::Traverse;

/// The fields of an `amplifier_guard.Rate`.
#[derive(FromPyObject)]
pub(crate) struct Rate {
    limit: Count,
    period: f64,
    burst: Option<Count>,
}

impl Rate {
    fn check(self) -> Result<guard::Rate, Error> {
        let limit = self.limit.named("limit")?;
        let burst = self.burst.map_or(Ok(limit), |burst| burst.named("burst"))?;
        let period = guard::duration("period", self.period)?;
        Ok(guard::Rate::new(limit, period, burst)?)
    }
}

/// Counts calls by user, tool and provider in token buckets; safe to share.
///
/// The arithmetic is exact. The number of names is bounded: when there is no room, a name whose
/// bucket is full is forgotten, which loses nothing; while there is none, new names have to wait.
///
/// Args:
///     user: Rate of each user; None for no limit.
///     tool: Rate of each tool.
///     provider: Rate of each provider.
///     max_names: Most names that are counted at a time, at least 3.
///     clock: Returns the time in seconds; a time before the latest one counts as the latest. None
///         for `world.monotonic`.
///
/// Raises:
///     ValueError: A setting is out of range.
#[pyclass(frozen, subclass, weakref, module = "amplifier_core._engine")]
pub(crate) struct RateLimiter {
    limiter: Mutex<guard::RateLimiter>,
    clock: Clock,
}

impl RateLimiter {
    fn with<T>(&self, action: impl FnOnce(&mut guard::RateLimiter) -> T) -> T {
        let mut limiter = self.limiter.lock().unwrap_or_else(PoisonError::into_inner);
        action(&mut limiter)
    }
}

#[pymethods]
impl RateLimiter {
    #[new]
    #[pyo3(
        signature = (*, user = None, tool = None, provider = None, max_names = Count::of(10_000), clock = None),
        text_signature = "(*, user=None, tool=None, provider=None, max_names=10000, clock=None)"
    )]
    fn new(
        py: Python<'_>,
        user: Option<Rate>,
        tool: Option<Rate>,
        provider: Option<Rate>,
        max_names: Count,
        clock: Option<Py<PyAny>>,
    ) -> Result<Self, Error> {
        let rate = |rate: Option<Rate>| rate.map(Rate::check).transpose();
        let (user, tool, provider) = (rate(user)?, rate(tool)?, rate(provider)?);
        let max_names = max_names.named("max_names")? as usize;
        Ok(Self {
            limiter: guard::RateLimiter::new(user, tool, provider, max_names)?.into(),
            clock: Clock::of(py, clock)?,
        })
    }

    /// Count one call for each name that is given, or for none of them.
    ///
    /// Raises:
    ///     RateLimited: It would exceed the rate of one of them.
    ///     ValueError: A name is longer than 1024 bytes.
    #[pyo3(signature = (*, user = None, tool = None, provider = None))]
    fn take(
        &self,
        py: Python<'_>,
        user: Option<&str>,
        tool: Option<&str>,
        provider: Option<&str>,
    ) -> PyResult<()> {
        let now = self.clock.now(py)?;
        let caller = Caller {
            user,
            tool,
            provider,
        };
        self.with(|limiter| limiter.take(caller, now))
            .map_err(|error| match error {
                guard::RateLimited::Busy { scope, wait }
                | guard::RateLimited::Crowded { scope, wait } => {
                    RateLimited.new_err((scope.as_str(), wait.as_secs_f64()))
                }
                _ => PyValueError::new_err(error.to_string()),
            })
    }

    /// Number of names that are currently counted.
    #[getter]
    fn names(&self) -> usize {
        self.with(|limiter| limiter.names())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.clock.traverse(&visit)
    }
}
