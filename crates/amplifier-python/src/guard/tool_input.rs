//! `ToolInputPolicy`: the arguments of tool calls, against the schemas of the tools.

#![expect(clippy::doc_markdown, reason = "docstrings of Python")]

use std::sync::{PoisonError, RwLock};

use amplifier_core::Json;
use amplifier_guard as guard;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Error, ToolInputDenied, ToolSchemaDenied, as_refusal};
use crate::guard::text::encoded;
use crate::json::{from_python, object_to_python};
use crate::lazy_object::is_mapping;

/// Decides which arguments tools run with, by the tools' own JSON schemas; safe to share.
///
/// Args:
///     max_depth: Most levels of arguments.
///     max_bytes: Most bytes of arguments as JSON.
///     max_tools: Most tools.
///
/// Raises:
///     ValueError: A setting is out of range.
#[pyclass(frozen, subclass, weakref, module = "amplifier_core._engine")]
pub(crate) struct ToolInputPolicy {
    policy: RwLock<guard::ToolInputPolicy>,
}

#[pymethods]
impl ToolInputPolicy {
    #[new]
    #[pyo3(signature = (*, max_depth = 128, max_bytes = 10_000_000, max_tools = 1_000))]
    fn new(max_depth: usize, max_bytes: usize, max_tools: usize) -> Result<Self, Error> {
        let policy = guard::ToolInputPolicy::new(max_depth, max_bytes, max_tools)?;
        Ok(Self {
            policy: RwLock::new(policy),
        })
    }

    /// Take the JSON schema of a tool's arguments; return whether it is another one than before.
    ///
    /// Raises:
    ///     ToolSchemaDenied: The schema is invalid, too large, or has references outside itself;
    ///         or there are too many tools.
    fn set_schema(&self, tool: &str, schema: &Bound<'_, PyAny>) -> Result<bool, Error> {
        let py = schema.py();
        let schema = plain(schema).map_err(|error| {
            as_refusal(py, error, |reason| {
                let text = format!("the schema of tool `{tool}` is not JSON: {reason}");
                ToolSchemaDenied.new_err((text, tool.to_owned(), ""))
            })
        })?;
        let mut policy = self.policy.write().unwrap_or_else(PoisonError::into_inner);
        Ok(policy.set_schema(tool, &schema)?)
    }

    /// Forget a tool; return whether it was known.
    fn remove(&self, tool: &str) -> bool {
        let mut policy = self.policy.write().unwrap_or_else(PoisonError::into_inner);
        policy.remove(tool)
    }

    /// The names of the tools that are known, sorted.
    #[getter]
    fn tools(&self) -> Vec<String> {
        let mut tools = self.with(|policy| policy.tools().map(str::to_owned).collect::<Vec<_>>());
        tools.sort_unstable();
        tools
    }

    /// Check arguments that were read before.
    ///
    /// Raises:
    ///     ToolInputDenied: The tool is unknown, or its arguments are not those that it takes.
    fn check(&self, tool: &str, arguments: &Bound<'_, PyAny>) -> Result<(), Error> {
        let arguments = read_arguments(tool, arguments)?;
        Ok(self.with(|policy| policy.check_value(tool, &arguments))?)
    }

    /// Read arguments as a model wrote them, strictly, and check them.
    ///
    /// Raises:
    ///     ToolInputDenied: The text is not JSON, the tool is unknown, or its arguments are not those
    ///         that it takes.
    fn check_json<'py>(
        &self,
        py: Python<'py>,
        tool: &str,
        text: &Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyDict>, Error> {
        let text = Text::of(text)?;
        let arguments = self.with(|policy| policy.check_json(tool, text.as_bytes()))?;
        Ok(object_to_python(py, &arguments)?)
    }
}

impl ToolInputPolicy {
    pub(crate) fn with<T>(&self, ask: impl FnOnce(&guard::ToolInputPolicy) -> T) -> T {
        ask(&self.policy.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The arguments of a call, a mapping of JSON.
pub(crate) fn read_arguments(tool: &str, arguments: &Bound<'_, PyAny>) -> PyResult<Json> {
    plain(arguments).map_err(|error| {
        as_refusal(arguments.py(), error, |reason| {
            let text = format!("the arguments of `{tool}` are not JSON: {reason}");
            ToolInputDenied.new_err((text, tool.to_owned(), ""))
        })
    })
}

/// JSON that a Python value is; mappings of other types are dicts.
pub(crate) fn plain(value: &Bound<'_, PyAny>) -> PyResult<Json> {
    if !value.is_instance_of::<PyDict>() && is_mapping(value) {
        let dict = PyDict::new(value.py());
        dict.call_method1("update", (value,))?;
        return from_python(&dict);
    }
    from_python(value)
}

/// JSON text as it came.
pub(crate) enum Text<'a, 'py> {
    /// Characters; a lone surrogate in them is no UTF-8, which the reader refuses.
    Text(std::borrow::Cow<'a, [u8]>),
    /// Bytes.
    Bytes(&'a Bound<'py, pyo3::types::PyBytes>),
}

impl<'a, 'py> Text<'a, 'py> {
    pub(crate) fn of(value: &'a Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = value.cast::<pyo3::types::PyBytes>() {
            return Ok(Self::Bytes(bytes));
        }
        let text = value.cast::<pyo3::types::PyString>()?;
        Ok(Self::Text(match text.to_str() {
            Ok(text) => std::borrow::Cow::Borrowed(text.as_bytes()),
            Err(_) => std::borrow::Cow::Owned(encoded(text)?.as_bytes().to_vec()),
        }))
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text,
            Self::Bytes(bytes) => bytes.as_bytes(),
        }
    }
}
