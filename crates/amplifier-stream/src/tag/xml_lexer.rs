//! As much of XML as shows where its tags are, from bytes in pieces.

use super::json_lexer::{JsonLexer, JsonStep, NAME_KEYS};
use super::search;

/// The keys under which a call may give its arguments.
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
    /// Behind a `<`, with what followed it.
    Markup(Vec<u8>),
    /// Up to these two bytes and a `>`, with the last two bytes so far.
    Section(u8, [u8; 2]),
    Json(Box<JsonLexer>),
}

impl XmlLexer {
    /// Takes the `<` that was shown last as the beginning of a tag.
    pub(super) fn pass(&mut self) {
        self.state = State::Markup(Vec::new());
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
                    let end = search::find(b'<', &bytes[at..]);
                    self.keep(&bytes[at..end.map_or(bytes.len(), |end| at + end)]);
                    return end.map_or(XmlStep::More, |end| XmlStep::Angle(at + end));
                }
                State::Markup(tag) => {
                    search::count(1);
                    match byte {
                        b'<' => {
                            self.state = State::Text;
                            continue;
                        }
                        b'>' => {
                            let tag = std::mem::take(tag);
                            self.state = State::Text;
                            if let Some(name) = self.take_tag(&tag) {
                                return XmlStep::Name(at + 1, name);
                            }
                        }
                        _ if tag.len() < MAX_KEPT_BYTES => {
                            tag.push(byte);
                            if let Some(end) = section(tag) {
                                self.name = None;
                                self.state = State::Section(end, [0; 2]);
                            }
                        }
                        _ => {}
                    }
                    at += 1;
                }
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

    /// Takes a whole tag; gives the name of the tool if the tag ends it.
    fn take_tag(&mut self, tag: &[u8]) -> Option<String> {
        let name = self.name.take();
        let word = |tag: &[u8]| {
            let end = tag.iter().position(u8::is_ascii_whitespace);
            String::from_utf8(tag[..end.unwrap_or(tag.len())].to_vec()).unwrap_or_default()
        };
        if let Some(tag) = tag.strip_prefix(b"/") {
            let closed = word(tag);
            if ARGUMENT_KEYS.contains(&closed.as_str()) {
                self.is_in_arguments = false;
            }
            let name = String::from_utf8(name?).ok()?;
            let name = name.trim();
            let is_name = !name.is_empty() && !name.contains('&');
            let is_named = is_name && NAME_KEYS.contains(&closed.as_str());
            self.is_named |= is_named;
            return is_named.then(|| name.to_owned());
        }
        let opened = word(tag);
        if tag.ends_with(b"/") || self.is_in_arguments {
            return None;
        }
        if ARGUMENT_KEYS.contains(&opened.as_str()) {
            self.is_in_arguments = true;
            self.may_begin_json = true;
        } else if !self.is_named && NAME_KEYS.contains(&opened.as_str()) {
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
