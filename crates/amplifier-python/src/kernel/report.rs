//! The kernel's messages to Python's `logging`.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::module::loaded;

/// A logger of the package.
#[derive(Clone, Copy)]
pub(crate) enum Logger {
    /// `amplifier_core.hooks`
    Hooks,
    /// `amplifier_core.coordinator`
    Coordinator,
    /// `amplifier_core.cancellation`
    Cancellation,
    /// `amplifier_core.session`
    Session,
}

/// A level of `logging`.
#[derive(Clone, Copy)]
pub(crate) enum Level {
    Debug,
    Info,
    Warning,
    Error,
}

/// Logs a message, with the traceback of `error` if there is one. A failure to log is not raised,
/// as an operation must not fail because its message could not be logged.
pub(crate) fn log(
    py: Python<'_>,
    logger: Logger,
    level: Level,
    message: &str,
    error: Option<&PyErr>,
) {
    let name = match logger {
        Logger::Hooks => "amplifier_core.hooks",
        Logger::Coordinator => "amplifier_core.coordinator",
        Logger::Cancellation => "amplifier_core.cancellation",
        Logger::Session => "amplifier_core.session",
    };
    let method = match level {
        Level::Debug => intern!(py, "debug"),
        Level::Info => intern!(py, "info"),
        Level::Warning => intern!(py, "warning"),
        Level::Error => intern!(py, "error"),
    };
    let attempt = || -> PyResult<()> {
        let logger = py.import("logging")?.call_method1("getLogger", (name,))?;
        let options = PyDict::new(py);
        if let Some(error) = error {
            options.set_item("exc_info", error.value(py))?;
        }
        logger.call_method(method, ("%s", message), Some(&options))?;
        Ok(())
    };
    if let Err(failure) = attempt() {
        failure.write_unraisable(py, None);
    }
}

/// Whether an error that a callee raised ends with it: an `Exception`, or an asyncio
/// `CancelledError` that does not come from a cancellation of the current task.
///
/// Everything else (a cancelled task, trio's cancellation, `KeyboardInterrupt`, `SystemExit`,
/// `GeneratorExit`) has to reach the caller.
pub(crate) fn is_own_failure(py: Python<'_>, error: &PyErr) -> bool {
    if error.is_instance_of::<pyo3::exceptions::PyException>(py) {
        return true;
    }
    let judge = || -> PyResult<bool> {
        if !is_asyncio_cancellation(py, error)? {
            return Ok(false);
        }
        let task = match py.import("asyncio")?.call_method0("current_task") {
            Ok(task) if !task.is_none() => task,
            _ => return Ok(false),
        };
        Ok(task.call_method0("cancelling")?.extract::<i64>()? == 0)
    };
    judge().unwrap_or(false)
}

/// Whether an error is asyncio's `CancelledError`.
pub(crate) fn is_asyncio_cancellation(py: Python<'_>, error: &PyErr) -> PyResult<bool> {
    // Without asyncio in the process, nothing can have raised it.
    let Some(exceptions) = loaded(py)?.get_item("asyncio.exceptions")? else {
        return Ok(false);
    };
    Ok(error.is_instance(py, &exceptions.getattr("CancelledError")?))
}

/// `Type: message` of an error, with the `repr` where the message cannot be had.
pub(crate) fn describe(py: Python<'_>, error: &PyErr) -> String {
    let value = error.value(py);
    let kind = value.get_type().name().map_or_else(
        |_| "Exception".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    );
    let message = value.str().or_else(|_| value.repr()).map_or_else(
        |_| String::new(),
        |text| text.to_string_lossy().into_owned(),
    );
    format!("{kind}: {message}")
}

/// The name of a value's type, for error messages.
pub(crate) fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(
        |_| "object".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}
