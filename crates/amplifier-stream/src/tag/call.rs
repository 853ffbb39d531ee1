//! A tool call as written in the text, and in the form that may run.

use amplifier_core::{Json, Object};

use super::entity::{Repairs, unescape};
use super::json_lexer::NAME_KEYS;
use super::xml::{self, XmlError};
use super::xml_lexer::ARGUMENT_KEYS;
use crate::json::{InvalidJson, Scanner};
use crate::{Finding, MAX_ARGUMENT_DEPTH, parse_arguments};

const SERVER_KEY: &str = "server_name";

/// The server of a call that names none.
const LOCAL: &str = "local";

/// A call of a tool; it may run exactly when it has `arguments`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ParsedCall {
    /// The number of the call.
    pub index: u64,
    /// The provider's id, or the one that the parser gave it.
    pub id: Option<String>,
    /// The name of the tool; empty where none is known.
    pub name: String,
    /// The server that has the tool, `local` by default.
    pub server_name: String,
    /// The arguments; `None` when the call must not run.
    pub arguments: Option<Object>,
    /// Whether the arguments come from XML, so that all their values are text.
    pub is_textual: bool,
    /// What was between the tags, without the blanks around it.
    pub raw: String,
    /// Whether the provider reported the call itself, instead of tags in the text, so that `raw`
    /// has only its arguments.
    pub is_native: bool,
    /// Why the call must not run.
    pub error: Option<CallError>,
    /// What was repaired, ignored or not understood.
    pub findings: Vec<Finding>,
}

/// Why a call must not run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The text ended first.
    #[error("the call has no closing tag")]
    Incomplete,
    /// It is too long to be kept.
    #[error("the call is longer than `max_call_bytes` ({0} bytes)")]
    TooLong(usize),
    /// It is not the JSON that it should be.
    #[error("{0}")]
    Json(InvalidJson),
    /// It is not the XML that it should be.
    #[error("{0}")]
    Xml(XmlError),
    /// It does not say which tool.
    #[error("the call has no tool name (`tool_name` is missing)")]
    Nameless,
    /// A key has a value of another type.
    #[error("`{key}` must be {wanted}, found {found}")]
    WrongType {
        /// The key.
        key: String,
        /// What it should be.
        wanted: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// Two keys say the same.
    #[error("`{0}` and `{1}` mean the same; use only one of them")]
    Ambiguous(String, String),
    /// The answer that holds it is not whole, or its decoder refused it.
    #[error("{0}")]
    Refused(String),
}

impl ParsedCall {
    /// Whether the closing tag was there.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        !matches!(self.error, Some(CallError::Incomplete))
    }

    /// Takes the right to run away from the call; the first reason stays.
    pub fn refuse(&mut self, error: CallError) {
        self.arguments = None;
        self.error.get_or_insert(error);
    }

    /// Reads what stood between the tags: JSON, XML with CDATA or entities, or JSON within XML.
    pub(super) fn read(&mut self) {
        let raw = std::mem::take(&mut self.raw);
        let arguments = self.read_text(&raw, true);
        self.raw = raw;
        let arguments = match arguments {
            Ok(arguments) => arguments,
            Err(error) => return self.refuse(error),
        };
        if self.name.is_empty() {
            return self.refuse(CallError::Nameless);
        }
        self.arguments = Some(arguments);
    }

    fn read_text(&mut self, text: &str, is_outermost: bool) -> Result<Object, CallError> {
        let text = text.trim();
        if is_outermost && text.starts_with("&lt;") {
            let plain = unescape(text, &mut Repairs::default());
            let message = "the call was escaped as a whole and was read unescaped";
            self.find("escaped_markup", message.to_owned());
            return self.read_text(&plain, false);
        }
        if !text.starts_with('<') {
            if let Some(fields) = self.read_usual(text) {
                return self.settle(fields);
            }
            let fields = self.parse(text)?;
            return self.read_fields(fields);
        }
        let inside = xml::read(text).map_err(CallError::Xml)?;
        self.report(inside.repairs);
        if inside.elements.is_empty() && is_outermost {
            return self.read_text(&inside.text, false);
        }
        self.is_textual = true;
        self.read_fields(inside.elements)
    }

    fn parse(&mut self, text: &str) -> Result<Object, CallError> {
        let (fields, unpaired) = parse_arguments(text).map_err(CallError::Json)?;
        self.find_unpaired(unpaired);
        Ok(fields)
    }

    /// Reads JSON with nothing but keys of a call, each of them once, without a map for those.
    fn read_usual(&mut self, text: &str) -> Option<Fields> {
        let mut fields = Fields::default();
        let mut is_usual = true;
        let mut scanner = Scanner::strict(text, MAX_ARGUMENT_DEPTH);
        let read = scanner.object(|key, scanner| {
            is_usual &= fields.put(key, scanner.value()?).is_none();
            Ok(())
        });
        let is_read = read.is_ok() && scanner.end().is_ok();
        if !is_read || !is_usual {
            return None;
        }
        self.find_unpaired(scanner.unpaired);
        Some(fields)
    }

    fn read_fields(&mut self, entries: Object) -> Result<Object, CallError> {
        let mut fields = Fields::default();
        for (key, value) in entries {
            match fields.put(&key, value) {
                None => {}
                Some(Unused::Unknown) => {
                    let message = format!("the call has an unknown key `{key}`");
                    self.find("unknown_key", message);
                }
                Some(Unused::Same(first)) => {
                    return Err(CallError::Ambiguous(first.to_owned(), key));
                }
            }
        }
        self.settle(fields)
    }

    fn settle(&mut self, fields: Fields) -> Result<Object, CallError> {
        if let Some((key, name)) = fields.name {
            self.name = text_of(key, name)?;
        }
        if let Some((key, server)) = fields.server {
            self.server_name = text_of(key, server)?;
        }
        if self.server_name.is_empty() {
            LOCAL.clone_into(&mut self.server_name);
        }
        match fields.arguments {
            None => Ok(Object::new()),
            Some((_, Json::Object(arguments))) => Ok(arguments),
            Some((_, Json::Str(text))) if self.is_textual => {
                self.is_textual = false;
                self.parse(&text)
            }
            Some((key, other)) => Err(CallError::WrongType {
                key: key.to_owned(),
                wanted: "an object",
                found: other.kind(),
            }),
        }
    }

    fn find_unpaired(&mut self, unpaired: usize) {
        if unpaired > 0 {
            let message = format!("{unpaired} unpaired surrogate halves became U+FFFD");
            self.find("unpaired_surrogate", message);
        }
    }

    fn report(&mut self, repairs: Repairs) {
        let Repairs {
            ampersands,
            references,
            attributes,
        } = repairs;
        if ampersands > 0 {
            let message = format!("{ampersands} bare `&` outside of CDATA were read as `&amp;`");
            self.find("bare_ampersand", message);
        }
        if references > 0 {
            let message = format!("{references} references to unknown entities were kept as text");
            self.find("unknown_entity", message);
        }
        if attributes > 0 {
            let message = format!("the attributes of {attributes} tags were ignored");
            self.find("ignored_attributes", message);
        }
    }

    fn find(&mut self, kind: &'static str, message: String) {
        self.findings.push(Finding {
            kind,
            block_index: Some(self.index),
            message,
            raw: None,
        });
    }
}

/// What a call says, each with the key that says it.
#[derive(Default)]
struct Fields {
    name: Option<(&'static str, Json)>,
    server: Option<(&'static str, Json)>,
    arguments: Option<(&'static str, Json)>,
}

/// Why a value has no place.
enum Unused {
    Unknown,
    /// This key has said the same.
    Same(&'static str),
}

impl Fields {
    fn put(&mut self, key: &str, value: Json) -> Option<Unused> {
        let places: [(&[&'static str], _); 3] = [
            (&NAME_KEYS, &mut self.name),
            (&ARGUMENT_KEYS, &mut self.arguments),
            (&[SERVER_KEY], &mut self.server),
        ];
        for (keys, place) in places {
            if let Some(key) = keys.iter().find(|known| **known == key) {
                let before = place.replace((key, value));
                return before.map(|(first, _)| Unused::Same(first));
            }
        }
        Some(Unused::Unknown)
    }
}

/// A text without the blanks around it.
fn text_of(key: &str, value: Json) -> Result<String, CallError> {
    match value {
        Json::Str(text) if text.trim().len() == text.len() => Ok(text),
        Json::Str(text) => Ok(text.trim().to_owned()),
        other => Err(CallError::WrongType {
            key: key.to_owned(),
            wanted: "a text",
            found: other.kind(),
        }),
    }
}
