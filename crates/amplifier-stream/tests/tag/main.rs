//! Thoughts and tool calls in tags.

mod corrections;
mod events;
mod filter;
mod formats;
mod quotation;
mod splits;
mod thinking;
mod tool_call;
