//! Error contexts and kinds of failures, for `amplifier_guard`.

use amplifier_core::Timestamp;
use amplifier_guard::{ErrorContext, ErrorKind};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::Error;

/// Read a JSON text as an error context and return the JSON that it writes.
#[pyfunction(name = "_round_trip_error_context")]
pub(crate) fn round_trip_error_context(json: &[u8]) -> Result<String, Error> {
    Ok(context(json)?.to_json()?)
}

/// Return the most past operations and the most retries of an error context.
#[pyfunction]
pub(crate) fn error_context_limits() -> (usize, u32) {
    (ErrorContext::MOST_OPERATIONS, u32::MAX)
}

/// Return the JSON of an error context after it went on to another operation.
#[pyfunction]
pub(crate) fn enter_error_context(json: &[u8], operation: &str, at: &str) -> Result<String, Error> {
    let mut context = context(json)?;
    context.entered(operation, time(at)?);
    Ok(context.to_json()?)
}

/// Return the JSON of an error context after its operation failed and is tried again.
#[pyfunction]
pub(crate) fn retry_error_context(json: &[u8], kind: &str, at: &str) -> Result<String, Error> {
    let known = ErrorKind::from_word(kind)
        .ok_or_else(|| PyValueError::new_err(format!("unknown kind of failure `{kind}`")))?;
    let mut context = context(json)?;
    context.retried(known, time(at)?);
    Ok(context.to_json()?)
}

/// Return the one line that describes an error context, which comes as JSON.
#[pyfunction]
pub(crate) fn describe_error_context(json: &[u8]) -> Result<String, Error> {
    Ok(context(json)?.to_string())
}

/// Return each kind of failure and whether the same call may succeed later.
#[pyfunction]
pub(crate) fn error_kinds() -> Vec<(&'static str, bool)> {
    let kinds = ErrorKind::ALL.iter();
    kinds
        .map(|kind| (kind.as_str(), kind.is_retryable()))
        .collect()
}

fn time(text: &str) -> PyResult<Timestamp> {
    let time = Timestamp::from_text(text);
    time.ok_or_else(|| PyValueError::new_err(format!("`{text}` is not a timestamp")))
}

fn context(json: &[u8]) -> Result<ErrorContext, Error> {
    Ok(ErrorContext::of_json(json)?)
}
