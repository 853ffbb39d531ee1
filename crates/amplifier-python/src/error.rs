//! Errors of Rust on their way to Python; `?` does the conversion.

use amplifier_core::error::{MountError, SessionError};
use amplifier_core::{JsonError, ModelError};
use amplifier_guard as guard;
use amplifier_stream as stream;
use guard::{Kind, MessageError, PathError, ToolInputError, ToolUseError};
use pyo3::exceptions::{
    PyFileNotFoundError, PyInterruptedError, PyIsADirectoryError, PyNotADirectoryError, PyOSError,
    PyPermissionError, PyRuntimeError, PyTypeError, PyValueError,
};
use pyo3::{PyErr, PyErrArguments, Python};

use crate::guard::finding::findings_to_python;
use crate::lazy_object::ImportedClass;

/// The exceptions of Python that errors become.
macro_rules! exceptions {
    ($($name:ident = $module:literal;)+) => {
        $(
            #[expect(non_upper_case_globals, reason = "the Python name")]
            pub(crate) static $name: Exception = Exception(ImportedClass::new(
                $module,
                stringify!($name),
            ));
        )+
    };
}

#[cfg(target_os = "linux")]
exceptions! {
    ChangeError = "amplifier_modules.changes.change";
}

exceptions! {
    CircuitOpen = "amplifier_guard.breaker";
    AttributeNotKept = "amplifier_guard.path";
    PathChanged = "amplifier_guard.path";
    NameDenied = "amplifier_guard.identifier";
    LimitError = "amplifier_guard.limits";
    NotText = "amplifier_guard.path";
    PathDenied = "amplifier_guard.path";
    PathProtected = "amplifier_guard.path";
    MessageRejected = "amplifier_guard.processor";
    ShellDenied = "amplifier_guard.shell";
    ToolInputDenied = "amplifier_guard.tool_input";
    ToolSchemaDenied = "amplifier_guard.tool_input";
    UrlDenied = "amplifier_guard.url";
    RateLimited = "amplifier_guard.rate";
    StreamLimitError = "amplifier_stream.framing";
    StreamLineError = "amplifier_stream.framing";
}

/// An exception class that is written in Python.
pub(crate) struct Exception(ImportedClass);

impl Exception {
    /// The exception with these arguments; no lock may be held, as its class may be imported.
    pub(crate) fn new_err(&self, arguments: impl PyErrArguments + 'static) -> PyErr {
        Python::attach(|py| match self.0.get(py) {
            Ok(class) => PyErr::from_type(class.clone(), arguments),
            Err(error) => error,
        })
    }

    /// The same as an [`Error`], whose class is not looked up before Python gets it.
    pub(crate) fn later(&'static self, arguments: impl PyErrArguments + 'static) -> Error {
        Error::Later(Box::new(move || self.new_err(arguments)))
    }
}

/// Any error of an operation, as the exception that Python raises.
pub(crate) enum Error {
    /// This one.
    Now(PyErr),
    /// One whose class may still have to be imported, which no lock may be held for.
    Later(Box<dyn FnOnce() -> PyErr + Send>),
}

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        match error {
            Error::Now(error) => error,
            Error::Later(make) => make(),
        }
    }
}

impl From<PyErr> for Error {
    fn from(error: PyErr) -> Self {
        Self::Now(error)
    }
}

/// Errors that become an exception of one class, with their text as its message.
macro_rules! raised_as {
    ($($exception:ident: $($error:ty),+;)+) => {
        $($(
            impl From<$error> for Error {
                fn from(error: $error) -> Self {
                    $exception.later(error.to_string())
                }
            }
        )+)+
    };
}

/// Errors that become a `ValueError` with their text.
macro_rules! value_errors {
    ($($error:ty),+ $(,)?) => {
        $(
            impl From<$error> for Error {
                fn from(error: $error) -> Self {
                    Self::Now(PyValueError::new_err(error.to_string()))
                }
            }
        )+
    };
}

value_errors! {
    MountError, JsonError, ModelError, serde_json::Error, guard::PatternError,
    guard::PersonalDataError, guard::SettingError, guard::SecretTooShort, stream::CoercionError,
    stream::TagNameError, stream::UnknownDialect,
}

raised_as! {
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
        Self::Now(match error {
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
        Self::Now(match error {
            PathError::Protected { .. } | PathError::Secret { .. } => {
                return PathProtected.later(message);
            }
            PathError::NotAFile {
                found: Kind::Directory,
                ..
            } => PyIsADirectoryError::new_err(message),
            PathError::Empty
            | PathError::Nul { .. }
            | PathError::Outside { .. }
            | PathError::Form { .. }
            | PathError::HardLinks { .. }
            | PathError::NotAFile { .. } => return PathDenied.later(message),
            PathError::Changed { .. } => return PathChanged.later(message),
            PathError::NotKept { .. } => return AttributeNotKept.later(message),
            PathError::NotADirectory { .. } => PyNotADirectoryError::new_err(message),
            PathError::Missing { .. } => PyFileNotFoundError::new_err(message),
            PathError::Binary { .. } => return NotText.later(message),
            PathError::Costly { .. } => PyValueError::new_err(message),
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
        let (message, pointer) = (error.to_string(), error.pointer().to_owned());
        match error {
            MessageError::Suspicious { findings } => Self::Later(Box::new(move || {
                Python::attach(|py| match findings_to_python(py, &findings) {
                    Ok(findings) => MessageRejected.new_err((message, pointer, findings.unbind())),
                    Err(error) => error,
                })
            })),
            _ => MessageRejected.later((message, pointer)),
        }
    }
}

impl From<ToolInputError> for Error {
    fn from(error: ToolInputError) -> Self {
        let (tool, pointer) = (error.tool().to_owned(), error.pointer().to_owned());
        ToolInputDenied.later((error.to_string(), tool, pointer))
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
        ToolSchemaDenied.later((error.to_string(), error.tool, error.pointer))
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
        Self::Now(misuse.into())
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
