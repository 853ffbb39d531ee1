//! The handling of failures: their kinds, retries, rate limits and circuit breakers.

mod backoff;
mod breaker;
mod error_context;
mod error_frequency;
mod error_handler;
mod error_kind;
mod rate;

pub use backoff::{Backoff, asked_wait, asked_wait_of_text};
pub use breaker::{BreakerState, CircuitBreaker, CircuitOpen, Permit};
pub use error_context::{ErrorContext, ErrorContextBuilder, PastOperation};
pub use error_frequency::ErrorFrequency;
pub use error_handler::{Decision, ErrorHandler, Failure, GiveUpReason, Moment, RetrySettings};
pub use error_kind::ErrorKind;
pub use rate::{Caller, Rate, RateLimited, RateLimiter, Scope};
