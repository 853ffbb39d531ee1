//! Time limits on what is awaited, kept by `amplifier_core._kernel.timeout`.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt};

use crate::kernel::report::type_name;
use crate::module::module;

/// At most so many seconds, or no limit.
#[derive(Clone, Copy)]
pub(crate) struct TimeLimit(Option<f64>);

impl TimeLimit {
    /// No limit.
    pub(crate) const NONE: Self = Self(None);

    /// At most this long; a time that is not finite is no limit, one below zero is zero.
    pub(crate) fn seconds(seconds: f64) -> Self {
        Self(seconds.is_finite().then_some(seconds.max(0.0)))
    }

    /// The seconds, if there is a limit.
    pub(crate) fn get(self) -> Option<f64> {
        self.0
    }

    /// The awaitable within this limit; see [`is_expired`] for its result. It is called `what`
    /// where it is left behind.
    pub(crate) fn on(
        self,
        awaitable: Bound<'_, PyAny>,
        what: impl FnOnce() -> String,
    ) -> PyResult<Bound<'_, PyAny>> {
        let Some(seconds) = self.0 else {
            return Ok(awaitable);
        };
        let py = awaitable.py();
        module(py, intern!(py, "amplifier_core._kernel.timeout"))?
            .call_method1(intern!(py, "await_within"), (awaitable, seconds, what()))
    }
}

/// Whether a result says that its time was over.
pub(crate) fn is_expired(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = value.py();
    let expired = module(py, intern!(py, "amplifier_core._kernel.timeout"))?;
    Ok(value.is(&expired.getattr(intern!(py, "EXPIRED"))?))
}

impl<'py> FromPyObject<'_, 'py> for TimeLimit {
    type Error = PyErr;

    fn extract(limit: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if limit.is_none() {
            return Ok(Self::NONE);
        }
        if !(limit.is_instance_of::<PyFloat>() || limit.is_instance_of::<PyInt>()) {
            let found = type_name(&limit);
            return Err(PyTypeError::new_err(format!(
                "`timeout` must be a number of seconds or None, not `{found}`"
            )));
        }
        let seconds: f64 = limit.extract()?;
        if seconds.is_nan() || seconds < 0.0 {
            return Err(PyValueError::new_err(format!(
                "`timeout` must be None or at least 0 seconds, not {seconds}"
            )));
        }
        Ok(Self::seconds(seconds))
    }
}
