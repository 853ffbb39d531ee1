//! The arguments of a tool call, strict where a repair would change what runs.

use amplifier_core::{Json, Object};

use crate::json::{InvalidJson, Scanner};

/// How deep lists and objects may be nested in the arguments of a tool call.
pub const MAX_ARGUMENT_DEPTH: usize = 128;

/// Parses what a model wrote as the arguments of a tool call; nothing at all is no arguments.
///
/// Refused are duplicate keys, numbers without a finite value, anything but an object, and nesting
/// beyond [`MAX_ARGUMENT_DEPTH`]. Also says how many unpaired surrogate halves became U+FFFD.
///
/// # Examples
///
/// ```
/// use amplifier_stream::parse_arguments;
///
/// let (arguments, _) = parse_arguments(r#"{"path": "a.md"}"#)?;
/// assert_eq!(arguments["path"].as_str(), Some("a.md"));
/// assert!(parse_arguments("")?.0.is_empty());
/// assert!(parse_arguments(r#"{"path": "a.md", "path": "b.md"}"#).is_err());
/// assert!(parse_arguments(r#"{"path": "a.m"#).is_err());
/// # Ok::<(), amplifier_stream::InvalidJson>(())
/// ```
pub fn parse_arguments(text: &str) -> Result<(Object, usize), InvalidJson> {
    if text.trim_ascii().is_empty() {
        return Ok((Object::new(), 0));
    }
    let mut scanner = Scanner::strict(text, MAX_ARGUMENT_DEPTH);
    match scanner.document()? {
        Json::Object(arguments) => Ok((arguments, scanner.unpaired)),
        other => Err(InvalidJson {
            problem: format!("expected an object, found {}", other.kind()),
            at: 0,
        }),
    }
}
