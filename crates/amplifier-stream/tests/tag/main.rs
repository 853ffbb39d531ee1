//! Thoughts and tool calls in tags.

mod events;
mod filter;
mod formats;
mod splits;
mod thinking;
mod tool_call;
