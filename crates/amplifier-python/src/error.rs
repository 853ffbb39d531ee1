//! Kernel errors on their way to Python; `?` does the conversion.

use amplifier_core::error::{MountError, SessionError};
use pyo3::PyErr;
use pyo3::exceptions::{PyRuntimeError, PyValueError};

/// Any error of an operation: the kernel's own, or one that Python raised.
pub(crate) enum Error {
    /// A refusal of the coordinator.
    Mount(MountError),
    /// A refusal of the session.
    Session(SessionError),
    /// Raised by Python code.
    Python(PyErr),
}

impl From<MountError> for Error {
    fn from(error: MountError) -> Self {
        Self::Mount(error)
    }
}

impl From<SessionError> for Error {
    fn from(error: SessionError) -> Self {
        Self::Session(error)
    }
}

impl From<PyErr> for Error {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        match error {
            Error::Mount(error) => PyValueError::new_err(error.to_string()),
            Error::Session(error @ SessionError::NotInitialized) => {
                PyRuntimeError::new_err(error.to_string())
            }
            Error::Session(error) => PyValueError::new_err(error.to_string()),
            Error::Python(error) => error,
        }
    }
}
