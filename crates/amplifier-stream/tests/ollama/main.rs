//! Ollama's own dialect: what an answer is, and where it ends.

#![expect(
    clippy::needless_pass_by_value,
    reason = "values made in the call read better without `&`"
)]

use std::fmt::Write as _;
use std::time::SystemTime;

use amplifier_stream::{
    Dialect, Headers, LimitError, Limits, StreamDecoder, StreamEvent, StreamResult, Usage,
};
use serde_json::{Value, json};

mod calls;
#[path = "../result_json/mod.rs"]
mod result_json;

pub(crate) use result_json::{blocks, kinds, plain};

pub(crate) fn decode(lines: &[Value]) -> StreamResult {
    let mut wire = String::new();
    for line in lines {
        writeln!(wire, "{line}").unwrap();
    }
    decode_wire(&wire).1
}

pub(crate) fn decode_wire(wire: &str) -> (Vec<StreamEvent>, StreamResult) {
    let headers = Headers::default();
    let mut decoder = StreamDecoder::new(Dialect::Ollama, 200, headers, Limits::DEFAULT);
    let mut events = Vec::new();
    decoder.feed(wire.as_bytes(), &mut events).unwrap();
    (events, decoder.finish(SystemTime::UNIX_EPOCH))
}

pub(crate) fn line(message: Value) -> Value {
    json!({"model": "llama", "created_at": "2026-01-01T00:00:00.123456789+02:00",
        "message": message, "done": false})
}

pub(crate) fn done(reason: Option<&str>) -> Value {
    let mut line = json!({"model": "llama", "created_at": "2026-01-01T00:00:01Z",
        "message": {"role": "assistant", "content": ""}, "done": true, "total_duration": 900,
        "prompt_eval_count": 11, "eval_count": 5});
    if let Some(reason) = reason {
        line["done_reason"] = json!(reason);
    }
    line
}

pub(crate) fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

pub(crate) fn thinking(text: &str) -> Value {
    json!({"type": "thinking", "thinking": text, "signature": null})
}

pub(crate) fn calls(calls: Value) -> Value {
    line(json!({"role": "assistant", "content": "", "tool_calls": calls}))
}

#[test]
fn an_answer_is_its_thinking_text_and_calls_in_order() {
    let result = decode(&[
        line(json!({"role": "assistant", "content": "", "thinking": "Let "})),
        line(json!({"role": "assistant", "content": "", "thinking": "me"})),
        line(json!({"role": "assistant", "content": "Loo"})),
        line(json!({"role": "assistant", "content": "king"})),
        calls(json!([
            {"function": {"name": "f", "arguments": {"x": 1}}},
            {"id": "call_7", "function": {"index": 1, "name": "g", "arguments": {}}},
        ])),
        done(Some("stop")),
    ]);
    let call = |id: Value, name: &str, arguments: Value, raw: &str| {
        json!({"type": "tool_call", "id": id, "name": name, "arguments": arguments,
            "raw_arguments": raw, "error": null})
    };
    let expected = json!([
        thinking("Let me"),
        text("Looking"),
        call(Value::Null, "f", json!({"x": 1}), "{\"x\":1}"),
        call(json!("call_7"), "g", json!({}), ""),
    ]);
    assert_eq!(blocks(&result), expected);
    assert_eq!(result.model.as_deref(), Some("llama"));
    assert_eq!(result.stop_reason, Some("tool_use"));
    assert_eq!(result.raw_stop_reason.as_deref(), Some("stop"));
    let usage = Usage {
        input_tokens: Some(11),
        output_tokens: Some(5),
        ..Usage::default()
    };
    assert_eq!(result.usage, usage);
    let raw_usage = result.raw_usage.unwrap();
    assert_eq!(
        raw_usage.keys().collect::<Vec<_>>(),
        ["total_duration", "prompt_eval_count", "eval_count"]
    );
    let metadata: Vec<_> = result.metadata.iter().collect();
    assert_eq!(metadata.len(), 1);
    assert_eq!(metadata[0].1.as_str(), Some("2026-01-01T00:00:01Z"));
    assert_eq!(
        (result.truncated, result.error, result.findings),
        (false, None, vec![])
    );
}

#[test]
fn the_end_needs_no_reason_and_no_line_end() {
    let hello = line(json!({"role": "assistant", "content": "Hi"}));
    let call = calls(json!([{"function": {"name": "f", "arguments": {}}}]));
    for (lines, reason) in [
        (vec![&hello], "end_turn"),
        (vec![&hello, &call], "tool_use"),
    ] {
        let mut wire: String = lines.iter().map(|line| line.to_string() + "\n").collect();
        wire.push_str(&done(None).to_string());
        let (events, result) = decode_wire(&wire);
        assert_eq!(
            (result.truncated, result.stop_reason),
            (false, Some(reason))
        );
        assert_eq!(result.raw_stop_reason, None);
        // What the last line completed comes with the result.
        let (with_end, ended) = decode_wire(&(wire + "\n"));
        assert_eq!([events, result.events].concat(), with_end);
        assert_eq!(ended.events, []);
    }
}

#[test]
fn every_reason_to_stop_has_its_name() {
    for (raw, name) in [
        ("stop", "end_turn"),
        ("length", "max_tokens"),
        ("load", "other"),
        ("unload", "other"),
        ("brand_new", "other"),
    ] {
        assert_eq!(decode(&[done(Some(raw))]).stop_reason, Some(name));
    }
}

#[test]
fn counts_that_are_missing_are_unknown_and_not_zero() {
    let result = decode(&[json!({"done": true, "eval_count": 3})]);
    let usage = Usage {
        output_tokens: Some(3),
        ..Usage::default()
    };
    assert_eq!(result.usage, usage);
    let result = decode(&[json!({"done": true})]);
    assert_eq!((result.usage, result.raw_usage), (Usage::default(), None));
}

#[test]
fn an_error_in_the_stream_is_an_error() {
    let call = calls(json!([{"function": {"name": "f", "arguments": {}}}]));
    let result = decode(&[call, json!({"error": "model runner has stopped"})]);
    assert_eq!(blocks(&result)[0]["arguments"], Value::Null);
    assert!(result.truncated);
    let error = result.error.unwrap();
    assert_eq!(
        (error.kind.as_str(), error.message.as_str(), error.status),
        ("api_error", "model runner has stopped", 200)
    );
    let after_the_end = decode(&[done(None), json!({"error": "late"})]);
    assert_eq!(after_the_end.error.unwrap().message, "late");
}

#[test]
fn what_is_not_known_is_kept() {
    let logprobs = |token: &str| json!([{"token": token, "logprob": -0.5}]);
    let mut first = line(json!({"role": "assistant", "content": "a", "images": ["AAAA"]}));
    first["logprobs"] = logprobs("a");
    let mut second = line(json!({"role": "assistant", "content": "b", "images": ["BBBB"]}));
    second["logprobs"] = logprobs("b");
    second["remote_model"] = json!("big");
    let result = decode(&[first, second, done(None)]);
    let found = |key: &str| plain(&result.metadata[key].to_string());
    assert_eq!(found("images"), json!(["AAAA", "BBBB"]));
    assert_eq!(found("remote_model"), json!("big"));
    let both = [logprobs("a")[0].clone(), logprobs("b")[0].clone()];
    assert_eq!(found("logprobs"), json!(both));
}

#[test]
fn what_is_no_line_of_an_answer_fails_the_stream_and_what_follows_the_end_is_noted() {
    for line in ["{\"message\"", "7", "[]", "{} {}"] {
        let (_, result) = decode_wire(&format!("{line}\n{{\"done\":true}}\n"));
        assert_eq!(result.error.unwrap().kind, "invalid_stream", "{line}");
    }
    let (_, result) = decode_wire("{\"done\":true}\n\n{\"message\":{\"content\":\"x\"}}");
    assert_eq!(
        (blocks(&result), kinds(&result)),
        (json!([]), vec!["event_after_end"])
    );
}

#[test]
fn halves_of_a_surrogate_pair_are_joined_across_lines() {
    let half = |half: &str| format!("{{\"message\":{{\"content\":\"{half}\"}}}}\n");
    let wire = half("\\ud83d") + &half("\\ude00!\\ud83d") + "{\"done\":true}";
    let (_, result) = decode_wire(&wire);
    assert_eq!(blocks(&result), json!([text("😀!\u{FFFD}")]));
    assert_eq!(kinds(&result), ["unpaired_surrogate"]);
}

#[test]
fn a_broken_limit_is_the_error_of_the_result() {
    let limits = Limits {
        max_line_bytes: 60,
        ..Limits::DEFAULT
    };
    let headers = Headers::default();
    let mut decoder = StreamDecoder::new(Dialect::Ollama, 200, headers, limits);
    let mut events = Vec::new();
    let fed = decoder.feed(b"{\"message\":{\"content\":\"a\"}}\n", &mut events);
    assert_eq!((fed, events.len()), (Ok(()), 2));
    let fed = decoder.feed(&[b' '; 61], &mut events);
    assert_eq!(fed, Err(LimitError::Line(60)));
    let result = decoder.finish(SystemTime::UNIX_EPOCH);
    assert_eq!(blocks(&result), json!([text("a")]));
    assert_eq!(result.error.unwrap().kind, "stream_limit");
}
