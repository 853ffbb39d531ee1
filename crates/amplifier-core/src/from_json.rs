//! How typed values are read from [`Json`], and what is said when they do not fit.

use indexmap::IndexMap;

use crate::json::{Json, JsonError};

/// A value that can be read from JSON.
///
/// # Examples
///
/// ```
/// use amplifier_core::{FromJson as _, Message, Role};
///
/// let message = Message::parse(br#"{"role": "user", "content": "Hello."}"#)?;
/// assert_eq!(message.role, Role::User);
/// assert_eq!(
///     Message::parse(br#"{"role": "user", "content": 5}"#).unwrap_err().to_string(),
///     "`Message.content` must be a string or an array, found `5`",
/// );
/// # Ok::<(), amplifier_core::ModelError>(())
/// ```
pub trait FromJson: Sized {
    /// Read the value, or say what does not fit and where.
    fn from_json(json: Json) -> Result<Self, ModelError>;

    /// Read the value from a JSON text.
    fn parse(text: &[u8]) -> Result<Self, ModelError> {
        Self::from_json(Json::parse(text)?)
    }
}

/// JSON that is not the value that it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The text is not JSON.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// A required key is not there.
    #[error("`{path}` is missing")]
    Missing {
        /// The type and the keys that lead to the place.
        path: String,
    },
    /// A value has the wrong type for its place.
    #[error("`{path}` must be {expected}, found {found}")]
    Unexpected {
        /// The type and the keys that lead to the place.
        path: String,
        /// What would be right.
        expected: String,
        /// What is there, cut after 40 characters.
        found: String,
    },
}

impl ModelError {
    /// A value that is not what was `expected`; [`Self::within`] adds its path.
    #[must_use]
    pub fn unexpected(expected: impl Into<String>, found: &Json) -> Self {
        let mut text: String = match found {
            Json::Array(_) | Json::Object(_) => found.kind().to_owned(),
            _ => format!("`{found}`"),
        };
        if let Some((cut, _)) = text.char_indices().nth(40) {
            text.truncate(cut);
            text.push_str("…`");
        }
        Self::Unexpected {
            path: String::new(),
            expected: expected.into(),
            found: text,
        }
    }

    /// The same error, seen from the value that holds the place; only the outermost type is named.
    #[must_use]
    pub fn within(mut self, outer: &str) -> Self {
        match &mut self {
            Self::Json(_) => {}
            Self::Missing { path } | Self::Unexpected { path, .. } => {
                let type_name = path.find(['.', '[']).unwrap_or(path.len());
                path.replace_range(..type_name, outer);
            }
        }
        self
    }
}

impl FromJson for Json {
    fn from_json(json: Json) -> Result<Self, ModelError> {
        Ok(json)
    }
}

impl FromJson for bool {
    fn from_json(json: Json) -> Result<Self, ModelError> {
        json.as_bool()
            .ok_or_else(|| ModelError::unexpected("a boolean", &json))
    }
}

impl FromJson for i64 {
    fn from_json(json: Json) -> Result<Self, ModelError> {
        json.as_i64()
            .ok_or_else(|| ModelError::unexpected("an integer of 64 bits", &json))
    }
}

impl FromJson for f64 {
    fn from_json(json: Json) -> Result<Self, ModelError> {
        let number = json.as_f64().filter(|number| number.is_finite());
        number.ok_or_else(|| ModelError::unexpected("a finite number", &json))
    }
}

impl FromJson for String {
    fn from_json(json: Json) -> Result<Self, ModelError> {
        match json {
            Json::Str(text) => Ok(text),
            other => Err(ModelError::unexpected("a string", &other)),
        }
    }
}

impl<T: FromJson> FromJson for Option<T> {
    fn from_json(json: Json) -> Result<Self, ModelError> {
        if json.is_null() {
            Ok(None)
        } else {
            T::from_json(json).map(Some)
        }
    }
}

impl<T: FromJson> FromJson for Vec<T> {
    fn from_json(json: Json) -> Result<Self, ModelError> {
        let Json::Array(items) = json else {
            return Err(ModelError::unexpected("an array", &json));
        };
        let items = items.into_iter().enumerate();
        items
            .map(|(index, item)| {
                T::from_json(item).map_err(|error| error.within(&format!("[{index}]")))
            })
            .collect()
    }
}

impl<T: FromJson> FromJson for IndexMap<String, T> {
    fn from_json(json: Json) -> Result<Self, ModelError> {
        let Json::Object(entries) = json else {
            return Err(ModelError::unexpected("an object", &json));
        };
        let entries = entries.into_iter();
        entries
            .map(|(key, value)| match T::from_json(value) {
                Ok(value) => Ok((key, value)),
                Err(error) => Err(error.within(&format!(".{key}"))),
            })
            .collect()
    }
}
