//! However a text with tags is cut, it says the same, and nothing of it is lost.

use amplifier_stream::{TagNames, ThinkingEvent, ThinkingParser, ToolCallEvent, ToolCallParser};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Value, json};

use crate::events::{call, calls, think};

/// What texts of models are made of, and what only looks like it.
const FRAGMENTS: &[&str] = &[
    "<thinking>",
    "</thinking>",
    "<think>",
    "</think>",
    "<THINK>",
    "<think a='>'>",
    "<thinkin",
    "< thinking>",
    "</thinking",
    "<tool>",
    "</tool>",
    "<tool",
    "</",
    "<",
    ">",
    "/",
    "<toolbox>",
    "<tool_name>",
    "a",
    "</tool_name>",
    "<arguments>",
    "</arguments>",
    "<x>",
    "</x>",
    "<x/>",
    "<![CDATA[",
    "<![CDATA",
    "]]>",
    "]]",
    "]",
    "<!--",
    "-->",
    "&lt;",
    "&amp;",
    "& ",
    "&&",
    "{",
    "}",
    "[",
    "\"",
    "\\",
    "\\\"",
    ":",
    ",",
    "\"tool_name\"",
    "\"arguments\"",
    " ",
    "\n",
    "a < b",
    "😀",
    "é",
    "｜",
    "1e400",
    "NaN",
    r#"{"tool_name": "a", "arguments": {"x": "</tool>"}}"#,
];

pub(crate) fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(select(FRAGMENTS), 0..40).prop_map(|fragments| fragments.concat())
}

fn cut<'a>(text: &'a str, places: &[Index]) -> Vec<&'a str> {
    let boundaries: Vec<usize> = text.char_indices().map(|(place, _)| place).collect();
    let mut places: Vec<usize> = match boundaries.len() {
        0 => Vec::new(),
        count => places
            .iter()
            .map(|place| boundaries[place.index(count)])
            .collect(),
    };
    places.sort_unstable();
    places.push(text.len());
    let mut start = 0;
    let piece = |end| {
        let piece = &text[start..end];
        start = end;
        piece
    };
    places.into_iter().map(piece).collect()
}

fn thinking_parsers() -> impl Strategy<Value = ThinkingParser> {
    let names = || TagNames::new(["thinking", "think", "thinker"]).unwrap();
    select(vec![
        ThinkingParser::default(),
        ThinkingParser::default().nesting(),
        ThinkingParser::new(names()),
        ThinkingParser::new(names().ignoring_case().with_attributes()).nesting(),
    ])
}

fn tool_parsers() -> impl Strategy<Value = ToolCallParser> {
    let names = || TagNames::new(["tool", "x"]).unwrap();
    select(vec![
        ToolCallParser::default(),
        ToolCallParser::default().with_max_call_bytes(30),
        ToolCallParser::new(names()),
        ToolCallParser::new(names().ignoring_case().with_attributes()),
    ])
}

/// An answer of text and calls, with the calls and the text beside them.
fn answer() -> impl Strategy<Value = (String, Vec<(String, Value)>, String)> {
    let name = select(vec!["read", "write_file", "späh"]);
    let value = text().prop_filter("not blank", |text| !text.trim().is_empty());
    let arguments = prop::collection::btree_map("[a-z]{1,6}", value, 0..4);
    let beside = text().prop_map(|text| text.replace("<tool>", ""));
    let form = select(vec![
        "json",
        "cdata",
        "entities",
        "json in xml",
        "json in cdata",
    ]);
    let part = (beside, name, arguments, form);
    prop::collection::vec(part, 0..4).prop_map(|parts| {
        let (mut whole, mut calls, mut text) = (String::new(), Vec::new(), String::new());
        for (beside, name, arguments, form) in parts {
            // A `<` at its end may make a tag with what follows.
            let beside = format!("{beside} ").replace("<tool>", "");
            whole += &beside;
            text += &beside;
            let fields: Map<String, Value> = arguments
                .iter()
                .map(|(key, text)| (key.clone(), json!(text)))
                .collect();
            whole += "<tool>";
            whole += &written(name, &fields, form);
            whole += "</tool>";
            calls.push((name.to_owned(), Value::Object(fields)));
        }
        (whole, calls, text)
    })
}

fn written(name: &str, arguments: &Map<String, Value>, form: &str) -> String {
    let call = json!({"tool_name": name, "arguments": arguments});
    let element = |(key, text): (&String, &Value)| {
        let text = text.as_str().unwrap();
        let inside = if form == "cdata" {
            format!("<![CDATA[{}]]>", text.replace("]]>", "]]]]><![CDATA[>"))
        } else {
            text.replace('&', "&amp;").replace('<', "&lt;")
        };
        format!("<{key}>{inside}</{key}>")
    };
    let arguments = match form {
        "json" => return call.to_string(),
        "json in cdata" => {
            return format!(
                "<![CDATA[{}]]>",
                call.to_string().replace("]]>", "]]]]><![CDATA[>")
            );
        }
        "json in xml" => call["arguments"].to_string().replace('&', "&amp;"),
        _ => arguments.iter().map(element).collect::<String>(),
    };
    format!("<tool_name>{name}</tool_name>\n<arguments>{arguments}</arguments>")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn thinking_is_the_same_however_it_is_cut(
        parser in thinking_parsers(),
        text in text(),
        places in prop::collection::vec(any::<Index>(), 0..12),
    ) {
        let whole = think(parser.clone(), &[&text]);
        prop_assert_eq!(&think(parser.clone(), &cut(&text, &places)), &whole);
        let letters: Vec<&str> = text.split("").collect();
        prop_assert_eq!(think(parser, &letters), whole);
    }

    #[test]
    fn calls_are_the_same_however_they_are_cut(
        parser in tool_parsers(),
        text in text(),
        places in prop::collection::vec(any::<Index>(), 0..12),
    ) {
        let whole = call(parser.clone(), &[&text]);
        prop_assert_eq!(&call(parser.clone(), &cut(&text, &places)), &whole);
        let letters: Vec<&str> = text.split("").collect();
        prop_assert_eq!(call(parser, &letters), whole);
    }

    #[test]
    fn the_events_hold_every_letter_in_its_order(text in text()) {
        let thinking = think(ThinkingParser::default(), &[&text]);
        let written: String = thinking
            .iter()
            .map(|event| match event {
                ThinkingEvent::Start(text)
                | ThinkingEvent::Thinking(text)
                | ThinkingEvent::Message(text)
                | ThinkingEvent::StrayClose(text) => text.as_str(),
                ThinkingEvent::End { truncated } => if *truncated { "" } else { "</thinking>" },
            })
            .collect();
        prop_assert_eq!(&written, &text);
        let calls = call(ToolCallParser::default(), &[&text]);
        let written: String = calls
            .iter()
            .map(|event| match event {
                ToolCallEvent::Regular(text) | ToolCallEvent::Content { text, .. } => text.as_str(),
                ToolCallEvent::Start { tag, .. } => tag.as_str(),
                ToolCallEvent::Name { .. } => "",
                ToolCallEvent::End(call) => if call.is_complete() { "</tool>" } else { "" },
            })
            .collect();
        prop_assert_eq!(written, text);
    }

    #[test]
    fn text_without_tags_comes_out_as_it_went_in(
        text in text(),
        places in prop::collection::vec(any::<Index>(), 0..12),
    ) {
        let mut text = text;
        while let Some(place) = text.find("thinking>").or_else(|| text.find("tool>")) {
            text.remove(place);
        }
        let pieces = cut(&text, &places);
        let thinking = think(ThinkingParser::default(), &pieces);
        let calls = call(ToolCallParser::default(), &pieces);
        if text.is_empty() {
            prop_assert_eq!((thinking, calls), (vec![], vec![]));
        } else {
            prop_assert_eq!(thinking, vec![ThinkingEvent::Message(text.clone())]);
            prop_assert_eq!(calls, vec![ToolCallEvent::Regular(text)]);
        }
    }

    #[test]
    fn calls_in_every_form_come_out_as_they_were_meant(
        (text, meant, beside) in answer(),
        places in prop::collection::vec(any::<Index>(), 0..12),
    ) {
        let events = call(ToolCallParser::default(), &cut(&text, &places));
        let found: Vec<(String, Value)> = calls(&events)
            .into_iter()
            .map(|call| {
                let arguments = call.arguments.clone().map(|fields| amplifier_core::Json::Object(fields).to_string());
                let arguments = arguments.map_or(json!(call.error.as_ref().map(ToString::to_string)), |text| serde_json::from_str(&text).unwrap());
                (call.name.clone(), arguments)
            })
            .collect();
        prop_assert_eq!(found, meant);
        let regular: String = events
            .iter()
            .filter_map(|event| match event {
                ToolCallEvent::Regular(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        prop_assert_eq!(regular, beside);
    }

    #[test]
    fn a_text_cut_short_runs_no_call_that_was_not_whole(
        (text, _, _) in answer(),
        place: Index,
    ) {
        let boundaries: Vec<usize> = text.char_indices().map(|(place, _)| place).collect();
        prop_assume!(!boundaries.is_empty());
        let short = &text[..boundaries[place.index(boundaries.len())]];
        let whole = call(ToolCallParser::default(), &[&text]);
        let whole = calls(&whole);
        let events = call(ToolCallParser::default(), &[short]);
        for (place, call) in calls(&events).into_iter().enumerate() {
            let is_the_same = call == whole[place];
            prop_assert!(is_the_same || (!call.is_complete() && call.arguments.is_none()));
        }
    }
}
