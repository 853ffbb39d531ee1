//! `MessageProcessor`: messages, checked once; the models of `amplifier_guard` are built when asked
//! for.

use std::collections::HashSet;

use amplifier_core::{Degradation, FromJson as _, Json, Message};
use amplifier_guard as guard;
use amplifier_guard::claude::{ClaudeMessage, ToolUseBlock, migrate_text};
use guard::{CanBeEmpty, MessageError, OnFinding};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::error::{Error, MessageRejected, as_refusal};
use crate::guard::finding::{FindingFields, fields};
use crate::guard::tool_input::{Text, ToolInputPolicy, plain, read_arguments};
use crate::json::{from_python, object_to_python};

/// Checks messages; `amplifier_guard` passes in the limits.
#[pyclass(frozen, module = "amplifier_core._engine")]
pub(crate) struct MessageProcessor {
    processor: guard::MessageProcessor,
}

#[pymethods]
impl MessageProcessor {
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
    fn new(
        limits: &Bound<'_, PyDict>,
        findings: &str,
        allow_empty: Vec<String>,
    ) -> Result<Self, Error> {
        let Json::Object(limits) = from_python(limits)? else {
            return Err(PyValueError::new_err("`limits` must be a dict").into());
        };
        let limits = guard::Limits::resolve(&limits, &amplifier_core::Object::new(), |_| None)?;
        let on_finding = OnFinding::from_word(findings)
            .ok_or_else(|| unknown("findings", findings, OnFinding::WORDS))?;
        let can_be_empty = allow_empty.iter().map(|word| {
            let what = CanBeEmpty::from_word(word);
            what.ok_or_else(|| unknown("allow_empty", word, CanBeEmpty::WORDS))
        });
        let can_be_empty: Vec<_> = can_be_empty.collect::<PyResult<_>>()?;
        let processor = guard::MessageProcessor::new(limits, on_finding);
        Ok(Self {
            processor: processor.allow_empty(can_be_empty),
        })
    }

    /// Make a text a message of this role, checked; an unknown role is `user`.
    fn process_text(
        &self,
        role: &str,
        text: &Bound<'_, PyString>,
    ) -> Result<ProcessedMessage, Error> {
        let text = whole(text)?;
        let processed = self.processor.process(migrate_text(role, text), None);
        processed.map(ProcessedMessage::claude).map_err(Error::from)
    }

    /// Read a message of the Claude dialect from JSON, and check it.
    #[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
    fn process_json(
        &self,
        text: &Bound<'_, PyAny>,
        calls: Option<HashSet<String>>,
    ) -> Result<ProcessedMessage, Error> {
        let text = Text::of(text)?;
        let processed = self.processor.process_json(text.as_bytes(), calls.as_ref());
        processed.map(ProcessedMessage::claude).map_err(Error::from)
    }

    /// Check a message of the Claude dialect, as plain data.
    #[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
    fn process_data(
        &self,
        message: &Bound<'_, PyAny>,
        calls: Option<HashSet<String>>,
    ) -> Result<ProcessedMessage, Error> {
        let message = ClaudeMessage::from_json(data(message)?).map_err(MessageError::of_model);
        let processed = message.and_then(|message| self.processor.process(message, calls.as_ref()));
        processed.map(ProcessedMessage::claude).map_err(Error::from)
    }

    /// Read a message of the kernel from JSON, and check it.
    #[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
    fn process_kernel_json(
        &self,
        text: &Bound<'_, PyAny>,
        calls: Option<HashSet<String>>,
    ) -> Result<ProcessedMessage, Error> {
        let text = Text::of(text)?;
        let message = Message::parse(text.as_bytes()).map_err(MessageError::of_model);
        self.kernel(message, calls.as_ref())
    }

    /// Check a message of the kernel, as plain data.
    #[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
    fn process_kernel_data(
        &self,
        message: &Bound<'_, PyAny>,
        calls: Option<HashSet<String>>,
    ) -> Result<ProcessedMessage, Error> {
        let message = Message::from_json(data(message)?).map_err(MessageError::of_model);
        self.kernel(message, calls.as_ref())
    }

    /// Check the name, the id and the arguments of a tool call.
    fn validate_tool_use(
        &self,
        id: &Bound<'_, PyString>,
        name: &Bound<'_, PyString>,
        arguments: &Bound<'_, PyAny>,
        tools: &ToolInputPolicy,
    ) -> Result<(), Error> {
        let name = name.to_string_lossy().into_owned();
        let call = ToolUseBlock {
            id: id.to_string_lossy().into_owned(),
            input: read_arguments(&name, arguments)?,
            name,
            extra: amplifier_core::Object::new(),
        };
        Ok(tools.with(|tools| self.processor.validate_tool_use(&call, tools))?)
    }
}

impl MessageProcessor {
    fn kernel(
        &self,
        message: Result<Message, MessageError>,
        calls: Option<&HashSet<String>>,
    ) -> Result<ProcessedMessage, Error> {
        let processed = message.and_then(|message| self.processor.process_kernel(message, calls));
        Ok(ProcessedMessage(Processed::Kernel(processed?)))
    }
}

/// A message that was checked.
#[pyclass(frozen, module = "amplifier_core._engine")]
pub(crate) struct ProcessedMessage(Processed);

enum Processed {
    Claude(guard::ProcessedMessage<ClaudeMessage>),
    Kernel(guard::ProcessedMessage<Message>),
}

#[pymethods]
impl ProcessedMessage {
    /// Return whether it is a message of the kernel.
    fn is_of_kernel(&self) -> bool {
        matches!(self.0, Processed::Kernel(_))
    }

    /// Return who speaks.
    fn role(&self) -> &str {
        match &self.0 {
            Processed::Claude(processed) => &processed.message().role,
            Processed::Kernel(processed) => processed.message().role.as_str(),
        }
    }

    /// Return the message as JSON.
    fn to_json(&self) -> Result<String, Error> {
        match &self.0 {
            Processed::Claude(processed) => written(processed.message()),
            Processed::Kernel(processed) => written(processed.message()),
        }
    }

    /// Return each finding: its kind, its pointer, and its characters from and to.
    fn findings(&self) -> Vec<FindingFields> {
        match &self.0 {
            Processed::Claude(processed) => fields(processed.findings()),
            Processed::Kernel(processed) => fields(processed.findings()),
        }
    }

    /// Return the blocks of each type, the characters and the bytes.
    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyDict>, u64, u64)> {
        let statistics = match &self.0 {
            Processed::Claude(processed) => processed.statistics(),
            Processed::Kernel(processed) => processed.statistics(),
        };
        let blocks = statistics.blocks.iter().map(|(name, count)| {
            let count = i64::try_from(*count).unwrap_or(i64::MAX);
            (name.clone(), Json::from(count))
        });
        let blocks = object_to_python(py, &blocks.collect())?;
        Ok((blocks, statistics.characters, statistics.bytes))
    }

    /// Return what was left out, as JSON.
    fn degradations(&self) -> Result<String, Error> {
        let degradations: &[Degradation] = match &self.0 {
            Processed::Claude(processed) => processed.degradations(),
            Processed::Kernel(processed) => processed.degradations(),
        };
        written(&degradations)
    }

    /// Return whether a person must agree.
    fn needs_approval(&self) -> bool {
        match &self.0 {
            Processed::Claude(processed) => processed.needs_approval(),
            Processed::Kernel(processed) => processed.needs_approval(),
        }
    }

    /// Check the arguments of each tool call against the schema of its tool.
    fn validate_tool_uses(&self, tools: &ToolInputPolicy) -> Result<(), Error> {
        let checked = tools.with(|tools| match &self.0 {
            Processed::Claude(processed) => processed.validate_tool_uses(tools),
            Processed::Kernel(processed) => processed.validate_tool_uses(tools),
        });
        Ok(checked?)
    }
}

impl ProcessedMessage {
    fn claude(processed: guard::ProcessedMessage<ClaudeMessage>) -> Self {
        Self(Processed::Claude(processed))
    }
}

fn data(message: &Bound<'_, PyAny>) -> PyResult<Json> {
    plain(message).map_err(|error| {
        as_refusal(message.py(), error, |reason| {
            MessageRejected.new_err(format!("message is not JSON: {reason}"))
        })
    })
}

/// A text without halves of surrogate pairs.
fn whole<'a>(text: &'a Bound<'_, PyString>) -> PyResult<&'a str> {
    text.to_str().map_err(|_| {
        MessageRejected
            .new_err("message contains half of a surrogate pair, which JSON cannot represent")
    })
}

fn written(value: &impl serde::Serialize) -> Result<String, Error> {
    Ok(serde_json::to_string(value)?)
}

fn unknown(setting: &str, found: &str, known: &[&str]) -> PyErr {
    let known = known.join("`, `");
    PyValueError::new_err(format!(
        "`{setting}` must be one of `{known}`, found `{found}`"
    ))
}
