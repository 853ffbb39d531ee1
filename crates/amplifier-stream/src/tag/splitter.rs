//! Text in pieces of any size, split into tags and the text around them.

use std::borrow::Cow;

use super::candidate::{Candidate, Tag, Verdict, Wanted};
use super::names::TagNames;
use super::search;

/// A part of the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    Text(Cow<'t, str>),
    /// A tag, and how it was written.
    Tag(Tag, Cow<'t, str>),
}

/// Splits text; holds back only what may still become a tag.
#[derive(Debug, Clone)]
pub(super) struct Splitter {
    pub(super) names: TagNames,
    candidate: Option<Candidate>,
    /// The text of the candidate; empty without one.
    held: String,
}

impl Splitter {
    pub(super) fn new(names: TagNames) -> Self {
        Self {
            names,
            candidate: None,
            held: String::new(),
        }
    }

    /// Whether something is held back.
    pub(super) fn is_holding(&self) -> bool {
        self.candidate.is_some()
    }

    /// Releases held text.
    pub(super) fn flush(&mut self) -> String {
        self.candidate = None;
        std::mem::take(&mut self.held)
    }

    /// Takes the next piece off the text; none when all of it was taken.
    pub(super) fn next<'t>(&mut self, rest: &mut &'t str, wanted: Wanted) -> Option<Piece<'t>> {
        if rest.is_empty() {
            return None;
        }
        let Some(mut candidate) = self.candidate.take() else {
            return match self.find(rest.as_bytes(), wanted) {
                Some(0) => self.begin(rest, wanted),
                Some(place) => Some(Piece::Text(Cow::Borrowed(split(rest, place)))),
                None => Some(Piece::Text(Cow::Borrowed(std::mem::take(rest)))),
            };
        };
        match candidate.take(rest.as_bytes(), &self.names) {
            Verdict::Open => {
                self.hold(candidate, std::mem::take(rest));
                None
            }
            Verdict::Tag(tag, end) => {
                let mut tag_text = std::mem::take(&mut self.held);
                tag_text.push_str(split(rest, end));
                Some(Piece::Tag(tag, Cow::Owned(tag_text)))
            }
            Verdict::Text => Some(Piece::Text(Cow::Owned(std::mem::take(&mut self.held)))),
        }
    }

    /// Takes the tag that begins the text, or its `<` alone; none when that is not known yet.
    pub(super) fn begin<'t>(&mut self, rest: &mut &'t str, wanted: Wanted) -> Option<Piece<'t>> {
        let mut candidate = Candidate::new(wanted);
        match candidate.take(&rest.as_bytes()[1..], &self.names) {
            Verdict::Open => {
                self.hold(candidate, std::mem::take(rest));
                None
            }
            Verdict::Tag(tag, end) => Some(Piece::Tag(tag, Cow::Borrowed(split(rest, 1 + end)))),
            Verdict::Text => Some(Piece::Text(Cow::Borrowed(split(rest, 1)))),
        }
    }

    /// The place of the next `<` that is, or may still become, a tag.
    fn find(&self, bytes: &[u8], wanted: Wanted) -> Option<usize> {
        let mut from = 0;
        loop {
            let place = from + search::find(b'<', &bytes[from..])?;
            if self.is_tag(&bytes[place..], wanted) {
                return Some(place);
            }
            from = place + 1;
        }
    }

    /// Whether the `<` that begins the text is, or may still become, the beginning of a tag.
    pub(super) fn is_tag(&self, bytes: &[u8], wanted: Wanted) -> bool {
        Candidate::new(wanted).take(&bytes[1..], &self.names) != Verdict::Text
    }

    fn hold(&mut self, candidate: Candidate, text: &str) {
        search::count(text.len());
        self.held.push_str(text);
        self.candidate = Some(candidate);
    }
}

/// Takes the text up to a place off its front.
pub(super) fn split<'t>(rest: &mut &'t str, place: usize) -> &'t str {
    let (before, after) = rest.split_at(place);
    *rest = after;
    before
}
