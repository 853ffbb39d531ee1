//! Chunks as servers write them, and what they are decoded to.

use std::fmt::Write as _;
use std::time::SystemTime;

use amplifier_stream::{Dialect, Headers, Limits, StreamDecoder, StreamEvent, StreamResult};
use serde_json::{Value, json};

#[path = "../result_json/mod.rs"]
mod result_json;

pub(crate) use result_json::{blocks, kinds, plain};

/// Decodes chunks and the terminator.
pub(crate) fn decode(chunks: &[Value]) -> (Vec<StreamEvent>, StreamResult) {
    let mut wire = String::new();
    for chunk in chunks {
        write!(wire, "data: {chunk}\n\n").unwrap();
    }
    decode_wire(&(wire + "data: [DONE]\n\n"))
}

pub(crate) fn decode_wire(wire: &str) -> (Vec<StreamEvent>, StreamResult) {
    let headers = Headers::default();
    let mut decoder = StreamDecoder::new(Dialect::Chat, 200, headers, Limits::DEFAULT);
    let mut events = Vec::new();
    decoder.feed(wire.as_bytes(), &mut events).unwrap();
    (events, decoder.finish(SystemTime::UNIX_EPOCH))
}

pub(crate) fn result(chunks: &[Value]) -> StreamResult {
    decode(chunks).1
}

pub(crate) fn metadata(result: &StreamResult) -> Value {
    let fields = result.metadata.iter();
    fields
        .map(|(key, value)| (key.clone(), plain(&value.to_string())))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

pub(crate) fn chunk(choice: Value) -> Value {
    json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 7, "model": "gpt",
        "choices": [choice], "usage": null, "obfuscation": "x7f"})
}

pub(crate) fn delta(delta: Value) -> Value {
    chunk(json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": null}))
}

pub(crate) fn finish(reason: &str) -> Value {
    chunk(json!({"index": 0, "delta": {}, "finish_reason": reason}))
}

pub(crate) fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

pub(crate) fn thinking(text: &str) -> Value {
    json!({"type": "thinking", "thinking": text, "signature": null})
}
