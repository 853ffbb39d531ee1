//! What the events of an answer add up to is what its result says.

use std::collections::BTreeMap;

use amplifier_core::{Json, Object};
use amplifier_stream::{
    AgentEvent, Block, BlockType, Change, ChunkType, ParsedCall, ProcessedStream, StreamChunk,
    StreamEvent, StreamProcessor, StreamResult, ToolCall, ToolCallParser, chunk_of, last_chunk,
    parse_arguments,
};

/// A block as far as its events told it.
#[derive(Debug)]
struct Told {
    block_type: BlockType,
    about: Object,
    text: String,
    block: Option<Block>,
}

/// Folds the events of a decoder and holds them to be the result.
pub(crate) fn assert_blocks_agree(events: &[StreamEvent], result: &StreamResult) {
    let mut told: BTreeMap<u64, Told> = BTreeMap::new();
    for event in events.iter().chain(&result.events) {
        let known = told.get_mut(&event.block_index);
        match (&event.change, known) {
            (Change::Start(about), None) => {
                let block = Told {
                    block_type: event.block_type.clone(),
                    about: about.clone(),
                    text: String::new(),
                    block: None,
                };
                told.insert(event.block_index, block);
            }
            (Change::Delta(text) | Change::PartialJson(text), Some(told))
                if told.block.is_none() && told.block_type == event.block_type =>
            {
                told.text.push_str(text);
            }
            (Change::End(block), Some(told))
                if told.block.is_none() && told.block_type == event.block_type =>
            {
                told.block = Some(block.as_ref().clone());
            }
            (Change::Drop(_), Some(known)) if known.block_type == event.block_type => {
                told.remove(&event.block_index);
            }
            (_, known) => panic!("{event:?} follows {known:?}"),
        }
    }
    assert_eq!(told.len(), result.blocks.len(), "{told:?} {result:?}");
    for (told, block) in told.values().zip(&result.blocks) {
        assert_eq!(told.block_type, block.block_type(), "{told:?} {block:?}");
        match block {
            Block::ToolCall(call) => assert_call_agrees(told, call),
            Block::Content(_) => {
                if let Some(said) = said(block) {
                    assert_eq!(told.text.len(), said.len(), "{told:?} {block:?}");
                    let is_mixed = is_mixed(block);
                    assert!(is_mixed || told.text == said, "{told:?} {block:?}");
                }
            }
        }
    }
}

fn assert_call_agrees(told: &Told, call: &ToolCall) {
    let about = |key: &str| told.about.get(key).and_then(Json::as_str);
    assert!(
        about("id").is_none_or(|id| call.id.as_deref() == Some(id)),
        "{told:?} {call:?}"
    );
    assert!(
        about("name").is_none_or(|name| call.name == name),
        "{told:?} {call:?}"
    );
    let same = told.text.trim_ascii() == call.raw_arguments.trim_ascii();
    let parsed = |text| parse_arguments(text).map(|(arguments, _)| arguments).ok();
    assert!(
        same || parsed(&told.text) == parsed(&call.raw_arguments),
        "{told:?} {call:?}"
    );
    if let Some(Block::ToolCall(ended)) = &told.block {
        assert_eq!((&ended.id, &ended.name), (&call.id, &call.name));
        assert!(
            call.arguments.is_none() || call.arguments == ended.arguments,
            "{told:?} {call:?}"
        );
    }
}

/// The text or the thinking of a block.
fn said(block: &Block) -> Option<String> {
    let Block::Content(fields) = block else {
        return None;
    };
    let text = |key: &str| fields.get(key).and_then(Json::as_str).unwrap_or_default();
    match block.block_type() {
        BlockType::Text => Some(text("text").to_owned() + text("refusal")),
        BlockType::Thinking => Some(text("thinking").to_owned()),
        _ => None,
    }
}

/// Whether the parts of a text and of a refusal may have taken turns.
fn is_mixed(block: &Block) -> bool {
    let has = |key: &str| match block {
        Block::Content(fields) => fields
            .get(key)
            .is_some_and(|text| text.as_str() != Some("")),
        Block::ToolCall(_) => false,
    };
    has("text") && has("refusal")
}

/// Processes an answer with and without tags, and holds its events to be what it amounts to.
///
/// The texts of an answer that `is_split` may come in another order: a text that is split after a
/// later block began has no number before that block for its parts.
pub(crate) fn assert_agent_events_agree(
    events: &[StreamEvent],
    result: &StreamResult,
    is_split: bool,
) {
    let chunks: Vec<StreamChunk> = events
        .iter()
        .chain(&result.events)
        .filter_map(chunk_of)
        .chain([last_chunk(result)])
        .collect();
    fold(&chunks, Some(ToolCallParser::default()));
    let answer = fold(&chunks, None);
    let of_type = |block_type| {
        let blocks = result.blocks.iter();
        blocks.filter(move |block| block.block_type() == block_type)
    };
    let whole = |block_type| of_type(block_type).filter_map(said).collect::<String>();
    let comparable = |text: &str| {
        let mut bytes = text.as_bytes().to_vec();
        if is_split {
            bytes.sort_unstable();
        }
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let assert_same = |one: &str, other: &str| assert_eq!(comparable(one), comparable(other));
    assert_same(&answer.thinking_content, &whole(BlockType::Thinking));
    if !result.blocks.iter().any(is_mixed) {
        assert_same(&answer.assistant_content, &whole(BlockType::Text));
    }
    // None that was withdrawn is among them.
    let count = of_type(BlockType::ToolCall).count();
    assert_eq!(answer.calls.len(), count, "{answer:?}");
    let mut calls: Vec<String> = answer.calls.iter().filter_map(runnable).collect();
    let mut expected: Vec<String> = of_type(BlockType::ToolCall)
        .filter_map(|block| match block {
            Block::ToolCall(call) => call.arguments.clone().map(|arguments| {
                let arguments = Json::Object(arguments);
                format!("{:?} {} {arguments}", call.id, call.name)
            }),
            Block::Content(_) => None,
        })
        .collect();
    calls.sort();
    expected.sort();
    assert_eq!(calls, expected);
}

fn runnable(call: &ParsedCall) -> Option<String> {
    let arguments = Json::Object(call.arguments.clone()?);
    Some(format!("{:?} {} {arguments}", call.id, call.name))
}

/// A call as far as the events for an agent told it.
#[derive(Debug, Default)]
struct ToldCall {
    id: Option<String>,
    name: Option<String>,
    content: String,
    end: Option<ParsedCall>,
}

fn fold(chunks: &[StreamChunk], parser: Option<ToolCallParser>) -> ProcessedStream {
    let mut processor = StreamProcessor::new(parser);
    let mut events: Vec<AgentEvent> = Vec::new();
    for chunk in chunks {
        events.extend(processor.feed(chunk));
    }
    events.extend(processor.finish());
    let answer = processor.into_result();
    let (mut thinking, mut message) = (String::new(), String::new());
    let (mut is_thinking, mut has_message) = (false, false);
    let mut calls: BTreeMap<u64, ToldCall> = BTreeMap::new();
    for event in events {
        match event {
            AgentEvent::ThinkingStart => assert!(!std::mem::replace(&mut is_thinking, true)),
            AgentEvent::ThinkingContent(text) => thinking.push_str(&text),
            AgentEvent::ThinkingEnd => assert!(std::mem::take(&mut is_thinking)),
            AgentEvent::MessageStart => assert!(!std::mem::replace(&mut has_message, true)),
            AgentEvent::MessageContent(text) => message.push_str(&text),
            AgentEvent::MessageEnd => assert!(std::mem::take(&mut has_message)),
            AgentEvent::Restart(ChunkType::Thinking) => {
                assert!(!is_thinking);
                thinking.clear();
            }
            AgentEvent::Restart(_) => {
                assert!(!has_message);
                message.clear();
            }
            AgentEvent::ToolCallStart { index, id, name } => {
                let call = ToldCall {
                    id,
                    name,
                    ..ToldCall::default()
                };
                assert!(calls.insert(index, call).is_none());
            }
            AgentEvent::ToolCallContent {
                index,
                content,
                name,
            } => {
                let call = calls.get_mut(&index).unwrap();
                assert!(call.end.is_none());
                call.content.push_str(&content);
                assert!(name.is_none() || call.name.is_none());
                call.name = call.name.take().or(name);
            }
            AgentEvent::ToolCallEnd(call) => {
                let told = calls.get_mut(&call.index).unwrap();
                assert!(told.end.replace(*call).is_none());
            }
            AgentEvent::Error(_) | AgentEvent::Custom { .. } => {}
        }
    }
    assert!(!is_thinking && !has_message);
    assert_eq!(
        (&thinking, &message),
        (&answer.thinking_content, &answer.assistant_content)
    );
    assert!(calls.values().all(|told| told.end.is_some()));
    for call in &answer.calls {
        let told = &calls[&call.index];
        let end = told.end.as_ref().unwrap();
        assert_eq!(
            (&end.id, &end.name, &end.raw),
            (&call.id, &call.name, &call.raw)
        );
        assert!(call.arguments.is_none() || call.arguments == end.arguments);
        if call.is_native {
            assert!(told.id.is_none() || told.id == call.id, "{told:?} {call:?}");
        }
        assert!(
            told.name.as_ref().is_none_or(|name| *name == call.name),
            "{told:?} {call:?}"
        );
        let parsed = |text| parse_arguments(text).map(|(arguments, _)| arguments).ok();
        if call.is_native && told.content.trim_ascii() != call.raw.trim_ascii() {
            assert_eq!(
                parsed(&told.content),
                parsed(&call.raw),
                "{told:?} {call:?}"
            );
        }
    }
    answer
}
