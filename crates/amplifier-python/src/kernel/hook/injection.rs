//! The injections of a result: read from its fields, and put back into them.

use amplifier_core::hook::{Injection, Projection};
use amplifier_core::{ContextInjection, ContextInjectionRole};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::kernel::hook::result::{Models, changed};

/// The injections of a result: its list, else the one that its scalar fields describe, with this
/// hook's name and event. Older results have no list.
///
/// `hook_name` and `event` of an item of the list are its own claims.
pub(crate) fn injections(
    result: &Bound<'_, PyAny>,
    hook_name: &str,
    event: &str,
) -> PyResult<Vec<ContextInjection>> {
    let py = result.py();
    let list = result.getattr_opt(intern!(py, "context_injections"))?;
    let list = list.unwrap_or_else(|| PyList::empty(py).into_any());
    let mut items = Vec::new();
    for item in list.try_iter()? {
        let item = item?;
        items.push(ContextInjection {
            content: item.getattr(intern!(py, "content"))?.extract()?,
            role: role(&item.getattr(intern!(py, "role"))?)?,
            ephemeral: item.getattr(intern!(py, "ephemeral"))?.extract()?,
            append_to_last_tool_result: item
                .getattr(intern!(py, "append_to_last_tool_result"))?
                .extract()?,
            hook_name: item.getattr(intern!(py, "hook_name"))?.extract()?,
            event: item.getattr(intern!(py, "event"))?.extract()?,
        });
    }
    let scalar = result.getattr(intern!(py, "context_injection"))?;
    if items.is_empty() && !scalar.is_none() {
        items.push(ContextInjection {
            content: scalar.extract()?,
            role: role(&result.getattr(intern!(py, "context_injection_role"))?)?,
            ephemeral: result.getattr(intern!(py, "ephemeral"))?.extract()?,
            append_to_last_tool_result: result
                .getattr(intern!(py, "append_to_last_tool_result"))?
                .extract()?,
            hook_name: hook_name.to_owned(),
            event: event.to_owned(),
        });
    }
    Ok(items)
}

fn role(value: &Bound<'_, PyAny>) -> PyResult<ContextInjectionRole> {
    let word = value.cast::<PyString>()?.to_str()?;
    ContextInjectionRole::from_word(word)
        .ok_or_else(|| PyValueError::new_err(format!("unknown injection role `{word}`")))
}

/// Makes a `ContextInjection` object.
pub(crate) fn injection_object<'py>(
    py: Python<'py>,
    item: &ContextInjection,
) -> PyResult<Bound<'py, PyAny>> {
    let fields = PyDict::new(py);
    fields.set_item(intern!(py, "content"), &item.content)?;
    fields.set_item(intern!(py, "role"), item.role.as_str())?;
    fields.set_item(intern!(py, "ephemeral"), item.ephemeral)?;
    fields.set_item(
        intern!(py, "append_to_last_tool_result"),
        item.append_to_last_tool_result,
    )?;
    fields.set_item(intern!(py, "hook_name"), &item.hook_name)?;
    fields.set_item(intern!(py, "event"), &item.event)?;
    Models::get(py)?
        .context_injection
        .bind(py)
        .call((), Some(&fields))
}

/// The fields of a result that carry these injections.
pub(crate) fn injection_fields<'py>(
    py: Python<'py>,
    items: &[ContextInjection],
    projection: &Projection,
) -> PyResult<Bound<'py, PyDict>> {
    let objects: Vec<_> = items
        .iter()
        .map(|item| injection_object(py, item))
        .collect::<PyResult<_>>()?;
    let fields = PyDict::new(py);
    fields.set_item(intern!(py, "context_injection"), &projection.content)?;
    fields.set_item(
        intern!(py, "context_injection_role"),
        projection.role.as_str(),
    )?;
    fields.set_item(intern!(py, "ephemeral"), projection.ephemeral)?;
    fields.set_item(
        intern!(py, "append_to_last_tool_result"),
        projection.append_to_last_tool_result,
    )?;
    fields.set_item(intern!(py, "context_injections"), PyList::new(py, objects)?)?;
    Ok(fields)
}

/// The result for merged injections: a single handler keeps its other fields, of several only
/// what the first says about output and the user.
pub(crate) fn injecting<'py>(
    py: Python<'py>,
    injection: &Injection<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let first = injection.first.bind(py);
    let update = injection_fields(py, &injection.items, &injection.projection)?;
    if injection.is_single {
        return changed(first, &update);
    }
    update.set_item(intern!(py, "action"), intern!(py, "inject_context"))?;
    for name in [
        intern!(py, "suppress_output"),
        intern!(py, "user_message"),
        intern!(py, "user_message_level"),
    ] {
        update.set_item(name, first.getattr(name)?)?;
    }
    Models::get(py)?
        .hook_result
        .bind(py)
        .call((), Some(&update))
}

/// The fields of a result whose injections have all been carried out.
pub(crate) fn continuing_after(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item(intern!(py, "action"), intern!(py, "continue"))?;
    let defaults = Models::get(py)?.defaults.bind(py);
    for name in [
        intern!(py, "context_injection"),
        intern!(py, "context_injection_role"),
        intern!(py, "ephemeral"),
        intern!(py, "append_to_last_tool_result"),
    ] {
        fields.set_item(name, defaults.as_any().get_item(name)?)?;
    }
    fields.set_item(intern!(py, "context_injections"), PyList::empty(py))?;
    Ok(fields)
}
