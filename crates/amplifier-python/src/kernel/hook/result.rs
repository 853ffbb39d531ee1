//! `HookResult` objects, made and changed without running the constructor of the model.

use amplifier_core::hook::Notice;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySet, PyString};

use crate::lazy_object::LazyObject;

/// The model classes and what makes an instance of `HookResult` in a third of a microsecond:
/// calling the class costs four times that, and one is made for every event.
pub(crate) struct Models {
    pub(crate) hook_result: Py<PyAny>,
    pub(crate) context_injection: Py<PyAny>,
    pub(crate) read_hook_result: Py<PyAny>,
    pub(crate) defaults: Py<PyDict>,
    new: Py<PyAny>,
    set_dict: Py<PyAny>,
    set_fields_set: Py<PyAny>,
    set_extra: Py<PyAny>,
    set_private: Py<PyAny>,
}

impl Models {
    pub(crate) fn get(py: Python<'_>) -> PyResult<&Self> {
        static MODELS: LazyObject<Models> = LazyObject::new();
        MODELS.get(py, || {
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
                read_hook_result: models.getattr("read_hook_result")?.unbind(),
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

/// Where a question remembers the hook that asks it: beside its fields, which it leaves as they are.
const ASKED_BY: &str = "_asked_by";

/// Remembers the hook that asks a question, if it was registered with a name.
pub(crate) fn note_asker(result: &Bound<'_, PyAny>, name: &str) -> PyResult<()> {
    if name.starts_with("_auto_") {
        return Ok(());
    }
    let Some(fields) = result.getattr_opt(intern!(result.py(), "__dict__"))? else {
        return Ok(());
    };
    match fields.cast::<PyDict>() {
        Ok(fields) => fields.set_item(ASKED_BY, name),
        Err(_) => Ok(()),
    }
}

/// The hook that asks a question, if it was registered with a name.
pub(crate) fn asker(result: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let Some(fields) = result.getattr_opt(intern!(result.py(), "__dict__"))? else {
        return Ok(None);
    };
    let Ok(fields) = fields.cast::<PyDict>() else {
        return Ok(None);
    };
    let name = fields.get_item(ASKED_BY)?;
    Ok(name.and_then(|name| name.extract().ok()))
}
