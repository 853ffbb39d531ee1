//! Answers without `[DONE]`: whole if the body ended properly after a finish reason, else cut short.

use std::time::SystemTime;

use amplifier_stream::{BodyEnd, Dialect, Headers, Limits, StreamDecoder, StreamResult};
use serde_json::{Value, json};

use crate::wire::{blocks, delta, finish, text};

fn decode(wire: &str, end: BodyEnd) -> StreamResult {
    let headers = Headers::default();
    let mut decoder = StreamDecoder::new(Dialect::Chat, 200, headers, Limits::DEFAULT);
    let mut events = Vec::new();
    decoder.feed(wire.as_bytes(), &mut events).unwrap();
    decoder.finish_body(end, SystemTime::UNIX_EPOCH)
}

fn wire(chunks: &[Value]) -> String {
    let events = chunks.iter().map(|chunk| format!("data: {chunk}\n\n"));
    events.collect()
}

fn call() -> Value {
    let function = json!({"name": "f", "arguments": "{}"});
    delta(
        json!({"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": function}]}),
    )
}

fn usage() -> Value {
    json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 5}})
}

#[test]
fn a_whole_body_with_a_finish_reason_needs_no_done() {
    let wire = wire(&[call(), finish("tool_calls"), usage()]);
    let result = decode(&wire, BodyEnd::Complete);
    let run = json!({"type": "tool_call", "id": "a", "name": "f", "arguments": {},
        "raw_arguments": "{}", "error": null});
    assert_eq!(blocks(&result), json!([run]));
    assert_eq!(
        (result.truncated, result.stop_reason),
        (false, Some("tool_use"))
    );
    assert_eq!(result.usage.output_tokens, Some(5));
    assert_eq!(result.findings[0].kind, "missing_terminator");

    let unknown = decode(&wire, BodyEnd::Unknown);
    assert!(unknown.truncated);
    assert_eq!(blocks(&unknown)[0]["error"], json!("the call never ended"));
}

#[test]
fn a_whole_body_without_a_finish_reason_is_cut_short() {
    for chunks in [
        vec![],
        vec![call()],
        vec![delta(json!({"content": "a"})), usage()],
    ] {
        assert!(decode(&wire(&chunks), BodyEnd::Complete).truncated);
    }
}

#[test]
fn the_last_event_of_a_whole_body_needs_no_blank_line() {
    let begun = wire(&[delta(json!({"content": "a"}))]);
    let last = format!("data: {}", finish("stop"));
    for end in [
        "",
        "\n",
        "\r\n",
        "\n\ndata: [DONE]",
        "\n\ndata: [DONE]\n",
        "\n\n: bye",
    ] {
        let body = format!("{begun}{last}{end}");
        let result = decode(&body, BodyEnd::Complete);
        assert_eq!(
            (result.truncated, blocks(&result)),
            (false, json!([text("a")])),
            "{end:?}"
        );
    }
    for end in [
        "\n\ndata: {\"choices\"",
        "\n\nda",
        "\n{\"choices\"",
        "\n\ndata: [DON",
    ] {
        let result = decode(&format!("{begun}{last}{end}"), BodyEnd::Complete);
        assert!(result.truncated, "{end:?}");
        assert_eq!(result.findings[0].kind, "cut_line");
    }
}

#[test]
fn a_body_whose_end_is_not_known_is_truncated_at_every_byte_before_its_terminator() {
    let body = wire(&[call(), finish("tool_calls"), usage()]) + "data: [DONE]\n\n";
    for length in 0..body.len() {
        let result = decode(&body[..length], BodyEnd::Unknown);
        assert!(result.truncated, "{length} bytes");
        for block in blocks(&result).as_array().unwrap() {
            assert_eq!(block["arguments"], Value::Null, "{length} bytes");
        }
    }
    assert!(!decode(&body, BodyEnd::Unknown).truncated);
}

#[test]
fn a_whole_body_cut_at_any_byte_is_whole_only_after_the_finish_reason() {
    let before = wire(&[call()]);
    let body = wire(&[call(), finish("tool_calls"), usage()]) + "data: [DONE]\n\n";
    for length in 0..=body.len() {
        let result = decode(&body[..length], BodyEnd::Complete);
        let is_after = result.raw_stop_reason.is_some();
        assert!(!is_after || length > before.len());
        assert!(is_after || result.truncated, "{length} bytes");
        let may_run = blocks(&result)
            .as_array()
            .unwrap()
            .iter()
            .any(|block| !block["arguments"].is_null());
        assert_eq!(may_run, !result.truncated, "{length} bytes");
    }
}

#[test]
fn an_answer_that_ended_with_an_error_is_an_error_without_done_too() {
    let result = decode(&wire(&[finish("error")]), BodyEnd::Complete);
    assert!(result.error.is_some());
}
