//! `ProcessedMessage`: a checked message, whose models are made when they are first read.

#![expect(clippy::doc_markdown, reason = "docstrings of Python")]

use amplifier_core::{Degradation, Message};
use amplifier_guard as guard;
use amplifier_guard::claude::ClaudeMessage;
use pyo3::exceptions::PyTypeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::error::Error;
use crate::guard::finding::findings_to_python;
use crate::guard::tool_input::ToolInputPolicy;
use crate::lazy_object::{ImportedClass, LazyObject};
use crate::traverse::{Traverse, traverse};

static CLAUDE_MESSAGE: ImportedClass =
    ImportedClass::new("amplifier_guard.claude", "ClaudeMessage");
static MESSAGE: ImportedClass = ImportedClass::new("amplifier_core.message_models", "Message");
static DEGRADATION: ImportedClass =
    ImportedClass::new("amplifier_core.message_models", "Degradation");
static STATISTICS: ImportedClass =
    ImportedClass::new("amplifier_guard.processor", "ContentStatistics");

/// A checked message. Only a `MessageProcessor` creates one, and it is not checked again.
///
/// `message`, `statistics` and `findings` are computed when first read, and cached; with `"ask"` and
/// `"reject"` the findings are computed at once.
///
/// Raises:
///     TypeError: It was not created by a processor.
#[pyclass(frozen, weakref, module = "amplifier_core._engine")]
pub(crate) struct ProcessedMessage {
    processed: Processed,
    models: Models,
}

enum Processed {
    Claude(guard::ProcessedMessage<ClaudeMessage>),
    Kernel(guard::ProcessedMessage<Message>),
}

/// What was read of it, as objects of Python.
struct Models {
    message: LazyObject<Py<PyAny>>,
    findings: LazyObject<Py<PyTuple>>,
    statistics: LazyObject<Py<PyAny>>,
    degradations: LazyObject<Py<PyTuple>>,
}

traverse!(Models: message, findings, statistics, degradations);

/// Does the same with a message of either kind.
macro_rules! with_either {
    ($message:expr, $processed:ident => $action:expr) => {
        match &$message.processed {
            Processed::Claude($processed) => $action,
            Processed::Kernel($processed) => $action,
        }
    };
}

#[pymethods]
impl ProcessedMessage {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs), text_signature = "(*args, **kwargs)")]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Err(PyTypeError::new_err(
            "only a `MessageProcessor` can make a `ProcessedMessage`",
        ))
    }

    /// The message, as a `Message` of the kernel if it came as one.
    #[getter]
    fn message<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let message = self.models.message.get(py, || {
            let class = match &self.processed {
                Processed::Claude(_) => &CLAUDE_MESSAGE,
                Processed::Kernel(_) => &MESSAGE,
            };
            read_model(py, class, &self.to_json()?)
        })?;
        Ok(message.bind(py).clone())
    }

    /// The role of the message.
    #[getter]
    fn role(&self) -> &str {
        match &self.processed {
            Processed::Claude(processed) => &processed.message().role,
            Processed::Kernel(processed) => processed.message().role.as_str(),
        }
    }

    /// The suspicious parts; at most 1,000.
    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let findings = self.models.findings.get(py, || {
            let findings = with_either!(self, processed => processed.findings());
            Ok(findings_to_python(py, findings)?.unbind())
        })?;
        Ok(findings.bind(py).clone())
    }

    /// Whether a person must approve it before it is used.
    #[getter]
    fn needs_approval(&self) -> bool {
        with_either!(self, processed => processed.needs_approval())
    }

    /// The number of its blocks, characters and bytes.
    #[getter]
    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let statistics = self.models.statistics.get(py, || {
            let statistics = with_either!(self, processed => processed.statistics());
            let (blocks, fields) = (PyDict::new(py), PyDict::new(py));
            for (name, count) in &statistics.blocks {
                blocks.set_item(name, count)?;
            }
            fields.set_item("blocks", blocks)?;
            fields.set_item("characters", statistics.characters)?;
            fields.set_item("bytes", statistics.bytes)?;
            Ok(STATISTICS.get(py)?.call((), Some(&fields))?.unbind())
        })?;
        Ok(statistics.bind(py).clone())
    }

    /// What was left out: thinking blocks, if thinking mode is off.
    #[getter]
    fn degradations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let degradations = self.models.degradations.get(py, || {
            let degradations: &[Degradation] =
                with_either!(self, processed => processed.degradations());
            let models = degradations
                .iter()
                .map(|one| read_model(py, &DEGRADATION, &written(one)?))
                .collect::<PyResult<Vec<_>>>()?;
            Ok(PyTuple::new(py, models)?.unbind())
        })?;
        Ok(degradations.bind(py).clone())
    }

    /// Return the message as JSON.
    fn to_json(&self) -> Result<String, Error> {
        with_either!(self, processed => written(processed.message()))
    }

    /// Check the arguments of each tool call against the schema of its tool, without a copy.
    ///
    /// Raises:
    ///     ToolInputDenied: A tool is unknown, or its arguments are not those that it takes.
    fn validate_tool_uses(&self, tools: &ToolInputPolicy) -> Result<(), Error> {
        Ok(
            with_either!(self, processed => tools.with(|tools| processed.validate_tool_uses(tools)))?,
        )
    }

    fn __repr__(&self) -> String {
        let findings = with_either!(self, processed => processed.findings().len());
        format!("<ProcessedMessage of {}, {findings} findings>", self.role())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.models.traverse(&visit)
    }
}

impl From<Processed> for ProcessedMessage {
    fn from(processed: Processed) -> Self {
        Self {
            processed,
            models: Models {
                message: LazyObject::new(),
                findings: LazyObject::new(),
                statistics: LazyObject::new(),
                degradations: LazyObject::new(),
            },
        }
    }
}

impl From<guard::ProcessedMessage<ClaudeMessage>> for ProcessedMessage {
    fn from(processed: guard::ProcessedMessage<ClaudeMessage>) -> Self {
        Processed::Claude(processed).into()
    }
}

impl From<guard::ProcessedMessage<Message>> for ProcessedMessage {
    fn from(processed: guard::ProcessedMessage<Message>) -> Self {
        Processed::Kernel(processed).into()
    }
}

fn read_model(py: Python<'_>, class: &ImportedClass, json: &str) -> PyResult<Py<PyAny>> {
    let model = class
        .get(py)?
        .call_method1("model_validate_json", (json,))?;
    Ok(model.unbind())
}

fn written(value: &impl serde::Serialize) -> Result<String, Error> {
    Ok(serde_json::to_string(value)?)
}
