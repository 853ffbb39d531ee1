//! What goes wrong with a model provider, by kind.

use std::fmt;

/// What is known of a provider's failure.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderFailure {
    /// What happened.
    pub message: String,
    /// The provider.
    pub provider: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The HTTP status.
    pub status_code: Option<u16>,
    /// Whether another try can succeed; `None` leaves it to the kind of the error.
    pub retryable: Option<bool>,
    /// How long the provider asks to wait, in seconds.
    pub retry_after: Option<f64>,
    /// What to multiply the pause before the next try with, after its limit was applied.
    pub delay_multiplier: f64,
    /// The tool of an invalid call.
    pub tool_name: Option<String>,
    /// The arguments of an invalid call, as the model wrote them.
    pub raw_arguments: Option<String>,
}

impl ProviderFailure {
    /// A failure with a message and nothing else.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            provider: None,
            model: None,
            status_code: None,
            retryable: None,
            retry_after: None,
            delay_multiplier: 1.0,
            tool_name: None,
            raw_arguments: None,
        }
    }

    /// Names the provider.
    #[must_use]
    pub fn provider(mut self, provider: impl Into<String>) -> Self {
        self.provider = Some(provider.into());
        self
    }

    /// Names the model.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the HTTP status.
    #[must_use]
    pub fn status_code(mut self, status_code: u16) -> Self {
        self.status_code = Some(status_code);
        self
    }

    /// Says whether another try can succeed.
    #[must_use]
    pub fn retryable(mut self, retryable: bool) -> Self {
        self.retryable = Some(retryable);
        self
    }

    /// Says how many seconds the provider asks to wait.
    #[must_use]
    pub fn retry_after(mut self, seconds: f64) -> Self {
        self.retry_after = Some(seconds);
        self
    }
}

macro_rules! provider_errors {
    ($($(#[$meta:meta])* $variant:ident = $name:literal, $retryable:literal;)+) => {
        /// What a provider failed with, by kind.
        ///
        /// # Examples
        ///
        /// ```
        /// use amplifier_core::{ProviderFailure, ProviderError};
        ///
        /// let failure = ProviderFailure::new("slow down").provider("anthropic").retry_after(2.0);
        /// let error = ProviderError::RateLimit(failure.into());
        ///
        /// assert!(error.retryable());
        /// assert_eq!(error.retry_after(), Some(2.0));
        /// assert_eq!(error.contract_name(), "RateLimitError");
        /// ```
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum ProviderError {
            $($(#[$meta])* $variant(Box<ProviderFailure>),)+
        }

        impl ProviderError {
            /// Every kind: the name that the contract has for it, what makes an error of it, and
            /// whether another try can succeed.
            pub const KINDS: &'static [(&'static str, fn(Box<ProviderFailure>) -> Self, bool)] =
                &[$(($name, Self::$variant, $retryable)),+];

            /// The name that the contract has for the error.
            #[must_use]
            pub fn contract_name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)+
                }
            }

            /// What is known of the failure.
            #[must_use]
            pub fn failure(&self) -> &ProviderFailure {
                match self {
                    $(Self::$variant(failure) => failure,)+
                }
            }

            /// Whether another try can succeed.
            #[must_use]
            pub fn retryable(&self) -> bool {
                let usual = match self {
                    $(Self::$variant(_) => $retryable,)+
                };
                self.failure().retryable.unwrap_or(usual)
            }
        }
    };
}

provider_errors! {
    /// Too many requests.
    RateLimit = "RateLimitError", true;
    /// Nothing is left to spend.
    QuotaExceeded = "QuotaExceededError", false;
    /// The credentials are wrong or missing.
    Authentication = "AuthenticationError", false;
    /// The credentials do not allow it.
    AccessDenied = "AccessDeniedError", false;
    /// The request is longer than the model's context.
    ContextLength = "ContextLengthError", false;
    /// The provider's filter refused the content.
    ContentFilter = "ContentFilterError", false;
    /// The request is malformed.
    InvalidRequest = "InvalidRequestError", false;
    /// The provider does not work at the moment.
    Unavailable = "ProviderUnavailableError", true;
    /// The provider cannot be reached.
    Network = "NetworkError", true;
    /// No answer in time.
    Timeout = "LLMTimeoutError", true;
    /// No such model or endpoint.
    NotFound = "NotFoundError", false;
    /// The stream of the answer broke.
    Stream = "StreamError", true;
    /// The caller gave up.
    Abort = "AbortError", false;
    /// The model called a tool with arguments that cannot be read.
    InvalidToolCall = "InvalidToolCallError", false;
    /// The provider is not set up.
    Configuration = "ConfigurationError", false;
    /// Anything else.
    Other = "LLMError", false;
}

impl ProviderError {
    /// How long the provider asks to wait, in seconds.
    #[must_use]
    pub fn retry_after(&self) -> Option<f64> {
        self.failure().retry_after
    }

    /// The provider.
    #[must_use]
    pub fn provider(&self) -> Option<&str> {
        self.failure().provider.as_deref()
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.failure().model.as_deref()
    }

    /// What to multiply the pause before the next try with.
    #[must_use]
    pub fn delay_multiplier(&self) -> f64 {
        self.failure().delay_multiplier
    }
}

impl fmt::Display for ProviderError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.failure().message)
    }
}

impl std::error::Error for ProviderError {}
