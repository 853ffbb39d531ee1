//! Recorded streams, in the folder that `RECORDED_STREAMS` names; nothing to do where it is unset.
//!
//! `tests/stream/recorded` cuts them everywhere; here the same records are compared without Python.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use amplifier_core::Json;
use amplifier_stream::{
    Block, Dialect, Headers, Limits, StreamDecoder, StreamEvent, StreamResult, decode_error,
};
use serde_json::{Value, json};

/// How many places each stream is cut at.
const CUTS: usize = 250;

/// A body as a provider sent it, and what it must come to.
struct Recording {
    name: String,
    dialect: Dialect,
    status: u16,
    body: Vec<u8>,
    expected: Value,
}

impl Recording {
    fn read(folder: &Path, columns: &[&str], line: &str) -> Self {
        let values: Vec<&str> = line.split('\t').collect();
        let field = |name: &str| {
            let column = columns.iter().position(|column| *column == name).unwrap();
            values[column]
        };
        let dialect = match field("api") {
            api if api.starts_with("messages") => Dialect::Anthropic,
            api if api.starts_with("responses") => Dialect::Responses,
            api if api.starts_with("chat") => Dialect::Chat,
            api if api.starts_with("api/chat") => Dialect::Ollama,
            api => panic!("unknown api `{api}` in the index"),
        };
        let path = folder.join(field("file"));
        let expected = fs::read(path.with_extension("expected.json")).unwrap();
        Self {
            name: field("file").to_owned(),
            dialect,
            status: field("http_status").parse().unwrap(),
            body: fs::read(path).unwrap(),
            expected: serde_json::from_slice(&expected).unwrap(),
        }
    }

    fn decode<'a>(
        &self,
        chunks: impl IntoIterator<Item = &'a [u8]>,
    ) -> (Vec<StreamEvent>, StreamResult) {
        let headers = Headers::default();
        let mut decoder = StreamDecoder::new(self.dialect, self.status, headers, Limits::DEFAULT);
        let mut events = Vec::new();
        for chunk in chunks {
            decoder.feed(chunk, &mut events).unwrap();
        }
        (events, decoder.finish(SystemTime::UNIX_EPOCH))
    }

    /// What the result says, of the keys that every record has.
    fn record(&self, result: &StreamResult) -> Value {
        let blocks: Vec<Value> = result
            .blocks
            .iter()
            .map(|block| plain(&block.to_json()))
            .collect();
        let texts = |kind: &str, key: &str, between: &str| {
            let blocks = blocks.iter().filter(|block| block["type"] == kind);
            let texts = blocks.map(|block| block[key].as_str().unwrap());
            texts
                .filter(|text| !text.is_empty())
                .collect::<Vec<_>>()
                .join(between)
        };
        let calls = blocks.iter().filter(|block| block["type"] == "tool_call");
        let calls = calls.map(call);
        let (reason, between) = match self.dialect {
            Dialect::Anthropic => ("stop_reason", ""),
            Dialect::Responses => ("status", "\n\n"),
            Dialect::Chat => ("finish_reason", ""),
            Dialect::Ollama => ("done_reason", ""),
        };
        let mut record = json!({
            "text": texts("text", "text", ""),
            "thinking": texts("thinking", "thinking", between),
            "tool_calls": calls.collect::<Value>(),
            reason: result.raw_stop_reason,
        });
        if self.dialect == Dialect::Responses && result.truncated {
            // A status that was told before the end is none of the end.
            record.as_object_mut().unwrap().remove(reason);
        }
        if self.dialect != Dialect::Ollama {
            let usage = result.raw_usage.clone().map_or(Json::Null, Json::Object);
            record["usage"] = plain(&usage);
        }
        record
    }
}

/// A call with what it is called with: the text of a custom one, else its arguments.
fn call(call: &Value) -> Value {
    let given = call.get("input").unwrap_or(&call["arguments"]);
    json!({"id": call["id"], "name": call["name"], "arguments": given})
}

fn plain(value: &Json) -> Value {
    serde_json::from_str(&value.to_string()).unwrap()
}

/// The streams, or the bodies of errors, which have no record.
fn recordings(is_stream: bool) -> Vec<Recording> {
    let Some(folder) = env::var_os("RECORDED_STREAMS").filter(|folder| !folder.is_empty()) else {
        return Vec::new();
    };
    let folder = PathBuf::from(folder);
    let index = fs::read_to_string(folder.join("index.tsv")).unwrap();
    let mut lines = index.lines().filter(|line| !line.is_empty());
    let columns: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let all = lines.map(|line| Recording::read(&folder, &columns, line));
    all.filter(|recording| recording.expected["normalized"].is_object() == is_stream)
        .collect()
}

/// Places all over a body, the same each time.
fn places(length: usize) -> impl Iterator<Item = usize> {
    (0..CUTS.min(length)).map(move |number| number * length / CUTS.min(length))
}

#[test]
fn recorded_streams_give_their_records() {
    for stream in recordings(true) {
        let (_, result) = stream.decode([stream.body.as_slice()]);
        let record = stream.record(&result);
        for (key, value) in record.as_object().unwrap() {
            let mut expected = stream.expected["normalized"][key].clone();
            if let Some(calls) = expected.as_array_mut() {
                for recorded in calls {
                    *recorded = call(recorded);
                }
            }
            assert_eq!(value, &expected, "{}: `{key}`", stream.name);
        }
    }
}

#[test]
fn recorded_streams_say_the_same_however_they_are_cut() {
    for stream in recordings(true) {
        let whole = stream.decode([stream.body.as_slice()]);
        assert_eq!(
            stream.decode(stream.body.chunks(1)),
            whole,
            "{}",
            stream.name
        );
        for place in places(stream.body.len()) {
            let (first, second) = stream.body.split_at(place);
            assert_eq!(
                stream.decode([first, second]),
                whole,
                "{} at {place}",
                stream.name
            );
        }
    }
}

#[test]
fn recorded_streams_that_are_cut_short_run_nothing() {
    for stream in recordings(true) {
        for place in places(stream.body.len()) {
            let (_, result) = stream.decode([&stream.body[..place]]);
            let has_failed = result.truncated || result.error.is_some();
            for block in &result.blocks {
                if let Block::ToolCall(call) = block {
                    assert!(
                        !has_failed || call.arguments.is_none(),
                        "{} at {place}",
                        stream.name
                    );
                }
            }
        }
    }
}

#[test]
fn recorded_errors_give_their_messages() {
    for refusal in recordings(false) {
        let headers = Headers::default();
        let now = SystemTime::UNIX_EPOCH;
        let error = decode_error(
            refusal.dialect,
            refusal.status,
            &headers,
            &refusal.body,
            now,
        );
        let body = &refusal.expected["expected"]["error"]["body"];
        let said = body.get("error").unwrap_or(body);
        let text = |key: &str| match &said[key] {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        let message = said.as_str().map(str::to_owned).or(text("message"));
        assert_eq!(message.as_ref(), Some(&error.message), "{}", refusal.name);
        if let Some(code) = text("code") {
            assert_eq!(error.code, Some(code), "{}", refusal.name);
        }
        if let Some(kind) = text("type") {
            assert_eq!(error.kind, kind, "{}", refusal.name);
        }
    }
}
