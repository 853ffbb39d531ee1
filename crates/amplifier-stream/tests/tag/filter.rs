//! Thinking tags within the text blocks of a decoder.

use std::collections::BTreeMap;
use std::sync::Arc;

use amplifier_core::{Json, Object};
use amplifier_stream::{
    Block, BlockType, Change, StreamEvent, StreamResult, ThinkingFilter, ThinkingParser,
};
use proptest::prelude::*;

use crate::splits::text;

fn block(json: &str) -> Block {
    match Json::parse(json.as_bytes()) {
        Ok(Json::Object(fields)) => Block::Content(fields),
        other => panic!("{other:?}"),
    }
}

fn text_block(text: &str) -> Block {
    let fields = [("type", "text"), ("text", text), ("extra", "kept")];
    Block::Content(Object::from_iter(
        fields.map(|(key, text)| (key.to_owned(), text.into())),
    ))
}

fn event(block_type: BlockType, block_index: u64, change: Change) -> StreamEvent {
    StreamEvent {
        block_type,
        block_index,
        change,
    }
}

/// The events of a text block that arrives in these pieces.
fn events(index: u64, pieces: &[&str]) -> Vec<StreamEvent> {
    let about = Object::from_iter([("about".to_owned(), Json::Bool(true))]);
    let deltas = pieces
        .iter()
        .map(|piece| Change::Delta((*piece).to_owned()));
    let end = Change::End(Arc::new(text_block(&pieces.concat())));
    [Change::Start(about)]
        .into_iter()
        .chain(deltas)
        .chain([end])
        .map(|change| event(BlockType::Text, index, change))
        .collect()
}

fn filter() -> ThinkingFilter {
    ThinkingFilter::new(ThinkingParser::default())
}

#[test]
fn a_text_block_becomes_its_thinking_and_its_text() {
    let mut filter = filter();
    let opaque = event(
        BlockType::Other("news".into()),
        1,
        Change::Start(Object::new()),
    );
    let wire = [events(0, &["a<thin", "king>b</thinking>c"]), vec![opaque]].concat();
    let found: Vec<_> = wire.iter().flat_map(|event| filter.feed(event)).collect();
    let start = |flag: bool| {
        let about = flag.then(|| ("about".to_owned(), Json::Bool(true)));
        Change::Start(about.into_iter().collect())
    };
    let delta = |text: &str| Change::Delta(text.to_owned());
    let end = |block| Change::End(Arc::new(block));
    assert_eq!(
        found,
        [
            event(BlockType::Text, 0, start(true)),
            event(BlockType::Text, 0, delta("a")),
            event(
                BlockType::Text,
                0,
                end(block(r#"{"type":"text","text":"a"}"#))
            ),
            event(BlockType::Thinking, 1, start(false)),
            event(BlockType::Thinking, 1, delta("b")),
            event(
                BlockType::Thinking,
                1,
                end(block(r#"{"type":"thinking","thinking":"b"}"#))
            ),
            event(BlockType::Text, 2, start(false)),
            event(BlockType::Text, 2, delta("c")),
            event(BlockType::Text, 2, end(text_block("c"))),
            event(BlockType::Other("news".into()), 3, start(false)),
        ]
    );
}

#[test]
fn the_result_tells_of_tags_without_their_other_half() {
    let result = StreamResult {
        blocks: vec![text_block("a</thinking><thinking>b")],
        ..StreamResult::default()
    };
    let result = filter().finish(result);
    let kinds: Vec<_> = result
        .findings
        .iter()
        .map(|finding| (finding.kind, finding.block_index))
        .collect();
    assert_eq!(
        kinds,
        [
            ("stray_closing_tag", Some(0)),
            ("unclosed_thinking", Some(1))
        ]
    );
}

#[test]
fn nothing_is_left_of_a_block_that_is_a_stray_tag_alone() {
    let mut filter = filter();
    let found: Vec<_> = events(0, &["</thinking>"])
        .iter()
        .flat_map(|event| filter.feed(event))
        .map(|event| event.change)
        .collect();
    assert_eq!(found[1..], [Change::End(Arc::new(text_block("")))]);

    let result = filter.finish(StreamResult {
        blocks: vec![text_block("</thinking>")],
        ..StreamResult::default()
    });
    assert_eq!(result.blocks, [text_block("")]);
    assert_eq!(result.findings[0].kind, "stray_closing_tag");
}

proptest! {
    #[test]
    fn the_blocks_of_the_events_are_those_of_the_result(
        first in prop::collection::vec(text(), 0..4),
        second in prop::collection::vec(text(), 0..4),
    ) {
        let pieces = [first, second];
        let mut filter = filter();
        let mut streamed = BTreeMap::new();
        let mut deltas: BTreeMap<u64, String> = BTreeMap::new();
        for (index, pieces) in (0u64..).zip(&pieces) {
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            for event in events(index, &pieces).iter().flat_map(|event| filter.feed(event)) {
                match event.change {
                    Change::End(block) => drop(streamed.insert(event.block_index, (*block).clone())),
                    Change::Drop(_) => drop(streamed.remove(&event.block_index)),
                    Change::Delta(text) => deltas.entry(event.block_index).or_default().push_str(&text),
                    Change::Start(_) | Change::PartialJson(_) => {}
                }
            }
        }
        let blocks: Vec<Block> = pieces.iter().map(|pieces| text_block(&pieces.concat())).collect();
        let result = filter.finish(StreamResult { blocks, ..StreamResult::default() });
        prop_assert_eq!(streamed.values().cloned().collect::<Vec<_>>(), result.blocks.clone());
        for (index, block) in (0u64..).zip(&result.blocks) {
            let Block::Content(fields) = block else { panic!("{block:?}") };
            let text = fields.get("text").or_else(|| fields.get("thinking")).and_then(Json::as_str);
            prop_assert_eq!(deltas.get(&index).map_or("", String::as_str), text.unwrap());
        }
    }
}
