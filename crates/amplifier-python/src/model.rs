//! The shared types as Python can ask for them, to be compared with the Pydantic models.

use amplifier_core::{Form, SHARED_TYPES, Shape, SharedType};
use amplifier_guard::claude;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::Error;

/// Read a JSON text as the Rust type of this name and return the JSON that the type writes.
#[pyfunction(name = "_round_trip")]
pub(crate) fn round_trip(type_name: &str, json: &[u8]) -> Result<String, Error> {
    let shared = shared_type(type_name)?;
    Ok(shared.rewrite(json)?)
}

/// Return the shared types by name: `record` and its keys, `words` and its words, or `union` and
/// the `type` values of its variants. The names of the Claude dialect begin with `claude::`.
#[pyfunction(name = "_shared_types")]
pub(crate) fn shared_types(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let types = PyDict::new(py);
    for shared in all() {
        let (shape, parts) = match shared.shape {
            Shape::Record(keys) => ("record", keys),
            Shape::Words(words) => ("words", words),
            Shape::Union(variants) => ("union", variants),
        };
        types.set_item(shared.name, (shape, parts.to_vec()))?;
    }
    Ok(types)
}

/// Return the JSON schema of the Rust type of this name, in the form of Pydantic's: of what it
/// reads (mode `validation`) or writes (`serialization`), with nested types in place.
#[pyfunction(name = "_json_schema", signature = (type_name, mode = "validation"))]
pub(crate) fn json_schema(type_name: &str, mode: &str) -> PyResult<String> {
    let form = match mode {
        "validation" => Form::Read,
        "serialization" => Form::Written,
        other => {
            let message = format!("mode must be `validation` or `serialization`, found `{other}`");
            return Err(PyValueError::new_err(message));
        }
    };
    Ok(shared_type(type_name)?.schema(form).to_string())
}

fn all() -> impl Iterator<Item = &'static SharedType> {
    SHARED_TYPES.iter().chain(claude::SHARED_TYPES)
}

fn shared_type(name: &str) -> PyResult<&'static SharedType> {
    all().find(|shared| shared.name == name).ok_or_else(|| {
        let names: Vec<_> = all().map(|shared| shared.name).collect();
        let names = names.join("`, `");
        PyKeyError::new_err(format!("unknown shared type `{name}` (known: `{names}`)"))
    })
}
