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

/// What begins with a `<`.
#[derive(Debug, Clone)]
pub(super) enum Sight {
    /// All of the text was taken, and it may still become a tag.
    Open(Candidate),
    /// A tag that ends before this place.
    Tag(Tag, usize),
}

/// Splits text; holds back only what may still become a tag.
#[derive(Debug, Clone)]
pub(super) struct Splitter {
    pub(super) names: TagNames,
    /// What begins the rest of the text that is being read; it need not be looked at again.
    ahead: Option<Sight>,
    candidate: Option<Candidate>,
    /// The text of the candidate; empty without one.
    held: String,
}

impl Splitter {
    pub(super) fn new(names: TagNames) -> Self {
        Self {
            names,
            ahead: None,
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
        self.ahead = None;
        self.candidate = None;
        std::mem::take(&mut self.held)
    }

    /// Takes the next piece off the text; none when all of it was taken.
    pub(super) fn next<'t>(&mut self, rest: &mut &'t str, wanted: Wanted) -> Option<Piece<'t>> {
        if rest.is_empty() {
            return None;
        }
        let Some(mut candidate) = self.candidate.take() else {
            if let Some(sight) = self.ahead.take() {
                return self.begin(rest, sight);
            }
            return match self.find(rest.as_bytes(), wanted) {
                Some((0, sight)) => self.begin(rest, sight),
                Some((place, sight)) => {
                    self.ahead = Some(sight);
                    Some(Piece::Text(Cow::Borrowed(split(rest, place))))
                }
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
            // What the candidate took of this piece is still in `rest`, and is read again. That
            // happens once for each byte: no `<` is among them, so none of them begins another
            // candidate.
            Verdict::Text => Some(Piece::Text(Cow::Owned(std::mem::take(&mut self.held)))),
        }
    }

    /// Takes the tag that begins the text; none when it is not whole yet.
    pub(super) fn begin<'t>(&mut self, rest: &mut &'t str, sight: Sight) -> Option<Piece<'t>> {
        match sight {
            Sight::Open(candidate) => {
                self.hold(candidate, std::mem::take(rest));
                None
            }
            Sight::Tag(tag, end) => Some(Piece::Tag(tag, Cow::Borrowed(split(rest, end)))),
        }
    }

    /// The next `<` that is, or may still become, a tag, and its place.
    fn find(&self, bytes: &[u8], wanted: Wanted) -> Option<(usize, Sight)> {
        let mut from = 0;
        loop {
            let place = from + search::find(b'<', &bytes[from..])?;
            if let Some(sight) = self.look(&bytes[place..], wanted) {
                return Some((place, sight));
            }
            from = place + 1;
        }
    }

    /// What the `<` that begins the text is, or may still become; none where it is text.
    pub(super) fn look(&self, bytes: &[u8], wanted: Wanted) -> Option<Sight> {
        let mut candidate = Candidate::new(wanted);
        match candidate.take(&bytes[1..], &self.names) {
            Verdict::Open => Some(Sight::Open(candidate)),
            Verdict::Tag(tag, end) => Some(Sight::Tag(tag, 1 + end)),
            Verdict::Text => None,
        }
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
