//! A message of the dialect.

use amplifier_core::record::Fields;
use amplifier_core::schema::{RecordSchema, any_of};
use amplifier_core::{Form, FromJson, Json, ModelError, Object, Schema, deserialize_through_json};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use super::block::ContentBlock;

/// One message of a conversation with Claude.
///
/// A string as `content` is read as one text block, and a string as `thinking` as one thinking block.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaudeMessage {
    /// The role: `user`, `assistant` or `system`; other roles are kept.
    pub role: String,
    /// The blocks.
    pub content: Vec<ContentBlock>,
    /// Thinking blocks that are not part of `content`.
    pub thinking: Option<Vec<ContentBlock>>,
    /// The keys that are not declared, in their order.
    pub extra: Object,
}

impl ClaudeMessage {
    /// The declared keys, in the order in which they are written.
    pub const KEYS: &'static [&'static str] = &["role", "content", "thinking"];

    /// A message of these blocks.
    #[must_use]
    pub fn new(role: impl Into<String>, content: Vec<ContentBlock>) -> Self {
        Self {
            role: role.into(),
            content,
            thinking: None,
            extra: Object::new(),
        }
    }
}

/// Blocks as they are read: a plain text is also accepted.
#[derive(Serialize)]
#[serde(untagged)]
enum Blocks {
    Text(String),
    Blocks(Vec<ContentBlock>),
}

impl Blocks {
    /// The blocks; a text becomes `one`.
    fn or(self, one: fn(String) -> ContentBlock) -> Vec<ContentBlock> {
        match self {
            Self::Text(text) => vec![one(text)],
            Self::Blocks(blocks) => blocks,
        }
    }
}

impl FromJson for Blocks {
    fn from_json(json: Json) -> Result<Self, ModelError> {
        match json {
            Json::Str(text) => Ok(Self::Text(text)),
            Json::Array(_) => Vec::from_json(json).map(Self::Blocks),
            other => Err(ModelError::unexpected("a string or an array", &other)),
        }
    }
}

impl Schema for Blocks {
    fn schema(form: Form) -> Json {
        let blocks = Vec::<ContentBlock>::schema(form);
        match form {
            Form::Read => any_of(vec![blocks, String::schema(form)]),
            Form::Written => blocks,
        }
    }
}

impl FromJson for ClaudeMessage {
    fn from_json(json: Json) -> Result<Self, ModelError> {
        let mut fields = Fields::of("ClaudeMessage", json)?;
        Ok(Self {
            role: fields.take("role", None)?,
            content: fields
                .take::<Blocks>("content", None)?
                .or(ContentBlock::text),
            thinking: fields
                .take::<Option<Blocks>>("thinking", Some(|| None))?
                .map(|blocks| blocks.or(ContentBlock::thinking)),
            extra: fields.rest(Self::KEYS),
        })
    }
}

impl Schema for ClaudeMessage {
    fn schema(form: Form) -> Json {
        let mut schema = RecordSchema::new(form);
        schema.field::<String>("role", None);
        schema.field::<Blocks>("content", None);
        schema.field("thinking", Some(|| None::<Blocks>));
        schema.open();
        schema.finish()
    }
}

impl Serialize for ClaudeMessage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", &self.role)?;
        map.serialize_entry("content", &self.content)?;
        map.serialize_entry("thinking", &self.thinking)?;
        for (key, value) in &self.extra {
            if !Self::KEYS.contains(&key.as_str()) {
                map.serialize_entry(key, value)?;
            }
        }
        map.end()
    }
}

deserialize_through_json!(ClaudeMessage);
