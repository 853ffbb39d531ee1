//! Limits and names, for `amplifier_guard`.

#![expect(clippy::doc_markdown, reason = "docstrings of Python")]

use std::collections::HashMap;

use amplifier_core::{Json, Object};
use amplifier_guard as guard;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Error, LimitError, as_refusal};
use crate::json::{from_python, object_to_python};

/// Return the limits that code, configuration and environment say, by their names.
///
/// Raises:
///     LimitError: A value is invalid, or a name is unknown.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
pub(crate) fn resolve_limits<'py>(
    py: Python<'py>,
    code: &Bound<'py, PyAny>,
    configuration: &Bound<'py, PyAny>,
    environment: HashMap<String, String>,
) -> Result<Bound<'py, PyDict>, Error> {
    let (code, configuration) = (entries(code)?, entries(configuration)?);
    let limits =
        guard::Limits::resolve(&code, &configuration, |name| environment.get(name).cloned())?;
    Ok(object_to_python(py, &limits.to_object())?)
}

fn entries(value: &Bound<'_, PyAny>) -> PyResult<Object> {
    let refuse = |reason: String| {
        LimitError.new_err(format!(
            "limits must be a mapping from names to values: {reason}"
        ))
    };
    match from_python(value) {
        Ok(Json::Object(entries)) => Ok(entries),
        Ok(other) => Err(refuse(format!("found {}", other.kind()))),
        Err(error) => Err(as_refusal(value.py(), error, refuse)),
    }
}

/// Refuse the name of a tool that could be taken for another one, by its characters.
///
/// Raises:
///     NameDenied: It is empty, too long, or has a character that could be mistaken.
#[pyfunction(signature = (name, max_chars = 100))]
pub(crate) fn check_tool_name(
    name: &Bound<'_, pyo3::types::PyString>,
    max_chars: usize,
) -> Result<(), Error> {
    // A lone surrogate becomes U+FFFD, which is not ASCII either.
    Ok(guard::check_tool_name(&name.to_string_lossy(), max_chars)?)
}
