//! What the HTTP status of a failed request means.

use amplifier_core::StatusKind;
use pyo3::prelude::*;

/// Return the error type of an HTTP status; None below 400.
#[pyfunction]
pub(crate) fn status_kind(status: u16) -> Option<&'static str> {
    StatusKind::of(status).map(StatusKind::as_str)
}

/// Return the HTTP status of an error of this type; None for an unknown type.
#[pyfunction]
pub(crate) fn status_of_kind(kind: &str) -> Option<u16> {
    StatusKind::named(kind).map(StatusKind::status)
}
