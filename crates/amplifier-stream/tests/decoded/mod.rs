//! What chunks of a response decode to.

use std::time::SystemTime;

use amplifier_stream::{Block, Dialect, Headers, Limits, StreamDecoder, StreamEvent, StreamResult};
use serde_json::Value;

pub(crate) fn decode<'a>(
    dialect: Dialect,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<StreamEvent>, StreamResult) {
    let headers = Headers::default();
    let mut decoder = StreamDecoder::new(dialect, 200, headers, Limits::DEFAULT);
    let mut events = Vec::new();
    for chunk in chunks {
        decoder.feed(chunk, &mut events).unwrap();
    }
    (events, decoder.finish(SystemTime::UNIX_EPOCH))
}

pub(crate) fn blocks(result: &StreamResult) -> Vec<Value> {
    let read = |block: &Block| serde_json::from_str(&block.to_json().to_string()).unwrap();
    result.blocks.iter().map(read).collect()
}
