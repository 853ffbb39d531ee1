//! The wire dialects of the providers.

use std::str::FromStr;

use crate::headers::Headers;

pub(crate) mod anthropic;
pub(crate) mod chat;
mod decoder;
mod flow;
mod kept;
pub(crate) mod ollama;
pub(crate) mod responses;

pub(crate) use decoder::DialectDecoder;

/// The name of a wire dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Anthropic Messages.
    Anthropic,
    /// `OpenAI` Responses.
    Responses,
    /// `OpenAI` Chat Completions, also as Azure and other vendors speak it.
    Chat,
    /// Ollama's own `/api/chat`.
    Ollama,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 4] = [Self::Anthropic, Self::Responses, Self::Chat, Self::Ollama];

    /// The name by which it is chosen.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Responses => "responses",
            Self::Chat => "chat",
            Self::Ollama => "ollama",
        }
    }

    /// A decoder at the start of a stream.
    pub(crate) fn decoder(self) -> Box<dyn DialectDecoder> {
        match self {
            Self::Anthropic => Box::new(anthropic::Decoder::default()),
            Self::Responses => Box::new(responses::Decoder::default()),
            Self::Chat => Box::new(chat::Decoder::default()),
            Self::Ollama => Box::new(ollama::Decoder::default()),
        }
    }

    /// The provider's id of the request.
    pub(crate) fn request_id(self, headers: &Headers) -> Option<String> {
        let names: &[&str] = match self {
            Self::Anthropic => &["request-id"],
            Self::Responses | Self::Chat => &["x-request-id", "apim-request-id", "x-ms-request-id"],
            Self::Ollama => &[],
        };
        let found = names.iter().find_map(|name| headers.get(name));
        found.map(str::to_owned)
    }
}

/// A name that no dialect has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown stream dialect `{found}` (known: {})", known())]
pub struct UnknownDialect {
    found: String,
}

fn known() -> String {
    Dialect::ALL
        .map(|dialect| format!("`{}`", dialect.as_str()))
        .join(", ")
}

impl FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(name: &str) -> Result<Self, UnknownDialect> {
        let found = Self::ALL
            .into_iter()
            .find(|dialect| dialect.as_str() == name);
        found.ok_or_else(|| UnknownDialect {
            found: name.to_owned(),
        })
    }
}
