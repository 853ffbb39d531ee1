//! Tool calls in tags: each comes out, in order, and runs only if it is whole and clear.

use amplifier_stream::ToolCallEvent::{Content, End, Name, Regular, Start};
use amplifier_stream::{
    CallError, ParsedCall, ParsedContent, TagNames, ToolCallEvent, ToolCallParser,
};

use crate::events::{call_in, calls, events_of, object, runnable};

fn regular(text: &str) -> ToolCallEvent {
    Regular(text.to_owned())
}

fn start(index: u64) -> ToolCallEvent {
    let tag = "<tool>".to_owned();
    Start { index, tag }
}

fn content(index: u64, text: &str) -> ToolCallEvent {
    let text = text.to_owned();
    Content { index, text }
}

fn name(index: u64, name: &str) -> ToolCallEvent {
    let name = name.to_owned();
    Name { index, name }
}

fn end(call: ParsedCall) -> ToolCallEvent {
    End(Box::new(call))
}

#[test]
fn text_before_a_call_comes_out_first_and_text_after_it_last() {
    let json = r#"{"tool_name": "a", "arguments": {"x": 1}}"#;
    assert_eq!(
        events_of(
            &ToolCallParser::default(),
            &format!("pre <tool> {json}\n</tool> post")
        ),
        [
            regular("pre "),
            start(0),
            content(0, r#" {"tool_name": "a""#),
            name(0, "a"),
            content(0, ", \"arguments\": {\"x\": 1}}\n"),
            end(runnable(0, "a", json, r#"{"x": 1}"#)),
            regular(" post")
        ]
    );
}

#[test]
fn text_before_a_call_comes_out_with_its_start() {
    let mut parser = ToolCallParser::default();
    assert_eq!(
        parser.feed("pre <tool>A"),
        [regular("pre "), start(0), content(0, "A")]
    );
}

#[test]
fn every_call_of_a_piece_comes_out_in_order() {
    let text = r#"<tool>{"tool_name":"a"}</tool><tool>{"tool_name":"b"}</tool>x<tool>{"tool_name":"c"}</tool>"#;
    let tools = ["a", "b", "c"].into_iter().zip(0u64..);
    let expected: Vec<_> = tools
        .map(|(tool, index)| runnable(index, tool, &format!(r#"{{"tool_name":"{tool}"}}"#), "{}"))
        .collect();
    let events = events_of(&ToolCallParser::default(), text);
    assert_eq!(
        calls(&events).into_iter().cloned().collect::<Vec<_>>(),
        expected
    );
}

#[test]
fn the_pair_holds_the_calls_and_the_regular_text_of_a_piece() {
    let mut parser = ToolCallParser::default();
    let (found, rest) = parser.parse("pre <tool>A");
    assert_eq!(found, Some(ParsedContent::ToolCallStart));
    assert_eq!(rest, Some(ParsedContent::Regular("pre ".to_owned())));
    assert_eq!(parser.accumulated_tool_content(), "A");
    assert!(parser.is_in_tool_call());
    let (found, rest) = parser.parse(" </tool><tool>B</tool>");
    assert_eq!(found.unwrap().content(), "A\nB");
    assert_eq!(rest, None);
    assert_eq!(parser.accumulated_tool_content(), "B");
}

#[test]
fn an_empty_call_is_a_call_without_a_name() {
    let parsed = call_in(" ");
    assert_eq!(
        (parsed.raw.as_str(), parsed.error),
        ("", Some(CallError::Nameless))
    );
}

#[test]
fn a_reset_forgets_everything() {
    let mut parser = ToolCallParser::default();
    parser.feed("<tool>{\"");
    parser.reset();
    assert_eq!(
        (parser.is_in_tool_call(), parser.accumulated_tool_content()),
        (false, "")
    );
    assert_eq!(parser.feed("x<tool>"), [regular("x"), start(0)]);
}

#[test]
fn each_call_may_have_an_id_of_its_own() {
    let mut parser = ToolCallParser::default().with_id_prefix("call_".to_owned());
    let mut ids = Vec::new();
    for _ in 0..2 {
        let events = parser.feed("<tool>a</tool><tool>b</tool>");
        ids.extend(
            calls(&events)
                .into_iter()
                .filter_map(|call| call.id.clone()),
        );
        parser.reset();
    }
    assert_eq!(ids, ["call_0", "call_1", "call_2", "call_3"]);
}

#[test]
fn look_alikes_and_stray_closing_tags_are_regular_text() {
    for text in [
        "<toolbox>a</toolbox>",
        "a < b",
        "<tool x>",
        "< tool>",
        "</tool>",
        "<tool/>",
    ] {
        assert_eq!(events_of(&ToolCallParser::default(), text), [regular(text)]);
    }
}

#[test]
fn only_a_true_prefix_of_a_tag_is_held_back() {
    let mut parser = ToolCallParser::default();
    assert_eq!(parser.feed("a <to"), [regular("a ")]);
    assert_eq!(parser.feed("ad"), [regular("<toad")]);
    assert_eq!(parser.feed("<tool>x </tool"), [start(0), content(0, "x ")]);
    assert_eq!(parser.feed("s </"), [content(0, "</tools ")]);
    assert_eq!(parser.feed("<![CDATA"), [content(0, "</<![CDATA")]);
}

#[test]
fn a_closing_tag_in_a_string_of_json_closes_nothing() {
    let inside = r#"{"tool_name": "a", "arguments": {"x": "</tool> \"</tool>\\", "y": "<tool>"}}"#;
    let parsed = call_in(inside);
    assert_eq!(
        parsed.arguments,
        Some(object(r#"{"x": "</tool> \"</tool>\\", "y": "<tool>"}"#))
    );
}

#[test]
fn a_closing_tag_in_cdata_or_a_comment_closes_nothing() {
    let inside = "<tool_name>a</tool_name><!-- </tool> --><arguments><x><![CDATA[</tool>]] ></tool>]]]></x></arguments>";
    let parsed = call_in(inside);
    assert_eq!(
        parsed.arguments,
        Some(object(r#"{"x": "</tool>]] ></tool>]"}"#))
    );
}

#[test]
fn a_closing_tag_in_json_within_xml_closes_nothing() {
    let inside = r#"<tool_name>a</tool_name><arguments> {"x": "</tool></arguments>"} </arguments>"#;
    let parsed = call_in(inside);
    assert_eq!(
        parsed.arguments,
        Some(object(r#"{"x": "</tool></arguments>"}"#))
    );
}

#[test]
fn a_quote_too_many_does_not_swallow_the_rest_of_the_answer() {
    for inside in [
        r#"{"tool_name": "a", "arguments": {"x": "say "hi" to"}}"#,
        "{\"tool_name\": \"a\", \"arguments\": {\"x\": \"line\nbreak\"}}",
        r#"{"tool_name": "a"}""#,
        r#"say "hi"#,
    ] {
        let events = events_of(
            &ToolCallParser::default(),
            &format!("<tool>{inside}</tool>rest"),
        );
        assert_eq!(events.last(), Some(&regular("rest")), "{inside}");
        let End(call) = &events[events.len() - 2] else {
            panic!("{events:?}")
        };
        assert!(matches!(call.error, Some(CallError::Json(_))), "{call:?}");
    }
}

#[test]
fn an_unclosed_call_is_shown_as_incomplete_and_never_runs() {
    let text = r#"<tool>{"tool_name": "a", "arguments": {}}</too"#;
    let events = events_of(&ToolCallParser::default(), text);
    let expected = ParsedCall {
        index: 0,
        name: "a".to_owned(),
        raw: text["<tool>".len()..].to_owned(),
        error: Some(CallError::Incomplete),
        ..ParsedCall::default()
    };
    assert!(!expected.is_complete());
    assert_eq!(events.last(), Some(&end(expected)));
}

#[test]
fn each_call_has_one_start_and_one_end_with_its_number() {
    let text = "<tool>a</tool><tool>b</tool>";
    let places: Vec<_> = events_of(&ToolCallParser::default(), text)
        .iter()
        .filter_map(|event| match event {
            Start { index, .. } => Some((*index, "start")),
            End(call) => Some((call.index, "end")),
            Regular(_) | Content { .. } | Name { .. } => None,
        })
        .collect();
    assert_eq!(places, [(0, "start"), (0, "end"), (1, "start"), (1, "end")]);
}

#[test]
fn the_name_is_known_while_the_call_goes_on() {
    for inside in [
        r#"{"arguments": {"name": "no"}, "tool_name": "read"#,
        "<arguments><name>no</name></arguments><tool_name> read</tool_name",
    ] {
        let mut parser = ToolCallParser::default();
        let is_name = |event: &ToolCallEvent| matches!(event, Name { .. });
        assert!(
            !parser.feed(&format!("<tool>{inside}")).iter().any(is_name),
            "{inside}"
        );
        let events = parser.feed(if inside.starts_with('{') { "\"" } else { ">" });
        assert_eq!(events[1..], [name(0, "read")]);
    }
}

#[test]
fn a_call_over_the_limit_does_not_run_and_the_rest_of_the_text_goes_on() {
    let parser = ToolCallParser::default().with_max_call_bytes(22);
    let small = r#"{"tool_name": "aé"}"#;
    let text = format!("<tool>{small}</tool><tool>{small}  \u{e9}</tool>x");
    let events = events_of(&parser, &text);
    let too_long = ParsedCall {
        index: 1,
        name: "aé".to_owned(),
        raw: small.to_owned(),
        error: Some(CallError::TooLong(22)),
        ..ParsedCall::default()
    };
    assert_eq!(events[3], content(0, "}"));
    assert_eq!(events[4], end(runnable(0, "aé", small, "{}")));
    assert_eq!(
        events[8..],
        [content(1, "}  é"), end(too_long), regular("x")][..]
    );
}

#[test]
fn other_names_and_attributes_may_be_configured() {
    let names = TagNames::new(["tool", "function_call"])
        .unwrap()
        .with_attributes();
    let text = r#"<function_call id="1">{"name": "a"}</tool></function_call >"#;
    let events = events_of(&ToolCallParser::new(names), text);
    let [Start { tag, .. }, .., End(call)] = events.as_slice() else {
        panic!("{events:?}")
    };
    assert_eq!(tag, r#"<function_call id="1">"#);
    assert_eq!(call.raw, r#"{"name": "a"}</tool>"#);
}
