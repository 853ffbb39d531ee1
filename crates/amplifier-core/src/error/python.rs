//! The names that errors have in Python, and the way back.
//!
//! An error has no Python exception where Python never raises it: a failed hook is logged, and a
//! failed tool is a `ToolResult`.

use super::{
    AmplifierError, ApprovalError, ContextError, HookError, MountError, SessionError, ToolError,
};
use crate::coordinator::Slot;
use crate::json::{Json, Object};
use crate::provider_error::{ProviderError, ProviderFailure};
use crate::tool_result::ToolResult;

impl MountError {
    /// The name of the Python exception.
    #[must_use]
    pub fn python_name(&self) -> &'static str {
        "ValueError"
    }

    /// The error that a Python exception with this name and text stands for, if it is one.
    #[must_use]
    pub fn from_python(name: &str, message: &str) -> Option<Self> {
        let slot_after = |prefix| message.strip_prefix(prefix).map(Slot::parse)?.ok();
        if name != "ValueError" {
            return None;
        }
        if message == Self::HooksAreRegistered.to_string() {
            return Some(Self::HooksAreRegistered);
        }
        if let Some(point) = message.strip_prefix("Unknown mount point: ") {
            return Some(Self::UnknownPoint(point.to_owned()));
        }
        if let Some(slot) = slot_after("Name required to unmount from ") {
            return Some(Self::NameRequiredToUnmount(slot));
        }
        if let Some(slot) = slot_after("Name required for ") {
            return Some(Self::NameRequired(slot));
        }
        let number = |prefix, suffix| -> Option<i64> {
            let digits = message.strip_prefix(prefix)?.strip_suffix(suffix)?;
            digits.parse().ok()
        };
        if let Some(limit) = number("Context injection exceeds ", " characters") {
            return Some(Self::InjectionTooLong { limit });
        }
        number("Context injections exceed ", " tokens in this turn")
            .map(|limit| Self::InjectionsOverLimit { limit })
    }
}

impl SessionError {
    /// The name of the Python exception, if Python raises one.
    #[must_use]
    pub fn python_name(&self) -> Option<&'static str> {
        match self {
            Self::ConfigMissing | Self::ModuleMissing(_) => Some("ValueError"),
            Self::ConfigInvalid(_) => Some("TypeError"),
            Self::NotInitialized | Self::NotMounted(_) | Self::Other(_) => Some("RuntimeError"),
            Self::AlreadyCompleted => None,
        }
    }

    /// The error that a Python exception with this name and text stands for, if it is one.
    #[must_use]
    pub fn from_python(name: &str, message: &str) -> Option<Self> {
        let known = [
            Self::ConfigMissing,
            Self::ModuleMissing("orchestrator"),
            Self::ModuleMissing("context"),
            Self::NotInitialized,
            Self::NotMounted(Slot::Orchestrator),
            Self::NotMounted(Slot::Context),
        ];
        let mut known = known.into_iter();
        if let Some(error) =
            known.find(|error| error.python_name() == Some(name) && error.to_string() == message)
        {
            return Some(error);
        }
        match name {
            "RuntimeError" => Some(Self::Other(message.to_owned())),
            "TypeError" => message
                .strip_prefix("invalid session configuration: ")
                .map(|what| Self::ConfigInvalid(what.to_owned())),
            _ => None,
        }
    }
}

impl HookError {
    /// The name of the Python exception, if Python raises one.
    #[must_use]
    pub fn python_name(&self) -> Option<&'static str> {
        match self {
            Self::HandlerFailed(_) => None,
            Self::Timeout(_) => Some("TimeoutError"),
            Self::Other(_) => Some("Exception"),
        }
    }

    /// The error that a Python exception with this name and text stands for.
    #[must_use]
    pub fn from_python(name: &str, message: &str) -> Self {
        match name {
            "TimeoutError" => Self::Timeout(message.to_owned()),
            "Exception" => Self::Other(message.to_owned()),
            _ => Self::HandlerFailed(format!("{name}: {message}")),
        }
    }
}

impl ToolError {
    /// The word for its kind, as `error.type` of a tool's result holds it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NotFound(_) => "not_found",
            Self::InvalidInput(_) => "invalid_input",
            Self::ExecutionFailed(_) => "execution_failed",
            Self::Timeout(_) => "timeout",
            Self::Other(_) => "other",
        }
    }

    /// The error of a failed result; `None` for a success.
    #[must_use]
    pub fn of_result(result: &ToolResult) -> Option<Self> {
        if result.success {
            return None;
        }
        let text = |key| result.error.as_ref()?.get(key)?.as_str();
        let message = text("message").map_or_else(|| result.output.to_string(), str::to_owned);
        Some(match text("type") {
            Some("not_found") => Self::NotFound(message),
            Some("invalid_input") => Self::InvalidInput(message),
            Some("execution_failed") => Self::ExecutionFailed(message),
            Some("timeout") => Self::Timeout(message),
            _ => Self::Other(message),
        })
    }
}

impl From<ToolError> for ToolResult {
    /// What Python has in the place of the error: a result without success.
    fn from(error: ToolError) -> Self {
        let mut result = Self::failure(error.to_string());
        let kind = ("type".to_owned(), Json::from(error.kind()));
        result.error.get_or_insert_with(Object::new).extend([kind]);
        result
    }
}

impl ContextError {
    /// The name of the Python exception.
    #[must_use]
    pub fn python_name(&self) -> &'static str {
        match self {
            Self::InvalidMessage(_) => "ValueError",
            Self::StorageFailed(_) => "OSError",
            Self::Other(_) => "Exception",
        }
    }

    /// The error that a Python exception of a context manager stands for.
    #[must_use]
    pub fn from_python(name: &str, message: &str) -> Self {
        match name {
            "ValueError" => Self::InvalidMessage(message.to_owned()),
            "OSError" => Self::StorageFailed(message.to_owned()),
            "Exception" => Self::Other(message.to_owned()),
            _ => Self::Other(format!("{name}: {message}")),
        }
    }
}

impl ApprovalError {
    /// The name of the Python exception; the first is of `amplifier_core.approval`.
    #[must_use]
    pub fn python_name(&self) -> &'static str {
        match self {
            Self::Timeout(_) => "ApprovalTimeoutError",
            Self::Other(_) => "Exception",
        }
    }

    /// The error that a Python exception of an approval system stands for.
    #[must_use]
    pub fn from_python(name: &str, message: &str) -> Self {
        match name {
            "ApprovalTimeoutError" | "TimeoutError" => Self::Timeout(message.to_owned()),
            "Exception" => Self::Other(message.to_owned()),
            _ => Self::Other(format!("{name}: {message}")),
        }
    }
}

impl AmplifierError {
    /// The name of the Python exception, if Python raises one.
    #[must_use]
    pub fn python_name(&self) -> Option<&str> {
        match self {
            Self::Provider(error) => Some(error.python_name()),
            Self::Session(error) => error.python_name(),
            Self::Mount(error) => Some(error.python_name()),
            Self::Hook(error) => error.python_name(),
            Self::Tool(_) => None,
            Self::Context(error) => Some(error.python_name()),
            Self::Approval(error) => Some(error.python_name()),
            Self::Other { kind, .. } => Some(kind),
        }
    }

    /// The error that a Python exception with this name and text stands for.
    ///
    /// What several kinds of error share, such as a plain `ValueError`, stays [`Self::Other`].
    #[must_use]
    pub fn from_python(name: &str, message: &str) -> Self {
        if let Some(error) = ProviderError::from_python(name, ProviderFailure::new(message)) {
            return error.into();
        }
        if let Some(error) = MountError::from_python(name, message) {
            return error.into();
        }
        match name {
            "ApprovalTimeoutError" => ApprovalError::from_python(name, message).into(),
            "TimeoutError" => HookError::from_python(name, message).into(),
            _ => match SessionError::from_python(name, message) {
                Some(error) => error.into(),
                None => Self::Other {
                    kind: name.to_owned(),
                    message: message.to_owned(),
                },
            },
        }
    }

    /// The error as `Type: message`, the type being the one of Python where it has one.
    #[must_use]
    pub fn describe(&self) -> String {
        let name = match self {
            Self::Tool(_) => "ToolError",
            Self::Hook(HookError::HandlerFailed(_)) => "HookError",
            _ => self.python_name().unwrap_or("SessionError"),
        };
        format!("{name}: {self}")
    }
}
