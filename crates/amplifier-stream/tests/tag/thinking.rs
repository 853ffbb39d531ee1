//! Thinking is told from the message, wherever the text is cut.

use amplifier_stream::ThinkingEvent::{End, Message, StrayClose, Thinking};
use amplifier_stream::{TagNameError, TagNames, ThinkingEvent, ThinkingParser};

use crate::events::thoughts_of;

fn start(tag: &str) -> ThinkingEvent {
    ThinkingEvent::Start(tag.to_owned())
}

fn thinking(text: &str) -> ThinkingEvent {
    Thinking(text.to_owned())
}

fn message(text: &str) -> ThinkingEvent {
    Message(text.to_owned())
}

const CLOSED: ThinkingEvent = End { truncated: false };
const TRUNCATED: ThinkingEvent = End { truncated: true };

fn parser(names: &[&str]) -> ThinkingParser {
    ThinkingParser::new(TagNames::new(names).unwrap())
}

#[test]
fn the_default_tags_are_exact_and_case_sensitive() {
    assert_eq!(
        thoughts_of(
            &ThinkingParser::default(),
            "<thinking>a</thinking>b<Thinking>c<thinking x>"
        ),
        [
            start("<thinking>"),
            thinking("a"),
            CLOSED,
            message("b<Thinking>c<thinking x>")
        ]
    );
}

#[test]
fn aliases_are_closed_by_the_name_that_opened_them() {
    let parser = parser(&["thinking", "think", "reasoning"]);
    assert_eq!(
        thoughts_of(
            &parser,
            "<think>a</thinking></think>b<reasoning>c</reasoning>"
        ),
        [
            start("<think>"),
            thinking("a</thinking>"),
            CLOSED,
            message("b"),
            start("<reasoning>"),
            thinking("c"),
            CLOSED
        ]
    );
}

#[test]
fn case_and_attributes_are_ignored_on_demand() {
    let names = TagNames::new(["think"])
        .unwrap()
        .ignoring_case()
        .with_attributes();
    let text = "<THINK a='>' b=\"/\">x</Think >y<think/><think a=\"<\">";
    assert_eq!(
        thoughts_of(&ThinkingParser::new(names), text),
        [
            start("<THINK a='>' b=\"/\">"),
            thinking("x"),
            CLOSED,
            message("y<think/><think a=\"<\">")
        ]
    );
}

#[test]
fn a_tag_with_attributes_is_held_back_no_further_than_a_limit() {
    let names = TagNames::new(["think"]).unwrap().with_attributes();
    let mut parser = ThinkingParser::new(names);
    assert_eq!(parser.feed("<think "), []);
    let given: usize = (0..2000).map(|_| parser.feed(" ").len()).sum();
    assert!(given > 900, "{given}");
}

#[test]
fn the_order_within_one_piece_is_kept() {
    assert_eq!(
        ThinkingParser::default().feed("a<thinking>b</thinking>c<thinking>d</thinking>"),
        [
            message("a"),
            start("<thinking>"),
            thinking("b"),
            CLOSED,
            message("c"),
            start("<thinking>"),
            thinking("d"),
            CLOSED
        ]
    );
}

#[test]
fn the_pair_holds_the_thinking_and_the_message_of_a_piece() {
    let mut parser = ThinkingParser::default();
    let text = "a<thinking>b</thinking>c<thinking>d";
    assert_eq!(
        parser.parse(text),
        (Some("bd".to_owned()), Some("ac".to_owned()))
    );
    assert_eq!(parser.parse("e"), (Some("e".to_owned()), None));
    assert_eq!(parser.parse("</thinking>"), (None, None));
    assert_eq!(parser.parse("f"), (None, Some("f".to_owned())));
}

#[test]
fn only_a_true_prefix_of_a_tag_is_held_back() {
    let cases = [
        ("a < b", "a < b"),
        ("a <", "a "),
        ("<thinkin", ""),
        ("<thinkin ", "<thinkin "),
        ("< thinking>", "< thinking>"),
        ("</thin", ""),
        ("<thinkingg", "<thinkingg"),
        ("<<<thinking", "<<"),
        ("x</y", "x</y"),
    ];
    for (text, given) in cases {
        let events = ThinkingParser::default().feed(text);
        let expected = if given.is_empty() {
            vec![]
        } else {
            vec![message(given)]
        };
        assert_eq!(events, expected, "{text}");
    }
}

#[test]
fn the_first_closing_tag_ends_a_thought_unless_thoughts_nest() {
    let text = "<thinking>a<thinking>b</thinking>c</thinking>d";
    assert_eq!(
        thoughts_of(&ThinkingParser::default(), text),
        [
            start("<thinking>"),
            thinking("a<thinking>b"),
            CLOSED,
            message("c"),
            StrayClose("</thinking>".to_owned()),
            message("d")
        ]
    );
    assert_eq!(
        thoughts_of(&ThinkingParser::default().nesting(), text),
        [
            start("<thinking>"),
            thinking("a<thinking>b</thinking>c"),
            CLOSED,
            message("d")
        ]
    );
}

#[test]
fn an_unclosed_thought_is_truncated_and_its_mode_stays() {
    let mut parser = ThinkingParser::default();
    assert_eq!(
        parser.feed("<thinking>a</thin"),
        [start("<thinking>"), thinking("a")]
    );
    assert_eq!(parser.flush(), [thinking("</thin"), TRUNCATED]);
    assert_eq!(parser.flush(), []);
    assert!(parser.is_in_thinking());
    assert_eq!(
        parser.feed("b</thinking>c"),
        [start(""), thinking("b"), CLOSED, message("c")]
    );
    assert!(!parser.is_in_thinking());
}

#[test]
fn angle_brackets_within_a_thought_are_its_text() {
    let code = "for (i = 0; i<10; i++) if x>3, x < 5 <b>";
    assert_eq!(
        thoughts_of(
            &ThinkingParser::default(),
            &format!("p<thinking>{code}</thinking>s")
        ),
        [
            message("p"),
            start("<thinking>"),
            thinking(code),
            CLOSED,
            message("s")
        ]
    );
}

#[test]
fn an_empty_thought_has_its_start_and_end() {
    assert_eq!(
        thoughts_of(&ThinkingParser::default(), "<thinking></thinking>"),
        [start("<thinking>"), CLOSED]
    );
}

#[test]
fn a_reset_forgets_everything() {
    let mut parser = ThinkingParser::default();
    parser.feed("<thinking>a</th");
    parser.reset();
    assert_eq!(parser.feed("inking>b"), [message("inking>b")]);
    assert!(!parser.is_in_thinking());
}

#[test]
fn names_of_many_bytes_are_cut_nowhere() {
    assert_eq!(
        thoughts_of(&parser(&["｜é▁"]), "è<｜é▁>ü<｜è</｜é▁>ö"),
        [
            message("è"),
            start("<｜é▁>"),
            thinking("ü<｜è"),
            CLOSED,
            message("ö")
        ]
    );
}

#[test]
fn names_that_cannot_stand_in_a_tag_are_refused() {
    let none: [&str; 0] = [];
    assert_eq!(TagNames::new(none), Err(TagNameError::Missing));
    assert_eq!(
        TagNames::new(["a", "a"]),
        Err(TagNameError::Duplicate("a".to_owned()))
    );
    let many: Vec<String> = (0..65).map(|number| format!("t{number}")).collect();
    assert_eq!(TagNames::new(&many), Err(TagNameError::TooMany(65)));
    assert!(TagNames::new(&many[1..]).is_ok());
    for name in ["", "a b", "<a", "a>", "a/", "!a", "a\0", &"a".repeat(65)] {
        let error = TagNames::new([name]).unwrap_err();
        assert_eq!(error, TagNameError::Invalid(name.to_owned()));
    }
}
