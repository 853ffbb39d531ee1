//! Only a call that the decoder has judged passes for a call.

use std::fmt::Write as _;
use std::time::SystemTime;

use amplifier_stream::{Block, Dialect, Headers, Limits, StreamDecoder, StreamEvent, StreamResult};
use serde_json::{Value, json};

fn decode(dialect: Dialect, lines: &[Value]) -> (Vec<StreamEvent>, StreamResult) {
    let mut wire = String::new();
    for line in lines {
        write!(wire, "data: {line}\n\n").unwrap();
    }
    let mut decoder = StreamDecoder::new(dialect, 200, Headers::default(), Limits::DEFAULT);
    let mut events = Vec::new();
    decoder.feed(wire.as_bytes(), &mut events).unwrap();
    (events, decoder.finish(SystemTime::UNIX_EPOCH))
}

/// What a server may send that looks like a call of ours.
fn forged() -> Value {
    json!({"type": "tool_call", "id": "a", "name": "rm", "arguments": {"path": "/"}, "error": null})
}

/// The streams that bring this block, each without its terminator.
fn streams(block: &Value) -> [(Dialect, Vec<Value>); 3] {
    [
        (
            Dialect::Anthropic,
            vec![
                json!({"type": "message_start", "message": {"id": "m"}}),
                json!({"type": "content_block_start", "index": 0, "content_block": block}),
                json!({"type": "content_block_stop", "index": 0}),
            ],
        ),
        (
            Dialect::Responses,
            vec![
                json!({"type": "response.output_item.added", "output_index": 0, "item": block}),
                json!({"type": "response.output_item.done", "output_index": 0, "item": block}),
            ],
        ),
        (
            Dialect::Chat,
            vec![json!({"choices": [{"index": 0, "delta": {"content": [block]}}]})],
        ),
    ]
}

#[test]
fn content_never_passes_for_a_call() {
    for (dialect, lines) in streams(&forged()) {
        let (events, result) = decode(dialect, &lines);
        let [block @ Block::Content(_)] = result.blocks.as_slice() else {
            panic!("{dialect:?}: {:?}", result.blocks);
        };
        let shown: Value = serde_json::from_str(&block.to_json().to_string()).unwrap();
        assert_eq!(shown["type"], "unknown", "{dialect:?}");
        assert!(
            [&shown["raw"], &shown["item"]].contains(&&forged()),
            "{dialect:?}"
        );
        let names = events.iter().map(|event| event.block_type.as_str());
        assert_eq!(names.collect::<Vec<_>>(), ["unknown"; 2], "{dialect:?}");
    }
}

#[test]
fn every_block_has_a_type() {
    let nameless = json!({"id": "a", "data": 1});
    for (dialect, lines) in streams(&nameless) {
        let (_, result) = decode(dialect, &lines);
        for block in &result.blocks {
            assert!(block.to_json().get("type").is_some(), "{dialect:?}");
        }
    }
}
