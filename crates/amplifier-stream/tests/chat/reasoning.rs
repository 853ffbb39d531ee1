//! Reasoning, wherever a vendor puts it.

use amplifier_stream::StreamResult;
use serde_json::{Value, json};

use crate::wire::{self, delta, text, thinking};

fn decode(deltas: &[Value]) -> StreamResult {
    wire::result(&deltas.iter().cloned().map(delta).collect::<Vec<_>>())
}

fn blocks(deltas: &[Value]) -> Value {
    wire::blocks(&decode(deltas))
}

#[test]
fn both_names_of_reasoning_are_thinking_and_both_at_once_are_one() {
    let deltas = [
        json!({"reasoning_content": "a", "content": null}),
        json!({"reasoning": "b", "content": ""}),
        json!({"reasoning": "c", "reasoning_content": "c"}),
        json!({"reasoning": "d", "reasoning_content": ""}),
        json!({"content": "e", "reasoning": null}),
        json!({"content": "f", "reasoning": "g"}),
    ];
    let expected = json!([thinking("abcd"), text("e"), thinking("g"), text("f")]);
    assert_eq!(blocks(&deltas), expected);
}

#[test]
fn details_are_kept_for_replay_with_their_pieces_joined() {
    let piece = |text: &str, signature: Value| {
        json!({"type": "reasoning.text", "text": text, "signature": signature,
            "format": "anthropic-claude-v1", "index": 0})
    };
    let sealed = json!({"type": "reasoning.encrypted", "data": "AAAA", "id": "rs_1",
        "format": "openai-responses-v1", "index": 1});
    let deltas = [
        json!({"reasoning": "Let ", "reasoning_details": [piece("Let ", Value::Null)]}),
        json!({"reasoning": "me", "reasoning_details": [piece("me", Value::Null)]}),
        json!({"reasoning": "", "reasoning_details": [piece("", json!("c2ln"))]}),
        json!({"content": "", "reasoning_details": [sealed]}),
        json!({"content": "", "reasoning_details": [sealed]}),
        json!({"content": "Hi"}),
    ];
    let mut block = thinking("Let me");
    block["reasoning_details"] = json!([piece("Let me", json!("c2ln")), sealed, sealed]);
    assert_eq!(blocks(&deltas), json!([block, text("Hi")]));
}

#[test]
fn details_that_are_items_of_their_own_stay_apart() {
    let item = |index: u64, id: &str, signature: Value| {
        json!({"type": "reasoning.text", "text": "a", "id": id, "signature": signature,
            "index": index})
    };
    let items = json!([
        item(0, "x", json!("c2ln")),
        item(0, "x", Value::Null),
        item(1, "x", Value::Null),
        item(1, "y", Value::Null),
        {"type": "reasoning.summary", "summary": "a", "id": "y", "index": 1},
    ]);
    let found = blocks(&[json!({"reasoning_details": items})]);
    assert_eq!(found[0]["reasoning_details"], items);
    assert_eq!(found[0]["thinking"], "aaaaa");
}

#[test]
fn details_alone_show_the_thinking_that_is_in_them() {
    let summary = |text: &str| json!({"type": "reasoning.summary", "summary": text});
    let deltas = [
        json!({"reasoning_details": [summary("a")]}),
        json!({"reasoning_details": [summary("b")], "content": "c"}),
        json!({"reasoning_details": {"type": "reasoning.encrypted", "data": "AAAA"}}),
    ];
    let mut first = thinking("ab");
    first["reasoning_details"] = json!([summary("ab")]);
    let mut last = thinking("");
    last["reasoning_details"] = json!([{"type": "reasoning.encrypted", "data": "AAAA"}]);
    assert_eq!(blocks(&deltas), json!([first, text("c"), last]));
}

#[test]
fn content_that_is_a_list_is_its_parts() {
    let thought = |text: &str| json!({"type": "thinking", "thinking": [{"type": "text", "text": text}], "closed": true});
    let reference = json!({"type": "reference", "reference_ids": [1, 2]});
    let deltas = [
        json!({"role": "assistant", "content": ""}),
        json!({"content": [thought("Let "), thought("me")]}),
        json!({"content": [{"type": "text", "text": "a"}, reference]}),
        json!({"content": "b"}),
        json!({"content": {"text": "c"}}),
    ];
    let mut first = thinking("Let me");
    first["closed"] = json!(true);
    let expected = json!([first, text("a"), reference, text("bc")]);
    assert_eq!(blocks(&deltas), expected);
}

#[test]
fn content_that_is_not_understood_is_a_finding() {
    let odd_thought = json!({"type": "thinking", "thinking": [7, {"type": "text", "text": "a"}]});
    let result = decode(&[
        json!({"content": [7]}),
        json!({"content": [odd_thought]}),
        json!({"content": true}),
    ]);
    let found: Vec<_> = result
        .findings
        .iter()
        .map(|finding| (finding.kind, finding.raw.as_ref().map(ToString::to_string)))
        .collect();
    let seven = Some("7".to_owned());
    let unknown = ("unknown_content", seven);
    assert_eq!(found, [unknown.clone(), unknown]);
    assert_eq!(result.metadata["content"].to_string(), "true");
}
