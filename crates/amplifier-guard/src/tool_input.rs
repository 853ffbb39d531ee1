//! The arguments of tool calls, against the schemas of the tools.

mod equality;
mod instance;
mod refusal;
mod schema;

use std::cell::Cell;
use std::collections::HashMap;

use amplifier_core::{Json, Object};
use jsonschema::Validator;

pub use refusal::ToolInputError;
pub use schema::ToolSchemaError;

use crate::setting::SettingError;
use crate::shown::shown;
use crate::text::pointer::Place;
use instance::{Arguments, Seen};

/// How often the values of one call are read before it is refused.
const MAX_STEPS: u64 = 10_000_000;

/// How often they are read to describe what is wrong.
const MAX_STEPS_BACK: u64 = 100_000;

/// How many levels a schema and arguments may have, multiplied: so deep the comparison may go, as
/// a schema can refer back to itself at each level of the arguments, and a stack has an end.
const MAX_LEVELS: usize = 4096;

/// Validates the arguments of tool calls.
///
/// Schemas follow JSON Schema 2020-12, or the draft named by `$schema`. References may point only
/// into the schema itself (`#/…`), patterns match in linear time, and `format` is only an annotation.
/// 1 and 1.0 are the same number; integers beyond 64 bits are compared exactly with integer bounds.
/// The levels of a schema multiplied by those of the arguments are at most 4096.
///
/// # Examples
///
/// ```
/// use amplifier_core::Json;
/// use amplifier_guard::ToolInputPolicy;
///
/// let schema = br#"{"properties": {"lines": {"type": "integer", "maximum": 100}}}"#;
/// let mut policy = ToolInputPolicy::default();
/// policy.set_schema("head", &Json::parse(schema).unwrap()).unwrap();
///
/// assert_eq!(policy.check_json("head", br#"{"lines": 9}"#).unwrap().len(), 1);
/// assert_eq!(
///     policy.check_json("head", br#"{"lines": 101}"#).unwrap_err().to_string(),
///     "argument `/lines` of `head` must be at most 100, found `101`"
/// );
/// ```
pub struct ToolInputPolicy {
    tools: HashMap<String, Tool>,
    max_depth: usize,
    max_bytes: usize,
    max_tools: usize,
}

struct Tool {
    schema: Json,
    validator: Validator<Arguments>,
    /// How many levels the schema has.
    levels: usize,
}

impl Default for ToolInputPolicy {
    fn default() -> Self {
        Self {
            tools: HashMap::new(),
            max_depth: 128,
            max_bytes: 10_000_000,
            max_tools: 1_000,
        }
    }
}

impl ToolInputPolicy {
    /// A policy with limits on the depth of arguments, their bytes of JSON, and the number of tools.
    pub fn new(max_depth: usize, max_bytes: usize, max_tools: usize) -> Result<Self, SettingError> {
        SettingError::unless_positive("max_depth", max_depth as u64)?;
        SettingError::unless_positive("max_bytes", max_bytes as u64)?;
        SettingError::unless_positive("max_tools", max_tools as u64)?;
        Ok(Self {
            tools: HashMap::new(),
            max_depth: max_depth.min(amplifier_core::MAX_DEPTH),
            max_bytes,
            max_tools,
        })
    }

    /// Sets the schema of a tool's arguments; returns whether it has changed.
    pub fn set_schema(&mut self, tool: &str, schema: &Json) -> Result<bool, ToolSchemaError> {
        match self.tools.get(tool) {
            Some(known) if known.schema == *schema => return Ok(false),
            None if self.tools.len() >= self.max_tools => {
                let most = self.max_tools;
                return Err(ToolSchemaError {
                    tool: shown(tool),
                    pointer: String::new(),
                    reason: format!("there are already {most} tools, no more are allowed"),
                });
            }
            Some(_) | None => {}
        }
        let (validator, levels) = schema::compile(tool, schema)?;
        let known = Tool {
            schema: schema.clone(),
            validator,
            levels,
        };
        self.tools.insert(tool.to_owned(), known);
        Ok(true)
    }

    /// Removes a tool; returns whether it was known.
    pub fn remove(&mut self, tool: &str) -> bool {
        self.tools.remove(tool).is_some()
    }

    /// The tools that are known, in no order.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// Reads arguments as a model wrote them, strictly, and checks them.
    ///
    /// It refuses duplicate keys, NaN and infinity, numbers outside the range of floats or with more
    /// than 4300 digits, anything but an object, lone surrogates, a byte order mark, and anything
    /// after the object.
    pub fn check_json(&self, tool: &str, text: &[u8]) -> Result<Object, ToolInputError> {
        if text.len() > self.max_bytes {
            return Err(ToolInputError::TooLong {
                tool: shown(tool),
                bytes: text.len(),
                most: self.max_bytes,
            });
        }
        let json =
            Json::parse_strict(text, self.max_depth).map_err(|error| ToolInputError::Json {
                tool: shown(tool),
                error,
            })?;
        self.check_value(tool, &json)?;
        match json {
            Json::Object(arguments) => Ok(arguments),
            other => Err(not_an_object(tool, &other)),
        }
    }

    /// Checks arguments that were read before; numbers must be finite, and the depth is bounded.
    pub fn check_value(&self, tool: &str, arguments: &Json) -> Result<(), ToolInputError> {
        if arguments.as_object().is_none() {
            return Err(not_an_object(tool, arguments));
        }
        let Some(known) = self.tools.get(tool) else {
            return Err(ToolInputError::UnknownTool { tool: shown(tool) });
        };
        let depth = self.depth_of(tool, arguments, Place::Whole, 0)?;
        let most = MAX_LEVELS / known.levels.max(1);
        if depth > most {
            let expected = format!(
                "lie in at most {most} arrays and objects, as its schema has {} levels",
                known.levels
            );
            return Err(ToolInputError::of_arguments(tool, arguments, expected));
        }
        let looks = &Cell::new(MAX_STEPS);
        let value = arguments;
        let is_valid = known.validator.is_valid(Seen { value, looks });
        if looks.get() == 0 {
            return Err(ToolInputError::TooCostly { tool: shown(tool) });
        }
        if is_valid {
            return Ok(());
        }
        // What alternatives ask for multiplies, so that it is not looked for to the end.
        looks.set(MAX_STEPS_BACK);
        let found = known.validator.validate(Seen { value, looks });
        Err(match found {
            Err(error) if looks.get() > 0 => ToolInputError::of_schema(tool, arguments, &error),
            Ok(()) | Err(_) => {
                ToolInputError::of_arguments(tool, arguments, "hold to its schema".to_owned())
            }
        })
    }

    /// Refuses what JSON cannot hold, and what is too deep; how many arrays and objects there are
    /// around the deepest value.
    fn depth_of(
        &self,
        tool: &str,
        value: &Json,
        place: Place<'_>,
        depth: usize,
    ) -> Result<usize, ToolInputError> {
        let refuse = |expected: String| {
            let place = place.to_string();
            Err(ToolInputError::of_value(tool, &place, expected, value))
        };
        if depth > self.max_depth {
            return refuse(format!("be nested at most {} levels deep", self.max_depth));
        }
        match value {
            Json::Float(number) if !number.is_finite() => refuse("be a finite number".to_owned()),
            Json::Array(items) => {
                let mut items = items.iter().enumerate();
                items.try_fold(depth, |deepest, (index, item)| {
                    let inside = self.depth_of(tool, item, place.index(index), depth + 1)?;
                    Ok(deepest.max(inside))
                })
            }
            Json::Object(entries) => {
                let mut entries = entries.iter();
                entries.try_fold(depth, |deepest, (key, value)| {
                    let inside = self.depth_of(tool, value, place.name(key), depth + 1)?;
                    Ok(deepest.max(inside))
                })
            }
            _ => Ok(depth),
        }
    }
}

fn not_an_object(tool: &str, found: &Json) -> ToolInputError {
    ToolInputError::of_value(tool, "", "be an object".to_owned(), found)
}
