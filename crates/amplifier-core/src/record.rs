//! One declaration gives a shared type its fields, defaults, reader, writer and JSON schema.

use serde::Serialize;

use crate::from_json::{FromJson, ModelError};
use crate::json::{Json, Object};
use crate::schema::to_json;

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

    /// Take the constant field that tells a variant of a union; it may be absent.
    pub(crate) fn tag(&mut self, key: &str, word: &str) -> Result<(), ModelError> {
        match self.entries.get_mut(key).map(std::mem::take) {
            None => Ok(()),
            Some(Json::Str(found)) if found == word => Ok(()),
            Some(other) => {
                let error = ModelError::unexpected(format!("`{word}`"), &other);
                Err(self.placed(error, key))
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

    /// Take a field whose value must pass a check.
    pub(crate) fn take_checked<T: FromJson + Serialize>(
        &mut self,
        key: &str,
        default: Option<fn() -> T>,
        check: &Check<T>,
    ) -> Result<T, ModelError> {
        let value = self.take(key, default)?;
        if (check.holds)(&value) {
            return Ok(value);
        }
        let found = ModelError::unexpected(check.expected, &to_json(&value));
        Err(self.placed(found, key))
    }

    /// What is left when the declared keys are taken, in its order.
    pub(crate) fn rest(mut self, declared: &[&str]) -> Object {
        self.entries
            .retain(|key, _| !declared.contains(&key.as_str()));
        self.entries
    }

    fn placed(&self, error: ModelError, key: &str) -> ModelError {
        error.within(&format!("{}.{key}", self.record))
    }
}

/// What the type of a field does not say about its values.
pub(crate) struct Check<T> {
    /// What would be right.
    pub(crate) expected: &'static str,
    pub(crate) holds: fn(&T) -> bool,
}

/// Declares a struct that is read from JSON and written in declared order with nulls kept.
///
/// `("type" = "text")` after the name is a constant first field, `field as "key"` another key than
/// the field's name, `= value` a default, `=> check` a [`Check`] of what is read, and a last
/// `..extra` keeps unknown keys after the others.
macro_rules! record {
    (
        $(#[$meta:meta])*
        pub struct $name:ident $(($tag:literal = $word:literal))? {
            $(
                $(#[$field_meta:meta])*
                pub $field:ident $(as $key:literal)?: $type:ty $(= $default:expr)? $(=> $check:expr)?,
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

        impl $crate::from_json::FromJson for $name {
            fn from_json(json: $crate::json::Json) -> Result<Self, $crate::from_json::ModelError> {
                let mut fields = $crate::record::Fields::of(stringify!($name), json)?;
                $(fields.tag($tag, $word)?;)?
                Ok(Self {
                    $($field: $crate::record::record!(@take fields
                        $crate::record::record!(@key $field $($key)?),
                        $crate::record::record!(@default $($default)?)
                        $(, $check)?
                    )?,)*
                    $($extra: fields.rest(Self::KEYS),)?
                })
            }
        }

        impl $crate::schema::Schema for $name {
            fn schema(form: $crate::schema::Form) -> $crate::json::Json {
                let mut schema = $crate::schema::RecordSchema::new(form);
                $(schema.tag($tag, $word);)?
                $(schema.field::<$type>(
                    $crate::record::record!(@key $field $($key)?),
                    $crate::record::record!(@default $($default)?),
                );)*
                $($crate::record::record!(@open schema $extra);)?
                schema.finish()
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
    (@take $fields:ident $key:expr, $default:expr) => { $fields.take($key, $default) };
    (@take $fields:ident $key:expr, $default:expr, $check:expr) => {
        $fields.take_checked($key, $default, &$check)
    };
    (@open $schema:ident $extra:ident) => { $schema.open() };
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

        impl $crate::from_json::FromJson for $name {
            fn from_json(json: $crate::json::Json) -> Result<Self, $crate::from_json::ModelError> {
                json.as_str().and_then(Self::from_word).ok_or_else(|| {
                    let words = Self::WORDS.join("`, `");
                    $crate::from_json::ModelError::unexpected(format!("one of `{words}`"), &json)
                })
            }
        }

        impl $crate::schema::Schema for $name {
            fn schema(_form: $crate::schema::Form) -> $crate::json::Json {
                $crate::schema::of_words(Self::WORDS)
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
                $crate::from_json::FromJson::from_json(json).map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(crate) use {deserialize_through_json, record, words};
