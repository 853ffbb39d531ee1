//! An output item between its announcement and its end.

use std::mem;

use amplifier_core::{Json, Object};

use super::source::{List, Source};
use crate::open_block::Part;

/// An item that still grows; the text of its deltas lies in its open block.
#[derive(Debug)]
pub(super) struct Item {
    /// The item as it was announced.
    fields: Object,
    content: Vec<Json>,
    summary: Vec<Json>,
    /// Whether the stream brings it from its start.
    pub(super) is_whole: bool,
    growing: Option<Growing>,
}

/// What the last delta was for.
#[derive(Debug)]
struct Growing {
    source: &'static Source,
    place: usize,
    /// Where it begins in the text of the block, once it has begun.
    start: Option<usize>,
}

impl Item {
    pub(super) fn new(mut fields: Object, is_whole: bool) -> Self {
        let mut parts = |list: List| match fields.get_mut(list.as_str()) {
            Some(Json::Array(parts)) => mem::take(parts),
            _ => Vec::new(),
        };
        Self {
            content: parts(List::Content),
            summary: parts(List::Summary),
            fields,
            is_whole,
            growing: None,
        }
    }

    /// Takes a part from the wire, at its start or at its end.
    pub(super) fn set_part(&mut self, list: List, place: Option<u64>, part: Json, is_final: bool) {
        let parts = self.parts(list);
        let place = bounded(place, parts.len());
        if let Some(known) = parts.get_mut(place) {
            *known = part;
        } else {
            parts.push(part);
        }
        let is_growing = |growing: &Growing| {
            growing.place == place && growing.source.list.is_some_and(|(of, _)| of == list)
        };
        if is_final && self.growing.as_ref().is_some_and(is_growing) {
            self.growing = None;
        }
    }

    /// Adds an annotation to a part of the content.
    pub(super) fn annotate(&mut self, place: Option<u64>, annotation: Json) {
        let place = bounded(place, self.content.len());
        if place == self.content.len() {
            self.content.push(empty_part("output_text", "text"));
        }
        let Some(Json::Object(part)) = self.content.get_mut(place) else {
            return;
        };
        match part.entry("annotations".to_owned()).or_default() {
            Json::Array(annotations) => annotations.push(annotation),
            other => *other = Json::Array(vec![annotation]),
        }
    }

    /// Selects the part that a delta is for, and returns its text so far.
    ///
    /// `told` is the text of the block so far. Without its number a delta is for the same part.
    pub(super) fn turn_to<'told>(
        &mut self,
        source: &'static Source,
        place: Option<u64>,
        told: &'told str,
    ) -> &'told str {
        let mut at = 0;
        if let Some((list, part_type)) = source.list {
            let last = self.growing.as_ref().map(|growing| growing.place as u64);
            let parts = self.parts(list);
            at = bounded(place.or(last).or(Some(0)), parts.len());
            if at == parts.len() {
                parts.push(empty_part(part_type, source.key));
            }
        }
        let is_same = |growing: &Growing| growing.place == at && growing.source == source;
        if !self.growing.as_ref().is_some_and(is_same) {
            self.settle(told);
            self.growing = Some(Growing {
                source,
                place: at,
                start: None,
            });
        }
        self.streamed(told)
    }

    /// Notes that text follows for the part that grows, and says whether a blank line comes first:
    /// before each part of a summary, and before reasoning that comes in addition to one.
    pub(super) fn begins_paragraph(&mut self, told: &str) -> bool {
        let Some(growing) = &mut self.growing else {
            return false;
        };
        if growing.start.is_some() {
            return false;
        }
        let is_paragraph = match growing.source.list {
            Some((List::Summary, _)) => !told.is_empty(),
            Some((List::Content, _)) if growing.source.part == Part::Thinking => {
                !told.is_empty() && growing.place == 0
            }
            Some((List::Content, _)) | None => false,
        };
        growing.start = Some(told.len() + if is_paragraph { 2 } else { 0 });
        is_paragraph
    }

    /// The item as far as it came.
    pub(super) fn into_fields(mut self, told: &str) -> Object {
        self.settle(told);
        for (list, parts) in [(List::Content, self.content), (List::Summary, self.summary)] {
            if !parts.is_empty() || self.fields.contains_key(list.as_str()) {
                let parts = Json::Array(parts);
                self.fields.insert(list.as_str().to_owned(), parts);
            }
        }
        self.fields
    }

    fn parts(&mut self, list: List) -> &mut Vec<Json> {
        match list {
            List::Content => &mut self.content,
            List::Summary => &mut self.summary,
        }
    }

    fn streamed<'told>(&self, told: &'told str) -> &'told str {
        let start = self.growing.as_ref().and_then(|growing| growing.start);
        start
            .and_then(|start| told.get(start..))
            .unwrap_or_default()
    }

    /// Writes the text of the part that grows into the item; a part may have grown before.
    fn settle(&mut self, told: &str) {
        let text = self.streamed(told).to_owned();
        let Some(Growing { source, place, .. }) = self.growing.take() else {
            return;
        };
        let Some((list, _)) = source.list else {
            self.fields.insert(source.key.to_owned(), Json::Str(text));
            return;
        };
        if let Some(Json::Object(part)) = self.parts(list).get_mut(place) {
            match part.entry(source.key.to_owned()).or_default() {
                Json::Str(before) => before.push_str(&text),
                other => *other = Json::Str(text),
            }
        }
    }
}

/// A place in a list that no number of the wire can make longer than by one.
fn bounded(place: Option<u64>, length: usize) -> usize {
    let place = place.and_then(|place| usize::try_from(place).ok());
    place.map_or(length, |place| place.min(length))
}

fn empty_part(part_type: &str, key: &str) -> Json {
    Json::Object(Object::from_iter([
        ("type".to_owned(), part_type.into()),
        (key.to_owned(), "".into()),
    ]))
}
