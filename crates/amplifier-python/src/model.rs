//! The shared types as Python can ask for them, to be compared with the Pydantic models.

use amplifier_core::{SHARED_TYPES, Shape};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Read a JSON text as the Rust type of this name and return the JSON that the type writes.
#[pyfunction(name = "_round_trip")]
pub(crate) fn round_trip(type_name: &str, json: &[u8]) -> PyResult<String> {
    let Some(shared) = SHARED_TYPES.iter().find(|shared| shared.name == type_name) else {
        let names: Vec<_> = SHARED_TYPES.iter().map(|shared| shared.name).collect();
        let names = names.join("`, `");
        let message = format!("no shared type is named `{type_name}` (there are `{names}`)");
        return Err(PyKeyError::new_err(message));
    };
    shared
        .rewrite(json)
        .map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Return the shared types by name: `record` and its keys, `words` and its words, or `union` and
/// the `type` values of its variants.
#[pyfunction(name = "_shared_types")]
pub(crate) fn shared_types(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let types = PyDict::new(py);
    for shared in SHARED_TYPES {
        let (shape, parts) = match shared.shape {
            Shape::Record(keys) => ("record", keys),
            Shape::Words(words) => ("words", words),
            Shape::Union(variants) => ("union", variants),
        };
        types.set_item(shared.name, (shape, parts.to_vec()))?;
    }
    Ok(types)
}
