//! Arguments that came as text, given the types that the tool's schema asks for.

use std::cell::Cell;

use amplifier_core::{Json, Object};

use crate::json::Scanner;
use crate::{MAX_ARGUMENT_DEPTH, parse_arguments};

/// A value is not, and cannot be read as, what the schema asks for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("argument `{path}` must be {wanted}, found {found}")]
pub struct CoercionError {
    /// Where it is, such as `edits[0].line`.
    pub path: String,
    /// The types that the schema allows.
    pub wanted: String,
    /// What was found.
    pub found: String,
}

/// Reads text as numbers, truth values, lists and objects where the JSON schema asks for them.
///
/// An element with one kind of child, as in `<edits><edit>…</edit></edits>`, and a single value
/// become lists where lists are wanted. Everything that the schema says nothing about stays.
///
/// # Examples
///
/// ```
/// use amplifier_core::{FromJson as _, Json, Object};
/// use amplifier_stream::coerce_arguments;
///
/// let schema = Json::parse(br#"{"properties": {"line": {"type": "integer"}}}"#).unwrap();
/// let written = Object::parse(br#"{"line": "7", "path": "a.md"}"#).unwrap();
/// let read = coerce_arguments(written, &schema)?;
/// assert_eq!(Json::from(read).to_string(), r#"{"line":7,"path":"a.md"}"#);
/// # Ok::<(), amplifier_stream::CoercionError>(())
/// ```
pub fn coerce_arguments(arguments: Object, schema: &Json) -> Result<Object, CoercionError> {
    let coercion = Coercion {
        root: schema,
        tries: Cell::new(0),
    };
    coercion.object(arguments, schema, "", 0)
}

/// How many values and choices are tried: a schema may name itself in several choices.
const MAX_TRIES: usize = 1_000_000;

struct Coercion<'s> {
    root: &'s Json,
    tries: Cell<usize>,
}

impl Coercion<'_> {
    fn value(
        &self,
        value: Json,
        schema: &Json,
        path: &str,
        depth: usize,
    ) -> Result<Json, CoercionError> {
        let schema = self.resolve(schema);
        self.tries.set(self.tries.get() + 1);
        if depth > MAX_ARGUMENT_DEPTH || self.tries.get() > MAX_TRIES {
            return Ok(value);
        }
        if let Some(choices) = choices(schema) {
            let mut result = Ok(value.clone());
            for choice in choices {
                result = self.value(value.clone(), choice, path, depth + 1);
                if result.is_ok() {
                    break;
                }
            }
            return result;
        }
        let types = types(schema);
        if types.is_empty() {
            return Ok(value);
        }
        let refused = |found: String| CoercionError {
            path: path.to_owned(),
            wanted: types.join(" or "),
            found,
        };
        match value {
            Json::Str(text) => {
                let found = types
                    .iter()
                    .find_map(|&wanted| self.text(&text, wanted, schema, path, depth));
                found.unwrap_or_else(|| Err(refused(format!("`{}`", shorten(&text)))))
            }
            Json::Object(fields) if types.contains(&"object") => {
                self.object(fields, schema, path, depth).map(Json::Object)
            }
            Json::Object(fields) if types.contains(&"array") => {
                let items = match only(fields) {
                    Ok(Json::Array(items)) => items,
                    Ok(other) => vec![other],
                    Err(fields) => vec![Json::Object(fields)],
                };
                self.items(items, schema, path, depth)
            }
            Json::Array(items) if types.contains(&"array") => {
                self.items(items, schema, path, depth)
            }
            Json::Object(_) | Json::Array(_) => Err(refused(value_kind(&value))),
            other => Ok(other),
        }
    }

    /// Reads text as one type; none where it is not.
    fn text(
        &self,
        text: &str,
        wanted: &str,
        schema: &Json,
        path: &str,
        depth: usize,
    ) -> Option<Result<Json, CoercionError>> {
        let trimmed = text.trim();
        let document = || Scanner::strict(trimmed, MAX_ARGUMENT_DEPTH).document().ok();
        let value = match wanted {
            "string" => Json::Str(text.to_owned()),
            "integer" => Json::integer(trimmed)?,
            "number" => match document()? {
                number @ (Json::Int(_) | Json::BigInt(_) | Json::Float(_)) => number,
                _ => return None,
            },
            "boolean" => Json::Bool(match trimmed {
                "true" | "True" => true,
                "false" | "False" => false,
                _ => return None,
            }),
            "null" if matches!(trimmed, "" | "null") => Json::Null,
            "array" if trimmed.is_empty() => Json::Array(Vec::new()),
            "array" if trimmed.starts_with('[') => document()?,
            "array" => {
                let items = vec![Json::Str(text.to_owned())];
                return Some(self.items(items, schema, path, depth));
            }
            "object" => Json::Object(parse_arguments(trimmed).ok()?.0),
            _ => return None,
        };
        Some(Ok(value))
    }

    fn object(
        &self,
        fields: Object,
        schema: &Json,
        path: &str,
        depth: usize,
    ) -> Result<Object, CoercionError> {
        let schema = self.resolve(schema);
        let mut coerced = Object::with_capacity(fields.len());
        for (key, value) in fields {
            let property = schema
                .get("properties")
                .and_then(|properties| properties.get(&key));
            let value = match property.or_else(|| schema.get("additionalProperties")) {
                Some(property) => {
                    let dot = if path.is_empty() { "" } else { "." };
                    self.value(value, property, &format!("{path}{dot}{key}"), depth + 1)?
                }
                None => value,
            };
            coerced.insert(key, value);
        }
        Ok(coerced)
    }

    fn items(
        &self,
        items: Vec<Json>,
        schema: &Json,
        path: &str,
        depth: usize,
    ) -> Result<Json, CoercionError> {
        let Some(item) = schema.get("items") else {
            return Ok(Json::Array(items));
        };
        let coerced = items
            .into_iter()
            .enumerate()
            .map(|(place, value)| self.value(value, item, &format!("{path}[{place}]"), depth + 1));
        coerced.collect::<Result<_, _>>().map(Json::Array)
    }

    /// The schema that a `$ref` within the same document names.
    fn resolve<'a>(&'a self, schema: &'a Json) -> &'a Json {
        let mut found = schema;
        for _ in 0..MAX_ARGUMENT_DEPTH {
            let Some(path) = found.get("$ref").and_then(Json::as_str) else {
                return found;
            };
            let Some(path) = path.strip_prefix("#/") else {
                return &Json::Null;
            };
            let target = path
                .split('/')
                .try_fold(self.root, |place, key| place.get(key));
            found = target.unwrap_or(&Json::Null);
        }
        &Json::Null
    }
}

fn choices(schema: &Json) -> Option<&[Json]> {
    let choices = schema.get("anyOf").or_else(|| schema.get("oneOf"))?;
    choices.as_array()
}

fn types(schema: &Json) -> Vec<&str> {
    match schema.get("type") {
        Some(Json::Str(name)) => vec![name],
        Some(Json::Array(names)) => names.iter().filter_map(Json::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The value of an object that has one key, or else the object.
fn only(mut fields: Object) -> Result<Json, Object> {
    match fields.len() {
        1 => Ok(fields.pop().map(|(_, value)| value).unwrap_or_default()),
        _ => Err(fields),
    }
}

fn value_kind(value: &Json) -> String {
    match value {
        Json::Object(_) => "nested elements; escape them or use CDATA".to_owned(),
        _ => value.kind().to_owned(),
    }
}

fn shorten(text: &str) -> String {
    text.chars().take(32).collect()
}
