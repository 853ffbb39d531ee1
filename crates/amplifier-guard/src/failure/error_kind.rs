//! The kinds of failures, and which of them are worth a retry.

use amplifier_core::error::{
    AmplifierError, ApprovalError, ContextError, HookError, MountError, SessionError, ToolError,
};
use amplifier_core::{StatusKind, words};

words! {
    /// A kind of failure.
    #[non_exhaustive]
    pub enum ErrorKind {
        /// The input is invalid.
        Validation = "validation",
        /// The key is missing or wrong.
        Authentication = "authentication",
        /// The operation is not allowed.
        Permission = "permission",
        /// The credit or quota is exhausted.
        Quota = "quota",
        /// A rate limit was reached.
        RateLimit = "rate_limit",
        /// There was no answer in time.
        Timeout = "timeout",
        /// The server could not be reached.
        Network = "network",
        /// The server is down or overloaded: HTTP 5xx, including 529.
        Server = "server",
        /// The answer ended early.
        Stream = "stream",
        /// The request is longer than the model's context.
        ContextLength = "context_length",
        /// A filter refused the content.
        ContentFilter = "content_filter",
        /// The requested thing does not exist.
        NotFound = "not_found",
        /// A tool failed; running it again may repeat its effects.
        Tool = "tool",
        /// A store failed.
        Storage = "storage",
        /// The configuration is wrong.
        Configuration = "configuration",
        /// The caller cancelled it.
        Cancelled = "cancelled",
        /// Anything else.
        Internal = "internal",
    }
}

impl ErrorKind {
    /// Whether the same call may succeed later.
    #[must_use]
    pub fn is_retryable(self) -> bool {
        matches!(
            self,
            Self::RateLimit | Self::Timeout | Self::Network | Self::Server | Self::Stream
        )
    }

    /// The kind of an HTTP error status.
    #[must_use]
    pub fn of_status(status: u16) -> Option<Self> {
        Some(match StatusKind::of(status)? {
            StatusKind::Authentication => Self::Authentication,
            StatusKind::Billing => Self::Quota,
            StatusKind::Permission => Self::Permission,
            StatusKind::NotFound => Self::NotFound,
            StatusKind::Timeout => Self::Timeout,
            StatusKind::TooLarge => Self::ContextLength,
            StatusKind::RateLimit => Self::RateLimit,
            StatusKind::InvalidRequest => Self::Validation,
            StatusKind::Overloaded | StatusKind::Server => Self::Server,
        })
    }

    /// The kind of a Python exception, from the names of its class and base classes and its HTTP
    /// status: the most specific known class decides, the status if none is known.
    pub fn of_exception<'a>(names: impl IntoIterator<Item = &'a str>, status: Option<u16>) -> Self {
        names
            .into_iter()
            .find_map(Self::of_name)
            .or_else(|| status.and_then(Self::of_status))
            .unwrap_or(Self::Internal)
    }

    /// The kind of a class by its name.
    fn of_name(name: &str) -> Option<Self> {
        let mut rows = include_str!("exceptions.txt").lines();
        rows.find_map(|row| {
            let (kind, names) = row.split_once(' ')?;
            let is_known = names.split(' ').any(|known| known == name);
            is_known.then(|| Self::from_word(kind))?
        })
    }
}

impl From<&AmplifierError> for ErrorKind {
    fn from(error: &AmplifierError) -> Self {
        match error {
            AmplifierError::Provider(error) => {
                Self::of_exception([error.contract_name()], error.failure().status_code)
            }
            AmplifierError::Mount(
                MountError::InjectionTooLong { .. } | MountError::InjectionsOverLimit { .. },
            )
            | AmplifierError::Tool(ToolError::InvalidInput(_))
            | AmplifierError::Context(ContextError::InvalidMessage(_)) => Self::Validation,
            AmplifierError::Session(
                SessionError::ConfigMissing
                | SessionError::ModuleMissing(_)
                | SessionError::ConfigInvalid(_)
                | SessionError::NotMounted(_),
            )
            | AmplifierError::Mount(_) => Self::Configuration,
            AmplifierError::Hook(HookError::Timeout(_)) => Self::Timeout,
            AmplifierError::Tool(ToolError::NotFound(_)) => Self::NotFound,
            AmplifierError::Tool(_) => Self::Tool,
            AmplifierError::Context(ContextError::StorageFailed(_)) => Self::Storage,
            AmplifierError::Approval(ApprovalError::Timeout(_)) => Self::Permission,
            AmplifierError::Other { kind, .. } => Self::of_exception([kind.as_str()], None),
            _ => Self::Internal,
        }
    }
}
