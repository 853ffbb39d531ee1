//! The JSON schemas of the shared types, made from the declarations of their fields.

use indexmap::IndexMap;
use serde::Serialize;

use crate::json::{Json, Object};

/// Which JSON a schema describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// What a type reads.
    Read,
    /// What it writes.
    Written,
}

/// A type that says which JSON it is.
///
/// The schemas have the form of Pydantic's, with nested types in place and without titles.
pub trait Schema {
    /// The schema of the values of this type.
    fn schema(form: Form) -> Json;
}

/// The keywords of a schema.
pub(crate) fn keywords<const N: usize>(keywords: [(&str, Json); N]) -> Json {
    keywords.into_iter().collect()
}

/// The schema of a plain type.
#[must_use]
pub fn of_type(name: &str) -> Json {
    keywords([("type", name.into())])
}

/// The schema of one of several words.
pub(crate) fn of_words(words: &[&str]) -> Json {
    let words = words.iter().map(|&word| word.into()).collect::<Vec<Json>>();
    keywords([("enum", words.into()), ("type", "string".into())])
}

/// The schema of what fits one of several schemas; their own alternatives become its own.
#[must_use]
pub fn any_of(schemas: Vec<Json>) -> Json {
    let mut alternatives = Vec::with_capacity(schemas.len());
    for schema in schemas {
        match schema.get("anyOf") {
            Some(Json::Array(nested)) => alternatives.extend(nested.iter().cloned()),
            _ => alternatives.push(schema),
        }
    }
    keywords([("anyOf", alternatives.into())])
}

/// The schema of an object while its fields are declared.
#[derive(Debug)]
pub struct RecordSchema {
    properties: Object,
    required: Vec<Json>,
    is_open: bool,
    form: Form,
}

impl RecordSchema {
    /// An object without fields.
    #[must_use]
    pub fn new(form: Form) -> Self {
        Self {
            properties: Object::new(),
            required: Vec::new(),
            is_open: false,
            form,
        }
    }

    /// Add the constant field that identifies a variant of a union.
    pub fn tag(&mut self, key: &str, word: &str) {
        let constant = keywords([
            ("const", word.into()),
            ("default", word.into()),
            ("type", "string".into()),
        ]);
        self.properties.insert(key.to_owned(), constant);
    }

    /// Add a field; without a default it is required.
    pub fn field<T: Schema + Serialize>(&mut self, key: &str, default: Option<fn() -> T>) {
        let mut schema = T::schema(self.form);
        match (default, &mut schema) {
            (Some(default), Json::Object(keywords)) => {
                keywords.insert("default".to_owned(), to_json(&default()));
            }
            _ => self.required.push(key.into()),
        }
        self.properties.insert(key.to_owned(), schema);
    }

    /// Say that unknown keys are kept.
    pub fn open(&mut self) {
        self.is_open = true;
    }

    /// The schema of what was declared.
    #[must_use]
    pub fn finish(self) -> Json {
        let mut schema = Object::new();
        if self.is_open {
            schema.insert("additionalProperties".to_owned(), true.into());
        }
        schema.insert("properties".to_owned(), self.properties.into());
        if !self.required.is_empty() {
            schema.insert("required".to_owned(), self.required.into());
        }
        schema.insert("type".to_owned(), "object".into());
        schema.into()
    }
}

/// A value as JSON.
pub(crate) fn to_json<T: Serialize>(value: &T) -> Json {
    let text = serde_json::to_vec(value).unwrap_or_default();
    Json::parse(&text).unwrap_or_default()
}

impl Schema for Json {
    fn schema(_form: Form) -> Json {
        keywords([])
    }
}

impl Schema for bool {
    fn schema(_form: Form) -> Json {
        of_type("boolean")
    }
}

impl Schema for i64 {
    fn schema(_form: Form) -> Json {
        keywords([
            ("maximum", Self::MAX.into()),
            ("minimum", Self::MIN.into()),
            ("type", "integer".into()),
        ])
    }
}

impl Schema for f64 {
    fn schema(_form: Form) -> Json {
        of_type("number")
    }
}

impl Schema for String {
    fn schema(_form: Form) -> Json {
        of_type("string")
    }
}

impl<T: Schema> Schema for Option<T> {
    fn schema(form: Form) -> Json {
        any_of(vec![T::schema(form), of_type("null")])
    }
}

impl<T: Schema> Schema for Vec<T> {
    fn schema(form: Form) -> Json {
        keywords([("items", T::schema(form)), ("type", "array".into())])
    }
}

impl<T: Schema> Schema for IndexMap<String, T> {
    fn schema(form: Form) -> Json {
        let values = match T::schema(form) {
            Json::Object(anything) if anything.is_empty() => true.into(),
            schema => schema,
        };
        keywords([("additionalProperties", values), ("type", "object".into())])
    }
}
