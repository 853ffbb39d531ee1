//! Separates thinking that a model writes between tags from its message.

use super::candidate::{Tag, Wanted};
use super::names::TagNames;
use super::search;
use super::splitter::{Piece, Splitter};

/// What a [`ThinkingParser`] reports, in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThinkingEvent {
    /// Thinking begins; the tag as it was written, empty if thinking continues after a flush.
    Start(String),
    /// Text of the thinking.
    Thinking(String),
    /// Thinking ends.
    End {
        /// Whether the text ended before its closing tag.
        truncated: bool,
    },
    /// Text of the message.
    Message(String),
    /// A closing tag without its opening tag, which is not part of the message.
    StrayClose(String),
}

/// Separates thinking from the message.
///
/// The first closing tag ends a thought, unless thoughts [nest](Self::nesting).
///
/// # Examples
///
/// ```
/// use amplifier_stream::{ThinkingEvent, ThinkingParser};
///
/// let mut parser = ThinkingParser::default();
/// let mut events = parser.feed("<thin");
/// events.extend(parser.feed("king>Hm.</thinking>Yes"));
/// events.extend(parser.flush());
/// assert_eq!(
///     events,
///     [
///         ThinkingEvent::Start("<thinking>".to_owned()),
///         ThinkingEvent::Thinking("Hm.".to_owned()),
///         ThinkingEvent::End { truncated: false },
///         ThinkingEvent::Message("Yes".to_owned()),
///     ],
/// );
///
/// // Without the events, as two texts:
/// let (thinking, message) = ThinkingParser::default().parse("<thinking>Hm.</thinking>Yes");
/// assert_eq!((thinking.as_deref(), message.as_deref()), (Some("Hm."), Some("Yes")));
/// ```
#[derive(Debug, Clone)]
pub struct ThinkingParser {
    splitter: Splitter,
    nests: bool,
    open: Option<Thought>,
}

#[derive(Debug, Clone)]
struct Thought {
    name: usize,
    depth: usize,
    /// Whether its start was reported, and its end was not.
    is_reported: bool,
}

impl ThinkingParser {
    /// A parser of these tags; the default ones are `<thinking>` and `</thinking>`.
    #[must_use]
    pub fn new(names: TagNames) -> Self {
        Self {
            splitter: Splitter::new(names),
            nests: false,
            open: None,
        }
    }

    /// The same parser, where a thought within a thought must be closed too.
    #[must_use]
    pub fn nesting(mut self) -> Self {
        self.nests = true;
        self
    }

    /// Whether the text so far ends within a thought; a flush does not change it.
    #[must_use]
    pub fn is_in_thinking(&self) -> bool {
        self.open.is_some()
    }

    /// Takes a piece of the text and returns its events.
    pub fn feed(&mut self, text: &str) -> Vec<ThinkingEvent> {
        let mut events = Vec::new();
        let mut rest = text;
        while let Some(piece) = self.splitter.next(&mut rest, self.wanted()) {
            match piece {
                Piece::Text(text) => self.add(&text, &mut events),
                Piece::Tag(tag, written) => self.take(tag, &written, &mut events),
            }
        }
        events
    }

    /// Releases held text, and marks open thinking as truncated.
    pub fn flush(&mut self) -> Vec<ThinkingEvent> {
        let mut events = Vec::new();
        let held = self.splitter.flush();
        self.add(&held, &mut events);
        if let Some(thought) = &mut self.open
            && std::mem::take(&mut thought.is_reported)
        {
            events.push(ThinkingEvent::End { truncated: true });
        }
        events
    }

    /// Forgets everything but the settings.
    pub fn reset(&mut self) {
        self.splitter.flush();
        self.open = None;
    }

    /// Takes a piece of the text and returns its thinking and its message, each as one text.
    ///
    /// What came first is lost here, and so is where thoughts begin: [`Self::feed`] keeps both.
    pub fn parse(&mut self, text: &str) -> (Option<String>, Option<String>) {
        let mut pair = (None, None);
        for event in self.feed(text) {
            let (place, text) = match event {
                ThinkingEvent::Thinking(text) => (&mut pair.0, text),
                ThinkingEvent::Message(text) => (&mut pair.1, text),
                ThinkingEvent::Start(_)
                | ThinkingEvent::End { .. }
                | ThinkingEvent::StrayClose(_) => continue,
            };
            place.get_or_insert_with(String::new).push_str(&text);
        }
        pair
    }

    fn wanted(&self) -> Wanted {
        match &self.open {
            None => Wanted {
                open: self.splitter.names.all(),
                close: self.splitter.names.all(),
            },
            Some(thought) => Wanted {
                open: u64::from(self.nests) << thought.name,
                close: 1 << thought.name,
            },
        }
    }

    fn add(&mut self, text: &str, events: &mut Vec<ThinkingEvent>) {
        if text.is_empty() {
            return;
        }
        search::count(1 + text.len());
        let Some(thought) = &mut self.open else {
            match events.last_mut() {
                Some(ThinkingEvent::Message(message)) => message.push_str(text),
                _ => events.push(ThinkingEvent::Message(text.to_owned())),
            }
            return;
        };
        if !std::mem::replace(&mut thought.is_reported, true) {
            events.push(ThinkingEvent::Start(String::new()));
        }
        match events.last_mut() {
            Some(ThinkingEvent::Thinking(thinking)) => thinking.push_str(text),
            _ => events.push(ThinkingEvent::Thinking(text.to_owned())),
        }
    }

    fn take(&mut self, tag: Tag, written: &str, events: &mut Vec<ThinkingEvent>) {
        match (&mut self.open, tag) {
            (None, Tag::Open(name)) => {
                self.open = Some(Thought {
                    name,
                    depth: 1,
                    is_reported: true,
                });
                events.push(ThinkingEvent::Start(written.to_owned()));
            }
            (None, Tag::Close(_)) => events.push(ThinkingEvent::StrayClose(written.to_owned())),
            (Some(thought), Tag::Open(_)) => {
                thought.depth += 1;
                self.add(written, events);
            }
            (Some(thought), Tag::Close(_)) if thought.depth > 1 => {
                thought.depth -= 1;
                self.add(written, events);
            }
            (Some(thought), Tag::Close(_)) => {
                if thought.is_reported {
                    events.push(ThinkingEvent::End { truncated: false });
                }
                self.open = None;
            }
        }
    }
}

impl Default for ThinkingParser {
    fn default() -> Self {
        Self::new(TagNames::known("thinking"))
    }
}
