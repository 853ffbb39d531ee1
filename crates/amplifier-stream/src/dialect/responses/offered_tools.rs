//! The tools that a request offered, as the response repeats them.

use amplifier_core::{Json, Object};

use super::block::block_type;
use crate::block::BlockType;
use crate::json::Scanner;

/// Beginning of the ids of calls that the X search of xAI makes.
const X_SEARCH_CALL: &str = "xs_call_";

/// Which calls the service runs itself although they look like calls of a client's custom tool.
///
/// xAI reports each step of its X search as a `custom_tool_call` with a name of its own, such as
/// `x_keyword_search`. Nobody waits for its result, and no client has such a tool. A client's custom
/// tool is always among the tools of its request, which a response repeats.
#[derive(Debug, Default)]
pub(super) struct OfferedTools {
    /// Whether the service runs any of them.
    has_own: bool,
    /// Whether the client may have custom tools that are not listed.
    is_open: bool,
    /// The names of the client's custom tools.
    custom: Vec<String>,
}

impl OfferedTools {
    /// Takes the list of a response; the first one that has tools counts.
    pub(super) fn take(&mut self, raw: &str) {
        if self.has_own || self.is_open || !self.custom.is_empty() {
            return;
        }
        // A list that cannot be read says nothing.
        let _ = Scanner::new(raw).array(|scanner| {
            let (mut kind, mut name) = (String::new(), String::new());
            scanner.object(|key, scanner| {
                match key {
                    "type" if scanner.is_at_string() => kind = scanner.string()?.into_owned(),
                    "name" if scanner.is_at_string() => name = scanner.string()?.into_owned(),
                    _ => {
                        scanner.raw()?;
                    }
                }
                Ok(())
            })?;
            match kind.as_str() {
                "function" => {}
                "custom" => self.custom.push(name),
                // Their tools are listed elsewhere.
                "namespace" | "tool_search" => self.is_open = true,
                _ => self.has_own = true,
            }
            Ok(())
        });
    }

    /// The type of the block that an item becomes.
    pub(super) fn block_type(&self, item: &Object) -> BlockType {
        match item.get("type").and_then(Json::as_str) {
            Some(kind @ "custom_tool_call") if self.is_run_by_service(item) => {
                BlockType::of_wire(kind)
            }
            _ => block_type(item),
        }
    }

    fn is_run_by_service(&self, item: &Object) -> bool {
        let text = |key: &str| item.get(key).and_then(Json::as_str);
        let is_offered = |name: &str| self.custom.iter().any(|custom| custom == name);
        match text("name") {
            Some(name) if is_offered(name) => false,
            Some(_) if self.has_own && !self.is_open => true,
            _ => text("call_id").is_some_and(|id| id.starts_with(X_SEARCH_CALL)),
        }
    }
}
