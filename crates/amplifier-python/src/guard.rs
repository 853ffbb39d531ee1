//! The guard: checks at the sinks, failures and retries, and messages of the Claude dialect.

pub(crate) mod breaker;
pub(crate) mod claude;
pub(crate) mod clock;
pub(crate) mod error_context;
pub(crate) mod error_handler;
pub(crate) mod failure;
pub(crate) mod finding;
pub(crate) mod limits;
pub(crate) mod path;
pub(crate) mod personal_data;
pub(crate) mod processed_message;
pub(crate) mod processor;
pub(crate) mod rate;
pub(crate) mod redact;
pub(crate) mod shell;
pub(crate) mod terminal;
pub(crate) mod text;
pub(crate) mod tool_input;
pub(crate) mod url;
