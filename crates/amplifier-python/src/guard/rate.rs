//! `RateLimiter`: how many calls a user, a tool and a provider may make in a span of time.

use std::sync::{Mutex, PoisonError};

use amplifier_guard as guard;
use amplifier_guard::{Caller, Rate, RateLimited};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::Error;
use crate::guard::breaker::seconds;

/// A limit, the seconds it is for, and how many calls may come at once.
type Limits = (u64, f64, u64);

/// Counts calls by user, tool and provider; `amplifier_guard` passes in the time.
#[pyclass(frozen, module = "amplifier_core._engine")]
pub(crate) struct RateLimiter {
    limiter: Mutex<guard::RateLimiter>,
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
    fn new(
        user: Option<Limits>,
        tool: Option<Limits>,
        provider: Option<Limits>,
        max_names: usize,
    ) -> Result<Self, Error> {
        let rate = |limits: Option<Limits>| limits.map(rate_of).transpose();
        let (user, tool, provider) = (rate(user)?, rate(tool)?, rate(provider)?);
        Ok(Self {
            limiter: guard::RateLimiter::new(user, tool, provider, max_names)?.into(),
        })
    }

    /// Count a call; return the limit that it exceeds and the seconds to wait, or None.
    fn take(
        &self,
        user: Option<&str>,
        tool: Option<&str>,
        provider: Option<&str>,
        now: u64,
    ) -> PyResult<Option<(&'static str, f64)>> {
        let caller = Caller {
            user,
            tool,
            provider,
        };
        match self.with(|limiter| limiter.take(caller, now)) {
            Ok(()) => Ok(None),
            Err(RateLimited::Busy { scope, wait } | RateLimited::Crowded { scope, wait }) => {
                Ok(Some((scope.as_str(), seconds(wait))))
            }
            Err(error) => Err(PyValueError::new_err(error.to_string())),
        }
    }

    /// Return how many names are counted at the moment.
    fn names(&self) -> usize {
        self.with(|limiter| limiter.names())
    }
}

fn rate_of((limit, period, burst): Limits) -> Result<Rate, guard::SettingError> {
    Rate::new(limit, guard::nanoseconds("period", period)?, burst)
}
