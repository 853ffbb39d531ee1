//! Streams of Chat Completions and of Ollama made to order, with the blocks that they must decode to.

use std::fmt::Write as _;

use amplifier_stream::Dialect;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

#[path = "../wire/generated.rs"]
mod generated;

use generated::{pieces, text, value};

/// Bytes of a stream and what they mean.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    pub(crate) dialect: Dialect,
    pub(crate) wire: Vec<u8>,
    pub(crate) blocks: Vec<Value>,
}

/// A part of an answer, and where it is cut.
#[derive(Debug, Clone)]
enum Part {
    Text(String, Vec<Index>),
    Thinking(String, Vec<Index>),
    Call(Value, Vec<Index>),
}

/// How a server writes.
#[derive(Debug, Clone)]
struct Style {
    reasoning: &'static str,
    line_end: &'static str,
    noise: &'static str,
    escapes: bool,
    has_lists: bool,
    has_indices: bool,
}

fn chat_deltas(parts: &[Part], style: &Style) -> Vec<String> {
    let mut deltas = Vec::new();
    let mut calls = 0;
    for part in parts {
        match part {
            Part::Text(text, cuts) => {
                for (number, piece) in (0..).zip(pieces(text, cuts, style.escapes)) {
                    deltas.push(if style.has_lists && number % 2 == 0 {
                        format!(r#"{{"content":[{{"type":"text","text":{piece}}}]}}"#)
                    } else {
                        format!(r#"{{"content":{piece},"{}":null}}"#, style.reasoning)
                    });
                }
            }
            Part::Thinking(text, cuts) => {
                let pieces = pieces(text, cuts, style.escapes).into_iter();
                deltas.extend(
                    pieces
                        .map(|piece| format!(r#"{{"{}":{piece},"content":""}}"#, style.reasoning)),
                );
            }
            Part::Call(value, cuts) => {
                let index = if style.has_indices {
                    format!(r#""index":{calls},"#)
                } else {
                    String::new()
                };
                let arguments = json!({"value": value}).to_string();
                deltas.push(format!(
                    r#"{{"tool_calls":[{{{index}"id":"call_{calls}","type":"function","function":{{"name":"look","arguments":""}}}}]}}"#
                ));
                let pieces = pieces(&arguments, cuts, style.escapes).into_iter();
                deltas.extend(pieces.map(|piece| {
                    format!(r#"{{"tool_calls":[{{{index}"function":{{"arguments":{piece}}}}}]}}"#)
                }));
                calls += 1;
            }
        }
    }
    deltas
}

fn chat(parts: &[Part], style: &Style) -> Vec<u8> {
    let Style {
        line_end, noise, ..
    } = style;
    let mut data: Vec<String> = chat_deltas(parts, style)
        .into_iter()
        .map(|delta| format!(r#"{{"id":"c","choices":[{{"delta":{delta},"index":0}}]}}"#))
        .collect();
    data.push(r#"{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}"#.to_owned());
    data.push(r#"{"choices":[],"usage":{"prompt_tokens":3}}"#.to_owned());
    data.push("[DONE]".to_owned());
    let mut wire = String::new();
    for data in data {
        write!(wire, "{noise}{line_end}data: {data}{line_end}{line_end}").unwrap();
    }
    wire.into_bytes()
}

fn ollama(parts: &[Part], style: &Style) -> Vec<u8> {
    let mut messages = Vec::new();
    for part in parts {
        match part {
            Part::Text(text, cuts) => {
                let pieces = pieces(text, cuts, style.escapes).into_iter();
                messages.extend(pieces.map(|piece| format!(r#"{{"content":{piece}}}"#)));
            }
            Part::Thinking(text, cuts) => {
                let pieces = pieces(text, cuts, style.escapes).into_iter();
                messages.extend(
                    pieces.map(|piece| format!(r#"{{"content":"","thinking":{piece}}}"#)),
                );
            }
            Part::Call(value, _) => messages.push(format!(
                r#"{{"tool_calls":[{{"function":{{"name":"look","arguments":{{"value":{value}}}}}}}]}}"#
            )),
        }
    }
    let line_end = style.line_end.replace('\r', "\r\n").replace("\n\n", "\n");
    let mut wire = String::new();
    for message in messages {
        let blank = if style.has_lists {
            line_end.as_str()
        } else {
            " "
        };
        write!(
            wire,
            r#"{{"message":{message},"done":false}}{blank}{line_end}"#
        )
        .unwrap();
    }
    wire.push_str(r#"{"done":true,"done_reason":"length"}"#);
    if style.has_indices {
        wire.push_str(&line_end);
    }
    wire.into_bytes()
}

/// The blocks: text of one kind is one block, and text that is empty none.
fn blocks(parts: &[Part], has_ids: bool) -> Vec<Value> {
    let mut blocks: Vec<Value> = Vec::new();
    let mut calls = 0;
    for part in parts {
        let (kind, key, text) = match part {
            Part::Text(text, _) => ("text", "text", text),
            Part::Thinking(text, _) => ("thinking", "thinking", text),
            Part::Call(value, _) => {
                let arguments = json!({"value": value});
                let id = has_ids.then(|| format!("call_{calls}"));
                blocks.push(json!({"type": "tool_call", "id": id, "name": "look",
                    "arguments": arguments, "raw_arguments": arguments.to_string(), "error": null}));
                calls += 1;
                continue;
            }
        };
        match blocks.last_mut() {
            _ if text.is_empty() => {}
            Some(last) if last["type"] == kind => {
                last[key] = json!(last[key].as_str().unwrap().to_owned() + text);
            }
            _ if kind == "text" => blocks.push(json!({"type": kind, "text": text})),
            _ => blocks.push(json!({"type": kind, "thinking": text, "signature": null})),
        }
    }
    blocks
}

fn part() -> impl Strategy<Value = Part> {
    let cuts = || prop::collection::vec(any::<Index>(), 0..6);
    prop_oneof![
        (text(), cuts()).prop_map(|(text, cuts)| Part::Text(text, cuts)),
        (text(), cuts()).prop_map(|(text, cuts)| Part::Thinking(text, cuts)),
        (value(), cuts()).prop_map(|(value, cuts)| Part::Call(value, cuts)),
    ]
}

/// A complete stream of either dialect, written in all ways.
pub(crate) fn script() -> impl Strategy<Value = Script> {
    let style = (
        select(vec!["reasoning", "reasoning_content"]),
        select(vec!["\n", "\r\n", "\r"]),
        select(vec![
            "",
            ": a comment",
            "id: 7",
            "retry: 5",
            "event: message",
            "anything",
        ]),
        any::<[bool; 3]>(),
    )
        .prop_map(
            |(reasoning, line_end, noise, [escapes, has_lists, has_indices])| Style {
                reasoning,
                line_end,
                noise,
                escapes,
                has_lists,
                has_indices,
            },
        );
    let parts = prop::collection::vec(part(), 0..6);
    (parts, style, any::<bool>()).prop_map(|(parts, style, is_chat)| {
        let (dialect, wire) = if is_chat {
            (Dialect::Chat, chat(&parts, &style))
        } else {
            (Dialect::Ollama, ollama(&parts, &style))
        };
        Script {
            dialect,
            wire,
            blocks: blocks(&parts, is_chat),
        }
    })
}
