//! As much of XML as shows where its tags are, from bytes in pieces.

use super::json_lexer::{JsonLexer, JsonStep, NAME_KEYS};
use super::search;

/// The keys under which a call may have its arguments.
pub(super) const ARGUMENT_KEYS: [&str; 3] = ["arguments", "parameters", "input"];

/// How much of a tag, and of the name of the tool, is kept.
const MAX_KEPT_BYTES: usize = 256;

/// What a look at some bytes came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum XmlStep {
    /// All of them belong to the call.
    More,
    /// A `<` that may begin any tag is at this place.
    Angle(usize),
    /// The name of the tool is known at this place.
    Name(usize, String),
}

/// Follows elements, CDATA, comments, and JSON as the arguments.
#[derive(Debug, Clone, Default)]
pub(super) struct XmlLexer {
    state: State,
    /// What followed the last `<`.
    tag: Vec<u8>,
    /// The text of the element that names the tool, as long as it is plain.
    name: Option<Vec<u8>>,
    is_named: bool,
    is_in_arguments: bool,
    /// Whether the arguments began and only blanks followed.
    may_begin_json: bool,
}

#[derive(Debug, Clone, Default)]
enum State {
    #[default]
    Text,
    /// After a `<`.
    Markup,
    /// Up to these two bytes and a `>`, with the last two bytes so far.
    Section(u8, [u8; 2]),
    Json(Box<JsonLexer>),
}

impl XmlLexer {
    /// Takes the `<` that was shown last as the beginning of a tag.
    pub(super) fn pass(&mut self) {
        self.tag.clear();
        self.state = State::Markup;
    }

    /// Follows the text until something is to be said.
    pub(super) fn advance(&mut self, bytes: &[u8]) -> XmlStep {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match &mut self.state {
                State::Text if self.may_begin_json => {
                    search::count(1);
                    match byte {
                        b' ' | b'\t' | b'\n' | b'\r' => at += 1,
                        b'{' => {
                            self.state = State::Json(Box::new(JsonLexer::new(false)));
                            self.may_begin_json = false;
                        }
                        _ => self.may_begin_json = false,
                    }
                }
                State::Text => {
                    // The caller decides whether this `<` begins the closing tag of the call; until
                    // then the lexer is before it.
                    let end = search::find(b'<', &bytes[at..]);
                    self.keep(&bytes[at..end.map_or(bytes.len(), |end| at + end)]);
                    return end.map_or(XmlStep::More, |end| XmlStep::Angle(at + end));
                }
                State::Markup => match byte {
                    // A `<` within a tag: the first one was text, and this one is read again.
                    b'<' => self.state = State::Text,
                    b'>' => {
                        search::count(1);
                        at += 1;
                        self.state = State::Text;
                        if let Some(name) = self.take_tag() {
                            return XmlStep::Name(at, name);
                        }
                    }
                    _ => at += self.extend_tag(&bytes[at..]),
                },
                // Only a `>` can end a section, so the search is for that byte; the two bytes before
                // it may have come in an earlier piece, which is why they are kept.
                State::Section(end, last) => {
                    let place = search::find(b'>', &bytes[at..]);
                    let run = &bytes[at..place.map_or(bytes.len(), |place| at + place)];
                    let is_end = {
                        shift(last, run);
                        place.is_some() && *last == [*end; 2]
                    };
                    at += run.len();
                    if is_end {
                        self.state = State::Text;
                    } else if place.is_some() {
                        shift(last, b">");
                    }
                    at += usize::from(place.is_some());
                }
                State::Json(json) => match json.advance(&bytes[at..]) {
                    JsonStep::More => return XmlStep::More,
                    // Outside of its strings JSON has no `<`: whatever this is, XML continues here.
                    JsonStep::Angle(place) | JsonStep::Done(place) | JsonStep::Broken(place) => {
                        at += place;
                        self.state = State::Text;
                    }
                    JsonStep::Name(place, _) => at += place,
                },
            }
        }
        XmlStep::More
    }

    fn keep(&mut self, run: &[u8]) {
        if let Some(name) = &mut self.name {
            if name.len() + run.len() > MAX_KEPT_BYTES {
                self.name = None;
            } else {
                name.extend_from_slice(run);
            }
        }
    }

    /// Takes bytes of a tag and says how many: what may begin a section one by one.
    fn extend_tag(&mut self, bytes: &[u8]) -> usize {
        // One byte at a time after a `!`: after `<!--` and `<![CDATA[` everything is content, so a
        // run must not go past them.
        let length = if self.tag.first().unwrap_or(&bytes[0]) == &b'!' {
            1
        } else {
            let is_inside = |byte: &&u8| !matches!(**byte, b'<' | b'>');
            bytes.iter().take_while(is_inside).count()
        };
        search::count(length);
        let room = MAX_KEPT_BYTES - self.tag.len();
        self.tag.extend_from_slice(&bytes[..length.min(room)]);
        if let Some(end) = section(&self.tag) {
            self.name = None;
            self.state = State::Section(end, [0; 2]);
        }
        length
    }

    /// Takes a whole tag; returns the name of the tool if the tag ends it.
    fn take_tag(&mut self) -> Option<String> {
        let name = self.name.take();
        let tag = self.tag.as_slice();
        let (is_end, tag) = match tag.strip_prefix(b"/") {
            Some(tag) => (true, tag),
            None => (false, tag),
        };
        let end = tag.iter().position(u8::is_ascii_whitespace);
        let word = &tag[..end.unwrap_or(tag.len())];
        let is_one_of = |keys: &[&str]| keys.iter().any(|key| key.as_bytes() == word);
        if is_end {
            if is_one_of(&ARGUMENT_KEYS) {
                self.is_in_arguments = false;
            }
            let name = String::from_utf8(name?).ok()?;
            let name = name.trim();
            let is_name = !name.is_empty() && !name.contains('&');
            let is_named = is_name && is_one_of(&NAME_KEYS);
            self.is_named |= is_named;
            return is_named.then(|| name.to_owned());
        }
        // An argument may be called `name`, too; that is not the name of the tool.
        if tag.ends_with(b"/") || self.is_in_arguments {
            return None;
        }
        if is_one_of(&ARGUMENT_KEYS) {
            self.is_in_arguments = true;
            self.may_begin_json = true;
        } else if !self.is_named && is_one_of(&NAME_KEYS) {
            self.name = Some(Vec::new());
        }
        None
    }
}

/// The byte that ends, twice and before a `>`, what this markup begins.
fn section(tag: &[u8]) -> Option<u8> {
    match tag {
        b"![CDATA[" => Some(b']'),
        b"!--" => Some(b'-'),
        _ => None,
    }
}

/// Appends a run to the last two bytes.
fn shift(last: &mut [u8; 2], run: &[u8]) {
    match run {
        [] => {}
        [byte] => *last = [last[1], *byte],
        [.., before, byte] => *last = [*before, *byte],
    }
}
