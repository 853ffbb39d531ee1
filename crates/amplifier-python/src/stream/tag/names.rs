//! The names of tags, as Python passes them.

use amplifier_stream::TagNames;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::error::Error;

/// Reads the names of tags: None, one name or a sequence of names.
pub(crate) fn names(
    tags: Option<&Bound<'_, PyAny>>,
    default: &str,
    ignore_case: bool,
    allow_attributes: bool,
) -> PyResult<TagNames> {
    let names: Vec<String> = match tags {
        None => vec![default.to_owned()],
        Some(name) if name.is_instance_of::<PyString>() => vec![name.extract()?],
        Some(names) => names
            .try_iter()?
            .map(|name| name?.extract())
            .collect::<PyResult<_>>()?,
    };
    let names = TagNames::new(names).map_err(Error::from)?;
    let names = if ignore_case {
        names.ignoring_case()
    } else {
        names
    };
    Ok(if allow_attributes {
        names.with_attributes()
    } else {
        names
    })
}
