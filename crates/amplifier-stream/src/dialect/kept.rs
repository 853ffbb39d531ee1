//! What the wire says besides the answer.

use amplifier_core::{Json, Object};

use crate::answer::Answer;
use crate::json::Scanner;

/// The last value of each key, as it was written: most come again unchanged with every chunk.
#[derive(Debug, Default)]
pub(super) struct Kept {
    raw: Object,
    /// Values that add up.
    lists: Object,
}

impl Kept {
    /// Takes a value that replaces the one before it.
    pub(super) fn note(&mut self, key: &str, raw: &str) {
        if raw == "null" {
            return;
        }
        match self.raw.get_mut(key) {
            Some(Json::Str(last)) if last == raw => {}
            Some(last) => *last = raw.into(),
            None => {
                self.raw.insert(key.to_owned(), raw.into());
            }
        }
    }

    /// Takes a value of a delta: items are added to those before them; of other values that differ
    /// each but the last is a finding, because it is unknown whether they add up.
    pub(super) fn note_delta(&mut self, key: &str, raw: &str, answer: &mut Answer) {
        if raw.starts_with('[') {
            return self.append(key, raw, answer);
        }
        if let Some(last) = self.raw.get(key).and_then(Json::as_str)
            && last != raw
        {
            let message = format!("`{key}` of the delta changed");
            answer.find("changed_field", None, &message, Some(last));
        }
        self.note(key, raw);
    }

    /// Takes the items of a list, or those in the lists of an object.
    pub(super) fn append(&mut self, key: &str, raw: &str, answer: &mut Answer) {
        let mut scanner = Scanner::new(raw);
        let Ok(value) = scanner.document() else {
            return;
        };
        answer.find_unpaired(None, scanner.unpaired);
        match self.lists.get_mut(key) {
            Some(whole) => add(whole, value),
            None => {
                self.lists.insert(key.to_owned(), value);
            }
        }
    }

    /// Everything that was noted.
    pub(super) fn into_object(self, answer: &mut Answer) -> Object {
        let mut whole = Object::with_capacity(self.raw.len() + self.lists.len());
        for (key, raw) in self.raw {
            let mut scanner = Scanner::new(raw.as_str().unwrap_or_default());
            let value = scanner.document().unwrap_or_default();
            answer.find_unpaired(None, scanner.unpaired);
            whole.insert(key, value);
        }
        whole.extend(self.lists);
        whole
    }
}

fn add(whole: &mut Json, more: Json) {
    match (whole, more) {
        (Json::Array(items), Json::Array(more)) => items.extend(more),
        (Json::Object(whole), Json::Object(more)) => {
            for (key, value) in more {
                match whole.get_mut(&key) {
                    Some(part) => add(part, value),
                    None => {
                        whole.insert(key, value);
                    }
                }
            }
        }
        (_, Json::Null) => {}
        (whole, more) => *whole = more,
    }
}
