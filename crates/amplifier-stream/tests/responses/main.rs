//! The `OpenAI` Responses dialect: items, their texts, and where a stream is not as usual.

#![expect(
    clippy::needless_pass_by_value,
    reason = "values made in the call read better without `&`"
)]

use std::fmt::Write as _;
use std::time::SystemTime;

use amplifier_stream::{
    Change, Dialect, Headers, Limits, ResponseError, StreamDecoder, StreamEvent, StreamResult,
    Usage,
};
use serde_json::{Value, json};

mod ends;
mod items;
#[path = "../result_json/mod.rs"]
mod result_json;
mod servers;
mod splits;
mod whole;

pub(crate) use result_json::{blocks, kinds};

/// Decodes events that are given as their data.
pub(crate) fn decode(events: &[Value]) -> (Vec<StreamEvent>, StreamResult) {
    let mut wire = String::new();
    for event in events {
        let name = event["type"].as_str().unwrap();
        write!(wire, "event: {name}\ndata: {event}\n\n").unwrap();
    }
    decode_wire(&wire)
}

pub(crate) fn decode_wire(wire: &str) -> (Vec<StreamEvent>, StreamResult) {
    let headers = Headers::default();
    let mut decoder = StreamDecoder::new(Dialect::Responses, 200, headers, Limits::DEFAULT);
    let mut events = Vec::new();
    decoder.feed(wire.as_bytes(), &mut events).unwrap();
    (events, decoder.finish(SystemTime::UNIX_EPOCH))
}

/// The events of one block, in words.
pub(crate) fn story(events: &[StreamEvent], index: u64) -> Vec<String> {
    let of_block = events.iter().filter(|event| event.block_index == index);
    let told = of_block.map(|event| match &event.change {
        Change::Start(_) => format!("{} begins", event.block_type),
        Change::Delta(text) => format!("+{text}"),
        Change::PartialJson(text) => format!("json {text}"),
        Change::End(_) => "ends".to_owned(),
        Change::Drop(_) => "is dropped".to_owned(),
    });
    told.collect()
}

pub(crate) fn created() -> Value {
    json!({"type": "response.created", "response":
        {"id": "resp_1", "model": "gpt", "status": "in_progress", "output": []}})
}

pub(crate) fn added(index: u64, item: Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

pub(crate) fn done(index: u64, item: Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": item})
}

/// A delta of an event with parts.
pub(crate) fn delta(event: &str, index: u64, place: u64, text: &str) -> Value {
    let key = if event.contains("summary") {
        "summary_index"
    } else {
        "content_index"
    };
    json!({"type": format!("response.{event}.delta"), "item_id": "any", "output_index": index,
        key: place, "delta": text, "obfuscation": "xx"})
}

/// A delta of an event without parts.
pub(crate) fn input(event: &str, index: u64, text: &str) -> Value {
    json!({"type": format!("response.{event}.delta"), "output_index": index, "delta": text})
}

pub(crate) fn completed(output: Value) -> Value {
    ended("completed", json!({"output": output}))
}

pub(crate) fn ended(status: &str, more: Value) -> Value {
    let mut response = json!({"id": "resp_1", "model": "gpt", "status": status});
    let fields = response.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    json!({"type": format!("response.{status}"), "response": response})
}

pub(crate) fn message(parts: Value) -> Value {
    json!({"type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
        "phase": "final_answer", "content": parts})
}

pub(crate) fn text_part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": []})
}

pub(crate) fn call(arguments: &str) -> Value {
    json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "look",
        "arguments": arguments, "status": "completed", "namespace": "files"})
}

pub(crate) fn custom(input: &str) -> Value {
    json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_2", "name": "patch",
        "input": input})
}

pub(crate) fn called(arguments: Value, raw: &str, error: Value) -> Value {
    json!({"type": "tool_call", "id": "call_1", "name": "look", "arguments": arguments,
        "raw_arguments": raw, "error": error, "item": call(raw)})
}
