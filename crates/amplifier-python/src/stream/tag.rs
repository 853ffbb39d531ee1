//! Tags in text: thinking and tool calls.

pub(crate) mod block_filter;
pub(crate) mod call;
pub(crate) mod coerce;
pub(crate) mod event;
pub(crate) mod names;
pub(crate) mod parsed_content;
pub(crate) mod thinking;
pub(crate) mod tool_call;
