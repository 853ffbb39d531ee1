//! Thinking tags in answers that are corrected, begin in another order or break off.

use std::time::SystemTime;

use amplifier_stream::{
    BlockType, Change, Dialect, Headers, Limits, ProcessedStream, StreamDecoder, StreamEvent,
    StreamResult, ThinkingFilter, ThinkingParser, chunk_of, last_chunk, process_stream,
};
use serde_json::{Value, json};

fn decode(dialect: Dialect, events: &[Value]) -> (Vec<StreamEvent>, StreamResult) {
    let mut decoder = StreamDecoder::new(dialect, 200, Headers::default(), Limits::DEFAULT);
    let mut filter = ThinkingFilter::new(ThinkingParser::default());
    let mut told = Vec::new();
    for event in events {
        let wire = format!("data: {event}\n\n");
        decoder.feed(wire.as_bytes(), &mut told).unwrap();
    }
    let events = told.iter().flat_map(|event| filter.feed(event));
    let events = events.collect();
    let result = filter.finish(decoder.finish(SystemTime::UNIX_EPOCH));
    (events, result)
}

fn process(events: &[StreamEvent], result: &StreamResult) -> ProcessedStream {
    let chunks = events.iter().chain(&result.events).filter_map(chunk_of);
    process_stream(
        chunks.chain([last_chunk(result)]),
        None,
        |_| {},
        |_, _, _, _| {},
    )
}

fn begin(index: u64, block: &Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "look", "input": {}})
}

fn end(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn message(id: &str) -> Value {
    json!({"type": "message_start", "message": {"id": id, "content": []}})
}

fn item(text: &str) -> Value {
    json!({"type": "message", "content": [{"type": "output_text", "text": text}]})
}

#[test]
fn what_a_decoder_refuses_at_the_end_is_refused_in_any_order_of_beginnings() {
    let (events, result) = decode(
        Dialect::Anthropic,
        &[
            message("m"),
            begin(1, &call("cut")),
            end(1),
            begin(0, &call("whole")),
            end(0),
            json!({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}),
            json!({"type": "message_stop"}),
        ],
    );
    let answer = process(&events, &result);
    let runnable = |call: &&amplifier_stream::ParsedCall| call.arguments.is_some();
    let runnable = answer.calls.iter().filter(runnable);
    let ids: Vec<Option<&str>> = runnable.map(|call| call.id.as_deref()).collect();
    assert_eq!(ids, [Some("whole")]);
}

#[test]
fn a_block_that_starts_again_keeps_its_numbers() {
    let done = |index: u64, text: &str| json!({"type": "response.output_item.done", "output_index": index, "item": item(text)});
    let output = [item("<thinking>x</thinking>One "), item("two")];
    let response = json!({"id": "r", "status": "completed", "output": output});
    let (events, result) = decode(
        Dialect::Responses,
        &[
            json!({"type": "response.created", "response": {"id": "r"}}),
            done(0, "<thinking>x</thinking>one "),
            done(1, "two"),
            json!({"type": "response.completed", "response": response}),
        ],
    );
    let starts = events.iter().filter_map(|event| match event.change {
        Change::Start(_) => Some((event.block_type.clone(), event.block_index)),
        _ => None,
    });
    assert_eq!(
        starts.collect::<Vec<_>>(),
        [
            (BlockType::Thinking, 0),
            (BlockType::Text, 1),
            (BlockType::Text, 2),
            (BlockType::Thinking, 0),
            (BlockType::Text, 1),
        ]
    );
    assert_eq!(process(&events, &result).assistant_content, "One two");
}

#[test]
fn an_answer_that_starts_again_counts_its_blocks_from_zero() {
    let (events, result) = decode(
        Dialect::Anthropic,
        &[
            message("m1"),
            begin(0, &text("a")),
            end(0),
            begin(1, &text("b")),
            message("m2"),
            begin(0, &text("<thinking>x</thinking>one ")),
            end(0),
            begin(1, &text("two")),
            end(1),
            json!({"type": "message_stop"}),
        ],
    );
    let ends = events.iter().filter_map(|event| match event.change {
        Change::End(_) => Some(event.block_index),
        _ => None,
    });
    assert_eq!(ends.collect::<Vec<_>>(), [0, 0, 1, 2]);
    assert_eq!(process(&events, &result).assistant_content, "one two");
}

#[test]
fn an_answer_that_breaks_off_in_a_tag_has_its_text_in_the_events_too() {
    let (events, result) = decode(
        Dialect::Anthropic,
        &[message("m"), begin(0, &text("a</thi")), begin(1, &text(""))],
    );
    let answer = process(&events, &result);
    assert_eq!(answer.assistant_content, "a</thi");
    let changes = events.iter().chain(&result.events);
    let starts = changes.filter(|event| matches!(event.change, Change::Start(_)));
    assert_eq!(starts.count(), result.blocks.len());
}

#[test]
fn a_refusal_ends_as_the_block_of_the_result() {
    let choice = json!({"index": 0, "delta": {"refusal": "no"}, "finish_reason": "stop"});
    let mut decoder = StreamDecoder::new(Dialect::Chat, 200, Headers::default(), Limits::DEFAULT);
    let mut filter = ThinkingFilter::new(ThinkingParser::default());
    let mut told = Vec::new();
    let wire = format!("data: {}\n\ndata: [DONE]\n\n", json!({"choices": [choice]}));
    decoder.feed(wire.as_bytes(), &mut told).unwrap();
    let events: Vec<_> = told.iter().flat_map(|event| filter.feed(event)).collect();
    let result = filter.finish(decoder.finish(SystemTime::UNIX_EPOCH));
    let Some(Change::End(ended)) = events.last().map(|event| &event.change) else {
        panic!("{events:?}");
    };
    assert_eq!(**ended, result.blocks[0]);
}
