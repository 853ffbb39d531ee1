//! The arguments of calls, asked for while their stream arrives.

mod wire;

use std::collections::BTreeMap;

use amplifier_core::{Json, Object};
use amplifier_stream::{
    Change, Dialect, Headers, Limits, PartialArguments, StreamDecoder, StreamEvent,
};
use proptest::prelude::*;

fn decoder() -> StreamDecoder {
    StreamDecoder::new(Dialect::Anthropic, 200, Headers::default(), Limits::DEFAULT)
}

fn event(data: &str) -> String {
    format!("data: {data}\n\n")
}

fn start(index: u64, block: &str) -> String {
    event(&format!(
        r#"{{"type":"content_block_start","index":{index},"content_block":{block}}}"#
    ))
}

fn delta(index: u64, json: &str) -> String {
    let delta = serde_json::json!({"type": "input_json_delta", "partial_json": json});
    event(&format!(
        r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#
    ))
}

fn stop(index: u64) -> String {
    event(&format!(
        r#"{{"type":"content_block_stop","index":{index}}}"#
    ))
}

/// What is shown after each of these pieces of a stream.
fn shown(index: u64, pieces: &[String]) -> Vec<Option<String>> {
    let mut decoder = decoder();
    let mut events = Vec::new();
    let shown = pieces.iter().map(|piece| {
        decoder.feed(piece.as_bytes(), &mut events).unwrap();
        let value = decoder.partial_arguments(index);
        value.map(|value| Json::Object(value.clone()).to_string())
    });
    shown.collect()
}

fn some(values: &[&str]) -> Vec<Option<String>> {
    values
        .iter()
        .map(|value| Some((*value).to_owned()))
        .collect()
}

#[test]
fn a_call_shows_its_arguments_from_its_start_to_after_its_end() {
    let call = r#"{"type":"tool_use","id":"t","name":"write","input":{}}"#;
    let pieces = [
        start(0, call),
        delta(0, r#"{"path": "a"#),
        delta(0, r#"b", "n": 1"#),
        delta(0, "2}"),
        stop(0),
    ];
    let expected = [
        "{}",
        r#"{"path":"a"}"#,
        r#"{"path":"ab"}"#,
        r#"{"path":"ab","n":12}"#,
    ];
    let mut expected = some(&expected);
    expected.push(expected[3].clone());
    assert_eq!(shown(0, &pieces), expected);
}

#[test]
fn the_input_of_a_servers_tool_is_shown_and_other_blocks_have_none() {
    let pieces = [
        start(0, r#"{"type":"text","text":"x"}"#),
        start(
            1,
            r#"{"type":"server_tool_use","id":"t","name":"search","input":{}}"#,
        ),
        delta(1, r#"{"query": "a"#),
        delta(1, r#"b"}"#),
        stop(1),
    ];
    assert_eq!(shown(0, &pieces), vec![None; 5]);
    let mut expected = vec![None, None];
    expected.extend(some(&[
        r#"{"query":"a"}"#,
        r#"{"query":"ab"}"#,
        r#"{"query":"ab"}"#,
    ]));
    assert_eq!(shown(1, &pieces), expected);
}

#[test]
fn a_block_that_begins_again_shows_nothing_of_what_was_dropped() {
    let call = r#"{"type":"tool_use","id":"t","name":"write","input":{}}"#;
    let message = |id| {
        event(&format!(
            r#"{{"type":"message_start","message":{{"id":"{id}"}}}}"#
        ))
    };
    let pieces = [
        message("a") + &start(0, call) + &delta(0, r#"{"old": "a long text"#),
        message("b"),
        start(0, call) + &delta(0, r#"{"new": "x"#),
    ];
    let mut expected = some(&[r#"{"old":"a long text"}"#, "", r#"{"new":"x"}"#]);
    expected[1] = None;
    assert_eq!(shown(0, &pieces), expected);
}

#[test]
fn halves_of_a_pair_in_two_deltas_are_joined() {
    let call = r#"{"type":"tool_use","id":"t","name":"write","input":{}}"#;
    let half = |half| {
        event(&format!(
            r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"input_json_delta","partial_json":{half}}}}}"#
        ))
    };
    let pieces = [
        start(0, call) + &delta(0, r#"{"a":"x"#),
        half(r#""\ud83d""#),
        half(r#""\ude00""#),
    ];
    assert_eq!(
        shown(0, &pieces),
        some(&[r#"{"a":"x"}"#, r#"{"a":"x"}"#, r#"{"a":"x😀"}"#])
    );
}

fn fragments(events: &[StreamEvent]) -> BTreeMap<u64, String> {
    let mut fragments = BTreeMap::<u64, String>::new();
    for event in events {
        if let Change::PartialJson(fragment) = &event.change {
            fragments
                .entry(event.block_index)
                .or_default()
                .push_str(fragment);
        }
    }
    fragments
}

proptest! {
    #[test]
    fn whenever_it_is_asked_for_it_is_what_the_events_amount_to(
        script in wire::script(),
        size in 1usize..200,
    ) {
        let mut decoder = decoder();
        let mut events = Vec::new();
        let mut last = BTreeMap::<u64, Object>::new();
        for chunk in script.wire.chunks(size) {
            decoder.feed(chunk, &mut events).unwrap();
            for (index, text) in fragments(&events) {
                let value = decoder.partial_arguments(index).cloned();
                let mut at_once = PartialArguments::default();
                prop_assert_eq!(value.as_ref(), Some(at_once.read(&text)));
                last.extend(value.map(|value| (index, value)));
            }
        }
        for (index, block) in (0..).zip(&script.blocks) {
            if block["type"] == "tool_call" {
                let shown = Json::Object(last[&index].clone()).to_string();
                let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
                prop_assert_eq!(&shown, &block["arguments"]);
            }
        }
    }
}
