//! Why arguments were refused.

use amplifier_core::{Json, JsonError, Object};
use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};

use crate::shown::{shown, shown_under};
use crate::text::pointer;

/// Invalid arguments of a tool call: the place, what was found, shortened and without secrets, and
/// what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "its message says what each field is")]
pub enum ToolInputError {
    /// There is no schema of this tool.
    #[error("unknown tool `{tool}`")]
    UnknownTool { tool: String },
    /// The text is too long.
    #[error("the arguments of `{tool}` have {bytes} bytes, at most {most} are allowed")]
    TooLong {
        tool: String,
        bytes: usize,
        most: usize,
    },
    /// The text is not strict JSON.
    #[error("the arguments of `{tool}` are {error}")]
    Json { tool: String, error: JsonError },
    /// A value does not match the schema.
    #[error("{} of `{tool}` must {expected}, found {found}", argument(.pointer))]
    Mismatch {
        tool: String,
        pointer: String,
        expected: String,
        found: String,
    },
    /// Checking them against the schema takes too long.
    #[error("the arguments of `{tool}` take too long to check against its schema")]
    TooCostly { tool: String },
}

impl ToolInputError {
    /// The tool.
    #[must_use]
    pub fn tool(&self) -> &str {
        match self {
            Self::UnknownTool { tool }
            | Self::TooLong { tool, .. }
            | Self::Json { tool, .. }
            | Self::Mismatch { tool, .. }
            | Self::TooCostly { tool } => tool,
        }
    }

    /// The place, as a JSON pointer into the arguments; empty where it is about all of them.
    #[must_use]
    pub fn pointer(&self) -> &str {
        match self {
            Self::Mismatch { pointer, .. } => pointer,
            _ => "",
        }
    }

    pub(super) fn of_value(tool: &str, pointer: &str, expected: String, found: &Json) -> Self {
        Self::Mismatch {
            tool: shown(tool),
            pointer: shown(pointer),
            expected,
            found: describe(pointer, found),
        }
    }

    pub(super) fn of_schema(tool: &str, whole: &Json, error: &ValidationError<'_>) -> Self {
        let mut place = error.instance_path().as_str().to_owned();
        if let ValidationErrorKind::AdditionalProperties { unexpected } = error.kind()
            && let Some(name) = unexpected.first()
        {
            place = format!("{place}/{}", pointer::escaped(name));
        }
        match pointer::inside(whole, &place).filter(|_| !place.is_empty()) {
            Some(found) => Self::of_value(tool, &place, expected(error), found),
            None => Self::of_arguments(tool, whole, expected(error)),
        }
    }

    pub(super) fn of_arguments(tool: &str, whole: &Json, expected: String) -> Self {
        Self::Mismatch {
            tool: shown(tool),
            pointer: String::new(),
            expected,
            found: names(whole),
        }
    }
}

/// The place as text for a message.
fn argument(pointer: &str) -> String {
    if pointer.is_empty() {
        "the arguments".to_owned()
    } else {
        format!("argument `{pointer}`")
    }
}

/// The names of arguments.
fn names(arguments: &Json) -> String {
    let keys = arguments.as_object().into_iter().flat_map(Object::keys);
    let names: Vec<&str> = keys.take(5).map(String::as_str).collect();
    if names.is_empty() {
        return "none".to_owned();
    }
    format!("`{}`", shown(&names.join("`, `")))
}

/// What is there, in a few words.
fn describe(pointer: &str, found: &Json) -> String {
    match found {
        Json::Null => "`null`".to_owned(),
        Json::Bool(value) => format!("`{value}`"),
        Json::Int(value) => format!("`{value}`"),
        Json::Float(value) => format!("`{value}`"),
        Json::BigInt(digits) => match digits.as_str().len() {
            length @ ..=40 => format!("`{}` ({length} digits)", digits.as_str()),
            length => format!("an integer of {length} digits"),
        },
        Json::Str(text) => {
            let key = pointer.rsplit('/').next().unwrap_or_default();
            format!("\"{}\"", shown_under(key, text))
        }
        Json::Array(items) => format!("an array of {}", items.len()),
        Json::Object(entries) => format!("an object of {}", entries.len()),
    }
}

/// What a schema requires, as text that follows `must`.
fn expected(error: &ValidationError<'_>) -> String {
    use ValidationErrorKind as Kind;
    match error.kind() {
        Kind::Type {
            kind: TypeKind::Single(kind),
        } => format!("be of type {kind}"),
        Kind::Type {
            kind: TypeKind::Multiple(kinds),
        } => {
            let kinds: Vec<String> = kinds.iter().map(|kind| kind.to_string()).collect();
            format!("be of type {}", kinds.join(" or "))
        }
        Kind::Required { property } => {
            format!("have `{}`", shown(property.as_str().unwrap_or_default()))
        }
        Kind::AdditionalProperties { .. } | Kind::FalseSchema => "be absent".to_owned(),
        Kind::Enum { options } => match options.as_array() {
            Some(options) if options.len() <= 20 => {
                let options = options.iter().map(|option| shown(&option.to_string()));
                format!("be one of {}", options.collect::<Vec<_>>().join(", "))
            }
            _ => "be one of the values that its schema lists".to_owned(),
        },
        Kind::Constant { expected_value } => format!("be {}", shown(&expected_value.to_string())),
        Kind::Minimum { limit } => format!("be at least {limit}"),
        Kind::Maximum { limit } => format!("be at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("be above {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("be below {limit}"),
        Kind::MultipleOf { multiple_of } => format!("be a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("have at least {limit} characters"),
        Kind::MaxLength { limit } => format!("have at most {limit} characters"),
        Kind::MinItems { limit } => format!("have at least {limit} items"),
        Kind::MaxItems { limit } => format!("have at most {limit} items"),
        Kind::MinProperties { limit } => format!("have at least {limit} entries"),
        Kind::MaxProperties { limit } => format!("have at most {limit} entries"),
        Kind::UniqueItems => "have no duplicate items".to_owned(),
        Kind::Pattern { pattern } => format!("match the pattern `{}`", shown(pattern)),
        Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => {
            format!("match one of the schemas in `{}`", error.kind().keyword())
        }
        Kind::OneOfMultipleValid { .. } => "match exactly one of the schemas in `oneOf`".to_owned(),
        other => format!("satisfy `{}` of its schema", other.keyword()),
    }
}
