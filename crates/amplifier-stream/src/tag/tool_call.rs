//! Separates tool calls that a model writes between tags from its text.

use super::call::{CallError, ParsedCall};
use super::candidate::{Tag, Wanted};
use super::lexer::{Found, Lexer};
use super::names::TagNames;
use super::quotation::Quotation;
use super::repetition::KnownTexts;
use super::search;
use super::splitter::{Piece, Splitter, split};
use super::tool_call_event::ToolCallEvent;

/// How long the inside of one call may be, in bytes, unless another limit is set.
pub const MAX_CALL_BYTES: usize = 10 * 1024 * 1024;

/// Finds the calls in a text.
///
/// A closing tag in a string of JSON, in CDATA or in a comment closes nothing. A call that is not
/// closed, or longer than the limit, is reported and must not run.
///
/// # Examples
///
/// ```
/// use amplifier_stream::{ToolCallEvent, ToolCallParser};
///
/// let mut parser = ToolCallParser::default().with_id_prefix("call".to_owned());
/// let text = r#"Look: <tool>{"tool_name": "read", "arguments": {"path": "a.md"}}</tool>"#;
/// let mut events = parser.feed(text);
/// events.extend(parser.flush());
///
/// assert_eq!(events[0], ToolCallEvent::Regular("Look: ".to_owned()));
/// let Some(ToolCallEvent::End(call)) = events.last() else {
///     panic!("the call ends last");
/// };
/// assert_eq!(call.name, "read");
/// assert_eq!(call.arguments.as_ref().unwrap()["path"].as_str(), Some("a.md"));
///
/// // A call that is cut off has no arguments, and must not run.
/// parser.feed(r#"<tool>{"tool_name": "read""#);
/// let Some(ToolCallEvent::End(call)) = parser.flush().pop() else {
///     panic!("the call ends with the text");
/// };
/// assert_eq!(call.arguments, None);
/// ```
#[derive(Debug, Clone)]
pub struct ToolCallParser {
    splitter: Splitter,
    max_call_bytes: usize,
    /// What is quoted of the text so far, where calls in quotations are text.
    quotation: Option<Quotation>,
    known_texts: KnownTexts,
    id_prefix: Option<String>,
    /// How many calls had an id; a reset does not use any of them again.
    identified: u64,
    next_index: u64,
    open: Option<OpenCall>,
    content: String,
}

#[derive(Debug, Clone)]
struct OpenCall {
    index: u64,
    name: usize,
    tool: String,
    lexer: Lexer,
    is_too_long: bool,
    /// The call so far, while it is not clear whether it was copied from a known text.
    withheld: Option<Withheld>,
}

#[derive(Debug, Clone)]
struct Withheld {
    /// The call as it was written, with its tags.
    written: String,
    events: Vec<ToolCallEvent>,
}

impl ToolCallParser {
    /// A parser of these tags; the default ones are `<tool>` and `</tool>`.
    #[must_use]
    pub fn new(names: TagNames) -> Self {
        Self {
            splitter: Splitter::new(names),
            max_call_bytes: MAX_CALL_BYTES,
            quotation: None,
            known_texts: KnownTexts::default(),
            id_prefix: None,
            identified: 0,
            next_index: 0,
            open: None,
            content: String::new(),
        }
    }

    /// The same parser with another limit to the inside of a call, in bytes.
    #[must_use]
    pub fn with_max_call_bytes(mut self, max_call_bytes: usize) -> Self {
        self.max_call_bytes = max_call_bytes;
        self
    }

    /// The same parser; the id of each call is this prefix and a number.
    #[must_use]
    pub fn with_id_prefix(mut self, id_prefix: String) -> Self {
        self.id_prefix = Some(id_prefix);
        self
    }

    /// The same parser, for which calls in quotations are text.
    ///
    /// Quotations are code blocks, inline code, block quotations and comments, as in Markdown.
    #[must_use]
    pub fn ignoring_quoted(mut self) -> Self {
        self.quotation = Some(Quotation::default());
        self
    }

    /// The same parser, for which a call that one of these texts contains, with its tags, is text.
    ///
    /// It compares them without blanks and escapes. Where there is such a text, a call is reported
    /// when it has ended.
    #[must_use]
    pub fn with_known_texts<T: AsRef<str>>(mut self, texts: impl IntoIterator<Item = T>) -> Self {
        self.known_texts = KnownTexts::new(texts);
        self
    }

    /// Whether the text so far ends within a call.
    #[must_use]
    pub fn is_in_tool_call(&self) -> bool {
        self.open.is_some()
    }

    /// What the open call holds so far, or else the last one held.
    #[must_use]
    pub fn accumulated_tool_content(&self) -> &str {
        &self.content
    }

    /// Takes a piece of the text and returns its events.
    pub fn feed(&mut self, text: &str) -> Vec<ToolCallEvent> {
        let mut events = Vec::new();
        let mut rest = text;
        loop {
            let is_read = match &self.open {
                None => self.read_outside(&mut rest, &mut events),
                Some(_) if self.splitter.is_holding() => self.go_on(&mut rest, &mut events),
                Some(_) => self.read_inside(&mut rest, &mut events),
            };
            if is_read.is_none() {
                return events;
            }
        }
    }

    /// Releases held text, and ends an open call as incomplete.
    pub fn flush(&mut self) -> Vec<ToolCallEvent> {
        let mut events = Vec::new();
        let held = self.splitter.flush();
        if self.open.is_none() {
            self.add_regular(&held, &mut events);
        } else {
            self.add(&held, &mut events);
            self.end(None, &mut events);
        }
        events
    }

    /// Forgets everything but the settings.
    pub fn reset(&mut self) {
        self.splitter.flush();
        self.open = None;
        self.content.clear();
        self.next_index = 0;
        self.quotation = self.quotation.take().map(|_| Quotation::default());
    }

    fn read_outside(&mut self, rest: &mut &str, events: &mut Vec<ToolCallEvent>) -> Option<()> {
        let wanted = Wanted {
            open: self.splitter.names.all(),
            close: 0,
        };
        match self.splitter.next(rest, wanted)? {
            Piece::Text(text) => self.add_regular(&text, events),
            Piece::Tag(Tag::Open(name) | Tag::Close(name), tag) => {
                if self.is_quoted(&tag) {
                    push_regular(&tag, events);
                } else {
                    self.begin(name, tag.into_owned(), events);
                }
            }
        }
        Some(())
    }

    /// Takes a tag into account for what is quoted; whether it is itself.
    fn is_quoted(&mut self, tag: &str) -> bool {
        let Some(quotation) = &mut self.quotation else {
            return false;
        };
        let (angle, rest) = tag.split_at(1);
        // The tag itself may show that its line is indented code.
        quotation.read(angle);
        let is_quoted = quotation.is_quoted();
        quotation.read(rest);
        is_quoted
    }

    fn begin(&mut self, name: usize, tag: String, events: &mut Vec<ToolCallEvent>) {
        self.content.clear();
        let index = self.next_index;
        self.next_index += 1;
        let mut withheld = (!self.known_texts.is_empty()).then(|| Withheld {
            written: tag.clone(),
            events: Vec::new(),
        });
        withheld
            .as_mut()
            .map_or(events, |withheld| &mut withheld.events)
            .push(ToolCallEvent::Start { index, tag });
        self.open = Some(OpenCall {
            index,
            name,
            tool: String::new(),
            lexer: Lexer::default(),
            is_too_long: false,
            withheld,
        });
    }

    fn read_inside(&mut self, rest: &mut &str, events: &mut Vec<ToolCallEvent>) -> Option<()> {
        let wanted = self.wanted();
        let call = self.open.as_mut()?;
        let index = call.index;
        let mut at = 0;
        loop {
            match call.lexer.next(&rest.as_bytes()[at..]) {
                None => {
                    self.add(rest, events);
                    return None;
                }
                Some(Found::Name(place, name)) => {
                    call.tool.clone_from(&name);
                    self.add(split(rest, at + place), events);
                    self.seen(events).push(ToolCallEvent::Name { index, name });
                    return Some(());
                }
                Some(Found::Angle(place)) => {
                    at += place;
                    if let Some(sight) = self.splitter.look(&rest.as_bytes()[at..], wanted) {
                        self.add(split(rest, at), events);
                        let piece = self.splitter.begin(rest, sight)?;
                        self.take(piece, events);
                        return Some(());
                    }
                    call.lexer.pass();
                    at += 1;
                }
            }
        }
    }

    /// Goes on with what may become the closing tag of the call.
    fn go_on(&mut self, rest: &mut &str, events: &mut Vec<ToolCallEvent>) -> Option<()> {
        let piece = self.splitter.next(rest, self.wanted())?;
        self.take(piece, events);
        Some(())
    }

    /// Takes the closing tag of the call, or what looked like it.
    fn take(&mut self, piece: Piece<'_>, events: &mut Vec<ToolCallEvent>) {
        match piece {
            Piece::Tag(_, tag) => self.end(Some(&tag), events),
            Piece::Text(text) => {
                if let Some(call) = &mut self.open {
                    call.lexer.pass();
                    // It has no other `<`, so there is nothing to be found.
                    call.lexer.next(&text.as_bytes()[1..]);
                }
                self.add(&text, events);
            }
        }
    }

    fn wanted(&self) -> Wanted {
        let close = self.open.as_ref().map_or(0, |call| 1 << call.name);
        Wanted { open: 0, close }
    }

    fn add(&mut self, text: &str, events: &mut Vec<ToolCallEvent>) {
        let Some(call) = &mut self.open else { return };
        if text.is_empty() {
            return;
        }
        search::count(1 + 2 * text.len());
        if !call.is_too_long {
            let mut end = text.len().min(self.max_call_bytes - self.content.len());
            call.is_too_long = end < text.len();
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            self.content.push_str(&text[..end]);
        }
        let index = call.index;
        if let Some(withheld) = &mut call.withheld {
            withheld.written.push_str(text);
        }
        if call.is_too_long
            && let Some(withheld) = call.withheld.take()
        {
            events.extend(withheld.events);
        }
        let events = self.seen(events);
        match events.last_mut() {
            Some(ToolCallEvent::Content { text: content, .. }) => content.push_str(text),
            _ => events.push(ToolCallEvent::Content {
                index,
                text: text.to_owned(),
            }),
        }
    }

    /// Where the events of the open call go: to those that are reported, or withheld.
    fn seen<'e>(&'e mut self, events: &'e mut Vec<ToolCallEvent>) -> &'e mut Vec<ToolCallEvent> {
        match self.open.as_mut().and_then(|call| call.withheld.as_mut()) {
            Some(withheld) => &mut withheld.events,
            None => events,
        }
    }

    /// Ends the open call; without a closing tag it is incomplete.
    fn end(&mut self, closing_tag: Option<&str>, events: &mut Vec<ToolCallEvent>) {
        let Some(mut open) = self.open.take() else {
            return;
        };
        search::count(1 + self.content.len());
        if let Some(mut withheld) = open.withheld.take() {
            withheld.written.push_str(closing_tag.unwrap_or_default());
            if self.known_texts.contain(&withheld.written) {
                self.next_index = open.index;
                self.add_regular(&withheld.written, events);
                return;
            }
            events.extend(withheld.events);
        }
        let id = self
            .id_prefix
            .as_ref()
            .map(|prefix| format!("{prefix}{}", self.identified));
        self.identified += 1;
        let mut call = ParsedCall {
            index: open.index,
            id,
            name: open.tool,
            raw: self.content.trim().to_owned(),
            ..ParsedCall::default()
        };
        if closing_tag.is_none() {
            call.refuse(CallError::Incomplete);
        } else if open.is_too_long {
            call.refuse(CallError::TooLong(self.max_call_bytes));
        } else {
            call.read();
        }
        events.push(ToolCallEvent::End(Box::new(call)));
    }

    fn add_regular(&mut self, text: &str, events: &mut Vec<ToolCallEvent>) {
        if let Some(quotation) = &mut self.quotation {
            quotation.read(text);
        }
        push_regular(text, events);
    }
}

impl Default for ToolCallParser {
    fn default() -> Self {
        Self::new(TagNames::known("tool"))
    }
}

fn push_regular(text: &str, events: &mut Vec<ToolCallEvent>) {
    if text.is_empty() {
        return;
    }
    search::count(1 + text.len());
    match events.last_mut() {
        Some(ToolCallEvent::Regular(regular)) => regular.push_str(text),
        _ => events.push(ToolCallEvent::Regular(text.to_owned())),
    }
}
