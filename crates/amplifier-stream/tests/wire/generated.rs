//! Values to write into streams.

use std::fmt::Write as _;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::Value;

/// Text of any characters, often of those that are escaped.
pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        prop::collection::vec(
            select(vec!["a", "\n", "\"", "\\", "é", "😀", "👩‍🚀", "\u{0}", "\r"]),
            0..12
        )
        .prop_map(|parts| parts.concat()),
    ]
}

/// Any JSON without floats.
pub(crate) fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(text(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// A JSON string of UTF-16 units, which may hold half a surrogate pair at its ends.
fn quoted(units: &[u16], escapes: bool) -> String {
    let mut text = String::from("\"");
    for unit in char::decode_utf16(units.iter().copied()) {
        match unit {
            Ok(character) if !escapes || character.is_ascii() => {
                let quoted = serde_json::to_string(&character).unwrap();
                text.push_str(&quoted[1..quoted.len() - 1]);
            }
            Ok(character) => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write!(text, "\\u{unit:04X}").unwrap();
                }
            }
            Err(half) => write!(text, "\\u{:04x}", half.unpaired_surrogate()).unwrap(),
        }
    }
    text + "\""
}

/// The text in pieces as JSON strings, cut anywhere, also inside surrogate pairs.
pub(crate) fn pieces(text: &str, cuts: &[Index], escapes: bool) -> Vec<String> {
    let units: Vec<u16> = text.encode_utf16().collect();
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(units.len() + 1)).collect();
    places.sort_unstable();
    places.push(units.len());
    let mut start = 0;
    let piece = |end| {
        let piece = quoted(&units[start..end], escapes);
        start = end;
        piece
    };
    places.into_iter().map(piece).collect()
}
