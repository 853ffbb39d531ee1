//! Where the text of deltas is in an output item.

use crate::open_block::Part;

/// A kind of text that arrives in deltas.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Source {
    /// The name of its events, without `.delta` and `.done`.
    pub(super) event: &'static str,
    /// The type of the items that have it.
    pub(super) item_type: &'static str,
    /// The list of parts that it is in, and the type of its part; none for a field of the item.
    pub(super) list: Option<(List, &'static str)>,
    /// The key of the text.
    pub(super) key: &'static str,
    /// The part of the block that it adds to.
    pub(super) part: Part,
}

/// A list of parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    Content,
    Summary,
}

impl List {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Content => "content",
            Self::Summary => "summary",
        }
    }
}

const fn in_list(
    event: &'static str,
    item_type: &'static str,
    (list, part_type, key): (List, &'static str, &'static str),
    part: Part,
) -> Source {
    Source {
        event,
        item_type,
        list: Some((list, part_type)),
        key,
        part,
    }
}

const fn in_field(
    event: &'static str,
    item_type: &'static str,
    key: &'static str,
    part: Part,
) -> Source {
    Source {
        event,
        item_type,
        list: None,
        key,
        part,
    }
}

/// The usual ones first.
static SOURCES: [Source; 8] = [
    in_list(
        "response.output_text",
        "message",
        (List::Content, "output_text", "text"),
        Part::Text,
    ),
    in_field(
        "response.function_call_arguments",
        "function_call",
        "arguments",
        Part::Input,
    ),
    in_list(
        "response.reasoning_summary_text",
        "reasoning",
        (List::Summary, "summary_text", "text"),
        Part::Thinking,
    ),
    in_list(
        "response.reasoning_text",
        "reasoning",
        (List::Content, "reasoning_text", "text"),
        Part::Thinking,
    ),
    in_list(
        "response.refusal",
        "message",
        (List::Content, "refusal", "refusal"),
        Part::Text,
    ),
    in_field(
        "response.custom_tool_call_input",
        "custom_tool_call",
        "input",
        Part::Text,
    ),
    in_field(
        "response.code_interpreter_call_code",
        "code_interpreter_call",
        "code",
        Part::Text,
    ),
    in_field(
        "response.mcp_call_arguments",
        "mcp_call",
        "arguments",
        Part::Input,
    ),
];

impl Source {
    /// The source of an event, and whether the event brings its whole text.
    pub(super) fn of(kind: &str) -> Option<(&'static Self, bool)> {
        let (event, step) = kind.rsplit_once('.')?;
        let is_whole = match step {
            "delta" => false,
            "done" => true,
            _ => return None,
        };
        let source = SOURCES.iter().find(|source| source.event == event)?;
        Some((source, is_whole))
    }
}
