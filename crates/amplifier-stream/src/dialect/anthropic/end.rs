//! The end of a message: what may run, what it cost, and why it ended.

use amplifier_core::Object;

use crate::block::Block;
use crate::stream_result::StreamResult;
use crate::usage::{ReportedUsage, Usage, read_count};

/// Judges the folded result by what this dialect says.
pub(super) fn finish(mut result: StreamResult) -> StreamResult {
    result.stop_reason = result.raw_stop_reason.as_deref().map(stop_reason);
    result.usage = result.raw_usage.as_ref().map(usage).unwrap_or_default();
    if let Some(Block::ToolCall(call)) = result.blocks.last_mut()
        && let Some(reason @ ("max_tokens" | "model_context_window_exceeded")) = result.stop_reason
        && call.raw_arguments.trim_ascii().is_empty()
    {
        // No arguments yet and no arguments at all look the same on the wire.
        call.refuse(&format!(
            "the answer was cut (`{reason}`) before the arguments"
        ));
    }
    result
}

/// A reason that is not known is never taken for a normal end.
fn stop_reason(raw: &str) -> &'static str {
    match raw {
        "end_turn" => "end_turn",
        "max_tokens" => "max_tokens",
        "stop_sequence" => "stop_sequence",
        "tool_use" => "tool_use",
        "pause_turn" => "pause_turn",
        "refusal" => "refusal",
        "model_context_window_exceeded" => "model_context_window_exceeded",
        "compaction" => "compaction",
        _ => "other",
    }
}

/// The wire's `input_tokens` excludes both cache counts, its `output_tokens` includes thinking.
fn usage(raw: &Object) -> Usage {
    let count = |key: &str| raw.get(key).and_then(read_count);
    let reasoning = raw.get("output_tokens_details");
    let reasoning = reasoning.and_then(|details| read_count(details.get("thinking_tokens")?));
    let written = || {
        let split = raw.get("cache_creation")?.as_object()?;
        split
            .values()
            .try_fold(0i64, |sum, part| sum.checked_add(read_count(part)?))
    };
    let produced = ReportedUsage {
        output: count("output_tokens"),
        reasoning,
        ..ReportedUsage::default()
    };
    Usage {
        input_tokens: count("input_tokens"),
        cache_read_tokens: count("cache_read_input_tokens"),
        cache_write_tokens: count("cache_creation_input_tokens").or_else(written),
        ..produced.split()
    }
}
