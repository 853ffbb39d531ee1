//! How typed values are read from [`Json`]: one declaration gives a type its fields, its defaults,
//! its reader and its writer.

use std::fmt::Write as _;

use indexmap::IndexMap;

use crate::json::{Json, JsonError, Object};

/// A value that can be read from JSON.
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
    /// The text is no JSON.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// A required key is not there.
    #[error("`{path}` is missing")]
    Missing {
        /// The type and the keys that lead to the place.
        path: String,
    },
    /// A value is not of the kind that its place wants.
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
    /// The error of a value that is not what was `expected`; whoever knows the place adds it.
    pub(crate) fn unexpected(expected: impl Into<String>, found: &Json) -> Self {
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
    pub(crate) fn within(mut self, outer: &str) -> Self {
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

/// The entries of an object while a record takes its fields out of them.
pub(crate) struct Fields {
    record: &'static str,
    entries: Object,
}

impl Fields {
    pub(crate) fn of(record: &'static str, json: Json) -> Result<Self, ModelError> {
        match json {
            Json::Object(entries) => Ok(Self { record, entries }),
            other => Err(ModelError::unexpected("an object", &other).within(record)),
        }
    }

    /// Check the constant field that tells a variant of a union; it may be absent.
    pub(crate) fn tag(&self, key: &str, word: &str) -> Result<(), ModelError> {
        match self.entries.get(key) {
            None => Ok(()),
            Some(Json::Str(found)) if found == word => Ok(()),
            Some(other) => {
                Err(self.placed(ModelError::unexpected(format!("`{word}`"), other), key))
            }
        }
    }

    /// Take a field's value, or its default where the key is absent.
    pub(crate) fn take<T: FromJson>(
        &mut self,
        key: &str,
        default: Option<fn() -> T>,
    ) -> Result<T, ModelError> {
        match (self.entries.get_mut(key), default) {
            (Some(value), _) => {
                let value = std::mem::take(value);
                T::from_json(value).map_err(|error| self.placed(error, key))
            }
            (None, Some(default)) => Ok(default()),
            (None, None) => Err(self.placed(
                ModelError::Missing {
                    path: String::new(),
                },
                key,
            )),
        }
    }

    /// What is left when the declared keys are taken, in its order.
    pub(crate) fn rest(mut self, declared: &[&str]) -> Object {
        self.entries
            .retain(|key, _| !declared.contains(&key.as_str()));
        self.entries
    }

    fn placed(&self, error: ModelError, key: &str) -> ModelError {
        let mut place = self.record.to_owned();
        let _ = write!(place, ".{key}");
        error.within(&place)
    }
}

/// Declares a struct that is read from JSON and written in declared order with nulls kept.
///
/// `("type" = "text")` after the name is a constant first field, `field as "key"` another key than
/// the field's name, `= value` a default, and a last `..extra` keeps unknown keys after the others.
macro_rules! record {
    (
        $(#[$meta:meta])*
        pub struct $name:ident $(($tag:literal = $word:literal))? {
            $(
                $(#[$field_meta:meta])*
                pub $field:ident $(as $key:literal)?: $type:ty $(= $default:expr)?,
            )*
            $(..$extra:ident)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $type,)*
            $(
                /// The keys that are not declared, in their order.
                pub $extra: $crate::json::Object,
            )?
        }

        impl $name {
            /// The declared keys, in the order in which they are written.
            pub const KEYS: &'static [&'static str] =
                &[$($tag,)? $($crate::record::record!(@key $field $($key)?)),*];
        }

        impl $crate::record::FromJson for $name {
            fn from_json(json: $crate::json::Json) -> Result<Self, $crate::record::ModelError> {
                #[allow(unused_mut, reason = "a record may have no fields of its own")]
                let mut fields = $crate::record::Fields::of(stringify!($name), json)?;
                $(fields.tag($tag, $word)?;)?
                Ok(Self {
                    $($field: fields.take(
                        $crate::record::record!(@key $field $($key)?),
                        $crate::record::record!(@default $($default)?),
                    )?,)*
                    $($extra: fields.rest(Self::KEYS),)?
                })
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap as _;
                let mut map = serializer.serialize_map(None)?;
                $(map.serialize_entry($tag, $word)?;)?
                $(map.serialize_entry(
                    $crate::record::record!(@key $field $($key)?),
                    &self.$field,
                )?;)*
                $(
                    for (key, value) in &self.$extra {
                        if !Self::KEYS.contains(&key.as_str()) {
                            map.serialize_entry(key, value)?;
                        }
                    }
                )?
                map.end()
            }
        }

        $crate::record::deserialize_through_json!($name);
    };
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
    (@default) => { None };
    (@default $default:expr) => { Some(|| $default) };
}

/// Declares an enum of words.
macro_rules! words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $word:literal,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$variant_meta])* #[doc = concat!("`", $word, "`.")] $variant,)*
        }

        impl $name {
            /// All the words, in declared order.
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            /// The word as it stands in JSON.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }

            /// The value that a word stands for.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }

        impl $crate::record::FromJson for $name {
            fn from_json(json: $crate::json::Json) -> Result<Self, $crate::record::ModelError> {
                json.as_str().and_then(Self::from_word).ok_or_else(|| {
                    let words = Self::WORDS.join("`, `");
                    $crate::record::ModelError::unexpected(format!("one of `{words}`"), &json)
                })
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        $crate::record::deserialize_through_json!($name);
    };
}

/// Gives a type that reads from [`Json`] serde's reader too.
macro_rules! deserialize_through_json {
    ($name:ident) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let json = $crate::json::Json::deserialize(deserializer)?;
                $crate::record::FromJson::from_json(json).map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(crate) use {deserialize_through_json, record, words};
