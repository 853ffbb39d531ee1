//! The fields that every event of a registry carries.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use pyo3::{PyTraverseError, PyVisit, intern};

use crate::traverse::Traverse;

/// Where the fields come from.
#[derive(Default)]
pub(crate) enum Defaults {
    /// There are none.
    #[default]
    None,
    /// The session's own two, without a dict: most sessions of many wait and have no events.
    Session {
        session_id: Py<PyString>,
        parent_id: Py<PyAny>,
    },
    /// What was set.
    Given(Py<PyDict>),
}

impl Defaults {
    pub(crate) fn clone_ref(&self, py: Python<'_>) -> Self {
        match self {
            Self::None => Self::None,
            Self::Session {
                session_id,
                parent_id,
            } => Self::Session {
                session_id: session_id.clone_ref(py),
                parent_id: parent_id.clone_ref(py),
            },
            Self::Given(fields) => Self::Given(fields.clone_ref(py)),
        }
    }

    /// The fields below those of an event, in a dict that is the caller's.
    pub(crate) fn below<'py>(&self, fields: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
        let py = fields.py();
        let all = match self {
            Self::None => return fields.copy(),
            Self::Session {
                session_id,
                parent_id,
            } => {
                let names = PyDict::new(py);
                names.set_item(intern!(py, "session_id"), session_id)?;
                names.set_item(intern!(py, "parent_id"), parent_id)?;
                names
            }
            Self::Given(defaults) => defaults.bind(py).copy()?,
        };
        all.update(fields.as_mapping())?;
        Ok(all)
    }
}

impl Traverse for Defaults {
    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self {
            Self::None => Ok(()),
            Self::Session { parent_id, .. } => parent_id.traverse(visit),
            Self::Given(fields) => fields.traverse(visit),
        }
    }
}
