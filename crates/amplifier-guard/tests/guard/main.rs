//! What the guard decides, at every sink, and what is done about failures.

mod any_input;
mod backoff;
mod breaker;
mod claude;
mod containment;
mod error_context;
mod error_handler;
mod everyday;
mod identifier;
mod limits;
mod log_path;
mod path_reference;
mod processor;
mod races;
mod rate;
mod reading;
mod redact;
mod setting;
mod shell;
mod terminal;
mod tool_input;
mod trace;
mod url;
mod writing;
