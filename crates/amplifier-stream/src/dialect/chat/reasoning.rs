//! `reasoning_details`, which must go back to the provider as they came.

use amplifier_core::{Json, Object};

use crate::answer::Answer;
use crate::json::Scanner;

/// What adds up when an item comes in pieces; everything else is said once or again.
const GROWING: [&str; 2] = ["text", "summary"];

/// Reads the details of a delta.
pub(super) fn read(raw: &str, answer: &mut Answer) -> Result<Vec<Json>, String> {
    let mut scanner = Scanner::new(raw);
    let value = scanner.document().map_err(|error| error.to_string())?;
    answer.find_unpaired(None, scanner.unpaired);
    Ok(match value {
        Json::Array(items) => items,
        item => vec![item],
    })
}

/// The thinking that an item shows.
pub(super) fn text(item: &Json) -> Option<&str> {
    GROWING
        .iter()
        .find_map(|key| item.get(key)?.as_str())
        .filter(|text| !text.is_empty())
}

/// Adds items to those of a block; a piece of the last one is appended to it.
pub(super) fn add(block: &mut Object, items: Vec<Json>) {
    let whole = block
        .entry("reasoning_details".to_owned())
        .or_insert_with(|| Json::Array(Vec::new()));
    let Json::Array(whole) = whole else { return };
    for item in items {
        match (whole.last_mut(), item) {
            (Some(Json::Object(last)), Json::Object(item)) if continues(last, &item) => {
                extend(last, item);
            }
            (_, item) => whole.push(item),
        }
    }
}

/// Whether an item is a piece of the one before: encrypted items always come whole.
fn continues(last: &Object, item: &Object) -> bool {
    let same = |key| match (last.get(key), item.get(key)) {
        (Some(last), Some(next)) => last == next || last.is_null() || next.is_null(),
        _ => true,
    };
    let kind = item.get("type").and_then(Json::as_str);
    matches!(kind, Some("reasoning.text" | "reasoning.summary"))
        && last.get("type") == item.get("type")
        && last.get("index") == item.get("index")
        && same("id")
        // A signature closes what it signs.
        && last.get("signature").is_none_or(Json::is_null)
}

fn extend(last: &mut Object, item: Object) {
    for (key, value) in item {
        match (last.get_mut(&key), value) {
            (_, Json::Null) => {}
            (Some(Json::Str(whole)), Json::Str(piece)) if GROWING.contains(&key.as_str()) => {
                whole.push_str(&piece);
            }
            (_, value) => {
                last.insert(key, value);
            }
        }
    }
}
