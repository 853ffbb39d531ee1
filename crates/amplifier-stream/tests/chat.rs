//! The Chat Completions dialect: what an answer is, however a vendor writes it.

#![expect(
    clippy::needless_pass_by_value,
    reason = "values made in the call read better without `&`"
)]

use std::fmt::Write as _;
use std::time::SystemTime;

use amplifier_stream::{
    Change, Dialect, Headers, Limits, StreamDecoder, StreamEvent, StreamResult, Usage,
};
use serde_json::{Value, json};

/// Decodes chunks and the terminator.
fn decode(chunks: &[Value]) -> (Vec<StreamEvent>, StreamResult) {
    let mut wire = String::new();
    for chunk in chunks {
        write!(wire, "data: {chunk}\n\n").unwrap();
    }
    decode_wire(&(wire + "data: [DONE]\n\n"))
}

fn decode_wire(wire: &str) -> (Vec<StreamEvent>, StreamResult) {
    let headers = Headers::default();
    let mut decoder = StreamDecoder::new(Dialect::Chat, 200, headers, Limits::DEFAULT);
    let mut events = Vec::new();
    decoder.feed(wire.as_bytes(), &mut events).unwrap();
    (events, decoder.finish(SystemTime::UNIX_EPOCH))
}

fn result(chunks: &[Value]) -> StreamResult {
    decode(chunks).1
}

fn plain(json: String) -> Value {
    serde_json::from_str(&json).unwrap()
}

fn blocks(result: &StreamResult) -> Value {
    let blocks = result.blocks.iter();
    blocks
        .map(|block| plain(block.to_json().to_string()))
        .collect()
}

fn metadata(result: &StreamResult) -> Value {
    let fields = result.metadata.iter();
    fields
        .map(|(key, value)| (key.clone(), plain(value.to_string())))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn kinds(result: &StreamResult) -> Vec<&'static str> {
    result.findings.iter().map(|finding| finding.kind).collect()
}

fn chunk(choice: Value) -> Value {
    json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 7, "model": "gpt",
        "choices": [choice], "usage": null, "obfuscation": "x7f"})
}

fn delta(delta: Value) -> Value {
    chunk(json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": null}))
}

fn finish(reason: &str) -> Value {
    chunk(json!({"index": 0, "delta": {}, "finish_reason": reason}))
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn thinking(text: &str) -> Value {
    json!({"type": "thinking", "thinking": text, "signature": null})
}

#[test]
fn an_answer_is_its_thinking_text_and_calls_in_order() {
    let fragment = |arguments: &str| {
        delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": arguments}}]}))
    };
    let call = json!({"index": 0, "id": "call_1", "type": "function",
        "function": {"name": "look", "arguments": ""}});
    let (events, result) = decode(&[
        delta(json!({"role": "assistant", "content": null, "reasoning_content": "Let me"})),
        delta(json!({"content": null, "reasoning_content": " see"})),
        delta(json!({"content": "Loo", "reasoning_content": null, "refusal": null})),
        delta(json!({"content": "king"})),
        delta(json!({"tool_calls": [call]})),
        fragment("{\"pa"),
        fragment("th\":\"a\"}"),
        finish("tool_calls"),
        json!({"id": "chatcmpl-1", "model": "gpt", "choices": [], "usage": {"prompt_tokens": 9,
            "completion_tokens": 5, "total_tokens": 14,
            "prompt_tokens_details": {"cached_tokens": 4},
            "completion_tokens_details": {"reasoning_tokens": 2}}}),
    ]);
    let call = json!({"type": "tool_call", "id": "call_1", "name": "look", "error": null,
        "arguments": {"path": "a"}, "raw_arguments": "{\"path\":\"a\"}"});
    let expected = json!([thinking("Let me see"), text("Looking"), call]);
    assert_eq!(blocks(&result), expected);
    let told: Vec<Value> = events
        .iter()
        .filter_map(|event| match &event.change {
            Change::Start(_) => None,
            Change::Delta(text) => Some(json!([event.block_index, text])),
            Change::PartialJson(text) => Some(json!([event.block_index, {"json": text}])),
            Change::End(block) => Some(json!([
                event.block_index,
                plain(block.to_json().to_string())
            ])),
        })
        .collect();
    let parts = [
        json!([0, "Let me"]),
        json!([0, " see"]),
        json!([0, thinking("Let me see")]),
        json!([1, "Loo"]),
        json!([1, "king"]),
        json!([1, text("Looking")]),
        json!([2, {"json": "{\"pa"}]),
        json!([2, {"json": "th\":\"a\"}"}]),
        json!([2, call]),
    ];
    assert_eq!(told, parts);
    assert_eq!(
        (result.id.as_deref(), result.model.as_deref()),
        (Some("chatcmpl-1"), Some("gpt"))
    );
    assert_eq!(result.stop_reason, Some("tool_use"));
    assert_eq!(result.raw_stop_reason.as_deref(), Some("tool_calls"));
    assert_eq!(
        result.usage,
        Usage {
            input_tokens: Some(5),
            cache_read_tokens: Some(4),
            cache_write_tokens: None,
            output_tokens: Some(3),
            reasoning_tokens: Some(2),
        }
    );
    assert_eq!(metadata(&result), json!({"created": 7}));
    assert_eq!(
        (result.truncated, result.error, result.findings),
        (false, None, vec![])
    );
}

#[test]
fn without_its_terminator_a_stream_is_truncated_and_its_calls_do_not_run() {
    let call = json!({"index": 0, "id": "call_1", "function": {"name": "f", "arguments": "{}"}});
    let chunks = [delta(json!({"tool_calls": [call]})), finish("tool_calls")];
    let [call, end] = chunks;
    let (_, result) = decode_wire(&format!("data: {call}\n\ndata: {end}\n\ndata: [DONE]\n"));
    assert!(result.truncated);
    let call = json!({"type": "tool_call", "id": "call_1", "name": "f", "arguments": null,
        "raw_arguments": "{}", "error": "the call never ended"});
    assert_eq!(blocks(&result), json!([call]));
}

#[test]
fn every_reason_to_stop_has_its_name() {
    for (raw, name) in [
        ("stop", "end_turn"),
        ("eos", "end_turn"),
        ("length", "max_tokens"),
        ("model_length", "max_tokens"),
        ("tool_calls", "tool_use"),
        ("function_call", "tool_use"),
        ("content_filter", "content_filter"),
        ("insufficient_system_resource", "other"),
        ("brand_new", "other"),
    ] {
        let result = result(&[delta(json!({"content": "a"})), finish(raw)]);
        assert_eq!(result.stop_reason, Some(name), "{raw}");
        assert_eq!(result.raw_stop_reason.as_deref(), Some(raw));
    }
}

#[test]
fn calls_are_tool_use_although_the_server_says_stop() {
    let call = json!({"id": "a", "function": {"name": "f", "arguments": "{}"}});
    let result = result(&[delta(json!({"tool_calls": [call]})), finish("stop")]);
    assert_eq!(result.stop_reason, Some("tool_use"));
    assert_eq!(result.raw_stop_reason.as_deref(), Some("stop"));
}

#[test]
fn a_refusal_is_text_apart_from_the_answer_and_the_reason() {
    let result = result(&[
        delta(json!({"content": "Well.", "refusal": "I "})),
        delta(json!({"refusal": "will not"})),
        finish("stop"),
    ]);
    assert_eq!(
        blocks(&result),
        json!([text("Well."), {"type": "text", "text": "", "refusal": "I will not"}])
    );
    assert_eq!(result.stop_reason, Some("refusal"));
}

#[test]
fn a_call_that_was_cut_before_its_arguments_does_not_run() {
    let call = json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}});
    for (reason, is_cut) in [("length", true), ("tool_calls", false), ("other", true)] {
        let result = result(&[delta(json!({"tool_calls": [call]})), finish(reason)]);
        let blocks = blocks(&result);
        assert_eq!(blocks[0]["arguments"].is_null(), is_cut, "{reason}");
        assert_eq!(blocks[0]["error"].is_null(), !is_cut);
    }
}

#[test]
fn the_last_usage_that_is_not_null_counts_and_none_is_summed() {
    let with = |usage: Value| {
        let mut chunk = delta(json!({"content": "a"}));
        chunk["usage"] = usage;
        chunk
    };
    let result = result(&[
        with(json!({"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4})),
        with(json!({"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5})),
        with(Value::Null),
        with(json!({})),
    ]);
    assert_eq!(result.usage.input_tokens, Some(3));
    assert_eq!(result.usage.output_tokens, Some(2));
    let raw = result.raw_usage.unwrap();
    assert_eq!(raw["total_tokens"].as_i64(), Some(5));
}

#[test]
fn usage_is_found_where_vendors_put_it() {
    let usage = json!({"prompt_tokens": 3, "completion_tokens": 2});
    let of_groq = json!({"choices": [], "x_groq": {"id": "req_1", "usage": usage}});
    let of_choice = chunk(json!({"index": 0, "delta": {}, "usage": usage}));
    for chunk in [of_groq, of_choice] {
        let result = result(&[chunk]);
        let counts = (result.usage.input_tokens, result.usage.output_tokens);
        assert_eq!(counts, (Some(3), Some(2)));
    }
}

#[test]
fn usage_is_counted_apart_as_each_vendor_means_it() {
    for (raw, expected) in [
        // Reasoning beside the completion: the total shows it.
        (
            json!({"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 20,
                "completion_tokens_details": {"reasoning_tokens": 6}}),
            [Some(10), None, None, Some(4), Some(6)],
        ),
        (
            json!({"prompt_tokens": 10, "completion_tokens": 6, "total_tokens": 16,
                "completion_tokens_details": {"reasoning_tokens": 6},
                "prompt_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 5}}),
            [Some(2), Some(3), Some(5), Some(0), Some(6)],
        ),
        (
            json!({"prompt_tokens": 10, "completion_tokens": 6, "prompt_cache_hit_tokens": 8}),
            [Some(2), Some(8), None, Some(6), None],
        ),
        (
            json!({"prompt_tokens": 1, "cached_tokens": 8, "completion_tokens": "many"}),
            [Some(0), Some(8), None, None, None],
        ),
    ] {
        let found = result(&[json!({"choices": [], "usage": raw})]).usage;
        let [
            input_tokens,
            cache_read_tokens,
            cache_write_tokens,
            output_tokens,
            reasoning_tokens,
        ] = expected;
        assert_eq!(
            found,
            Usage {
                input_tokens,
                cache_read_tokens,
                cache_write_tokens,
                output_tokens,
                reasoning_tokens,
            },
            "{raw}"
        );
    }
}

#[test]
fn what_a_vendor_adds_is_kept_and_no_constant_is_joined() {
    let filter = json!({"hate": {"filtered": false, "severity": "safe"}});
    let logprob = |token: &str| json!({"content": [{"token": token, "logprob": -0.5}]});
    let result = result(&[
        json!({"choices": [], "id": "", "model": "", "created": 0, "object": "",
            "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": filter}]}),
        chunk(
            json!({"index": 0, "delta": {"content": "a", "channel": "analysis"},
            "content_filter_results": filter, "logprobs": logprob("a")}),
        ),
        chunk(
            json!({"index": 0, "delta": {"content": "a", "channel": "analysis"},
            "content_filter_results": filter, "logprobs": logprob("a")}),
        ),
        chunk(json!({"index": 0, "delta": {"annotations": [1]}})),
        chunk(json!({"index": 0, "delta": {"annotations": [2]}, "native_finish_reason": "eos"})),
        json!({"choices": [], "moderation": {"flagged": false}}),
    ]);
    assert_eq!(result.model.as_deref(), Some("gpt"));
    assert_eq!(
        metadata(&result),
        json!({
            "created": 7,
            "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": filter}],
            "moderation": {"flagged": false},
            "channel": "analysis",
            "content_filter_results": filter,
            "native_finish_reason": "eos",
            "annotations": [1, 2],
            "logprobs": {"content": [
                {"token": "a", "logprob": -0.5}, {"token": "a", "logprob": -0.5},
            ]},
        })
    );
    assert_eq!(kinds(&result), Vec::<&str>::new());
}

#[test]
fn the_first_id_and_model_count_and_null_takes_nothing_back() {
    let result = result(&[
        json!({"id": "first", "model": "router", "choices": [], "service_tier": "default"}),
        json!({"id": "second", "model": "gpt", "choices": [], "service_tier": null}),
    ]);
    let named = (result.id.as_deref(), result.model.as_deref());
    assert_eq!(named, (Some("first"), Some("router")));
    assert_eq!(metadata(&result), json!({"service_tier": "default"}));
}

#[test]
fn what_was_filtered_up_to_where_adds_up() {
    let offsets = |end: u64| json!({"check_offset": 0, "start_offset": 0, "end_offset": end});
    let filter = json!({"hate": {"filtered": false}});
    let chunk_of = |end| {
        chunk(json!({"index": 0, "delta": {}, "finish_reason": null,
            "content_filter_offsets": offsets(end), "content_filter_results": filter}))
    };
    let result = result(&[chunk_of(5), chunk_of(9)]);
    let filtered =
        |end| json!({"content_filter_offsets": offsets(end), "content_filter_results": filter});
    assert_eq!(
        metadata(&result)["content_filters"],
        json!([filtered(5), filtered(9)])
    );
}

#[test]
fn a_value_that_changes_from_delta_to_delta_is_not_lost() {
    let result = result(&[
        delta(json!({"content": "a", "channel": "analysis"})),
        delta(json!({"content": "b", "channel": "final"})),
    ]);
    assert_eq!(metadata(&result)["channel"], "final");
    let finding = &result.findings[0];
    let raw = finding.raw.as_ref().unwrap().as_str();
    assert_eq!((finding.kind, raw), ("changed_field", Some("analysis")));
}

#[test]
fn other_choices_are_folded_apart_and_run_nothing() {
    let other = |delta: Value| chunk(json!({"delta": delta, "finish_reason": null, "index": 1}));
    let call = json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}});
    let (events, result) = decode(&[
        other(json!({"content": "se"})),
        delta(json!({"content": "first"})),
        other(json!({"content": "cond"})),
        other(json!({"tool_calls": [call]})),
        chunk(json!({"index": 1, "delta": {}, "finish_reason": "length"})),
        finish("stop"),
    ]);
    assert_eq!(blocks(&result), json!([text("first")]));
    assert_eq!(result.stop_reason, Some("end_turn"));
    assert_eq!(events.len(), 3);
    let call = json!({"type": "tool_call", "id": "a", "name": "f", "arguments": null,
        "raw_arguments": "{}", "error": "the call belongs to another choice"});
    let choice = json!({"index": 1, "finish_reason": "length", "blocks": [text("second"), call]});
    assert_eq!(metadata(&result)["choices"], json!([choice]));
}

#[test]
fn findings_of_other_choices_name_no_block_of_the_answer() {
    let half = r#"{"choices":[{"index":1,"delta":{"content":"\ud83d"}}]}"#;
    let (_, result) = decode_wire(&format!("data: {half}\n\ndata: [DONE]\n\n"));
    let finding = &result.findings[0];
    assert_eq!(
        (finding.kind, finding.block_index),
        ("unpaired_surrogate", None)
    );
}

#[test]
fn an_error_in_the_stream_is_an_error() {
    let wire = |error: &str| format!("data: {}\n\n{error}\n\n", delta(json!({"content": "a"})));
    for (error, kind, code, message, retryable) in [
        (
            r#"data: {"id":"1","error":{"code":502,"message":"gone"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}"#,
            "api_error",
            Some("502"),
            "gone",
            true,
        ),
        (
            "event: error\ndata: {\"error\":{\"message\":\"no such tool\",\"type\":\"invalid_request_error\",\"code\":\"tool_use_failed\",\"status_code\":400}}",
            "invalid_request_error",
            Some("tool_use_failed"),
            "no such tool",
            false,
        ),
        (
            r#"data: {"object":"error","message":"too long","type":"BadRequestError","code":400}"#,
            "BadRequestError",
            Some("400"),
            "too long",
            false,
        ),
        (
            r#"data: {"error":{"message":"busy","code":"later","status_code":503}}"#,
            "api_error",
            Some("later"),
            "busy",
            true,
        ),
        (
            r#"data: {"error":"out of memory"}"#,
            "api_error",
            None,
            "out of memory",
            true,
        ),
        (
            "event: error\ndata: broken",
            "api_error",
            None,
            "broken",
            true,
        ),
    ] {
        let (_, result) = decode_wire(&wire(error));
        assert_eq!(blocks(&result), json!([text("a")]));
        let found = result.error.unwrap();
        assert_eq!(
            (
                found.kind.as_str(),
                found.code.as_deref(),
                found.message.as_str()
            ),
            (kind, code, message)
        );
        assert_eq!((found.status, found.retryable), (200, retryable), "{error}");
        assert!(result.truncated);
    }
}

#[test]
fn an_error_after_the_end_keeps_the_reason_of_the_end() {
    let error = json!({"error": {"code": 500, "message": "late"},
        "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}]});
    let result = result(&[delta(json!({"content": "a"})), finish("length"), error]);
    assert_eq!(result.stop_reason, Some("max_tokens"));
    assert_eq!(result.error.unwrap().message, "late");
}

#[test]
fn an_answer_that_ended_with_an_error_is_no_success() {
    let call = json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}});
    let result = result(&[delta(json!({"tool_calls": [call]})), finish("error")]);
    assert_eq!(blocks(&result)[0]["arguments"], Value::Null);
    assert_eq!(result.error.unwrap().kind, "api_error");
}

#[test]
fn what_is_no_chunk_fails_the_stream_and_what_follows_the_end_is_noted() {
    for data in ["{\"choices\": [", "7", "{\"choices\": [7]}"] {
        let (_, result) = decode_wire(&format!("data: {data}\n\ndata: [DONE]\n\n"));
        assert_eq!(result.error.unwrap().kind, "invalid_stream", "{data}");
    }
    let (_, result) = decode_wire("data: [DONE]\n\ndata: {}\n\ndata:\n\n: keep-alive\n\n");
    assert_eq!(kinds(&result), ["event_after_end"]);
    assert_eq!((result.truncated, result.error), (false, None));
}

#[test]
fn halves_of_a_surrogate_pair_are_joined_across_deltas() {
    let half = |half: &str| {
        format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{half}\"}}}}]}}\n\n")
    };
    let wire = half("\\ud83d") + &half("\\ude00!\\ud83d") + "data: [DONE]\n\n";
    let (_, result) = decode_wire(&wire);
    assert_eq!(blocks(&result), json!([text("😀!\u{FFFD}")]));
    assert_eq!(kinds(&result), ["unpaired_surrogate"]);
}
