//! What is checked of a message before it is used.

use std::collections::HashSet;

use super::refusal::MessageError;
use super::rule::{CanBeEmpty, Rules};
use super::walk::{Part, Visit};
use crate::identifier::{check_call_id, check_tool_name};
use crate::shown::shown;
use crate::text::pointer::Place;

/// Checks one message on the way through it.
pub(super) struct Entry<'a> {
    rules: &'a Rules,
    open_calls: Option<&'a HashSet<String>>,
    calls: HashSet<&'a str>,
    answered: HashSet<&'a str>,
    characters: u64,
    /// What of a text is held to the limit of characters.
    count: fn(&str) -> usize,
}

impl<'a> Entry<'a> {
    /// Checks what `walk` leads to.
    pub(super) fn check(
        rules: &'a Rules,
        open_calls: Option<&'a HashSet<String>>,
        walk: impl Fn(&mut Self) -> Result<(), MessageError>,
    ) -> Result<(), MessageError> {
        let counting = |count| {
            walk(&mut Self {
                rules,
                open_calls,
                calls: HashSet::new(),
                answered: HashSet::new(),
                characters: 0,
                count,
            })
        };
        // Bytes are no fewer than characters and need no counting.
        match counting(str::len) {
            Err(MessageError::TooLong { .. }) => counting(|text| text.chars().count()),
            checked => checked,
        }
    }

    fn id(&self, id: &str, place: Place<'_>) -> Result<(), MessageError> {
        if id.is_empty() {
            return self.empty(CanBeEmpty::Id, place);
        }
        check_call_id(id).map_err(|error| MessageError::Name {
            pointer: place.to_string(),
            error,
        })
    }

    fn empty(&self, what: CanBeEmpty, place: Place<'_>) -> Result<(), MessageError> {
        if self.rules.can_be_empty(what) {
            return Ok(());
        }
        Err(MessageError::Empty {
            what,
            pointer: place.to_string(),
        })
    }
}

impl<'a> Visit<'a> for Entry<'a> {
    type Stop = MessageError;

    fn text(&mut self, text: &'a str, part: Part, place: Place<'_>) -> Result<(), MessageError> {
        if let Part::Whole(what) = part
            && text.is_empty()
        {
            return self.empty(what, place);
        }
        self.characters += (self.count)(text) as u64;
        let most = self.rules.limits.message_max_chars;
        if self.characters > most {
            let characters = self.characters;
            return Err(MessageError::TooLong { characters, most });
        }
        Ok(())
    }

    fn call(&mut self, id: &'a str, name: &'a str, block: Place<'_>) -> Result<(), MessageError> {
        self.id(id, block.name("id"))?;
        if !id.is_empty() && !self.calls.insert(id) {
            return Err(MessageError::CallTwice {
                pointer: block.name("id").to_string(),
                id: shown(id),
            });
        }
        if name.is_empty() {
            return self.empty(CanBeEmpty::Name, block.name("name"));
        }
        check_tool_name(name, self.rules.longest_name()).map_err(|error| MessageError::Name {
            pointer: block.name("name").to_string(),
            error,
        })
    }

    fn answer(&mut self, id: &'a str, place: Place<'_>) -> Result<(), MessageError> {
        self.id(id, place)?;
        if let Some(open) = self.open_calls {
            let is_open = open.contains(id) || self.calls.contains(id);
            if !is_open || !self.answered.insert(id) {
                return Err(MessageError::UnknownCall {
                    pointer: place.to_string(),
                    id: shown(id),
                });
            }
        }
        Ok(())
    }
}
