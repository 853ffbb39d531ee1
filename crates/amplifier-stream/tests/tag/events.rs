//! What the parsers say of a text, with neighbouring pieces of one kind joined.

use amplifier_core::{Json, Object};
use amplifier_stream::ThinkingEvent::{Message, Thinking};
use amplifier_stream::ToolCallEvent::{Content, End, Regular};
use amplifier_stream::{ParsedCall, ThinkingEvent, ThinkingParser, ToolCallEvent, ToolCallParser};

pub(crate) fn think(mut parser: ThinkingParser, pieces: &[&str]) -> Vec<ThinkingEvent> {
    let mut events: Vec<_> = pieces.iter().flat_map(|piece| parser.feed(piece)).collect();
    events.extend(parser.flush());
    let mut joined: Vec<ThinkingEvent> = Vec::new();
    for event in events {
        match (joined.last_mut(), event) {
            (Some(Thinking(text)), Thinking(more)) | (Some(Message(text)), Message(more)) => {
                text.push_str(&more);
            }
            (_, event) => joined.push(event),
        }
    }
    joined
}

pub(crate) fn call(mut parser: ToolCallParser, pieces: &[&str]) -> Vec<ToolCallEvent> {
    let mut events: Vec<_> = pieces.iter().flat_map(|piece| parser.feed(piece)).collect();
    events.extend(parser.flush());
    let mut joined: Vec<ToolCallEvent> = Vec::new();
    for event in events {
        match (joined.last_mut(), event) {
            (Some(Regular(text)), Regular(more))
            | (Some(Content { text, .. }), Content { text: more, .. }) => text.push_str(&more),
            (_, event) => joined.push(event),
        }
    }
    joined
}

/// What `events` says of a text, which must be the same at every two-way split and letter by letter.
pub(crate) fn at_every_split<E: PartialEq + std::fmt::Debug>(
    text: &str,
    events: impl Fn(&[&str]) -> Vec<E>,
) -> Vec<E> {
    let whole = events(&[text]);
    for (cut, _) in text.char_indices() {
        assert_eq!(events(&[&text[..cut], &text[cut..]]), whole, "cut at {cut}");
    }
    let letters: Vec<&str> = text.split("").collect();
    assert_eq!(events(&letters), whole);
    whole
}

pub(crate) fn thoughts_of(parser: &ThinkingParser, text: &str) -> Vec<ThinkingEvent> {
    at_every_split(text, |pieces| think(parser.clone(), pieces))
}

pub(crate) fn events_of(parser: &ToolCallParser, text: &str) -> Vec<ToolCallEvent> {
    at_every_split(text, |pieces| call(parser.clone(), pieces))
}

pub(crate) fn calls(events: &[ToolCallEvent]) -> Vec<&ParsedCall> {
    let mut calls = Vec::new();
    for event in events {
        if let End(call) = event {
            calls.push(call.as_ref());
        }
    }
    calls
}

/// The only call of a text, by what stands between its tags.
pub(crate) fn call_in(inside: &str) -> ParsedCall {
    let events = events_of(
        &ToolCallParser::default(),
        &format!("<tool>{inside}</tool>"),
    );
    match calls(&events).as_slice() {
        [call] => (*call).clone(),
        calls => panic!("{calls:?}"),
    }
}

/// A call that may run.
pub(crate) fn runnable(index: u64, name: &str, raw: &str, arguments: &str) -> ParsedCall {
    ParsedCall {
        index,
        name: name.to_owned(),
        server_name: "local".to_owned(),
        arguments: Some(object(arguments)),
        raw: raw.to_owned(),
        ..ParsedCall::default()
    }
}

pub(crate) fn object(json: &str) -> Object {
    match Json::parse(json.as_bytes()) {
        Ok(Json::Object(fields)) => fields,
        other => panic!("{other:?}"),
    }
}
