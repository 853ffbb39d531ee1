//! The text values of a call's arguments, converted to the types of a schema.

use amplifier_core::Json;
use amplifier_stream as stream;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::Error;
use crate::json::{from_python, to_python};

/// Convert text in arguments to the numbers, booleans, lists and objects that a schema asks for.
#[pyfunction]
pub(crate) fn coerce_arguments<'py>(
    py: Python<'py>,
    arguments: &Bound<'py, PyDict>,
    schema: &Bound<'py, PyDict>,
) -> Result<Bound<'py, PyAny>, Error> {
    let (arguments, schema) = (from_python(arguments)?, from_python(schema)?);
    let Json::Object(arguments) = arguments else {
        return Err(PyValueError::new_err("the arguments are not an object").into());
    };
    let coerced = stream::coerce_arguments(arguments, &schema)?;
    Ok(to_python(py, &Json::Object(coerced))?)
}
