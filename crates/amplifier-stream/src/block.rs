//! Content blocks as the wire sent them, and tool calls as the client may run them.

use std::fmt;
use std::sync::Arc;

use amplifier_core::{Json, Object};

use crate::arguments::parse_arguments;

/// The type of a block, under the names of the events.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum BlockType {
    /// Text of the answer.
    Text,
    /// Thinking that may be read.
    Thinking,
    /// Thinking that only the provider can read.
    RedactedThinking,
    /// A call that the client has to run.
    ToolCall,
    /// Anything else, under the wire's own name.
    Other(Arc<str>),
}

impl Default for BlockType {
    fn default() -> Self {
        Self::Other(Arc::from("unknown"))
    }
}

impl BlockType {
    /// The type of a block that only the wire knows; it cannot take a name of ours.
    pub(crate) fn of_wire(name: &str) -> Self {
        match name {
            "text" | "thinking" | "redacted_thinking" | "tool_call" => Self::default(),
            name => Self::Other(Arc::from(name)),
        }
    }

    /// The name in events.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Text => "text",
            Self::Thinking => "thinking",
            Self::RedactedThinking => "redacted_thinking",
            Self::ToolCall => "tool_call",
            Self::Other(name) => name,
        }
    }
}

impl fmt::Display for BlockType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One block of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// A block in the form of the wire, with every key that it had.
    Content(Object),
    /// A call that the client has to run.
    ToolCall(ToolCall),
}

impl Block {
    /// The type of the block.
    #[must_use]
    pub fn block_type(&self) -> BlockType {
        match self {
            Self::ToolCall(_) => BlockType::ToolCall,
            Self::Content(fields) => match fields.get("type").and_then(Json::as_str) {
                Some("text") => BlockType::Text,
                Some("thinking") => BlockType::Thinking,
                Some("redacted_thinking") => BlockType::RedactedThinking,
                Some(name) => BlockType::of_wire(name),
                None => BlockType::default(),
            },
        }
    }

    /// Whether the model refuses in this block.
    pub(crate) fn is_refusal(&self) -> bool {
        let refusal = match self {
            Self::Content(fields) => fields.get("refusal").and_then(Json::as_str),
            Self::ToolCall(_) => None,
        };
        refusal.is_some_and(|refusal| !refusal.is_empty())
    }

    /// The block as one JSON object, which has a `type`; without one of its own, or with that of our
    /// calls, content is the `raw` of an `unknown` block.
    #[must_use]
    pub fn to_json(&self) -> Json {
        match self {
            Self::Content(fields) => match fields.get("type").and_then(Json::as_str) {
                // Calls are recognized by their type, so content must not have that type.
                None | Some("tool_call") => Json::Object(Object::from_iter([
                    ("type".to_owned(), BlockType::default().as_str().into()),
                    ("raw".to_owned(), Json::Object(fields.clone())),
                ])),
                Some(_) => Json::Object(fields.clone()),
            },
            Self::ToolCall(call) => call.to_json(),
        }
    }
}

/// A tool call; it may run exactly when it has `arguments`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolCall {
    /// The provider's id of the call.
    pub id: Option<String>,
    /// The name of the tool.
    pub name: String,
    /// The parsed arguments; `None` when the call must not run.
    pub arguments: Option<Object>,
    /// The arguments as they came; for a custom call its text.
    pub raw_arguments: String,
    /// Whether the call takes text instead of JSON; its arguments are that text as `input`.
    pub is_custom: bool,
    /// Why the call must not run.
    pub error: Option<String>,
    /// Every other key of the wire.
    pub extra: Object,
}

impl ToolCall {
    /// Judges the arguments of a call; also counts unpaired surrogate halves in them.
    pub(crate) fn judge(&mut self) -> usize {
        if self.name.is_empty() {
            self.refuse("the call has no tool name");
            return 0;
        }
        if self.is_custom {
            let input = Json::Str(self.raw_arguments.clone());
            self.arguments = Some(Object::from_iter([("input".to_owned(), input)]));
            return 0;
        }
        match parse_arguments(&self.raw_arguments) {
            Ok((arguments, unpaired)) => {
                self.arguments = Some(arguments);
                unpaired
            }
            Err(error) => {
                self.refuse(&format!("invalid tool arguments: {error}"));
                0
            }
        }
    }

    /// Takes the right to run away from the call; the first reason stays.
    pub fn refuse(&mut self, reason: &str) {
        self.arguments = None;
        self.error.get_or_insert_with(|| reason.to_owned());
    }

    fn to_json(&self) -> Json {
        let text = |text: &Option<String>| text.clone().map_or(Json::Null, Json::Str);
        let mut fields = Object::with_capacity(7 + self.extra.len());
        fields.insert("type".to_owned(), "tool_call".into());
        fields.insert("id".to_owned(), text(&self.id));
        fields.insert("name".to_owned(), self.name.as_str().into());
        let arguments = self.arguments.clone().map_or(Json::Null, Json::Object);
        fields.insert("arguments".to_owned(), arguments);
        fields.insert(
            "raw_arguments".to_owned(),
            self.raw_arguments.as_str().into(),
        );
        if self.is_custom {
            let arguments = self.arguments.as_ref();
            let input = arguments.and_then(|arguments| arguments.get("input").cloned());
            fields.insert("input".to_owned(), input.unwrap_or_default());
        }
        fields.insert("error".to_owned(), text(&self.error));
        for (key, value) in &self.extra {
            // A key of the wire never displaces one of ours.
            if !fields.contains_key(key) {
                fields.insert(key.clone(), value.clone());
            }
        }
        Json::Object(fields)
    }
}
