//! The result of a tool.

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use crate::base64::standard_sextet;
use crate::content::{ImageBlock, TextBlock};
use crate::coordinator::sanitize_injection;
use crate::error::ToolError;
use crate::from_json::{FromJson, ModelError};
use crate::json::{Json, Object};
use crate::record::{Fields, deserialize_through_json};
use crate::schema::{Form, RecordSchema, Schema, any_of};

/// The result of a tool; JSON omits an empty `content`.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    /// Whether the tool succeeded.
    pub success: bool,
    /// The output; a failure without one is read with its error message as output.
    pub output: Json,
    /// What went wrong.
    pub error: Option<Object>,
    /// Text and images for the model.
    pub content: Vec<ToolContent>,
}

/// One piece of a tool result's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolContent {
    /// `text`.
    Text(String),
    /// `image`.
    Image(InlineImage),
}

/// An image as base64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlineImage {
    media_type: String,
    data: String,
}

impl ToolResult {
    /// The declared keys, in the order in which they are written.
    pub const KEYS: &'static [&'static str] = &["success", "output", "error", "content"];

    /// A success with this output.
    ///
    /// # Examples
    ///
    /// ```
    /// use amplifier_core::{Json, ToolResult};
    ///
    /// assert_eq!(ToolResult::of(5).to_text(), "5");
    /// assert_eq!(ToolResult::of(Json::from_iter([("sum", 5)])).to_text(), r#"{"sum":5}"#);
    /// assert_eq!(ToolResult::text("done").to_text(), "done");
    /// assert_eq!(ToolResult::failure("no such file").to_text(), "no such file");
    /// ```
    #[must_use]
    pub fn of(output: impl Into<Json>) -> Self {
        Self {
            output: output.into(),
            ..Self::default()
        }
    }

    /// A success with this text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::of(text.into())
    }

    /// A failure with this message.
    #[must_use]
    pub fn failure(message: impl Into<String>) -> Self {
        let message = Json::Str(message.into());
        let error = Object::from_iter([("message".to_owned(), message.clone())]);
        Self {
            success: false,
            output: message,
            error: Some(error),
            content: Vec::new(),
        }
    }

    /// Sets the text and the images that the model gets in place of the output.
    #[must_use]
    pub fn with_content(mut self, content: impl Into<Vec<ToolContent>>) -> Self {
        self.content = content.into();
        self
    }

    /// The output as text for the model, without control characters: text as it is, other values
    /// as JSON. Without an output it says whether the tool succeeded.
    #[must_use]
    pub fn to_text(&self) -> String {
        let text = match &self.output {
            Json::Null if self.success => "Success".to_owned(),
            Json::Null => {
                let message = self.error.as_ref().and_then(|error| error.get("message"));
                let message = message.and_then(Json::as_str).unwrap_or("Failed");
                format!("Error: {message}")
            }
            Json::Str(text) => text.clone(),
            other => other.to_string(),
        };
        sanitize_injection(&text)
    }
}

impl From<ToolError> for ToolResult {
    /// A failure, whose `error` has the kind as its `type`.
    fn from(error: ToolError) -> Self {
        let mut result = Self::failure(error.to_string());
        let kind = ("type".to_owned(), Json::from(error.kind()));
        result.error.get_or_insert_with(Object::new).extend([kind]);
        result
    }
}

impl Default for ToolResult {
    fn default() -> Self {
        Self {
            success: true,
            output: Json::Null,
            error: None,
            content: Vec::new(),
        }
    }
}

impl InlineImage {
    /// The image, if the media type is `image/…` and the data is padded base64 without blanks.
    #[must_use]
    pub fn new(media_type: String, data: String) -> Option<Self> {
        let is_valid = is_image_type(&media_type) && is_base64(&data);
        is_valid.then_some(Self { media_type, data })
    }

    /// Its media type.
    #[must_use]
    pub fn media_type(&self) -> &str {
        &self.media_type
    }

    /// Its bytes as base64.
    #[must_use]
    pub fn data(&self) -> &str {
        &self.data
    }
}

fn is_image_type(media_type: &str) -> bool {
    let Some(subtype) = media_type.strip_prefix("image/") else {
        return false;
    };
    subtype.starts_with(|first: char| first.is_ascii_alphanumeric())
        && subtype
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte))
}

fn is_base64(data: &str) -> bool {
    let digits = data.trim_end_matches('=').as_bytes();
    let padding = data.len() - digits.len();
    // With one or two padding signs, the last digit has two or four bits that belong to no byte.
    let stray_bits = match padding {
        0 => 0,
        1 => 0b11,
        2 => 0b1111,
        _ => return false,
    };
    let Some(last) = digits.last().copied().and_then(standard_sextet) else {
        return false;
    };
    data.len().is_multiple_of(4)
        && last & stray_bits == 0
        && digits.iter().all(|&byte| standard_sextet(byte).is_some())
}

impl FromJson for ToolContent {
    fn from_json(json: Json) -> Result<Self, ModelError> {
        let text_of = |json: Option<&Json>| json.and_then(Json::as_str).map(str::to_owned);
        match json.get("type").and_then(Json::as_str) {
            Some("text") => match text_of(json.get("text")) {
                Some(text) => Ok(Self::Text(text)),
                None => Err(ModelError::unexpected(
                    "a block with a string `text`",
                    &json,
                )),
            },
            Some("image") => {
                let source = json.get("source").unwrap_or(&Json::Null);
                let is_inline = source.get("type").and_then(Json::as_str) == Some("base64");
                let media_type = text_of(source.get("media_type")).filter(|_| is_inline);
                media_type
                    .zip(text_of(source.get("data")))
                    .and_then(|(media_type, data)| InlineImage::new(media_type, data))
                    .map(Self::Image)
                    .ok_or_else(|| ModelError::unexpected("a base64 image", &json))
            }
            _ => Err(ModelError::unexpected("a text or image block", &json)),
        }
    }
}

impl Schema for ToolContent {
    /// Of the blocks that are read, only the keys that are content are written.
    fn schema(form: Form) -> Json {
        any_of(vec![TextBlock::schema(form), ImageBlock::schema(form)])
    }
}

impl Serialize for ToolContent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        match self {
            Self::Text(text) => {
                map.serialize_entry("type", "text")?;
                map.serialize_entry("text", text)?;
            }
            Self::Image(image) => {
                map.serialize_entry("type", "image")?;
                map.serialize_entry("source", image)?;
            }
        }
        map.end()
    }
}

impl Serialize for InlineImage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("type", "base64")?;
        map.serialize_entry("media_type", &self.media_type)?;
        map.serialize_entry("data", &self.data)?;
        map.end()
    }
}

impl FromJson for ToolResult {
    fn from_json(json: Json) -> Result<Self, ModelError> {
        let mut fields = Fields::of("ToolResult", json)?;
        let mut result = Self {
            success: fields.take("success", Some(|| true))?,
            output: fields.take("output", Some(Json::default))?,
            error: fields.take("error", Some(|| None))?,
            content: fields
                .take::<Option<_>>("content", Some(|| None))?
                .unwrap_or_default(),
        };
        if !result.success && result.output.is_null() {
            let message = result.error.as_ref().and_then(|error| error.get("message"));
            result.output = message
                .filter(|message| message.is_truthy())
                .cloned()
                .unwrap_or_default();
        }
        Ok(result)
    }
}

impl Schema for ToolResult {
    fn schema(form: Form) -> Json {
        let mut schema = RecordSchema::new(form);
        schema.field("success", Some(|| true));
        schema.field("output", Some(Json::default));
        schema.field("error", Some(|| None::<Object>));
        schema.field("content", Some(|| None::<Vec<ToolContent>>));
        schema.finish()
    }
}

impl Serialize for ToolResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("success", &self.success)?;
        map.serialize_entry("output", &self.output)?;
        map.serialize_entry("error", &self.error)?;
        if !self.content.is_empty() {
            map.serialize_entry("content", &self.content)?;
        }
        map.end()
    }
}

deserialize_through_json!(ToolContent);
deserialize_through_json!(ToolResult);
