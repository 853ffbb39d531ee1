//! Anthropic streams made to order, with the blocks that they must decode to.

use std::fmt::Write as _;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

mod generated;

use generated::{pieces, text, value};

/// Bytes of a stream and what they mean.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    pub(crate) wire: Vec<u8>,
    pub(crate) blocks: Vec<Value>,
}

/// One block: the value at its start, its deltas, and what it becomes.
#[derive(Debug, Clone)]
struct BlockScript {
    start: Value,
    deltas: Vec<String>,
    block: Value,
}

/// How the bytes of one event are written.
#[derive(Debug, Clone)]
struct Style {
    line_end: &'static str,
    padding: usize,
    noise: &'static str,
}

/// The deltas that carry a text, cut anywhere, also inside surrogate pairs.
fn deltas(kind: &str, key: &str, text: &str, cuts: &[Index], escapes: bool) -> Vec<String> {
    let pieces = pieces(text, cuts, escapes).into_iter();
    pieces
        .map(|piece| format!(r#"{{"type":"{kind}","{key}":{piece}}}"#))
        .collect()
}

fn block() -> impl Strategy<Value = BlockScript> {
    let cuts = || prop::collection::vec(any::<Index>(), 0..6);
    prop_oneof![
        (
            text(),
            cuts(),
            any::<bool>(),
            prop::collection::vec(value(), 0..2)
        )
            .prop_map(|(text, cuts, escapes, citations)| {
                let mut all: Vec<String> = citations
                    .iter()
                    .map(|citation| {
                        json!({"type": "citations_delta", "citation": citation}).to_string()
                    })
                    .collect();
                all.extend(deltas("text_delta", "text", &text, &cuts, escapes));
                BlockScript {
                    start: json!({"type": "text", "text": "", "citations": []}),
                    deltas: all,
                    block: json!({"type": "text", "text": text, "citations": citations}),
                }
            }),
        (text(), cuts(), any::<bool>(), text()).prop_map(|(text, cuts, escapes, signature)| {
            let mut all = deltas("thinking_delta", "thinking", &text, &cuts, escapes);
            all.push(json!({"type": "signature_delta", "signature": signature}).to_string());
            BlockScript {
                start: json!({"type": "thinking", "thinking": "", "signature": ""}),
                deltas: all,
                block: json!({"type": "thinking", "thinking": text, "signature": signature}),
            }
        }),
        (
            value(),
            cuts(),
            any::<bool>(),
            select(vec!["tool_use", "server_tool_use"])
        )
            .prop_map(|(value, cuts, escapes, kind)| {
                let input = json!({"value": value});
                let raw = input.to_string();
                let mut all =
                    vec![json!({"type": "input_json_delta", "partial_json": ""}).to_string()];
                all.extend(deltas(
                    "input_json_delta",
                    "partial_json",
                    &raw,
                    &cuts,
                    escapes,
                ));
                let block = if kind == "tool_use" {
                    json!({"type": "tool_call", "id": "call_1", "name": "look", "arguments": input,
                        "raw_arguments": raw, "error": null, "caller": {"type": "direct"}})
                } else {
                    json!({"type": kind, "id": "call_1", "name": "look", "input": input,
                        "caller": {"type": "direct"}})
                };
                let start = json!({"type": kind, "id": "call_1", "name": "look", "input": {},
                    "caller": {"type": "direct"}});
                BlockScript {
                    start,
                    deltas: all,
                    block,
                }
            }),
        (
            text(),
            value(),
            select(vec![
                "redacted_thinking",
                "web_search_tool_result",
                "brand_new"
            ])
        )
            .prop_map(|(data, content, kind)| {
                let block = json!({"type": kind, "data": data, "content": content});
                BlockScript {
                    start: block.clone(),
                    deltas: vec![],
                    block,
                }
            }),
    ]
}

fn style() -> impl Strategy<Value = Style> {
    let noise = select(vec!["", ": a comment", "id: 7", "retry: 5", "anything"]);
    (select(vec!["\n", "\r\n", "\r"]), 0usize..4, noise).prop_map(|(line_end, padding, noise)| {
        Style {
            line_end,
            padding,
            noise,
        }
    })
}

fn write(events: &[(&str, String)], styles: &[Style]) -> Vec<u8> {
    let mut wire = String::new();
    for ((name, data), style) in events.iter().zip(styles.iter().cycle()) {
        let Style {
            line_end,
            padding,
            noise,
        } = style;
        if !noise.is_empty() {
            wire.push_str(noise);
            wire.push_str(line_end);
        }
        let blank = " ".repeat(*padding);
        write!(
            wire,
            "event: {name}{line_end}data: {data}{blank}{line_end}{line_end}"
        )
        .unwrap();
    }
    wire.into_bytes()
}

/// A complete stream of all kinds of blocks, written in all ways.
pub(crate) fn script() -> impl Strategy<Value = Script> {
    let blocks = prop::collection::vec(block(), 0..5);
    (blocks, prop::collection::vec(style(), 1..6)).prop_map(|(blocks, styles)| {
        let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": [],
            "model": "claude", "stop_reason": null, "usage": {"input_tokens": 3, "output_tokens": 1}});
        let mut events = vec![
            ("message_start", json!({"type": "message_start", "message": message}).to_string()),
            ("ping", r#"{"type": "ping"}"#.to_owned()),
        ];
        for (index, block) in blocks.iter().enumerate() {
            let start = &block.start;
            events.push((
                "content_block_start",
                json!({"type": "content_block_start", "index": index, "content_block": start})
                    .to_string(),
            ));
            for delta in &block.deltas {
                events.push((
                    "content_block_delta",
                    format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#),
                ));
            }
            events.push((
                "content_block_stop",
                format!(r#"{{"type":"content_block_stop","index":{index}}}"#),
            ));
        }
        let delta = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 9}});
        events.push(("message_delta", delta.to_string()));
        events.push(("message_stop", r#"{"type": "message_stop"}"#.to_owned()));
        let blocks = blocks.into_iter().map(|block| block.block).collect();
        Script { wire: write(&events, &styles), blocks }
    })
}
