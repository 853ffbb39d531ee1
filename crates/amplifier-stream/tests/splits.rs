//! However the bytes of a stream are cut, it says the same.

mod wire;

use std::collections::BTreeMap;
use std::time::SystemTime;

use amplifier_stream::{
    Block, Change, Dialect, Headers, Limits, StreamDecoder, StreamEvent, StreamResult,
};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;

fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> (Vec<StreamEvent>, StreamResult) {
    let headers = Headers::default();
    let mut decoder = StreamDecoder::new(Dialect::Anthropic, 200, headers, Limits::DEFAULT);
    let mut events = Vec::new();
    for chunk in chunks {
        decoder.feed(chunk, &mut events).unwrap();
    }
    (events, decoder.finish(SystemTime::UNIX_EPOCH))
}

fn blocks(result: &StreamResult) -> Vec<Value> {
    let read = |block: &Block| serde_json::from_str(&block.to_json().to_string()).unwrap();
    result.blocks.iter().map(read).collect()
}

fn cut<'a>(wire: &'a [u8], places: &[Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = places
        .iter()
        .map(|place| place.index(wire.len() + 1))
        .collect();
    places.sort_unstable();
    places.push(wire.len());
    let mut start = 0;
    let piece = |end| {
        let piece = &wire[start..end];
        start = end;
        piece
    };
    places.into_iter().map(piece).collect()
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

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
