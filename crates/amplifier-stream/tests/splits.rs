//! However the bytes of a stream are cut, it says the same.

mod cut;
mod decoded;
mod wire;

use std::collections::BTreeMap;

use amplifier_stream::{Block, Change, Dialect, StreamEvent, StreamResult};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use cut::cut;
use decoded::blocks;

fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> (Vec<StreamEvent>, StreamResult) {
    decoded::decode(Dialect::Anthropic, chunks)
}

/// The streamed text of each block.
fn streamed(events: &[StreamEvent]) -> BTreeMap<u64, String> {
    let mut texts = BTreeMap::new();
    for event in events {
        if let Change::Delta(text) | Change::PartialJson(text) = &event.change {
            texts
                .entry(event.block_index)
                .or_insert_with(String::new)
                .push_str(text);
        }
    }
    texts
}

/// Events of the right form in any order, with fields that may not fit.
fn events_in_any_order() -> impl Strategy<Value = Vec<u8>> {
    let index = prop_oneof![(0..3u32).prop_map(Some), Just(None)];
    let kind = select(vec![
        "message_start",
        "content_block_start",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "error",
        "ping",
        "news",
    ]);
    let body = select(vec![
        r#"{"type":"text","text":"a\ud83d"}"#,
        r#"{"type":"tool_use","id":"t","name":"n","input":{}}"#,
        r#"{"type":"tool_use","id":"t","name":"n","input":{"a":1}}"#,
        r#"{"type":"thinking","thinking":""}"#,
        r#"{"type":"other","text":"x"}"#,
        r#"{"type":"text_delta","text":"\ude00b\ud83d"}"#,
        r#"{"type":"thinking_delta","thinking":"b"}"#,
        r#"{"type":"input_json_delta","partial_json":"{}"}"#,
        r#"{"type":"input_json_delta","partial_json":"\ud83d"}"#,
        r#"{"type":"signature_delta","signature":"s"}"#,
        r#"{"type":"citations_delta","citation":null}"#,
        r#"{"type":"compaction_delta","content":"c"}"#,
        r#"{"stop_reason":"max_tokens","usage":7,"id":"m","content":[{"type":"tool_use"}]}"#,
        r#"{"id":"n","usage":{"output_tokens":1e400}}"#,
        "[]",
        "null",
    ]);
    let event = (kind, index, body).prop_map(|(kind, index, body)| {
        let index = index.map_or_else(String::new, |index| format!(r#""index":{index},"#));
        format!(
            "data: {{\"type\":\"{kind}\",{index}\"delta\":{body},\"content_block\":{body},\
             \"message\":{body},\"usage\":{body},\"error\":{body}}}\n\n"
        )
    });
    prop::collection::vec(event, 0..24).prop_map(|events| events.concat().into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn events_in_any_order_are_never_fatal(
        wire in events_in_any_order(),
        places in prop::collection::vec(any::<Index>(), 0..6),
    ) {
        let (events, result) = decode([wire.as_slice()]);
        prop_assert_eq!(&decode(cut(&wire, &places)), &(events, result.clone()));
        for block in &result.blocks {
            if let Block::ToolCall(call) = block {
                prop_assert_eq!(call.arguments.is_none(), call.error.is_some());
                let is_failed = result.truncated || result.error.is_some();
                prop_assert!(!is_failed || call.arguments.is_none());
            }
        }
    }

    #[test]
    fn a_stream_decodes_to_the_blocks_that_it_was_made_of(script in wire::script()) {
        let (events, result) = decode([script.wire.as_slice()]);
        prop_assert_eq!(blocks(&result), script.blocks.clone());
        prop_assert_eq!(&result.findings, &vec![]);
        prop_assert_eq!((result.truncated, &result.error, result.stop_reason), (false, &None, Some("end_turn")));
        let texts = streamed(&events);
        for (index, block) in (0u64..).zip(&script.blocks) {
            let whole = ["text", "thinking", "raw_arguments"].iter().find_map(|key| block.get(key));
            if let Some(whole) = whole {
                prop_assert_eq!(texts[&index].as_str(), whole.as_str().unwrap());
            }
        }
    }

    #[test]
    fn chunk_boundaries_do_not_matter(
        script in wire::script(),
        places in prop::collection::vec(any::<Index>(), 0..20),
    ) {
        prop_assert_eq!(decode(cut(&script.wire, &places)), decode([script.wire.as_slice()]));
    }

    #[test]
    fn single_bytes_say_the_same_as_the_whole(script in wire::script()) {
        prop_assert_eq!(decode(script.wire.chunks(1)), decode([script.wire.as_slice()]));
    }

    #[test]
    fn a_stream_cut_short_is_truncated_and_runs_nothing(script in wire::script(), place: Index) {
        // CR LF may lose its LF at the very end: the blank line is complete without it.
        let end = script.wire.len() - usize::from(script.wire.ends_with(b"\r\n"));
        let (_, result) = decode([&script.wire[..place.index(end)]]);
        prop_assert!(result.truncated);
        for block in &result.blocks {
            if let Block::ToolCall(call) = block {
                prop_assert_eq!((&call.arguments, call.error.is_some()), (&None, true));
            }
        }
    }

    #[test]
    fn damaged_bytes_are_never_fatal(
        script in wire::script(),
        damage in prop::collection::vec((any::<Index>(), any::<u8>()), 1..6),
        places in prop::collection::vec(any::<Index>(), 0..6),
    ) {
        let mut wire = script.wire;
        for (place, byte) in damage {
            let place = place.index(wire.len());
            wire[place] = byte;
        }
        prop_assert_eq!(decode(cut(&wire, &places)), decode([wire.as_slice()]));
    }
}
