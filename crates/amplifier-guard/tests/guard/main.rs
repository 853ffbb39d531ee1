//! What the guard decides, at every sink, and what is done about failures.

mod any_input;
mod character;
mod claude;
mod everyday;
mod failure;
mod identifier;
mod limits;
mod path;
mod personal_data;
mod processor;
mod redact;
mod setting;
mod shell;
mod terminal;
mod tool_input;
mod trace;
mod url;
