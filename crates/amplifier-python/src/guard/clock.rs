//! Time and counts for the guard, as Python has them: a clock in seconds, whole numbers of any size.

use std::time::Duration;

use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;

use crate::traverse::traverse;
use crate::world;

/// A function of Python that returns the time in seconds, such as `world.monotonic`.
pub(crate) struct Clock(Py<PyAny>);

traverse!(Clock: 0);

impl Clock {
    /// This clock, else `monotonic` of `amplifier_core.world`.
    pub(crate) fn of(py: Python<'_>, clock: Option<Py<PyAny>>) -> PyResult<Self> {
        Ok(Self(match clock {
            Some(clock) => clock,
            None => world::function(py, "monotonic")?.unbind(),
        }))
    }

    /// The time since the clock was at zero; no lock may be held, as the clock is Python code.
    pub(crate) fn now(&self, py: Python<'_>) -> PyResult<Duration> {
        let seconds: f64 = self.0.call0(py)?.extract(py)?;
        Ok(Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX))
    }
}

/// A whole number, or the text of one that is out of range.
pub(crate) struct Count(Result<u32, String>);

impl Count {
    pub(crate) fn of(number: u32) -> Self {
        Self(Ok(number))
    }

    /// The number, or an error that names its setting.
    pub(crate) fn named(self, name: &str) -> PyResult<u32> {
        self.0.map_err(|found| {
            let most = u32::MAX;
            PyValueError::new_err(format!(
                "`{name}` must be from 0 to {most}, found `{found}`"
            ))
        })
    }
}

impl<'py> FromPyObject<'_, 'py> for Count {
    type Error = PyErr;

    fn extract(number: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match number.extract::<u32>() {
            Ok(number) => Ok(Self(Ok(number))),
            Err(error) if error.is_instance_of::<PyOverflowError>(number.py()) => {
                Ok(Self(Err(number.str()?.to_string())))
            }
            Err(error) => Err(error),
        }
    }
}
