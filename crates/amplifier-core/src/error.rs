//! What the kernel refuses, and why, and what modules fail with.

use thiserror::Error;

use crate::provider_error::ProviderError;
use crate::slot::Slot;

/// A mount, unmount or injection that the coordinator refuses.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MountError {
    /// No such slot.
    #[error("Unknown mount point: {0} (there are {known})", known = Slot::names())]
    UnknownPoint(String),
    /// The registry is not mounted into.
    #[error("Hooks should be registered directly with the HookRegistry")]
    HooksAreRegistered,
    /// A named slot without a name.
    #[error("Name required for {}", .0.as_str())]
    NameRequired(Slot),
    /// A named slot without a name, on removal.
    #[error("Name required to unmount from {}", .0.as_str())]
    NameRequiredToUnmount(Slot),
    /// One injection is longer than the session allows.
    #[error("Context injection exceeds {limit} characters")]
    InjectionTooLong {
        /// The limit in characters.
        limit: i64,
    },
    /// The injections of a turn come to more than the session allows.
    #[error("Context injections exceed {limit} tokens in this turn")]
    InjectionsOverLimit {
        /// The limit in tokens.
        limit: i64,
    },
}

/// A session that cannot be made or used as asked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The configuration is empty.
    #[error("Configuration is required")]
    ConfigMissing,
    /// A module that every session needs is not named.
    #[error("Configuration must specify session.{0}")]
    ModuleMissing(&'static str),
    /// `execute` before `initialize`.
    #[error("Session not initialized. Call initialize() first.")]
    NotInitialized,
    /// The configuration does not have the form of a mount plan.
    #[error("invalid session configuration: {0}")]
    ConfigInvalid(String),
    /// A turn needs a module that is not there.
    #[error("No {} mounted", match .0 {
        Slot::Orchestrator => "orchestrator module",
        Slot::Context => "context manager",
        other => other.as_str(),
    })]
    NotMounted(Slot),
    /// `execute` after `cleanup`.
    #[error("session is cleaned up; mount its modules and initialize it again")]
    AlreadyCompleted,
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

/// A hook handler that did not answer as it should.
///
/// It never leaves the driver, which logs it and continues, or denies if the registration fails
/// closed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HookError {
    /// The handler failed.
    #[error("{0}")]
    HandlerFailed(String),
    /// The handler did not answer in time.
    #[error("{0}")]
    Timeout(String),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

/// A tool that could not do what it was asked; a loop turns it into a `ToolResult`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ToolError {
    /// No tool has this name.
    #[error("{0}")]
    NotFound(String),
    /// The arguments are not what the tool takes.
    #[error("{0}")]
    InvalidInput(String),
    /// The tool ran and failed.
    #[error("{0}")]
    ExecutionFailed(String),
    /// The tool did not finish in time.
    #[error("{0}")]
    Timeout(String),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl ToolError {
    /// The word for its kind, as `error.type` of a tool's result has it.
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
}

/// A context manager that could not store or return its messages.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ContextError {
    /// It does not take this message.
    #[error("{0}")]
    InvalidMessage(String),
    /// Its store failed.
    #[error("{0}")]
    StorageFailed(String),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

/// An approval that was not decided.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ApprovalError {
    /// There was no answer in time; the default applies.
    #[error("{0}")]
    Timeout(String),
    /// It could not be asked for.
    #[error("{0}")]
    Other(String),
}

/// Any error of a session; `execute` returns the original error of the module that failed.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum AmplifierError {
    /// Of a provider.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// Of the session.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// Of the coordinator.
    #[error(transparent)]
    Mount(#[from] MountError),
    /// Of a hook.
    #[error(transparent)]
    Hook(#[from] HookError),
    /// Of a tool.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// Of the context.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// Of an approval.
    #[error(transparent)]
    Approval(#[from] ApprovalError),
    /// Of anything else.
    #[error("{message}")]
    Other {
        /// The name of its type.
        kind: String,
        /// What happened.
        message: String,
    },
}

impl AmplifierError {
    /// An error of no known kind.
    pub fn other(message: impl Into<String>) -> Self {
        Self::Other {
            kind: "Exception".to_owned(),
            message: message.into(),
        }
    }

    /// The name that the contract has for the error; `None` where it has none, as for a failed
    /// hook, which is logged, and a failed tool, which is a result.
    #[must_use]
    pub fn contract_name(&self) -> Option<&str> {
        match self {
            Self::Provider(error) => Some(error.contract_name()),
            Self::Session(error) => match error {
                SessionError::ConfigMissing | SessionError::ModuleMissing(_) => Some("ValueError"),
                SessionError::ConfigInvalid(_) => Some("TypeError"),
                SessionError::NotInitialized
                | SessionError::NotMounted(_)
                | SessionError::Other(_) => Some("RuntimeError"),
                SessionError::AlreadyCompleted => None,
            },
            Self::Mount(_) => Some("ValueError"),
            Self::Hook(error) => match error {
                HookError::HandlerFailed(_) => None,
                HookError::Timeout(_) => Some("TimeoutError"),
                HookError::Other(_) => Some("Exception"),
            },
            Self::Tool(_) => None,
            Self::Context(error) => Some(match error {
                ContextError::InvalidMessage(_) => "ValueError",
                ContextError::StorageFailed(_) => "OSError",
                ContextError::Other(_) => "Exception",
            }),
            Self::Approval(error) => Some(match error {
                ApprovalError::Timeout(_) => "ApprovalTimeoutError",
                ApprovalError::Other(_) => "Exception",
            }),
            Self::Other { kind, .. } => Some(kind),
        }
    }

    /// The error as `Name: message`, as events and logs write it.
    #[must_use]
    pub fn describe(&self) -> String {
        let name = match self {
            Self::Tool(_) => "ToolError",
            Self::Hook(HookError::HandlerFailed(_)) => "HookError",
            _ => self.contract_name().unwrap_or("SessionError"),
        };
        format!("{name}: {self}")
    }
}
