//! What is done about failures.

mod backoff;
mod breaker;
mod error_context;
mod error_handler;
mod rate;
