//! A tool's schema: checked before it is compiled, as it may come from an untrusted server.

use std::collections::HashMap;

use amplifier_core::{Json, Object};
use jsonschema::{PatternOptions, Validator};

use super::instance::Arguments;
use crate::shown::shown;
use crate::text::pointer::{self, Place};

/// How many objects a schema may have with all references expanded.
const MAX_OBJECTS: usize = 20_000;

/// How deep a schema may be with all references expanded.
const MAX_LEVELS: usize = 256;

/// How large a pattern may become when it is compiled, in bytes.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// A schema that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the schema of tool `{tool}` cannot be used: {reason} at `{pointer}`")]
pub struct ToolSchemaError {
    /// The tool.
    pub tool: String,
    /// The place, as a JSON pointer into the schema.
    pub pointer: String,
    /// What is wrong.
    pub reason: String,
}

/// Compiles a schema, and says how many levels it has; nothing outside it is ever read.
pub(super) fn compile(
    tool: &str,
    schema: &Json,
) -> Result<(Validator<Arguments>, usize), ToolSchemaError> {
    let fail = |pointer: &str, reason: String| ToolSchemaError {
        tool: shown(tool),
        pointer: shown(pointer),
        reason,
    };
    let Json::Object(_) = schema else {
        let reason = format!("it must be an object, found {}", schema.kind());
        return Err(fail("", reason));
    };
    let mut walk = Walk {
        root: schema,
        extents: HashMap::new(),
    };
    let extent = walk
        .value(schema, Part::Schema, Place::Whole, 0)
        .map_err(|Flaw { place, reason }| fail(&place, reason))?;
    let validator = jsonschema::options_for::<Arguments>()
        .offline()
        .should_validate_formats(false)
        .with_pattern_options(
            PatternOptions::regex()
                .size_limit(MAX_PATTERN_BYTES)
                .dfa_size_limit(MAX_PATTERN_BYTES),
        )
        // It holds neither large integers nor infinite floats, so that nothing of it is lost.
        .build(&serde_json::to_value(schema).unwrap_or_default())
        .map_err(|error| {
            let reason = shown(&error.masked_with("this").to_string());
            fail(error.instance_path().as_str(), reason)
        })?;
    Ok((validator, extent.levels))
}

/// What is wrong with a schema.
struct Flaw {
    place: String,
    reason: String,
}

/// What a value in a schema is.
#[derive(Clone, Copy)]
enum Part {
    /// A schema, or a list of them.
    Schema,
    /// Schemas by names that are no keywords.
    Names,
    /// What values are compared with or described by.
    Data,
}

impl Part {
    /// What the value of a keyword is.
    fn under(self, keyword: &str) -> Self {
        match (self, keyword) {
            (Self::Data, _) | (Self::Schema, "const" | "enum" | "default" | "examples") => {
                Self::Data
            }
            (
                Self::Schema,
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
                | "dependencies",
            ) => Self::Names,
            (Self::Schema | Self::Names, _) => Self::Schema,
        }
    }
}

/// How large a part of a schema is with all references expanded.
#[derive(Clone, Copy, Default)]
struct Extent {
    objects: usize,
    levels: usize,
}

impl Extent {
    /// One level around this.
    fn level(self) -> Self {
        Self {
            levels: self.levels + 1,
            ..self
        }
    }

    /// Adds a part next to the others.
    fn add(&mut self, other: Self) {
        self.objects += other.objects;
        self.levels = self.levels.max(other.levels);
    }
}

/// Measures a schema with all references expanded, visiting each part once.
struct Walk<'a> {
    root: &'a Json,
    /// How large each object is; none while it is being measured.
    extents: HashMap<*const Json, Option<Extent>>,
}

impl<'a> Walk<'a> {
    fn value(
        &mut self,
        value: &'a Json,
        part: Part,
        place: Place<'_>,
        depth: usize,
    ) -> Result<Extent, Flaw> {
        if depth > MAX_LEVELS {
            return Err(place.too_deep());
        }
        match value {
            Json::Object(entries) if matches!(part, Part::Names | Part::Data) => {
                self.entries(entries, part, place, depth)
            }
            Json::Object(entries) => match self.extents.get(&std::ptr::from_ref(value)) {
                Some(Some(extent)) if depth + extent.levels > MAX_LEVELS => Err(place.too_deep()),
                Some(Some(extent)) => Ok(*extent),
                // A recursive reference: the arguments decide how often it is followed.
                Some(None) => Ok(Extent {
                    objects: 1,
                    levels: 0,
                }),
                None => {
                    self.extents.insert(value, None);
                    let is_root = std::ptr::eq(value, self.root);
                    if !is_root
                        && let Some(id) = ["$id", "id"]
                            .iter()
                            .find(|id| value.get(id).is_some_and(|id| id.as_str().is_some()))
                    {
                        let reason = "only the whole schema may have an id".to_owned();
                        return Err(place.name(id).flaw(reason));
                    }
                    let mut extent = self.entries(entries, part, place, depth)?;
                    extent.objects += 1;
                    self.extents.insert(value, Some(extent));
                    Ok(extent)
                }
            },
            Json::Array(items) => {
                let mut extent = Extent::default();
                for (index, item) in items.iter().enumerate() {
                    let inner = self.value(item, part, place.index(index), depth + 1)?;
                    extent.add(inner.level());
                }
                Ok(extent)
            }
            Json::BigInt(_) => {
                Err(place.flaw("an integer beyond 64 bits cannot be compared exactly".to_owned()))
            }
            Json::Float(number) if !number.is_finite() => {
                Err(place.flaw("a number has no finite value".to_owned()))
            }
            _ => Ok(Extent::default()),
        }
    }

    fn entries(
        &mut self,
        entries: &'a Object,
        part: Part,
        place: Place<'_>,
        depth: usize,
    ) -> Result<Extent, Flaw> {
        let mut extent = Extent::default();
        for (key, value) in entries {
            let place = place.name(key);
            let inner = match (part, key.as_str(), value) {
                (Part::Schema, "$ref", Json::Str(target)) => self.target(target, place, depth)?,
                (Part::Schema, "$dynamicRef" | "$recursiveRef", Json::Str(_)) => {
                    return Err(place.flaw("only `$ref` is followed".to_owned()));
                }
                _ => self.value(value, part.under(key), place, depth + 1)?,
            };
            extent.add(inner.level());
            if extent.objects > MAX_OBJECTS {
                let reason = format!("it expands to more than {MAX_OBJECTS} objects");
                return Err(place.flaw(reason));
            }
        }
        Ok(extent)
    }

    fn target(&mut self, target: &str, place: Place<'_>, depth: usize) -> Result<Extent, Flaw> {
        let Some(path) = target.strip_prefix('#').filter(|path| is_pointer(path)) else {
            let reason = format!(
                "`{}` refers to something outside this schema (only `#/…` is followed)",
                shown(target)
            );
            return Err(place.flaw(reason));
        };
        let Some(value) = pointer::find(self.root, path) else {
            let reason = format!("`{}` refers to nothing", shown(target));
            return Err(place.flaw(reason));
        };
        self.value(value, Part::Schema, place, depth + 1)
    }
}

fn is_pointer(path: &str) -> bool {
    path.is_empty() || path.starts_with('/')
}

impl Place<'_> {
    fn too_deep(&self) -> Flaw {
        self.flaw(format!("it is deeper than {MAX_LEVELS} levels"))
    }

    fn flaw(&self, reason: String) -> Flaw {
        Flaw {
            place: self.to_string(),
            reason,
        }
    }
}
