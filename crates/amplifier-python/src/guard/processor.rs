//! `MessageProcessor`: messages, checked once.

#![expect(clippy::doc_markdown, reason = "docstrings of Python")]

use std::collections::HashSet;

use amplifier_core::{FromJson as _, Json, Message, Object};
use amplifier_guard as guard;
use amplifier_guard::claude::{ClaudeMessage, ToolUseBlock, migrate_text};
use guard::{CanBeEmpty, MessageError, OnFinding};
use pyo3::exceptions::PyValueError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::error::{Error, MessageRejected, as_refusal};
use crate::guard::processed_message::ProcessedMessage;
use crate::guard::tool_input::{Text, ToolInputPolicy, plain, read_arguments};
use crate::json::from_python;
use crate::lazy_object::ImportedClass;
use crate::traverse::Traverse;

static LIMITS: ImportedClass = ImportedClass::new("amplifier_guard.limits", "Limits");
static MODEL: ImportedClass = ImportedClass::new("pydantic", "BaseModel");
static SERIALIZATION_ERROR: ImportedClass =
    ImportedClass::new("pydantic_core", "PydanticSerializationError");

/// Checks messages, in the Claude dialect and in the kernel's; safe to share.
///
/// A message must have one of the dialect's roles, at least one block and not more than the limits
/// allow; tool calls must have names and ids of visible characters, and unique ids. Texts are never
/// changed: suspicious parts are reported as `Finding`s. If thinking mode is off, thinking blocks are
/// left out, each reported in a `Degradation`.
///
/// Characters are Unicode code points, counted over all texts of a message: text, code, thinking and
/// tool results, and the strings and keys in the data of tool calls, tables, charts and blocks of
/// unknown types. Images and signatures do not count.
///
/// Args:
///     limits: None for the defaults; `Limits.load()` reads the environment.
///     findings: What to do about suspicious parts.
///     allow_empty: What may be empty; models write empty thinking blocks and tool results.
///
/// Raises:
///     ValueError: A setting has an unknown value.
#[pyclass(frozen, subclass, weakref, module = "amplifier_core._engine")]
pub(crate) struct MessageProcessor {
    processor: guard::MessageProcessor,
    /// The limits that it applies.
    #[pyo3(get)]
    limits: Py<PyAny>,
}

#[pymethods]
impl MessageProcessor {
    #[new]
    #[pyo3(
        signature = (limits = None, *, findings = "report", allow_empty = AllowedEmpty::default()),
        text_signature = "(limits=None, *, findings='report', allow_empty=('thinking', 'tool_result'))"
    )]
    fn new(
        py: Python<'_>,
        limits: Option<Bound<'_, PyAny>>,
        findings: &str,
        allow_empty: AllowedEmpty,
    ) -> Result<Self, Error> {
        let limits = limits.map_or_else(|| LIMITS.get(py)?.call0(), Ok)?;
        let on_finding = OnFinding::from_word(findings)
            .ok_or_else(|| unknown("findings", findings, OnFinding::WORDS))?;
        let processor = guard::MessageProcessor::new(read_limits(&limits)?, on_finding);
        Ok(Self {
            processor: match allow_empty.0 {
                Some(can_be_empty) => processor.allow_empty(can_be_empty),
                None => processor,
            },
            limits: limits.unbind(),
        })
    }

    /// Turn a text into a message of the user.
    ///
    /// Raises:
    ///     MessageRejected: The text is empty, too long, or suspicious where that is refused.
    fn process_user_message(&self, text: &Bound<'_, PyString>) -> Result<ProcessedMessage, Error> {
        self.migrate(text, "user")
    }

    /// Turn a legacy text message into a message of blocks; see `migrate_text`.
    ///
    /// Raises:
    ///     MessageRejected: The text is empty, too long, or suspicious where that is refused.
    #[pyo3(signature = (text, role = "user"))]
    fn migrate(&self, text: &Bound<'_, PyString>, role: &str) -> Result<ProcessedMessage, Error> {
        let message = migrate_text(role, whole(text)?);
        Ok(self.processor.process(message, None)?.into())
    }

    /// Check a message of the Claude dialect; a processed message is returned unchanged.
    ///
    /// Args:
    ///     message: The message; a content that is a string becomes a block.
    ///     calls: The ids of the open tool calls. If given, each result must belong to one of them
    ///         or to an earlier call in the message, and each call has at most one result.
    ///
    /// Raises:
    ///     MessageRejected: The message is refused.
    #[pyo3(signature = (message, *, calls = None))]
    fn process<'py>(
        &self,
        message: &Bound<'py, PyAny>,
        calls: Option<CallIds>,
    ) -> Result<Bound<'py, ProcessedMessage>, Error> {
        let py = message.py();
        if let Ok(processed) = message.cast::<ProcessedMessage>() {
            return Ok(processed.clone());
        }
        let processed = if let Some(text) = dump_model(message)? {
            self.process_json(text.as_any(), calls)?
        } else {
            let message = ClaudeMessage::from_json(read_data(message)?);
            let message = message.map_err(MessageError::of_model)?;
            self.processor.process(message, ids(calls.as_ref()))?.into()
        };
        Ok(Bound::new(py, processed)?)
    }

    /// Read a message of the Claude dialect from JSON, and check it as `process` does.
    ///
    /// Raises:
    ///     MessageRejected: The message is refused.
    #[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
    #[pyo3(signature = (text, *, calls = None))]
    fn process_json(
        &self,
        text: &Bound<'_, PyAny>,
        calls: Option<CallIds>,
    ) -> Result<ProcessedMessage, Error> {
        let text = Text::of(text)?;
        let calls = ids(calls.as_ref());
        Ok(self.processor.process_json(text.as_bytes(), calls)?.into())
    }

    /// Check a message of the kernel as `process` does one of the dialect.
    ///
    /// Raises:
    ///     MessageRejected: The message is refused.
    #[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
    #[pyo3(signature = (message, *, calls = None))]
    fn process_kernel(
        &self,
        message: &Bound<'_, PyAny>,
        calls: Option<CallIds>,
    ) -> Result<ProcessedMessage, Error> {
        let message = match dump_model(message)? {
            Some(text) => Message::parse(Text::of(text.as_any())?.as_bytes()),
            None => Message::from_json(read_data(message)?),
        };
        let message = message.map_err(MessageError::of_model)?;
        let calls = ids(calls.as_ref());
        Ok(self.processor.process_kernel(message, calls)?.into())
    }

    /// Check a tool call before it runs: its name, its id, and its arguments.
    ///
    /// Raises:
    ///     NameDenied: Its name or id cannot be used.
    ///     ToolInputDenied: The tool is unknown, or its arguments are not those that it takes.
    fn validate_tool_use(
        &self,
        call: &Bound<'_, PyAny>,
        tools: &ToolInputPolicy,
    ) -> Result<(), Error> {
        let text = |field: &str| -> PyResult<String> {
            let text = call.getattr(field)?;
            Ok(text.cast::<PyString>()?.to_string_lossy().into_owned())
        };
        let (id, name) = (text("id")?, text("name")?);
        let call = ToolUseBlock {
            id,
            input: read_arguments(&name, &call.getattr("input")?)?,
            name,
            extra: Object::new(),
        };
        Ok(tools.with(|tools| self.processor.validate_tool_use(&call, tools))?)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.limits.traverse(&visit)
    }
}

/// What may be empty, in any collection of words; unset for the default.
#[derive(Default)]
struct AllowedEmpty(Option<Vec<CanBeEmpty>>);

impl<'py> FromPyObject<'_, 'py> for AllowedEmpty {
    type Error = PyErr;

    fn extract(words: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let can_be_empty = words.try_iter()?.map(|word| {
            let word: String = word?.extract()?;
            CanBeEmpty::from_word(&word)
                .ok_or_else(|| unknown("allow_empty", &word, CanBeEmpty::WORDS))
        });
        Ok(Self(Some(can_be_empty.collect::<PyResult<_>>()?)))
    }
}

/// The ids of tool calls, in anything that can be iterated over.
struct CallIds(HashSet<String>);

impl<'py> FromPyObject<'_, 'py> for CallIds {
    type Error = PyErr;

    fn extract(ids: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let ids = ids.try_iter()?.map(|id| id?.extract());
        Ok(Self(ids.collect::<PyResult<_>>()?))
    }
}

fn ids(calls: Option<&CallIds>) -> Option<&HashSet<String>> {
    calls.map(|calls| &calls.0)
}

/// The limits of an `amplifier_guard.Limits`.
fn read_limits(limits: &Bound<'_, PyAny>) -> Result<guard::Limits, Error> {
    let Json::Object(fields) = from_python(&limits.call_method0("model_dump")?)? else {
        return Err(PyValueError::new_err("`limits` must have fields").into());
    };
    Ok(guard::Limits::resolve(&fields, &Object::new(), |_| None)?)
}

/// The JSON of a Pydantic model; None if it is anything else.
fn dump_model<'py>(message: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyString>>> {
    let py = message.py();
    // Asking a dict whether it is a model costs as much as reading a short message.
    if message.is_instance_of::<PyDict>() || !message.is_instance(MODEL.get(py)?)? {
        return Ok(None);
    }
    match message.call_method0("model_dump_json") {
        Ok(text) => Ok(Some(text.cast_into()?)),
        Err(error) if error.matches(py, SERIALIZATION_ERROR.get(py)?)? => {
            let reason = error.value(py).str()?;
            Err(MessageRejected.new_err(format!("message is not JSON: {reason}")))
        }
        Err(error) => Err(error),
    }
}

fn read_data(message: &Bound<'_, PyAny>) -> PyResult<Json> {
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

fn unknown(setting: &str, found: &str, known: &[&str]) -> PyErr {
    let known = known.join("`, `");
    PyValueError::new_err(format!(
        "`{setting}` must be one of `{known}`, found `{found}`"
    ))
}
