//! Streams: decoders, tag parsers and the processor of what a model streams.

pub(crate) mod decoder;
pub(crate) mod framing;
pub(crate) mod http_status;
pub(crate) mod partial_arguments;
pub(crate) mod process;
pub(crate) mod stream_event;
pub(crate) mod stream_result;
pub(crate) mod tag;
