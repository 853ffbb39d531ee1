//! Text with tags in it, and what the tag parsers say of it with neighbouring pieces joined.

use amplifier_stream::ThinkingEvent::{Message, Thinking};
use amplifier_stream::ToolCallEvent::{Content, End, Regular};
use amplifier_stream::{TagNames, ThinkingEvent, ThinkingParser, ToolCallEvent, ToolCallParser};

use crate::random::Random;

const PIECES: [&str; 36] = [
    "<thinking>",
    "</thinking>",
    "<think>",
    "</think>",
    "<THINK a='>'>",
    "<thinkin",
    "< thinking>",
    "<tool>",
    "</tool>",
    "</tool >",
    "<tool",
    "<toolbox>",
    "</",
    "<",
    ">",
    "a < b",
    "<tool_name>a</tool_name>",
    "<arguments>",
    "</arguments>",
    "<x>",
    "</x>",
    "<x/>",
    "<![CDATA[",
    "]]>",
    "]]",
    "<!--",
    "-->",
    "&lt;",
    "& ",
    "&#xD800;",
    "\"",
    "\\",
    "{\"tool_name\": \"a\", \"arguments\": {\"x\": \"</tool>\"}}",
    "{\"tool_name\": \"a\", \"arguments\": ",
    "😀",
    "\n",
];

/// A text of tags, calls and what only looks like them.
pub(crate) fn text(random: &mut Random) -> Vec<u8> {
    let mut text = String::new();
    for _ in 0..random.below(16) {
        match random.below(6) {
            0 => text += &random.text(),
            1 => {
                let arguments = random.object_text();
                text += &[
                    "<tool>{\"tool_name\":\"a\",\"arguments\":",
                    &arguments,
                    "}</tool>",
                ]
                .concat();
            }
            _ => text += random.pick(&PIECES),
        }
    }
    text.into_bytes()
}

/// A parser of thinking with one setting or another.
pub(crate) fn thinking_parser(random: &mut Random) -> ThinkingParser {
    let names = TagNames::new(["thinking", "think"]).unwrap();
    match random.below(4) {
        0 => ThinkingParser::new(names.ignoring_case().with_attributes()),
        1 => ThinkingParser::new(names).nesting(),
        _ => ThinkingParser::default(),
    }
}

pub(crate) fn think(mut parser: ThinkingParser, pieces: &[String]) -> Vec<ThinkingEvent> {
    let mut joined: Vec<ThinkingEvent> = Vec::new();
    let mut add = |event| match (joined.last_mut(), event) {
        (Some(Thinking(text)), Thinking(more)) | (Some(Message(text)), Message(more)) => {
            text.push_str(&more);
        }
        (_, event) => joined.push(event),
    };
    for piece in pieces {
        parser.feed(piece).into_iter().for_each(&mut add);
    }
    parser.flush().into_iter().for_each(&mut add);
    joined
}

pub(crate) fn call(pieces: &[String]) -> Vec<ToolCallEvent> {
    let mut parser = ToolCallParser::default();
    let mut joined: Vec<ToolCallEvent> = Vec::new();
    let mut add = |event| match (joined.last_mut(), event) {
        (Some(Regular(text)), Regular(more))
        | (Some(Content { text, .. }), Content { text: more, .. }) => text.push_str(&more),
        (_, event) => joined.push(event),
    };
    for piece in pieces {
        parser.feed(piece).into_iter().for_each(&mut add);
    }
    parser.flush().into_iter().for_each(&mut add);
    joined
}

/// Fails where a call that did not end, or that is refused, could run.
pub(crate) fn assert_only_whole_calls_run(events: &[ToolCallEvent]) {
    for event in events {
        if let End(call) = event {
            assert_eq!(call.arguments.is_some(), call.error.is_none(), "{call:?}");
            assert!(call.is_complete() || call.arguments.is_none(), "{call:?}");
        }
    }
}
