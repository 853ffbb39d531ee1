//! Messages of the Claude dialect, for `amplifier_guard`; models cross as their JSON.

use amplifier_core::{FromJson as _, Message};
use amplifier_guard::claude::{self, ClaudeMessage};
use pyo3::prelude::*;

use crate::error::Error;

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

/// Return the message that a text was.
#[pyfunction]
pub(crate) fn claude_migrate_text(role: &str, text: &str) -> Result<String, Error> {
    written(&claude::migrate_text(role, text))
}

/// Return the tool result that a tool response was.
#[pyfunction]
pub(crate) fn claude_migrate_tool_response(tool_use_id: &str, text: &str) -> Result<String, Error> {
    written(&claude::migrate_tool_response(tool_use_id, text))
}

/// Return the id of a tool call that is made of 32 random bits.
#[pyfunction]
pub(crate) fn claude_new_tool_use_id(random: u32) -> String {
    claude::new_tool_use_id(random)
}

fn written(value: &impl serde::Serialize) -> Result<String, Error> {
    Ok(serde_json::to_string(value)?)
}
