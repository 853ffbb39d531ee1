//! Findings, as models of Python.

use amplifier_guard::Finding;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::lazy_object::ImportedClass;

static FINDING: ImportedClass = ImportedClass::new("amplifier_guard.finding", "Finding");

/// A tuple with an `amplifier_guard.Finding` for each finding.
pub(crate) fn findings_to_python<'py>(
    py: Python<'py>,
    findings: &[Finding],
) -> PyResult<Bound<'py, PyTuple>> {
    let mut models = Vec::with_capacity(findings.len());
    for finding in findings {
        let fields = PyDict::new(py);
        fields.set_item(intern!(py, "kind"), finding.kind.as_str())?;
        fields.set_item(intern!(py, "pointer"), &finding.pointer)?;
        fields.set_item(intern!(py, "start"), finding.start)?;
        fields.set_item(intern!(py, "end"), finding.end)?;
        models.push(FINDING.get(py)?.call((), Some(&fields))?);
    }
    PyTuple::new(py, models)
}
