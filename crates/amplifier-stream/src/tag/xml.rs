//! The inside of a complete call that is XML, as JSON.

use std::mem;

use amplifier_core::{Json, Object};
use quick_xml::Reader;
use quick_xml::events::Event;

use super::entity::{Repairs, unescape};
use super::json_lexer::{JsonLexer, JsonStep};
use super::search;
use super::xml_lexer::ARGUMENT_KEYS;
use crate::MAX_ARGUMENT_DEPTH;

/// Why the inside of a call is not the XML that was wanted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem} at byte {at}")]
pub struct XmlError {
    /// What was found.
    pub problem: String,
    /// The place, in bytes of UTF-8.
    pub at: usize,
}

/// The elements of a call, or the text where it has none.
#[derive(Debug, Default)]
pub(super) struct Inside {
    pub(super) elements: Object,
    pub(super) text: String,
    pub(super) repairs: Repairs,
}

/// Reads elements as an object: one that comes again makes a list, one with elements an object, and
/// every other is text.
///
/// Arguments that begin with `{` are JSON up to its end, whatever tags its strings hold.
pub(super) fn read(source: &str) -> Result<Inside, XmlError> {
    let mut tree = Tree::default();
    let mut start = 0;
    'source: loop {
        let mut reader = Reader::from_str(&source[start..]);
        let config = reader.config_mut();
        config.allow_dangling_amp = true;
        // The tree knows what is open, also where reading starts again after JSON.
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        let mut from = start;
        loop {
            let event = reader.read_event();
            let to = start + place(reader.buffer_position());
            search::count(1 + to.saturating_sub(from));
            let event = event.map_err(|error| XmlError {
                problem: error.to_string(),
                at: start + place(reader.error_position()),
            })?;
            let written = &source[from..to];
            match event {
                Event::Text(_) | Event::GeneralRef(_) => {
                    let text = unescape(written, &mut tree.repairs);
                    tree.text().push_str(&text);
                }
                Event::CData(_) => {
                    let text = &written["<![CDATA[".len()..written.len() - "]]>".len()];
                    tree.text().push_str(text);
                }
                Event::Start(_) => {
                    tree.open(&written[1..written.len() - 1], from)?;
                    if tree.is_at_arguments()
                        && let Some(end) = json_end(&source[to..])
                    {
                        let text = unescape(&source[to..to + end], &mut tree.repairs);
                        tree.text().push_str(&text);
                        start = to + end;
                        continue 'source;
                    }
                }
                Event::Empty(_) => {
                    let name = tree.open(&written[1..written.len() - 2], from)?;
                    tree.close(name, from)?;
                }
                Event::End(_) => {
                    tree.close(written[2..written.len() - 1].trim_end(), from)?;
                }
                Event::Comment(_) => {}
                Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {
                    return Err(XmlError {
                        problem: "a declaration is not allowed in a call".to_owned(),
                        at: from,
                    });
                }
                Event::Eof => return tree.finish(source.len()),
            }
            from = to;
        }
    }
}

fn place(position: u64) -> usize {
    usize::try_from(position).unwrap_or(usize::MAX)
}

/// Where the JSON that begins the text ends, if it does.
fn json_end(text: &str) -> Option<usize> {
    let blanks = text.len() - text.trim_ascii_start().len();
    let json = &text[blanks..];
    if !json.starts_with('{') {
        return None;
    }
    match JsonLexer::new(false).advance(json.as_bytes()) {
        JsonStep::Done(end) => Some(blanks + end),
        JsonStep::More | JsonStep::Angle(_) | JsonStep::Name(..) | JsonStep::Broken(_) => None,
    }
}

/// What was read so far.
#[derive(Debug, Default)]
struct Tree<'s> {
    outside: Element<'s>,
    open: Vec<Element<'s>>,
    repairs: Repairs,
}

#[derive(Debug, Default)]
struct Element<'s> {
    name: &'s str,
    text: String,
    /// Each name with its value, or with the list of its values.
    elements: Object,
}

impl<'s> Tree<'s> {
    fn text(&mut self) -> &mut String {
        &mut self.innermost().text
    }

    fn innermost(&mut self) -> &mut Element<'s> {
        self.open.last_mut().unwrap_or(&mut self.outside)
    }

    fn is_at_arguments(&self) -> bool {
        matches!(self.open.as_slice(), [only] if ARGUMENT_KEYS.contains(&only.name))
    }

    fn open(&mut self, tag: &'s str, at: usize) -> Result<&'s str, XmlError> {
        let end = tag.find(|c: char| c.is_ascii_whitespace());
        let (name, attributes) = tag.split_at(end.unwrap_or(tag.len()));
        if !name.starts_with(|c: char| c.is_alphabetic() || c == '_') || name.contains('<') {
            let problem = "a `<` that does not start a tag; write `&lt;` or use CDATA".to_owned();
            return Err(XmlError { problem, at });
        }
        if self.open.len() == MAX_ARGUMENT_DEPTH {
            let problem = format!("elements nested deeper than {MAX_ARGUMENT_DEPTH} levels");
            return Err(XmlError { problem, at });
        }
        self.repairs.attributes += usize::from(!attributes.trim_ascii().is_empty());
        self.open.push(Element {
            name,
            ..Element::default()
        });
        Ok(name)
    }

    fn close(&mut self, name: &str, at: usize) -> Result<(), XmlError> {
        let Some(element) = self.open.pop_if(|element| element.name == name) else {
            let wanted = match self.open.last() {
                Some(element) => format!("`</{}>`", element.name),
                None => "an opening tag".to_owned(),
            };
            let problem = format!("expected {wanted}, found `</{name}>`");
            return Err(XmlError { problem, at });
        };
        let value = element.into_json(at)?;
        let elements = &mut self.innermost().elements;
        match elements.get_mut(name) {
            Some(Json::Array(values)) => values.push(value),
            Some(first) => *first = Json::Array(vec![mem::take(first), value]),
            None => {
                elements.insert(name.to_owned(), value);
            }
        }
        Ok(())
    }

    fn finish(mut self, end: usize) -> Result<Inside, XmlError> {
        if let Some(element) = self.open.last() {
            let problem = format!("expected `</{}>`, found the end", element.name);
            return Err(XmlError { problem, at: end });
        }
        let text = mem::take(&mut self.outside.text);
        let (elements, text) = match self.outside.into_json(end)? {
            Json::Object(elements) if text.trim_ascii().is_empty() => (elements, String::new()),
            Json::Object(_) => {
                return Err(beside(&text, end));
            }
            _ => (Object::new(), text),
        };
        Ok(Inside {
            elements,
            text,
            repairs: self.repairs,
        })
    }
}

impl Element<'_> {
    fn into_json(self, at: usize) -> Result<Json, XmlError> {
        if self.elements.is_empty() {
            return Ok(Json::Str(self.text));
        }
        if !self.text.trim_ascii().is_empty() {
            return Err(beside(&self.text, at));
        }
        Ok(Json::Object(self.elements))
    }
}

fn beside(text: &str, at: usize) -> XmlError {
    let shown: String = text.trim_ascii().chars().take(32).collect();
    XmlError {
        problem: format!("text `{shown}` beside elements; escape it or use CDATA"),
        at,
    }
}
