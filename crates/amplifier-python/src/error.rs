//! Errors of Rust on their way to Python; `?` does the conversion.

use amplifier_core::error::{MountError, SessionError};
use amplifier_core::{JsonError, ModelError};
use amplifier_guard as guard;
use amplifier_stream as stream;
use guard::{Kind, MessageError, PathError, ToolInputError, ToolUseError};
use pyo3::PyErr;
use pyo3::exceptions::{
    PyFileNotFoundError, PyInterruptedError, PyIsADirectoryError, PyNotADirectoryError, PyOSError,
    PyPermissionError, PyRuntimeError, PyTypeError, PyValueError,
};

use crate::guard::finding::fields;

pyo3::import_exception!(amplifier_guard.identifier, NameDenied);
pyo3::import_exception!(amplifier_guard.limits, LimitError);
pyo3::import_exception!(amplifier_guard.path, NotText);
pyo3::import_exception!(amplifier_guard.path, PathDenied);
pyo3::import_exception!(amplifier_guard.path, PathProtected);
pyo3::import_exception!(amplifier_guard.processor, MessageRejected);
pyo3::import_exception!(amplifier_guard.shell, ShellDenied);
pyo3::import_exception!(amplifier_guard.tool_input, ToolInputDenied);
pyo3::import_exception!(amplifier_guard.tool_input, ToolSchemaDenied);
pyo3::import_exception!(amplifier_guard.url, UrlDenied);
pyo3::import_exception!(amplifier_stream.framing, StreamLimitError);
pyo3::import_exception!(amplifier_stream.framing, StreamLineError);

/// Any error of an operation, as the exception that Python raises.
pub(crate) struct Error(PyErr);

impl From<Error> for PyErr {
    fn from(Error(error): Error) -> Self {
        error
    }
}

impl From<PyErr> for Error {
    fn from(error: PyErr) -> Self {
        Self(error)
    }
}

/// Errors that become an exception of one class, with their text as its message.
macro_rules! raised_as {
    ($($exception:ty: $($error:ty),+;)+) => {
        $($(
            impl From<$error> for Error {
                fn from(error: $error) -> Self {
                    Self(<$exception>::new_err(error.to_string()))
                }
            }
        )+)+
    };
}

raised_as! {
    PyValueError: MountError, JsonError, ModelError, serde_json::Error, guard::PatternError,
        guard::SettingError, guard::SecretTooShort, stream::CoercionError, stream::TagNameError,
        stream::UnknownDialect;
    LimitError: guard::LimitError;
    NameDenied: guard::NameError;
    ShellDenied: guard::ShellError;
    UrlDenied: guard::UrlError;
    StreamLimitError: stream::LimitError;
    StreamLineError: stream::LineError;
}

impl From<SessionError> for Error {
    fn from(error: SessionError) -> Self {
        let message = error.to_string();
        Self(match error {
            SessionError::ConfigMissing | SessionError::ModuleMissing(_) => {
                PyValueError::new_err(message)
            }
            SessionError::ConfigInvalid(_) => PyTypeError::new_err(message),
            _ => PyRuntimeError::new_err(message),
        })
    }
}

impl From<PathError> for Error {
    fn from(error: PathError) -> Self {
        let message = error.to_string();
        Self(match error {
            PathError::Protected { .. } => PathProtected::new_err(message),
            PathError::NotAFile {
                found: Kind::Directory,
                ..
            } => PyIsADirectoryError::new_err(message),
            PathError::Empty
            | PathError::Nul { .. }
            | PathError::Outside { .. }
            | PathError::Form { .. }
            | PathError::HardLinks { .. }
            | PathError::NotAFile { .. } => PathDenied::new_err(message),
            PathError::NotADirectory { .. } => PyNotADirectoryError::new_err(message),
            PathError::Missing { .. } => PyFileNotFoundError::new_err(message),
            PathError::Binary { .. } => NotText::new_err(message),
            PathError::Stopped { .. } => PyInterruptedError::new_err(message),
            PathError::Io { source, .. } | PathError::Unwritable { source, .. }
                if source.kind() == std::io::ErrorKind::PermissionDenied =>
            {
                PyPermissionError::new_err(message)
            }
            _ => PyOSError::new_err(message),
        })
    }
}

impl From<MessageError> for Error {
    fn from(error: MessageError) -> Self {
        let findings = match &error {
            MessageError::Suspicious { findings } => fields(findings),
            _ => Vec::new(),
        };
        let pointer = error.pointer().to_owned();
        Self(MessageRejected::new_err((
            error.to_string(),
            pointer,
            findings,
        )))
    }
}

impl From<ToolInputError> for Error {
    fn from(error: ToolInputError) -> Self {
        let (tool, pointer) = (error.tool().to_owned(), error.pointer().to_owned());
        Self(ToolInputDenied::new_err((error.to_string(), tool, pointer)))
    }
}

impl From<ToolUseError> for Error {
    fn from(error: ToolUseError) -> Self {
        match error {
            ToolUseError::Name(error) => error.into(),
            ToolUseError::Input(error) => error.into(),
        }
    }
}

impl From<guard::ToolSchemaError> for Error {
    fn from(error: guard::ToolSchemaError) -> Self {
        Self(ToolSchemaDenied::new_err((
            error.to_string(),
            error.tool,
            error.pointer,
        )))
    }
}

/// A decoder or a filter that cannot be used now.
#[derive(Clone, Copy)]
pub(crate) enum Misuse {
    /// Another call is still at work in it.
    Busy,
    /// The decoder was finished.
    DecoderFinished,
    /// The filter was finished.
    FilterFinished,
}

impl From<Misuse> for PyErr {
    fn from(misuse: Misuse) -> Self {
        PyRuntimeError::new_err(match misuse {
            Misuse::Busy => "the decoder is busy in another call",
            Misuse::DecoderFinished => {
                "the decoder is already finished; use a new decoder for each stream"
            }
            Misuse::FilterFinished => {
                "the filter is already finished; use a new filter for each stream"
            }
        })
    }
}

impl From<Misuse> for Error {
    fn from(misuse: Misuse) -> Self {
        Self(misuse.into())
    }
}

/// A value that JSON cannot hold as a refusal; any other error as it is.
pub(crate) fn as_refusal(
    py: pyo3::Python<'_>,
    error: PyErr,
    refuse: impl FnOnce(String) -> PyErr,
) -> PyErr {
    if error.is_instance_of::<PyTypeError>(py) || error.is_instance_of::<PyValueError>(py) {
        return refuse(error.value(py).to_string());
    }
    error
}
