//! Thoughts and tool calls in tags.

mod corrections;
mod events;
mod filter;
mod formats;
mod splits;
mod thinking;
mod tool_call;
