//! JSON texts: arguments of calls, valid, nearly valid and not at all.

use proptest::prelude::*;
use proptest::sample::{Index, select};

/// A character of text, or escapes of one, or half of a pair.
fn character() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<char>().prop_map(|character| {
            let quoted = serde_json::to_string(&character).unwrap();
            quoted[1..quoted.len() - 1].to_owned()
        }),
        any::<char>().prop_map(|character| {
            let mut units = [0; 2];
            let units = character.encode_utf16(&mut units);
            let escapes: Vec<String> = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
            escapes.concat()
        }),
        select(vec![
            "\\ud83d", "\\uDE00", "\\n", "\\/", "\\\\", "\\\"", "é", "a", "}", "[", ":"
        ])
        .prop_map(str::to_owned),
    ]
}

fn string() -> impl Strategy<Value = String> {
    prop::collection::vec(character(), 0..8).prop_map(|parts| format!("\"{}\"", parts.concat()))
}

fn blank() -> impl Strategy<Value = &'static str> {
    select(vec!["", "", "", " ", "\n", "\t \r\n"])
}

/// The text of a value that strict arguments may hold.
fn json_text() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        select(vec![
            "null",
            "true",
            "false",
            "0",
            "-0",
            "1e5",
            "-1.50E-3",
            "12345678901234567890"
        ])
        .prop_map(str::to_owned),
        any::<i64>().prop_map(|number| number.to_string()),
        string(),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        let item = (blank(), inner, blank());
        let item = item.prop_map(|(before, item, after)| format!("{before}{item}{after}"));
        let items = prop::collection::vec(item, 0..6).boxed();
        let list = items
            .clone()
            .prop_map(|items| format!("[{}]", items.join(",")));
        let object = (items, blank()).prop_map(|(items, blank)| object_text(&items, blank));
        prop_oneof![list, object]
    })
}

/// An object whose keys differ, and look alike.
fn object_text(items: &[String], blank: &str) -> String {
    let entries = items.iter().enumerate();
    let entries =
        entries.map(|(number, item)| format!("{blank}\"k\\u00e9\\\"{number}\"{blank}:{item}"));
    format!("{{{}{blank}}}", entries.collect::<Vec<_>>().join(","))
}

/// Arguments that are accepted.
pub(crate) fn object() -> impl Strategy<Value = String> {
    (prop::collection::vec(json_text(), 0..5), blank())
        .prop_map(|(items, blank)| object_text(&items, blank))
}

/// Characters that JSON is made of, in any order.
fn near_json() -> impl Strategy<Value = String> {
    let token = select(vec![
        "{", "}", "[", "]", ":", ",", "\"", "\"a\"", "\"b\"", "\"a\":", "{\"a\":", "1", "-", ".",
        "e9", "true", "nul", "\\", "\\u", "\\ud83d", "\\ude00", " ", "\n", "é", "\u{1}",
    ]);
    prop::collection::vec(token, 0..16).prop_map(|tokens| tokens.concat())
}

/// A document in which one character was replaced or dropped.
fn damaged() -> impl Strategy<Value = String> {
    let damage = select(vec![
        "", "", "\"", "\\", "}", "]", ",", ":", "0", "x", "\u{FFFD}",
    ]);
    (object(), any::<Index>(), damage).prop_map(|(text, place, damage)| {
        let mut characters: Vec<String> = text.chars().map(String::from).collect();
        let place = place.index(characters.len());
        characters[place].replace_range(.., damage);
        characters.concat()
    })
}

/// Arguments, accepted or not.
pub(crate) fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![object(), damaged(), near_json()]
}
