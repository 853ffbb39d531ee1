//! Answers that announce a call by their finish reason, and have none.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::content::ContentBlock;
use crate::message::ChatResponse;
use crate::provider_error::{ProviderError, ProviderFailure};

const ANNOUNCING: [&str; 3] = ["tool_use", "tool_calls", "function_call"];
/// Blocks that are no answer by themselves.
const THOUGHTS: [&str; 3] = ["text", "thinking", "redacted_thinking"];
const WHERE: &str = "calls must be in `tool_calls` or as `ToolCallBlock`s in `content`";

/// Judges the answers of one turn that have no call; warns once.
#[derive(Default)]
pub(super) struct MissingCalls {
    has_warned: AtomicBool,
}

impl MissingCalls {
    /// Says that the call of an answer is missing, if it announces one: an error where it has no text
    /// either, else a warning.
    pub(super) fn judge(
        &self,
        response: &ChatResponse,
        provider: &str,
        model: Option<&str>,
    ) -> Result<(), ProviderError> {
        let reason = response.finish_reason.as_deref().unwrap_or_default();
        if !ANNOUNCING.contains(&reason) {
            return Ok(());
        }
        let mut types = response.content.iter().map(ContentBlock::block_type);
        if response.plain_text().trim().is_empty() && types.all(|each| THOUGHTS.contains(&each)) {
            let mut failure = ProviderFailure::new(format!(
                "provider `{provider}` ended its answer with the finish reason `{reason}`, but the \
                 answer has neither a call nor text ({WHERE})"
            ));
            failure.provider = Some(provider.to_owned());
            failure.model = model.map(str::to_owned);
            return Err(ProviderError::InvalidToolCall(failure.into()));
        }
        if !self.has_warned.swap(true, Ordering::Relaxed) {
            log::warn!(
                "provider `{provider}` announces a call by the finish reason `{reason}`, but its \
                 answer has none and is taken as a plain one ({WHERE})"
            );
        }
        Ok(())
    }
}
