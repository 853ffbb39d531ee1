//! Where the inside of a call may end: not in a string of JSON, in CDATA or in a comment.

use super::json_lexer::{JsonLexer, JsonStep};
use super::search;
use super::xml_lexer::{XmlLexer, XmlStep};

/// What is found inside of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// At this place is a `<` at which the closing tag would count.
    Angle(usize),
    /// At this place the name of the tool is known.
    Name(usize, String),
}

/// Follows the inside of one call.
#[derive(Debug, Clone, Default)]
pub(super) enum Lexer {
    /// Only blanks so far.
    #[default]
    Blank,
    Json(JsonLexer),
    Xml(XmlLexer),
    /// Neither: the next closing tag counts.
    Plain,
}

impl Lexer {
    /// Follows the bytes up to what is found in them.
    pub(super) fn next(&mut self, bytes: &[u8]) -> Option<Found> {
        let mut at = 0;
        loop {
            let rest = &bytes[at..];
            match self {
                Self::Blank => {
                    let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace());
                    let blanks = blanks.count();
                    search::count(1 + blanks);
                    at += blanks;
                    // The byte that decides is left for the lexer that it begins, which counts brackets.
                    *self = match bytes.get(at)? {
                        b'{' | b'[' => Self::Json(JsonLexer::new(true)),
                        b'<' => Self::Xml(XmlLexer::default()),
                        _ => Self::Plain,
                    };
                }
                Self::Plain => {
                    return search::find(b'<', rest).map(|place| Found::Angle(at + place));
                }
                Self::Json(json) => match json.advance(rest) {
                    JsonStep::More => return None,
                    JsonStep::Angle(place) => return Some(Found::Angle(at + place)),
                    JsonStep::Name(place, name) => return Some(Found::Name(at + place, name)),
                    // After broken JSON nothing says where its strings are: to look for their ends would
                    // let a lost quote hide the closing tag.
                    JsonStep::Done(place) | JsonStep::Broken(place) => {
                        at += place;
                        *self = Self::Plain;
                    }
                },
                Self::Xml(xml) => {
                    return match xml.advance(rest) {
                        XmlStep::More => None,
                        XmlStep::Angle(place) => Some(Found::Angle(at + place)),
                        XmlStep::Name(place, name) => Some(Found::Name(at + place, name)),
                    };
                }
            }
        }
    }

    /// Takes the `<` that was found last as a part of the call.
    pub(super) fn pass(&mut self) {
        match self {
            Self::Xml(xml) => xml.pass(),
            Self::Json(_) => *self = Self::Plain,
            Self::Blank | Self::Plain => {}
        }
    }
}
