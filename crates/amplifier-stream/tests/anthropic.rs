//! The Anthropic dialect where a stream is not as usual.

#![expect(
    clippy::needless_pass_by_value,
    reason = "values made in the call read better without `&`"
)]

use std::fmt::Write as _;
use std::time::SystemTime;

use amplifier_stream::{
    Change, Dialect, Finding, Headers, LimitError, Limits, StreamDecoder, StreamEvent,
    StreamResult, Usage,
};
use serde_json::{Value, json};

/// Decodes events that are given as their data.
fn decode(events: &[Value]) -> (Vec<StreamEvent>, StreamResult) {
    let mut wire = String::new();
    for event in events {
        let name = event["type"].as_str().unwrap();
        write!(wire, "event: {name}\ndata: {event}\n\n").unwrap();
    }
    decode_wire(&wire)
}

fn decode_wire(wire: &str) -> (Vec<StreamEvent>, StreamResult) {
    let headers = Headers::default();
    let mut decoder = StreamDecoder::new(Dialect::Anthropic, 200, headers, Limits::DEFAULT);
    let mut events = Vec::new();
    decoder.feed(wire.as_bytes(), &mut events).unwrap();
    (events, decoder.finish(SystemTime::UNIX_EPOCH))
}

fn blocks(result: &StreamResult) -> Value {
    let blocks = result
        .blocks
        .iter()
        .map(|block| block.to_json().to_string());
    blocks
        .map(|block| serde_json::from_str::<Value>(&block).unwrap())
        .collect()
}

fn kinds(result: &StreamResult) -> Vec<&'static str> {
    result.findings.iter().map(|finding| finding.kind).collect()
}

fn message(id: &str, more: Value) -> Value {
    let mut message =
        json!({"id": id, "content": [], "model": "claude", "usage": {"output_tokens": 1}});
    message
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    json!({"type": "message_start", "message": message})
}

fn start(index: u64, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u64, kind: &str, key: &str, text: &str) -> Value {
    let delta = json!({"type": kind, key: text});
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn text_delta(index: u64, text: &str) -> Value {
    delta(index, "text_delta", "text", text)
}

fn end(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn text_block() -> Value {
    json!({"type": "text", "text": ""})
}

fn tool_block(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "look", "input": {}})
}

fn stop_with(reason: &str) -> Value {
    json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 5}})
}

fn stop() -> Value {
    json!({"type": "message_stop"})
}

fn call(id: &str, raw: &str, arguments: Value, error: Value) -> Value {
    json!({"type": "tool_call", "id": id, "name": "look", "arguments": arguments,
        "raw_arguments": raw, "error": error})
}

#[test]
fn a_prefilled_message_is_read_from_its_start() {
    let content = json!([
        {"type": "text", "text": "Hi"},
        {"type": "tool_use", "id": "t", "name": "look", "input": {"n": 1},
            "caller": {"type": "code_execution_20250825", "tool_id": "s"}},
    ]);
    let start = message("m", json!({"content": content, "stop_reason": "tool_use"}));
    let (events, result) = decode(&[start, stop()]);
    let mut called = call("t", r#"{"n":1}"#, json!({"n": 1}), Value::Null);
    called["caller"] = json!({"type": "code_execution_20250825", "tool_id": "s"});
    assert_eq!(
        blocks(&result),
        json!([{"type": "text", "text": "Hi"}, called])
    );
    assert_eq!(
        (result.truncated, result.stop_reason),
        (false, Some("tool_use"))
    );
    let changes: Vec<_> = events.iter().map(|event| event.change.clone()).collect();
    assert_eq!(changes.len(), 6);
    assert_eq!(changes[1], Change::Delta("Hi".to_owned()));
    assert_eq!(changes[4], Change::PartialJson(r#"{"n":1}"#.to_owned()));
}

#[test]
fn unknown_things_are_kept_and_skipped() {
    let strange = json!({"type": "brand_new", "data": [1]});
    let (_, result) = decode(&[
        message("m", json!({"container": {"id": "c"}})),
        json!({"type": "news", "about": "x"}),
        start(0, strange.clone()),
        delta(0, "odd_delta", "x", "y"),
        end(0),
        json!({"type": "message_delta", "delta": {"stop_reason": "bored", "stop_details": {"a": 1}},
            "context_management": {"b": 2}}),
        stop(),
    ]);
    assert_eq!(blocks(&result), json!([strange]));
    assert_eq!(
        (result.stop_reason, result.raw_stop_reason.as_deref()),
        (Some("other"), Some("bored"))
    );
    assert_eq!(kinds(&result), ["unknown_event", "unknown_delta"]);
    let raws: Vec<String> = result
        .findings
        .iter()
        .map(|f| f.raw.as_ref().unwrap().to_string())
        .collect();
    assert_eq!(
        raws,
        [
            r#"{"type":"news","about":"x"}"#,
            r#"{"type":"odd_delta","x":"y"}"#
        ]
    );
    let metadata: Vec<&String> = result.metadata.keys().collect();
    assert_eq!(
        metadata,
        ["container", "stop_details", "context_management"]
    );
}

#[test]
fn surrogate_halves_of_two_deltas_are_joined() {
    let wire = |first: &str, second: &str| {
        let delta = |text: &str| {
            format!(
                "data: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\"{text}\"}}}}\n\n"
            )
        };
        format!(
            "data: {}\n\ndata: {}\n\n{}{}data: {}\n\ndata: {}\n\n",
            message("m", json!({})),
            start(0, text_block()),
            delta(first),
            delta(second),
            end(0),
            stop()
        )
    };
    let text = |result: &StreamResult| blocks(result)[0]["text"].as_str().unwrap().to_owned();

    let (events, result) = decode_wire(&wire(r"a\ud83d", r"\ude00b"));
    assert_eq!((text(&result).as_str(), kinds(&result)), ("a😀b", vec![]));
    assert_eq!(events[1].change, Change::Delta("a".to_owned()));
    assert_eq!(events[2].change, Change::Delta("😀b".to_owned()));

    let (events, result) = decode_wire(&wire(r"a", r"b\ud83d"));
    assert_eq!(
        (text(&result).as_str(), kinds(&result)),
        ("ab\u{FFFD}", vec!["unpaired_surrogate"])
    );
    assert_eq!(events[3].change, Change::Delta("\u{FFFD}".to_owned()));

    let (_, result) = decode_wire(&wire(r"a\ud83d", r"b"));
    assert_eq!(
        (text(&result).as_str(), kinds(&result)),
        ("a\u{FFFD}b", vec!["unpaired_surrogate"])
    );
}

#[test]
fn a_repair_of_opaque_text_is_a_finding() {
    let wire = r#"data: {"type":"message_start","message":{"id":"m","model":"\ud83d"}}

data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"","x":"\ude00"}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":["\ud83d"]}}

data: {"type":"message_delta","delta":{"stop_sequence":"\ud83d\ud83d"}}

"#;
    let (_, result) = decode_wire(wire);
    let found = |finding: &Finding| (finding.kind, finding.block_index, finding.message.clone());
    let halves = |index, count: usize| {
        let message = format!("{count} unpaired surrogate halves became U+FFFD");
        ("unpaired_surrogate", index, message)
    };
    let expected = [
        halves(None, 1),
        halves(Some(0), 1),
        halves(Some(0), 1),
        halves(None, 2),
    ];
    assert_eq!(
        result.findings.iter().map(found).collect::<Vec<_>>(),
        expected
    );
}

#[test]
fn a_call_with_bad_arguments_does_not_run() {
    let (_, result) = decode(&[
        message("m", json!({})),
        start(0, tool_block("a")),
        delta(0, "input_json_delta", "partial_json", r#"{"x":1,"x":2}"#),
        end(0),
        start(1, json!({"type": "tool_use", "id": "b", "input": {}})),
        end(1),
        stop_with("tool_use"),
        stop(),
    ]);
    let bad = "invalid tool arguments: duplicate key `x` at byte 11";
    let mut nameless = call("b", "", Value::Null, json!("the call has no tool name"));
    nameless["name"] = json!("");
    let expected = json!([
        call("a", r#"{"x":1,"x":2}"#, Value::Null, json!(bad)),
        nameless
    ]);
    assert_eq!(blocks(&result), expected);
}

#[test]
fn an_error_inside_a_stream_takes_every_call_back() {
    let (_, result) = decode(&[
        message("m", json!({})),
        start(0, tool_block("a")),
        end(0),
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"},
            "request_id": "req_1"}),
    ]);
    assert_eq!(
        blocks(&result),
        json!([call(
            "a",
            "",
            Value::Null,
            json!("the stream failed: Overloaded")
        )])
    );
    let error = result.error.unwrap();
    assert_eq!(
        (error.kind.as_str(), error.status, error.retryable),
        ("overloaded_error", 200, true)
    );
    assert_eq!(
        (result.truncated, result.request_id.as_deref()),
        (true, Some("req_1"))
    );
}

#[test]
fn a_call_that_was_cut_before_its_arguments_does_not_run() {
    for (reason, error) in [
        ("tool_use", Value::Null),
        (
            "max_tokens",
            json!("the answer was cut (`max_tokens`) before the arguments"),
        ),
    ] {
        let (_, result) = decode(&[
            message("m", json!({})),
            start(0, tool_block("a")),
            end(0),
            stop_with(reason),
            stop(),
        ]);
        let arguments = if error.is_null() {
            json!({})
        } else {
            Value::Null
        };
        assert_eq!(blocks(&result), json!([call("a", "", arguments, error)]));
    }
}

#[test]
fn a_call_that_never_ended_does_not_run_although_the_message_did() {
    let (_, result) = decode(&[
        message("m", json!({})),
        start(0, tool_block("a")),
        stop_with("tool_use"),
        stop(),
    ]);
    assert_eq!(
        blocks(&result),
        json!([call("a", "", Value::Null, json!("the call never ended"))])
    );
    assert!(!result.truncated);
}

#[test]
fn an_answer_that_was_begun_anew_replaces_the_first() {
    let (_, result) = decode(&[
        message("m1", json!({"usage": {"input_tokens": 7}})),
        start(0, text_block()),
        text_delta(0, "half"),
        message("m2", json!({})),
        start(0, text_block()),
        text_delta(0, "whole"),
        end(0),
        stop_with("end_turn"),
        stop(),
    ]);
    assert_eq!(blocks(&result), json!([{"type": "text", "text": "whole"}]));
    assert_eq!(
        (result.id.as_deref(), kinds(&result)),
        (Some("m2"), vec!["restarted_message"])
    );
    assert_eq!((result.truncated, result.usage.input_tokens), (false, None));
}

#[test]
fn a_repeated_start_of_the_same_message_is_ignored() {
    let (_, result) = decode(&[
        message("m", json!({})),
        start(0, text_block()),
        message("m", json!({"usage": {"output_tokens": 99}})),
        text_delta(0, "one"),
        end(0),
        stop(),
    ]);
    assert_eq!(blocks(&result), json!([{"type": "text", "text": "one"}]));
    assert_eq!(
        (result.usage.output_tokens, kinds(&result)),
        (Some(1), vec!["repeated_message_start"])
    );
}

#[test]
fn a_second_message_after_the_first_is_appended() {
    let one = |id: &str, text: &str| {
        [
            message(id, json!({})),
            start(0, text_block()),
            text_delta(0, text),
            end(0),
            stop(),
        ]
    };
    let (events, result) = decode(&[one("m1", "a"), one("m2", "b")].concat());
    assert_eq!(
        blocks(&result),
        json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])
    );
    assert_eq!(events.last().unwrap().block_index, 1);
    assert_eq!(kinds(&result), ["second_message", "repeated_index"]);
}

#[test]
fn data_that_is_no_json_fails_the_stream_but_not_the_decoder() {
    let wire = "event: ping\ndata: x\n\nevent: other\ndata: x\n\nevent: content_block_delta\ndata: {\"type\n\n";
    let (_, result) = decode_wire(wire);
    let error = result.error.unwrap();
    assert_eq!(
        (error.kind.as_str(), error.retryable),
        ("invalid_stream", true)
    );
    assert_eq!(
        error.message,
        "the data of `content_block_delta` is not JSON: unterminated string at byte 6"
    );
    let finding = Finding {
        kind: "unreadable_event",
        block_index: None,
        message: "event `other` without JSON was ignored: expected an object, found `x` at byte 0"
            .to_owned(),
        raw: Some("x".into()),
    };
    assert_eq!(result.findings, [finding]);
}

#[test]
fn a_delta_without_its_block_fails_the_stream() {
    for (events, problem) in [
        (
            vec![text_delta(3, "x")],
            "a delta for block 3, which never began",
        ),
        (
            vec![start(0, text_block()), end(0), text_delta(0, "x")],
            "a delta for block 0 after its end",
        ),
        (
            vec![start(0, text_block()), delta(0, "text_delta", "txt", "x")],
            "`text_delta` without a `text` string",
        ),
        (
            vec![json!({"type": "content_block_stop"})],
            "`content_block_stop` without an `index`",
        ),
    ] {
        let (_, result) = decode(&[vec![message("m", json!({}))], events, vec![stop()]].concat());
        assert_eq!(result.error.unwrap().message, problem);
    }
}

#[test]
fn usage_is_overwritten_and_put_into_disjoint_buckets() {
    let first = json!({"input_tokens": 10, "cache_read_input_tokens": 4, "output_tokens": 1,
        "cache_creation": {"ephemeral_5m_input_tokens": 2, "ephemeral_1h_input_tokens": 3}});
    let last = json!({"input_tokens": 20, "cache_read_input_tokens": null, "output_tokens": 50,
        "output_tokens_details": {"thinking_tokens": 30}});
    let (_, result) = decode(&[
        message("m", json!({"usage": first})),
        json!({"type": "message_delta", "delta": {}, "usage": last}),
        stop(),
    ]);
    let expected = Usage {
        input_tokens: Some(20),
        cache_read_tokens: Some(4),
        cache_write_tokens: Some(5),
        output_tokens: Some(20),
        reasoning_tokens: Some(30),
    };
    assert_eq!(result.usage, expected);
}

#[test]
fn a_fallback_block_names_the_model_that_answers() {
    let fallback =
        json!({"type": "fallback", "from": {"model": "claude"}, "to": {"model": "smaller"}});
    let (_, result) = decode(&[message("m", json!({})), start(0, fallback), end(0), stop()]);
    assert_eq!(result.model.as_deref(), Some("smaller"));
}

#[test]
fn a_broken_limit_is_told_in_the_result_too() {
    let limits = Limits {
        max_line_bytes: 100,
        max_event_bytes: 100,
        ..Limits::DEFAULT
    };
    let mut decoder = StreamDecoder::new(Dialect::Anthropic, 200, Headers::default(), limits);
    assert_eq!(
        decoder.feed(&[b'x'; 101], &mut Vec::new()),
        Err(LimitError::Line(100))
    );
    let result = decoder.finish(SystemTime::UNIX_EPOCH);
    let error = result.error.unwrap();
    assert_eq!(
        (result.truncated, error.kind.as_str(), error.retryable),
        (true, "stream_limit", false)
    );
}

#[test]
fn an_unknown_dialect_is_refused_by_name() {
    let error = "opnai".parse::<Dialect>().unwrap_err();
    let known = Dialect::ALL.map(|dialect| format!("`{}`", dialect.as_str()));
    assert_eq!(
        error.to_string(),
        format!(
            "unknown stream dialect `opnai` (known: {})",
            known.join(", ")
        )
    );
}

#[test]
fn an_error_of_a_gateway_needs_no_type() {
    let body = "data: {\"error\":{\"message\":\"Gone\",\"code\":503}}\n\n";
    let (_, result) = decode_wire(body);
    let error = result.error.unwrap();
    assert_eq!(
        (error.kind.as_str(), error.message.as_str(), error.retryable),
        ("api_error", "Gone", true)
    );
}
