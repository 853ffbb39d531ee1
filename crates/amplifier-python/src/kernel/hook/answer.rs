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
    let answer = match read_action(&fields.get(intern!(py, "action"))?)? {
        HookAction::Continue => Answer::Continue,
        HookAction::Deny => return Ok((Answer::Deny(result.unbind()), None)),
        HookAction::AskUser => return Ok((Answer::Ask(result.unbind()), None)),
        HookAction::Modify => {
            let data = result.getattr(intern!(py, "data"))?;
            if data.is_none() {
                Answer::Modify(None)
            } else {
                Answer::Modify(Some(payload.replaced_by(data.cast::<PyDict>()?)?))
            }
        }
        HookAction::InjectContext => {
            let items = injections(&result, "unknown", "")?;
            if items.is_empty() {
                Answer::Continue
            } else {
                Answer::Inject(result.unbind(), items)
            }
        }
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
        level: level
            .extract()
            .ok()
            .and_then(UserMessageLevel::from_word)
            .unwrap_or(UserMessageLevel::Info),
        sources: source.extract().into_iter().collect(),
        suppresses_output,
    }))
}
