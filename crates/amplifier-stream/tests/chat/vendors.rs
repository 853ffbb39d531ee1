//! What vendors add, and answers of several choices.

use serde_json::{Value, json};

use crate::wire::{
    blocks, chunk, decode, decode_wire, delta, finish, kinds, metadata, result, text,
};

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
