//! One declaration defines a union of content blocks: one tagged enum, without loss.

/// Declares an enum of [records](crate::record!), each with the constant `type` of its variant, and
/// the type of the blocks that no variant knows: they are kept whole, in the record of `Unknown`.
#[macro_export]
macro_rules! blocks {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($variant:ident($record:ident) = $word:literal,)+
            _ => Unknown($unknown:ident),
        }

        $(#[$type_meta:meta])*
        pub struct $unknown_type:ident;
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $name {
            $(#[doc = concat!("`", $word, "`.")] $variant($record),)+
            /// Any other type.
            Unknown($unknown),
        }

        impl $name {
            /// The types with a variant of their own.
            pub const TYPES: &'static [&'static str] = &[$($word),+];

            /// Its `type` as JSON writes it.
            #[must_use]
            pub fn block_type(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $word,)+
                    Self::Unknown(block) => block.block_type.as_str(),
                }
            }

            /// The keys that its type does not declare.
            #[must_use]
            pub fn extra(&self) -> &$crate::Object {
                match self {
                    $(Self::$variant(block) => &block.extra,)+
                    Self::Unknown(block) => &block.extra,
                }
            }

            /// The same keys, to change them.
            pub fn extra_mut(&mut self) -> &mut $crate::Object {
                match self {
                    $(Self::$variant(block) => &mut block.extra,)+
                    Self::Unknown(block) => &mut block.extra,
                }
            }
        }

        impl $crate::FromJson for $name {
            fn from_json(json: $crate::Json) -> Result<Self, $crate::ModelError> {
                match json.get("type").and_then($crate::Json::as_str) {
                    $(Some($word) => $record::from_json(json).map(Self::$variant),)+
                    _ => $unknown::from_json(json).map(Self::Unknown),
                }
            }
        }

        impl $crate::Schema for $name {
            fn schema(form: $crate::Form) -> $crate::Json {
                $crate::schema::any_of(vec![$($record::schema(form),)+ $unknown::schema(form)])
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$variant(block) => block.serialize(serializer),)+
                    Self::Unknown(block) => block.serialize(serializer),
                }
            }
        }

        $crate::deserialize_through_json!($name);

        $(#[$type_meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub struct $unknown_type(String);

        impl $unknown_type {
            /// The type; `None` if it is a known one.
            #[must_use]
            pub fn new(block_type: &str) -> Option<Self> {
                let is_known = $name::TYPES.contains(&block_type);
                (!is_known).then(|| Self(block_type.to_owned()))
            }

            /// The type as JSON writes it.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl $crate::FromJson for $unknown_type {
            fn from_json(json: $crate::Json) -> Result<Self, $crate::ModelError> {
                let block_type = json.as_str().and_then(Self::new);
                block_type.ok_or_else(|| {
                    $crate::ModelError::unexpected("a type that has no variant", &json)
                })
            }
        }

        impl $crate::Schema for $unknown_type {
            fn schema(_form: $crate::Form) -> $crate::Json {
                $crate::schema::of_type("string")
            }
        }

        impl serde::Serialize for $unknown_type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        $crate::deserialize_through_json!($unknown_type);
    };
}

pub(crate) use blocks;
