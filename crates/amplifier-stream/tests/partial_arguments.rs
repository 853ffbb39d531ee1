//! What the arguments of a call are while they arrive.

mod json_text;

use amplifier_core::{Json, Object};
use amplifier_stream::{MAX_ARGUMENT_DEPTH, PartialArguments, parse_arguments};
use proptest::prelude::*;
use proptest::sample::Index;

/// The value of a text that comes at once, as JSON.
fn shown(text: &str) -> String {
    let value = PartialArguments::default().read(text).clone();
    Json::Object(value).to_string()
}

#[test]
fn a_beginning_shows_all_that_is_certain() {
    let cases = [
        ("", "{}"),
        (" \n", "{}"),
        ("{", "{}"),
        (r#"{"pa"#, "{}"),
        (r#"{"path""#, "{}"),
        (r#"{"path": "#, "{}"),
        (r#"{"path": ""#, r#"{"path":""}"#),
        (r#"{"path": "src/li"#, r#"{"path":"src/li"}"#),
        (r#"{"path": "src/lib.rs","#, r#"{"path":"src/lib.rs"}"#),
        (r#"{"a":{"#, r#"{"a":{}}"#),
        (r#"{"a":[["#, r#"{"a":[[]]}"#),
        (r#"{"a":["x", "y"#, r#"{"a":["x","y"]}"#),
        (r#"{"a":[{"b":1}, {"c""#, r#"{"a":[{"b":1},{}]}"#),
        (r#"{"a":1}"#, r#"{"a":1}"#),
        ("{\"a\":1}\n", r#"{"a":1}"#),
    ];
    for (text, expected) in cases {
        assert_eq!(shown(text), expected, "for {text}");
    }
}

#[test]
fn numbers_and_words_appear_with_the_byte_after_them() {
    let cases = [
        (r#"{"a":12"#, "{}"),
        (r#"{"a":12,"#, r#"{"a":12}"#),
        (r#"{"a":12 "#, r#"{"a":12}"#),
        (r#"{"a":[-1.5e3"#, r#"{"a":[]}"#),
        (r#"{"a":[-1.5e3]"#, r#"{"a":[-1500.0]}"#),
        (r#"{"a":tru"#, "{}"),
        (r#"{"a":true"#, "{}"),
        (r#"{"a":true}"#, r#"{"a":true}"#),
        (r#"{"a":null,"b":false,"#, r#"{"a":null,"b":false}"#),
    ];
    for (text, expected) in cases {
        assert_eq!(shown(text), expected, "for {text}");
    }
}

#[test]
fn an_escape_appears_when_it_is_whole() {
    let cases = [
        (r#"{"a":"x\"#, "x"),
        (r#"{"a":"x\n"#, "x\n"),
        (r#"{"a":"x\u00e"#, "x"),
        (r#"{"a":"x\u00e9"#, "xé"),
        (r#"{"a":"x\ud83d"#, "x"),
        (r#"{"a":"x\ud83d\"#, "x"),
        (r#"{"a":"x\ud83d\ude0"#, "x"),
        (r#"{"a":"x\ud83d\ude00"#, "x😀"),
        (r#"{"a":"x\ud83d""#, "x\u{FFFD}"),
        (r#"{"a":"x\ud83dy"#, "x\u{FFFD}y"),
        (r#"{"a":"x\ud83d\n"#, "x\u{FFFD}\n"),
        (r#"{"a":"x\ud83d\u0041"#, "x\u{FFFD}A"),
        (r#"{"a":"x\ude00"#, "x\u{FFFD}"),
    ];
    for (text, expected) in cases {
        let value = PartialArguments::default().read(text).clone();
        assert_eq!(value["a"], Json::from(expected), "for {text}");
    }
}

#[test]
fn a_mistake_leaves_the_value_before_it() {
    let deep = r#"{"a":"#.repeat(MAX_ARGUMENT_DEPTH + 1);
    let cases = [
        (r#"{"a":1,"a":2,"b":3}"#, r#"{"a":1}"#),
        (r#"{"a":1,"b":NaN,"c":3}"#, r#"{"a":1}"#),
        (r#"{"a":1,"b":1e400,"c":3}"#, r#"{"a":1}"#),
        (r#"{"a":1,"b":01,"c":3}"#, r#"{"a":1}"#),
        (r#"{"a":1,,"c":3}"#, r#"{"a":1}"#),
        (r#"{"a":"x\q","c":3}"#, r#"{"a":"x"}"#),
        ("{\"a\":\"x\ny\",\"c\":3}", r#"{"a":"x"}"#),
        (r#"{"a":[1}"#, r#"{"a":[1]}"#),
        (r#"{"a":[1,],"c":3}"#, r#"{"a":[1]}"#),
        (r#"{"a":1}}"#, r#"{"a":1}"#),
        (r#"[{"a":1}]"#, "{}"),
        ("\u{FEFF}{}", "{}"),
    ];
    for (text, expected) in cases {
        let mut partial = PartialArguments::default();
        let value = Json::Object(partial.read(text).clone());
        assert_eq!(
            (value.to_string().as_str(), partial.is_whole()),
            (expected, false),
            "{text}"
        );
    }
    let kept =
        r#"{"a":"#.repeat(MAX_ARGUMENT_DEPTH - 1) + "{}" + &"}".repeat(MAX_ARGUMENT_DEPTH - 1);
    assert_eq!(shown(&deep), kept);
}

fn is_prefix(beginning: &Json, whole: &Json) -> bool {
    match (beginning, whole) {
        (Json::Str(beginning), Json::Str(whole)) => whole.starts_with(beginning.as_str()),
        (Json::Array(beginning), Json::Array(whole)) => {
            let Some((last, before)) = beginning.split_last() else {
                return true;
            };
            beginning.len() <= whole.len()
                && whole.starts_with(before)
                && is_prefix(last, &whole[before.len()])
        }
        (Json::Object(beginning), Json::Object(whole)) => is_prefix_of_object(beginning, whole),
        (beginning, whole) => beginning == whole,
    }
}

fn is_prefix_of_object(beginning: &Object, whole: &Object) -> bool {
    let Some(last) = beginning.len().checked_sub(1) else {
        return true;
    };
    beginning.len() <= whole.len()
        && beginning
            .iter()
            .zip(whole)
            .enumerate()
            .all(|(place, (entry, of_whole))| {
                entry.0 == of_whole.0
                    && if place == last {
                        is_prefix(entry.1, of_whole.1)
                    } else {
                        entry.1 == of_whole.1
                    }
            })
}

/// The ends of every character.
fn ends(text: &str) -> impl Iterator<Item = usize> {
    text.char_indices()
        .map(|(start, character)| start + character.len_utf8())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn the_value_of_whole_arguments_is_the_final_one(text in json_text::any_text()) {
        let mut partial = PartialArguments::default();
        let value = partial.read(&text).clone();
        match parse_arguments(&text) {
            Ok((arguments, _)) => {
                prop_assert_eq!(&value, &arguments);
                // As in the text, too.
                prop_assert!(value.keys().eq(arguments.keys()));
                prop_assert!(partial.is_whole() || text.trim_ascii().is_empty());
            }
            Err(_) => prop_assert!(!partial.is_whole(), "{}", text),
        }
    }

    #[test]
    fn the_value_of_every_beginning_is_a_prefix_of_the_final_one(text in json_text::object()) {
        let whole = parse_arguments(&text).unwrap().0;
        let mut partial = PartialArguments::default();
        let mut before = Object::new();
        for end in ends(&text) {
            let value = partial.read(&text[..end]).clone();
            prop_assert!(is_prefix_of_object(&before, &value), "{}", &text[..end]);
            prop_assert!(is_prefix_of_object(&value, &whole), "{}", &text[..end]);
            before = value;
        }
        prop_assert_eq!(before, whole);
    }

    #[test]
    fn when_it_is_asked_for_does_not_matter(text in json_text::any_text(), asks in prop::collection::vec(any::<Index>(), 0..8)) {
        let mut asked = PartialArguments::default();
        let places: Vec<usize> = [0].into_iter().chain(ends(&text)).collect();
        let mut asks: Vec<usize> = asks.iter().map(|ask| *ask.get(&places)).collect();
        asks.sort_unstable();
        for end in asks {
            let mut at_once = PartialArguments::default();
            prop_assert_eq!(asked.read(&text[..end]), at_once.read(&text[..end]));
        }
    }
}
