//! What an answer is: its blocks, its end and why it ended.

use amplifier_stream::{Change, Usage};
use serde_json::{Value, json};

use crate::wire::{
    blocks, decode, decode_wire, delta, finish, kinds, metadata, plain, result, text, thinking,
};

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
            Change::Start(_) | Change::Drop(_) => None,
            Change::Delta(text) => Some(json!([event.block_index, text])),
            Change::PartialJson(text) => Some(json!([event.block_index, {"json": text}])),
            Change::End(block) => Some(json!([
                event.block_index,
                plain(&block.to_json().to_string())
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
fn halves_of_a_surrogate_pair_are_joined_across_deltas() {
    let half = |half: &str| {
        format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{half}\"}}}}]}}\n\n")
    };
    let wire = half("\\ud83d") + &half("\\ude00!\\ud83d") + "data: [DONE]\n\n";
    let (_, result) = decode_wire(&wire);
    assert_eq!(blocks(&result), json!([text("😀!\u{FFFD}")]));
    assert_eq!(kinds(&result), ["unpaired_surrogate"]);
}
