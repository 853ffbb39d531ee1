//! What a handler answered, read as the kernel judges it.

use amplifier_core::hook::{Answer, Notice};
use amplifier_core::{HookAction, UserMessageLevel};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::kernel::hook::injection::injections;
use crate::kernel::hook::result::Models;
use crate::kernel::payload::{Payload, top_level};

/// The result that a handler returned: one itself, the fields of one, or None.
///
/// An error means that it cannot be understood.
pub(crate) fn of<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = value.py();
    if value.is_none() {
        return Ok(None);
    }
    let models = Models::get(py)?;
    if value.is_instance(models.hook_result.bind(py))? {
        return Ok(Some(value.clone()));
    }
    let fields = top_level(value);
    if fields.is_instance_of::<PyDict>() {
        return models.read_hook_result.bind(py).call1((fields,)).map(Some);
    }
    Err(PyTypeError::new_err("not a `HookResult`, a dict or None"))
}

/// Refuses an action that no validated result has.
pub(crate) fn check_action(result: &Bound<'_, PyAny>) -> PyResult<()> {
    let action = result.getattr(intern!(result.py(), "action"))?;
    read_action(&action).map(drop)
}

fn read_action(action: &Bound<'_, PyAny>) -> PyResult<HookAction> {
    let word = action.cast::<PyString>()?.to_str()?;
    HookAction::from_word(word)
        .ok_or_else(|| PyValueError::new_err(format!("unknown action `{word}`")))
}

/// The fields of a result; those of the class itself are read from its dict, at a third of what
/// attributes cost.
struct Fields<'a, 'py> {
    result: &'a Bound<'py, PyAny>,
    values: Option<Bound<'py, PyDict>>,
    is_plain: bool,
}

impl<'a, 'py> Fields<'a, 'py> {
    fn of(result: &'a Bound<'py, PyAny>) -> PyResult<Self> {
        let py = result.py();
        let is_plain = result.get_type().is(Models::get(py)?.hook_result.bind(py));
        let values = result.getattr(intern!(py, "__dict__"))?.cast_into().ok();
        Ok(Self {
            result,
            values,
            is_plain,
        })
    }

    fn get(&self, name: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
        let value = match &self.values {
            Some(values) if self.is_plain => values.get_item(name)?,
            _ => None,
        };
        value.map_or_else(|| self.result.getattr(name), Ok)
    }

    fn has_unknown_keys(&self) -> PyResult<bool> {
        let name = intern!(self.result.py(), "_unknown_keys");
        let values = self.values.as_ref();
        values.map_or(Ok(false), |values| values.contains(name))
    }
}

/// Whether a result has keys that it has no field for.
pub(crate) fn has_unknown_keys(result: &Bound<'_, PyAny>) -> PyResult<bool> {
    Fields::of(result)?.has_unknown_keys()
}

/// What a handler answered.
pub(crate) struct Heard<'py> {
    pub(crate) answer: Answer<Py<PyAny>, Payload>,
    /// What it says to the user, unless it denies or asks.
    pub(crate) notice: Option<Notice>,
    /// The whole result, if a part of it has no effect.
    pub(crate) mistaken: Option<Bound<'py, PyAny>>,
}

/// Reads what a handler returned; `payload` is what it was handed.
///
/// An error means that the answer cannot be understood.
pub(crate) fn read<'py>(value: &Bound<'py, PyAny>, payload: &Payload) -> PyResult<Heard<'py>> {
    let py = value.py();
    let Some(result) = of(value)? else {
        return Ok(Heard {
            answer: Answer::Continue,
            notice: None,
            mistaken: None,
        });
    };
    let fields = Fields::of(&result)?;
    let mut notice = notice(&fields)?;
    let mut is_mistaken = fields.has_unknown_keys()?;
    let answer = match read_action(&fields.get(intern!(py, "action"))?)? {
        HookAction::Continue => Answer::Continue,
        HookAction::Deny => {
            notice = None;
            Answer::Deny(result.clone().unbind())
        }
        HookAction::AskUser => {
            notice = None;
            Answer::Ask(result.clone().unbind())
        }
        HookAction::Modify => {
            let data = result.getattr(intern!(py, "data"))?;
            if data.is_none() {
                is_mistaken = true;
                Answer::Modify(None)
            } else {
                Answer::Modify(Some(payload.replaced_by(data.cast::<PyDict>()?)?))
            }
        }
        HookAction::InjectContext => {
            let items = injections(&result, "unknown", "")?;
            if items.is_empty() {
                is_mistaken = true;
                Answer::Continue
            } else {
                Answer::Inject(result.clone().unbind(), items)
            }
        }
    };
    Ok(Heard {
        answer,
        notice,
        mistaken: is_mistaken.then_some(result),
    })
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
        level: level
            .extract()
            .ok()
            .and_then(UserMessageLevel::from_word)
            .unwrap_or(UserMessageLevel::Info),
        sources: source.extract().into_iter().collect(),
        suppresses_output,
    }))
}
