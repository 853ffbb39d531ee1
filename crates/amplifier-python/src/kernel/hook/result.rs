//! `HookResult` objects: made without running the model's constructor, and read as answers.

use amplifier_core::hook::{Answer, Injection, Notice, Projection};
use amplifier_core::{ContextInjection, ContextInjectionRole, UserMessageLevel};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PySet, PyString};

use crate::kernel::payload::{Payload, top_level};

/// The model classes and what makes an instance of `HookResult` in a third of a microsecond:
/// calling the class costs four times that, and one is made for every event.
struct Models {
    hook_result: Py<PyAny>,
    context_injection: Py<PyAny>,
    defaults: Py<PyDict>,
    new: Py<PyAny>,
    set_dict: Py<PyAny>,
    set_fields_set: Py<PyAny>,
    set_extra: Py<PyAny>,
    set_private: Py<PyAny>,
}

impl Models {
    fn get(py: Python<'_>) -> PyResult<&Self> {
        static MODELS: PyOnceLock<Models> = PyOnceLock::new();
        MODELS.get_or_try_init(py, || {
            let models = py.import("amplifier_core._hook_result")?;
            let hook_result = models.getattr("HookResult")?;
            let base = py
                .import("pydantic")?
                .getattr("BaseModel")?
                .getattr("__dict__")?;
            let setter = |name: &str| -> PyResult<Py<PyAny>> {
                Ok(base.get_item(name)?.getattr("__set__")?.unbind())
            };
            let object = py.import("builtins")?.getattr("object")?;
            let defaults = hook_result
                .call0()?
                .getattr("__dict__")?
                .cast_into::<PyDict>()?
                .copy()?;
            Ok(Self {
                context_injection: models.getattr("ContextInjection")?.unbind(),
                new: object.getattr("__new__")?.unbind(),
                set_dict: setter("__dict__")?,
                set_fields_set: setter("__pydantic_fields_set__")?,
                set_extra: setter("__pydantic_extra__")?,
                set_private: setter("__pydantic_private__")?,
                defaults: defaults.unbind(),
                hook_result: hook_result.unbind(),
            })
        })
    }
}

/// Makes a `HookResult` with these fields set and defaults for the others.
pub(crate) fn build<'py>(
    py: Python<'py>,
    fields: &[(&Bound<'py, PyString>, &Bound<'py, PyAny>)],
) -> PyResult<Bound<'py, PyAny>> {
    let models = Models::get(py)?;
    let values = models.defaults.bind(py).copy()?;
    values.set_item(intern!(py, "context_injections"), PyList::empty(py))?;
    let names = PySet::empty(py)?;
    for (name, value) in fields {
        values.set_item(name, value)?;
        names.add(name)?;
    }
    let result = models.new.bind(py).call1((models.hook_result.bind(py),))?;
    models.set_dict.bind(py).call1((&result, values))?;
    models.set_fields_set.bind(py).call1((&result, names))?;
    models.set_extra.bind(py).call1((&result, py.None()))?;
    models.set_private.bind(py).call1((&result, py.None()))?;
    Ok(result)
}

/// `HookResult(action="continue", data=data)`.
pub(crate) fn continuing<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let action = intern!(py, "continue").as_any();
    build(
        py,
        &[(intern!(py, "action"), action), (intern!(py, "data"), data)],
    )
}

/// `HookResult(action="deny", reason=reason)`.
pub(crate) fn denying<'py>(py: Python<'py>, reason: &str) -> PyResult<Bound<'py, PyAny>> {
    let reason = PyString::new(py, reason);
    let action = intern!(py, "deny").as_any();
    build(
        py,
        &[
            (intern!(py, "action"), action),
            (intern!(py, "reason"), reason.as_any()),
        ],
    )
}

/// A changed copy of a result; neither is validated again. What only looks like a result is copied
/// into one.
pub(crate) fn changed<'py>(
    result: &Bound<'py, PyAny>,
    update: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = result.py();
    let class = Models::get(py)?.hook_result.bind(py);
    if !result.is_instance(class)? {
        let fields = PyDict::new(py);
        for name in class.getattr(intern!(py, "model_fields"))?.try_iter()? {
            let name = name?.cast_into::<PyString>()?;
            if let Some(value) = result.getattr_opt(&name)? {
                fields.set_item(name, value)?;
            }
        }
        fields.update(update.as_mapping())?;
        return class.call((), Some(&fields));
    }
    let arguments = PyDict::new(py);
    arguments.set_item(intern!(py, "update"), update)?;
    result.call_method(intern!(py, "model_copy"), (), Some(&arguments))
}

/// Makes a `ContextInjection` object.
pub(crate) fn injection_object<'py>(
    py: Python<'py>,
    item: &ContextInjection,
) -> PyResult<Bound<'py, PyAny>> {
    let fields = PyDict::new(py);
    fields.set_item(intern!(py, "content"), &item.content)?;
    fields.set_item(intern!(py, "role"), role_name(item.role))?;
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
        role_name(projection.role),
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

/// The result that a handler returned: one itself, the fields of one, or None.
///
/// An error means that it cannot be understood.
pub(crate) fn of<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = value.py();
    if value.is_none() {
        return Ok(None);
    }
    let class = Models::get(py)?.hook_result.bind(py);
    if value.is_instance(class)? {
        return Ok(Some(value.clone()));
    }
    let fields = top_level(value);
    if fields.is_instance_of::<PyDict>() {
        let validate = intern!(py, "model_validate");
        return class.call_method1(validate, (fields,)).map(Some);
    }
    Err(PyTypeError::new_err("not a `HookResult`, a dict or None"))
}

/// Refuses an action that no validated result has.
pub(crate) fn check_action(result: &Bound<'_, PyAny>) -> PyResult<()> {
    let action = result.getattr(intern!(result.py(), "action"))?;
    match action.cast::<PyString>()?.to_str()? {
        "continue" | "deny" | "modify" | "inject_context" | "ask_user" => Ok(()),
        other => Err(unknown_action(other)),
    }
}

fn unknown_action(action: &str) -> PyErr {
    PyValueError::new_err(format!("unknown action `{action}`"))
}

/// The fields of a result; those of the class itself are read from its dict, at a third of what
/// attributes cost.
struct Fields<'a, 'py> {
    result: &'a Bound<'py, PyAny>,
    values: Option<Bound<'py, PyDict>>,
}

impl<'a, 'py> Fields<'a, 'py> {
    fn of(result: &'a Bound<'py, PyAny>) -> PyResult<Self> {
        let py = result.py();
        let is_plain = result.get_type().is(Models::get(py)?.hook_result.bind(py));
        let values = if is_plain {
            result.getattr(intern!(py, "__dict__"))?.cast_into().ok()
        } else {
            None
        };
        Ok(Self { result, values })
    }

    fn get(&self, name: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
        let value = match &self.values {
            Some(values) => values.get_item(name)?,
            None => None,
        };
        value.map_or_else(|| self.result.getattr(name), Ok)
    }
}

/// An answer, and what it says to the user.
type Heard = (Answer<Py<PyAny>, Payload>, Option<Notice>);

/// Reads what a handler returned; `payload` is what it was handed. What it says to the user comes
/// with it, unless it denies or asks.
///
/// An error means that the answer cannot be understood.
pub(crate) fn read(value: &Bound<'_, PyAny>, payload: &Payload) -> PyResult<Heard> {
    let py = value.py();
    let Some(result) = of(value)? else {
        return Ok((Answer::Continue, None));
    };
    let fields = Fields::of(&result)?;
    let notice = notice(&fields)?;
    let action = fields.get(intern!(py, "action"))?;
    let action = action.cast::<PyString>()?.to_str()?;
    let answer = match action {
        "continue" => Answer::Continue,
        "deny" => return Ok((Answer::Deny(result.unbind()), None)),
        "ask_user" => return Ok((Answer::Ask(result.unbind()), None)),
        "modify" => {
            let data = result.getattr(intern!(py, "data"))?;
            if data.is_none() {
                Answer::Modify(None)
            } else {
                Answer::Modify(Some(payload.replaced_by(data.cast::<PyDict>()?)?))
            }
        }
        "inject_context" => {
            let items = injections(&result, "unknown", "")?;
            if items.is_empty() {
                Answer::Continue
            } else {
                Answer::Inject(result.unbind(), items)
            }
        }
        other => return Err(unknown_action(other)),
    };
    Ok((answer, notice))
}

/// What a result says to the user; fields of a wrong type say nothing.
fn notice(result: &Fields<'_, '_>) -> PyResult<Option<Notice>> {
    let py = result.result.py();
    let message = result.get(intern!(py, "user_message"))?;
    let suppresses = result.get(intern!(py, "suppress_output"))?;
    let suppresses_output = suppresses.extract().unwrap_or(false);
    if message.is_none() && !suppresses_output {
        return Ok(None);
    }
    let level = result.get(intern!(py, "user_message_level"))?;
    let source = result.get(intern!(py, "user_message_source"))?;
    Ok(Some(Notice {
        message: message.extract().unwrap_or(None),
        level: match level.extract().unwrap_or("info") {
            "warning" => UserMessageLevel::Warning,
            "error" => UserMessageLevel::Error,
            _ => UserMessageLevel::Info,
        },
        sources: source.extract().into_iter().collect(),
        suppresses_output,
    }))
}

/// The result with what the handlers say to the user.
pub(crate) fn saying<'py>(
    result: Bound<'py, PyAny>,
    notice: &Notice,
) -> PyResult<Bound<'py, PyAny>> {
    let py = result.py();
    let update = PyDict::new(py);
    if notice.suppresses_output {
        update.set_item(intern!(py, "suppress_output"), true)?;
    }
    if let Some(message) = &notice.message {
        update.set_item(intern!(py, "user_message"), message)?;
        let level = notice.level.as_str();
        update.set_item(intern!(py, "user_message_level"), level)?;
        update.set_item(intern!(py, "user_message_source"), notice.source())?;
    }
    if update.is_empty() {
        return Ok(result);
    }
    changed(&result, &update)
}

/// The result with the payload that a handler replaced, unless it has data of its own.
pub(crate) fn carrying<'py>(
    result: Bound<'py, PyAny>,
    payload: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = result.py();
    let name = intern!(py, "data");
    if !result.getattr(name)?.is_none() {
        return Ok(result);
    }
    let update = PyDict::new(py);
    update.set_item(name, payload)?;
    changed(&result, &update)
}

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
    match value.cast::<PyString>()?.to_str()? {
        "system" => Ok(ContextInjectionRole::System),
        "user" => Ok(ContextInjectionRole::User),
        "assistant" => Ok(ContextInjectionRole::Assistant),
        other => Err(PyValueError::new_err(format!(
            "unknown injection role `{other}`"
        ))),
    }
}

pub(crate) fn role_name(role: ContextInjectionRole) -> &'static str {
    match role {
        ContextInjectionRole::System => "system",
        ContextInjectionRole::User => "user",
        ContextInjectionRole::Assistant => "assistant",
    }
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
