//! What an exception of Python says about itself.

use amplifier_guard::{ErrorKind, Failure, asked_wait_of_text};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString};

use crate::lazy_object::ImportedClass;

static LLM_ERROR: ImportedClass = ImportedClass::new("amplifier_core.llm_errors", "LLMError");

/// Return the kind of an exception.
///
/// The most specific known class decides: those of `llm_errors`, of the standard library and of HTTP
/// clients. If none is known, the HTTP status decides, found as `status_code` on the exception or
/// its `response`.
#[pyfunction]
pub(crate) fn error_kind(error: &Bound<'_, PyAny>) -> PyResult<&'static str> {
    Ok(kind_and_name(error)?.0.as_str())
}

/// The facts of a failed call, without attributes that are missing or broken.
pub(crate) fn read_failure(error: &Bound<'_, PyAny>) -> PyResult<Failure> {
    let (kind, name) = kind_and_name(error)?;
    Ok(Failure {
        name,
        kind,
        retryable: read_retryable(error)?,
        retry_after: read_seconds(error, "retry_after")?,
        delay_multiplier: read_seconds(error, "delay_multiplier")?,
    })
}

fn kind_and_name(error: &Bound<'_, PyAny>) -> PyResult<(ErrorKind, String)> {
    let mut names = Vec::new();
    for class in error.get_type().mro() {
        let name = class.getattr("__name__")?;
        names.push(name.cast::<PyString>()?.to_string_lossy().into_owned());
    }
    let status = read_status(error)?;
    let kind = ErrorKind::of_exception(names.iter().map(String::as_str), status);
    Ok((kind, names.swap_remove(0)))
}

fn read_status(error: &Bound<'_, PyAny>) -> PyResult<Option<u16>> {
    if let Some(status) = read_attribute(error, "status_code")?.and_then(|value| status(&value)) {
        return Ok(Some(status));
    }
    let Some(response) = read_attribute(error, "response")? else {
        return Ok(None);
    };
    Ok(read_attribute(&response, "status_code")?.and_then(|value| status(&value)))
}

fn status(value: &Bound<'_, PyAny>) -> Option<u16> {
    let number = value.cast::<PyInt>().ok()?.extract().ok()?;
    (100..=599).contains(&number).then_some(number)
}

fn read_retryable(error: &Bound<'_, PyAny>) -> PyResult<Option<bool>> {
    let value = read_attribute(error, "retryable")?;
    let flag = value.and_then(|value| Some(value.cast::<PyBool>().ok()?.is_true()));
    // False is the default of a plain `LLMError`: its status may say more.
    if flag == Some(false) && error.get_type().is(LLM_ERROR.get(error.py())?) {
        return Ok(None);
    }
    Ok(flag)
}

fn read_seconds(error: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<f64>> {
    let Some(value) = read_attribute(error, name)? else {
        return Ok(None);
    };
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(asked_wait_of_text(&text.to_string_lossy()));
    }
    let is_number = value.is_instance_of::<PyFloat>() || value.is_instance_of::<PyInt>();
    Ok(if is_number {
        value.extract().ok()
    } else {
        None
    })
}

/// An attribute of foreign code: what it raises must not replace the error that is examined.
fn read_attribute<'py>(
    source: &Bound<'py, PyAny>,
    name: &str,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    match source.getattr(name) {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_instance_of::<PyException>(source.py()) => Ok(None),
        Err(error) => Err(error),
    }
}
