//! One declaration defines the fields, defaults, reader, writer and JSON schema of a shared type.
//!
//! # Examples
//!
//! ```
//! use amplifier_core::FromJson as _;
//!
//! amplifier_core::record! {
//!     /// A place in a text.
//!     pub struct Mark("type" = "mark") {
//!         /// The line, from 1.
//!         pub line: i64,
//!         /// A remark on it.
//!         pub note as "note" or "comment" if some: Option<String> = None,
//!         ..extra
//!     }
//! }
//!
//! let mark = Mark::parse(br#"{"colour":"red","comment":"here","line":7}"#)?;
//! assert_eq!(
//!     serde_json::to_string(&mark).unwrap(),
//!     r#"{"type":"mark","line":7,"note":"here","colour":"red"}"#,
//! );
//! # Ok::<(), amplifier_core::ModelError>(())
//! ```

use serde::Serialize;

use crate::from_json::{FromJson, ModelError};
use crate::json::{Json, Object};
use crate::schema::to_json;

/// Up to this many entries, a linear scan beats hashing.
const MAX_SCANNED_ENTRIES: usize = 8;

/// The entries of an object while a record takes its fields out of them.
#[derive(Debug)]
pub struct Fields {
    record: &'static str,
    entries: Object,
}

impl Fields {
    /// The entries of `json`, which must be an object, for the record of this name.
    pub fn of(record: &'static str, json: Json) -> Result<Self, ModelError> {
        match json {
            Json::Object(entries) => Ok(Self { record, entries }),
            other => Err(ModelError::unexpected("an object", &other).within(record)),
        }
    }

    /// Take the constant field that identifies a variant of a union; it may be absent.
    pub fn tag(&mut self, key: &str, word: &str) -> Result<(), ModelError> {
        match self.value(key).map(std::mem::take) {
            None => Ok(()),
            Some(Json::Str(found)) if found == word => Ok(()),
            Some(other) => {
                let error = ModelError::unexpected(format!("`{word}`"), &other);
                Err(self.placed(error, key))
            }
        }
    }

    /// Move the value of the key `also` to `key`, unless `key` has a value already.
    pub fn rename(&mut self, also: &str, key: &str) {
        if !self.entries.contains_key(key)
            && let Some(value) = self.entries.shift_remove(also)
        {
            self.entries.insert(key.to_owned(), value);
        }
    }

    /// Take a field's value, or its default where the key is absent.
    pub fn take<T: FromJson>(
        &mut self,
        key: &str,
        default: Option<fn() -> T>,
    ) -> Result<T, ModelError> {
        match (self.value(key), default) {
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
    pub fn take_checked<T: FromJson + Serialize>(
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
    #[must_use]
    pub fn rest(mut self, declared: &[&str]) -> Object {
        self.entries
            .retain(|key, _| !declared.contains(&key.as_str()));
        self.entries
    }

    fn value(&mut self, key: &str) -> Option<&mut Json> {
        if self.entries.len() > MAX_SCANNED_ENTRIES {
            return self.entries.get_mut(key);
        }
        let mut entries = self.entries.iter_mut();
        entries.find_map(|(name, value)| (name == key).then_some(value))
    }

    fn placed(&self, error: ModelError, key: &str) -> ModelError {
        error.within(&format!("{}.{key}", self.record))
    }
}

/// What the type of a field does not say about its values.
#[derive(Debug)]
pub struct Check<T> {
    /// What would be right.
    pub expected: &'static str,
    /// Whether a value is right.
    pub holds: fn(&T) -> bool,
}

/// Declares a struct that is read from JSON and written in declared order with nulls kept.
///
/// `("type" = "text")` after the name is a constant first field, `field as "key"` another key than
/// the field's name, `or "key"` after it one that is read in its place, `if some` an option that is
/// omitted if it is `None`, `= value` a default, `=> check` a
/// [`Check`](crate::record::Check) of what is read, and a last `..extra` keeps unknown keys after
/// the others.
#[macro_export]
macro_rules! record {
    (
        $(#[$meta:meta])*
        pub struct $name:ident $(($tag:literal = $word:literal))? {
            $(
                $(#[$field_meta:meta])*
                pub $field:ident $(as $key:literal $(or $also:literal)?)? $(if $some:ident)?:
                    $type:ty $(= $default:expr)? $(=> $check:expr)?,
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
                pub $extra: $crate::Object,
            )?
        }

        impl $name {
            /// The declared keys, in the order in which they are written.
            pub const KEYS: &'static [&'static str] =
                &[$($tag,)? $($crate::record!(@key $field $($key)?)),*];
        }

        impl $crate::FromJson for $name {
            fn from_json(json: $crate::Json) -> Result<Self, $crate::ModelError> {
                let mut fields = $crate::record::Fields::of(stringify!($name), json)?;
                $(fields.tag($tag, $word)?;)?
                $($($(fields.rename($also, $key);)?)?)*
                Ok(Self {
                    $($field: $crate::record!(@take fields
                        $crate::record!(@key $field $($key)?),
                        $crate::record!(@default $($default)?)
                        $(, $check)?
                    )?,)*
                    $($extra: fields.rest(Self::KEYS),)?
                })
            }
        }

        impl $crate::Schema for $name {
            fn schema(form: $crate::Form) -> $crate::Json {
                let mut schema = $crate::schema::RecordSchema::new(form);
                $(schema.tag($tag, $word);)?
                $(schema.field::<$type>(
                    $crate::record!(@key $field $($key)?),
                    $crate::record!(@default $($default)?),
                );)*
                $($crate::record!(@open schema $extra);)?
                schema.finish()
            }
        }

        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use $crate::serde::ser::SerializeMap as _;
                let mut map = serializer.serialize_map(None)?;
                $(map.serialize_entry($tag, $word)?;)?
                $($crate::record!(@write map
                    $crate::record!(@key $field $($key)?), self.$field $(, $some)?
                );)*
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

        $crate::deserialize_through_json!($name);
    };
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
    (@default) => { None };
    (@default $default:expr) => { Some(|| $default) };
    (@take $fields:ident $key:expr, $default:expr) => { $fields.take($key, $default) };
    (@take $fields:ident $key:expr, $default:expr, $check:expr) => {
        $fields.take_checked($key, $default, &$check)
    };
    (@write $map:ident $key:expr, $value:expr) => { $map.serialize_entry($key, &$value)? };
    (@write $map:ident $key:expr, $value:expr, some) => {
        if let Some(value) = &$value {
            $map.serialize_entry($key, value)?;
        }
    };
    (@open $schema:ident $extra:ident) => { $schema.open() };
}

/// Declares an enum whose variants have a word each.
#[macro_export]
macro_rules! words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$variant_meta])* #[doc = concat!("`", $word, "`.")] $variant,)+
        }

        impl $name {
            /// All of them, in declared order.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// All the words, in declared order.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// Its word in JSON, settings and messages.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// The value of a word.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

/// Declares an enum of words that is read from JSON and written as its word.
macro_rules! json_words {
    ($(#[$meta:meta])* pub enum $name:ident { $($variants:tt)+ }) => {
        $crate::words! { $(#[$meta])* pub enum $name { $($variants)+ } }

        impl $crate::FromJson for $name {
            fn from_json(json: $crate::Json) -> Result<Self, $crate::ModelError> {
                json.as_str().and_then(Self::from_word).ok_or_else(|| {
                    let words = Self::WORDS.join("`, `");
                    $crate::ModelError::unexpected(format!("one of `{words}`"), &json)
                })
            }
        }

        impl $crate::Schema for $name {
            fn schema(_form: $crate::Form) -> $crate::Json {
                $crate::schema::of_words(Self::WORDS)
            }
        }

        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        $crate::deserialize_through_json!($name);
    };
}

/// Implements serde's `Deserialize` for a type that reads from [`Json`](crate::Json).
#[macro_export]
macro_rules! deserialize_through_json {
    ($name:ident) => {
        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Self, D::Error> {
                let json = $crate::Json::deserialize(deserializer)?;
                $crate::FromJson::from_json(json).map_err($crate::serde::de::Error::custom)
            }
        }
    };
}

pub use {deserialize_through_json, record, words};

pub(crate) use json_words;
