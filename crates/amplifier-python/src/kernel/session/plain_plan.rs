//! Mount plans that say nothing unusual, as nearly all do: they have no mistakes.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyString};

/// Whether a mount plan says nothing unusual; what is not plain may still be right.
///
/// The same as `_is_plain` of `amplifier_core._loading.plan_keys`. No code of Python runs here.
#[pyfunction(name = "_is_plain_plan")]
pub(crate) fn is_plain_plan(plan: &Bound<'_, PyDict>) -> bool {
    plan.iter().all(|(key, value)| match text(&key) {
        Some("session") => is_plain_section(&value),
        Some("providers" | "tools") => is_plain_list(&value, usize::MAX),
        // Two hooks may be the same.
        Some("hooks") => is_plain_list(&value, 1),
        Some(_) | None => false,
    })
}

fn is_plain_section(section: &Bound<'_, PyAny>) -> bool {
    section.cast_exact::<PyDict>().is_ok_and(|section| {
        section.iter().all(|(key, value)| match text(&key) {
            Some("orchestrator" | "context") => is_plain_spec(&value),
            Some("strict") => value.is_exact_instance_of::<PyBool>(),
            Some(_) | None => false,
        })
    })
}

fn is_plain_list(list: &Bound<'_, PyAny>, most: usize) -> bool {
    list.cast_exact::<PyList>()
        .is_ok_and(|list| list.len() <= most && list.iter().all(|spec| is_plain_spec(&spec)))
}

/// Whether it is the id of a module, or a spec that names one.
fn is_plain_spec(spec: &Bound<'_, PyAny>) -> bool {
    if let Ok(id) = spec.cast_exact::<PyString>() {
        return id.to_str().is_ok_and(|id| !id.is_empty());
    }
    spec.cast_exact::<PyDict>().is_ok_and(|spec| {
        let mut is_named = false;
        let is_known = spec.iter().all(|(key, value)| match text(&key) {
            Some("module") => {
                is_named = text(&value).is_some_and(|id| !id.is_empty());
                is_named
            }
            Some("config" | "source") => true,
            Some(_) | None => false,
        });
        is_known && is_named
    })
}

fn text<'a>(value: &'a Bound<'_, PyAny>) -> Option<&'a str> {
    value.cast_exact::<PyString>().ok()?.to_str().ok()
}
