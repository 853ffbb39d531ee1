//! Messages of the Claude dialect, for `amplifier_guard`; models cross as their JSON.

#![expect(clippy::doc_markdown, reason = "docstrings of Python")]

use amplifier_core::{FromJson as _, Message};
use amplifier_guard::claude::{self, ClaudeMessage};
use pyo3::prelude::*;

use crate::error::Error;
use crate::lazy_object::ImportedClass;
use crate::world;

static CLAUDE_MESSAGE: ImportedClass =
    ImportedClass::new("amplifier_guard.claude", "ClaudeMessage");
static TOOL_RESULT: ImportedClass = ImportedClass::new("amplifier_guard.claude", "ToolResultBlock");

/// Return the kernel's message that a message of the dialect is.
#[pyfunction]
pub(crate) fn claude_to_kernel(message: &[u8]) -> Result<String, Error> {
    let message = ClaudeMessage::parse(message)?;
    written(&message.into_kernel())
}

/// Return the message of the dialect that a kernel's message is, and a list of its degradations.
#[pyfunction]
pub(crate) fn claude_from_kernel(message: &[u8]) -> Result<(String, String), Error> {
    let message = Message::parse(message)?;
    let (message, degradations) = ClaudeMessage::from_kernel(message);
    Ok((written(&message)?, written(&degradations)?))
}

/// Convert a legacy text to a message; an unknown role becomes `user`.
#[pyfunction]
#[pyo3(signature = (text, role = "user"))]
pub(crate) fn migrate_text<'py>(
    py: Python<'py>,
    text: &str,
    role: &str,
) -> Result<Bound<'py, PyAny>, Error> {
    let message = written(&claude::migrate_text(role, text))?;
    read_model(py, &CLAUDE_MESSAGE, &message)
}

/// Convert a legacy tool response such as `Tool result: file contents` to a tool result.
///
/// Args:
///     text: The response; without this prefix, the whole text is the content.
///     tool_use_id: The id of the call; None creates one.
///     randbits: Returns the random bits of that id; None for bits of `amplifier_core.world`.
#[pyfunction]
#[pyo3(signature = (text, tool_use_id = None, *, randbits = None))]
pub(crate) fn migrate_tool_response<'py>(
    py: Python<'py>,
    text: &str,
    tool_use_id: Option<String>,
    randbits: Option<&Bound<'py, PyAny>>,
) -> Result<Bound<'py, PyAny>, Error> {
    let tool_use_id = tool_use_id.map_or_else(|| new_tool_use_id(py, randbits), Ok)?;
    let result = written(&claude::migrate_tool_response(&tool_use_id, text))?;
    read_model(py, &TOOL_RESULT, &result)
}

/// Create an id for a tool call: `toolu_` and eight hexadecimal digits.
///
/// Args:
///     randbits: Returns as many random bits as it is asked for; None for bits of `amplifier_core.world`.
#[pyfunction]
#[pyo3(signature = (*, randbits = None))]
pub(crate) fn new_tool_use_id(
    py: Python<'_>,
    randbits: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let bits = match randbits {
        Some(randbits) => randbits.call1((32,))?.extract()?,
        None => world::new_uuid(py)?.as_fields().0,
    };
    Ok(claude::new_tool_use_id(bits))
}

fn read_model<'py>(
    py: Python<'py>,
    class: &ImportedClass,
    json: &str,
) -> Result<Bound<'py, PyAny>, Error> {
    Ok(class
        .get(py)?
        .call_method1("model_validate_json", (json,))?)
}

fn written(value: &impl serde::Serialize) -> Result<String, Error> {
    Ok(serde_json::to_string(value)?)
}
