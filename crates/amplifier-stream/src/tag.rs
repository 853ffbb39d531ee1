//! Thoughts and tool calls that a model writes as tags into its text.
//!
//! [`ThinkingParser`] separates thinking from the message, for providers; [`ToolCallParser`] finds
//! the calls in a message, for agents. Both take text in pieces of any size and return ordered
//! events that do not depend on the pieces. Only what may still become a tag is held back, each
//! byte is read a fixed number of times, and a call without its closing tag never has arguments to
//! run with.

mod block_filter;
mod block_numbers;
mod block_parts;
mod call;
mod candidate;
mod coerce;
mod entity;
mod json_lexer;
mod lexer;
mod names;
mod parsed_content;
mod quotation;
mod repetition;
mod search;
mod splitter;
mod thinking;
mod tool_call;
mod tool_call_event;
mod xml;
mod xml_lexer;

pub use block_filter::ThinkingFilter;
pub use call::{CallError, ParsedCall};
pub use coerce::{CoercionError, coerce_arguments};
pub use names::{TagNameError, TagNames};
pub use parsed_content::ParsedContent;
pub use thinking::{ThinkingEvent, ThinkingParser};
pub use tool_call::{MAX_CALL_BYTES, ToolCallParser};
pub use tool_call_event::ToolCallEvent;
pub use xml::XmlError;
