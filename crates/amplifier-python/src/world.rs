//! Time and ids: of the system, or of the `amplifier_core.world` that Python has in use.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use uuid::{Builder, Uuid};

/// Whether Python is asked. Otherwise an event costs no call of Python for its time.
static IS_REPLACED: AtomicBool = AtomicBool::new(false);

/// Ask `amplifier_core.world` for time and randomness, or read the system again.
#[pyfunction(name = "follow_world")]
pub(crate) fn follow(is_replaced: bool) {
    // Whoever sets it has the new world in place, and holds the interpreter.
    IS_REPLACED.store(is_replaced, Ordering::Relaxed);
}

/// The current time of the system; `None` while another world is in use.
pub(crate) fn system_time() -> Option<SystemTime> {
    (!is_replaced()).then(SystemTime::now)
}

fn is_replaced() -> bool {
    IS_REPLACED.load(Ordering::Relaxed)
}

/// The function of this name in `amplifier_core.world`.
pub(crate) fn function<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("amplifier_core.world")?.getattr(name)
}

/// The current time; of a world in use to the microsecond, rounded as `datetime` does.
///
/// No lock may be held, as a world is Python code.
pub(crate) fn time(py: Python<'_>) -> PyResult<SystemTime> {
    if let Some(now) = system_time() {
        return Ok(now);
    }
    let seconds: f64 = function(py, "time")?.call0()?.extract()?;
    let invalid = || {
        PyValueError::new_err(format!(
            "`time` of the world in use must return seconds since the epoch, found `{seconds}`"
        ))
    };
    let whole = Duration::try_from_secs_f64(seconds.trunc()).map_err(|_| invalid())?;
    let micros = (seconds.fract() * 1e6).round_ties_even();
    let part = Duration::try_from_secs_f64(micros / 1e6).map_err(|_| invalid())?;
    whole
        .checked_add(part)
        .and_then(|since| UNIX_EPOCH.checked_add(since))
        .ok_or_else(invalid)
}

/// A random UUID. No lock may be held, as a world is Python code.
pub(crate) fn new_uuid(py: Python<'_>) -> PyResult<Uuid> {
    if !is_replaced() {
        return Ok(Uuid::new_v4());
    }
    let bytes = function(py, "random_bytes")?.call1((16,))?;
    let bytes = bytes.cast::<PyBytes>()?.as_bytes().try_into();
    let bytes = bytes.map_err(|_| {
        PyValueError::new_err("`random_bytes` of the world in use must return as many as asked for")
    })?;
    Ok(Builder::from_random_bytes(bytes).into_uuid())
}
