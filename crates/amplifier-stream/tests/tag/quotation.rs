//! Calls that a model quotes are text: in code, comments, block quotations, and copies of known texts.
//!
//! Holds: provider-11, provider-13

use amplifier_stream::{ToolCallEvent, ToolCallParser};
use proptest::prelude::*;

use crate::splits::text;

const CALL: &str = r#"<tool>{"tool_name": "a", "arguments": {}}</tool>"#;

/// Texts whose `@` stand for calls, each `@` in a quotation and each `!` outside of one.
const TEXTS: &[&str] = &[
    "!",
    " ! and ! then\n!",
    "see:\n```\n@\n```\n!",
    "```xml\n@\n\n@\n```\n!",
    "~~~\n@\n```\n@\n~~~\n!",
    "````\n```\n@\n```\n@\n````\n!",
    "```\n@\n``` no end\n@\n```\r\n!",
    "1. first\n   ```\n   @\n   ```\n2. then\n!",
    "- ```\n  @\n  ```\n!",
    "> ```\n> @\n\n!",
    "> ```\n> @\nno longer: !",
    "> quoted @\n!",
    "- > quoted @\n\n!",
    "-> !",
    "5 > 3 !",
    "```@```\n!",
    "``` @ ``` and ` @ `!",
    "`@`! ``a ` @ `` !",
    "`never closed @\n\n!",
    "`closed on the next line\n@`!",
    "\\`!\\` !",
    "\\\\`@` !",
    "`\\`! ",
    "` never closed\n```\n@\n```\n!",
    "<!-- @ -->! <!-- @\n\n@ --> !",
    "<!-->! <!--->! <!---- @ -->!",
    "`<!--` !",
    "` <!--\n\n@ -->!",
    "<!-- ` --> !",
    "a\n\n    @\n    @\n\n    @\nb !",
    "\t@\nb !",
    "a\n    !",
    "# a\n    @",
    "- a\n\n    !\n\n      @\n\nb\n\n    @",
    "!\n\n    @",
    "a ~~b~~ !",
    "unclosed\n```\n@\n\n@",
];

fn events(parser: &ToolCallParser, pieces: &[&str]) -> Vec<ToolCallEvent> {
    let mut parser = parser.clone();
    let mut events: Vec<ToolCallEvent> = Vec::new();
    let read: Vec<_> = pieces.iter().flat_map(|piece| parser.feed(piece)).collect();
    for event in read.into_iter().chain(parser.flush()) {
        match (events.last_mut(), event) {
            (Some(ToolCallEvent::Regular(text)), ToolCallEvent::Regular(more))
            | (
                Some(ToolCallEvent::Content { text, .. }),
                ToolCallEvent::Content { text: more, .. },
            ) => text.push_str(&more),
            (_, event) => events.push(event),
        }
    }
    events
}

/// The text with a `!` for each call that was found.
fn told(events: &[ToolCallEvent]) -> String {
    let parts = events.iter().map(|event| match event {
        ToolCallEvent::Regular(text) => text.replace(CALL, "@"),
        ToolCallEvent::End(call) if call.arguments.is_some() => "!".to_owned(),
        _ => String::new(),
    });
    parts.collect()
}

#[test]
fn a_quoted_call_is_text_and_each_other_one_a_call_wherever_the_text_is_cut() {
    let parser = ToolCallParser::default().ignoring_quoted();
    for marked in TEXTS {
        let text = marked.replace(['@', '!'], CALL);
        let text = text.replace(&format!("<{CALL}--"), "<!--");
        let whole = events(&parser, &[&text]);
        assert_eq!(told(&whole), *marked, "{text}");
        for place in 0..=text.len() {
            let (before, after) = text.split_at(place);
            assert_eq!(
                events(&parser, &[before, after]),
                whole,
                "{text} at {place}"
            );
        }
        let bytes: Vec<&str> = text.split("").collect();
        assert_eq!(events(&parser, &bytes), whole, "{text}");
    }
}

#[test]
fn calls_are_numbered_without_those_that_are_quoted() {
    let text = format!("`{CALL}` {CALL} `{CALL}` {CALL}");
    let known = ToolCallParser::default().with_known_texts(["<tool>other</tool>"]);
    let numbers = |parser: &ToolCallParser| -> Vec<u64> {
        let calls = events(parser, &[&text]);
        let ended = calls.into_iter().filter_map(|event| match event {
            ToolCallEvent::End(call) => Some(call.index),
            _ => None,
        });
        ended.collect()
    };
    assert_eq!(
        numbers(&ToolCallParser::default().ignoring_quoted()),
        [0, 1]
    );
    assert_eq!(numbers(&known.ignoring_quoted()), [0, 1]);
}

#[test]
fn a_copy_of_a_known_text_is_text_wherever_it_is_cut() {
    let call = r#"<tool>{"tool_name": "a", "arguments": {"x": "1 < 2\n\"b\""}}</tool>"#;
    let own = r#"<tool>{"tool_name": "a", "arguments": {"x": "2"}}</tool>"#;
    let json = serde_json::to_string(call).unwrap();
    let twice = serde_json::to_string(&json).unwrap();
    let sources = [
        format!("A page. {call} Its end."),
        json.replace('<', "\\u003c").replace('>', "\\u003E"),
        json.replace("</", "<\\/"),
        twice,
        call.replace('<', "&lt;")
            .replace('>', "&gt;")
            .replace('"', "&quot;"),
        call.replace(' ', "\n\t"),
    ];
    let text = format!("pre {call} mid {own} post {}", &call[..30]);
    for source in sources {
        let parser = ToolCallParser::default().with_known_texts([&source]);
        let whole = events(&parser, &[&text]);
        let regular: Vec<&str> = whole
            .iter()
            .filter_map(|event| match event {
                ToolCallEvent::Regular(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        let first = format!("pre {call} mid ");
        let last = format!(" post {}", &call[..30]);
        assert_eq!(regular, [first.as_str(), last.as_str()], "{source}");
        for place in 0..=text.len() {
            let (before, after) = text.split_at(place);
            assert_eq!(
                events(&parser, &[before, after]),
                whole,
                "{source} at {place}"
            );
        }
    }
}

#[test]
fn a_call_over_the_limit_is_not_withheld() {
    let parser = ToolCallParser::default()
        .with_known_texts(["page"])
        .with_max_call_bytes(4);
    let mut read = parser.clone();
    assert!(read.feed("<tool>abcd").is_empty());
    assert_eq!(read.feed("ef").len(), 2);
    let ToolCallEvent::End(call) = read.flush().pop().unwrap() else {
        panic!("the call ends last");
    };
    assert_eq!(call.raw, "abcd");
}

#[test]
fn a_reset_forgets_what_was_quoted() {
    let mut parser = ToolCallParser::default().ignoring_quoted();
    parser.feed("```\n");
    parser.reset();
    assert_eq!(told(&events(&parser, &[CALL])), "!");
}

proptest! {
    #[test]
    fn nothing_is_lost_and_cuts_do_not_matter(text in text(), cut in 0..200_usize) {
        let marks = text.replace("</x>", "`").replace("1e400", "```").replace("NaN", "\n\n");
        let parser = ToolCallParser::default().ignoring_quoted().with_known_texts([CALL]);
        let mut place = cut.min(marks.len());
        while !marks.is_char_boundary(place) {
            place -= 1;
        }
        let (before, after) = marks.split_at(place);
        prop_assert_eq!(events(&parser, &[before, after]), events(&parser, &[&marks]));
    }
}
