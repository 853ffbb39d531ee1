//! The end of an answer: why it ended and what it cost.

use amplifier_core::Object;

use crate::block::Block;
use crate::stream_result::StreamResult;
use crate::usage::{ReportedUsage, Usage, read_count};

/// Judges the folded result by what this dialect says.
pub(super) fn finish(mut result: StreamResult) -> StreamResult {
    let has = |is_wanted: fn(&Block) -> bool| result.blocks.iter().any(is_wanted);
    result.stop_reason = result.raw_stop_reason.as_deref().map(stop_reason);
    if result.stop_reason == Some("end_turn") {
        // Some servers say `stop` although the model calls tools.
        if has(|block| matches!(block, Block::ToolCall(_))) {
            result.stop_reason = Some("tool_use");
        } else if has(Block::is_refusal) {
            result.stop_reason = Some("refusal");
        }
    }
    if let Some(reason) = result.stop_reason
        && reason != "tool_use"
        && let Some(Block::ToolCall(call)) = result.blocks.last_mut()
        && call.raw_arguments.trim_ascii().is_empty()
    {
        // No arguments yet and no arguments at all look the same on the wire.
        call.refuse(&format!(
            "the answer was cut (`{reason}`) before the arguments"
        ));
    }
    result.usage = result.raw_usage.as_ref().map(usage).unwrap_or_default();
    result
}

/// A reason that is not known is never taken for a normal end.
fn stop_reason(raw: &str) -> &'static str {
    match raw {
        "stop" | "eos" => "end_turn",
        "length" | "model_length" => "max_tokens",
        "tool_calls" | "function_call" => "tool_use",
        "content_filter" => "content_filter",
        _ => "other",
    }
}

/// The wire's `prompt_tokens` include what a cache knew, and mostly its `completion_tokens` the
/// reasoning: where the total says otherwise, the total is right.
fn usage(raw: &Object) -> Usage {
    let count = |key: &str| raw.get(key).and_then(read_count);
    let detail = |outer: &str, key: &str| read_count(raw.get(outer)?.get(key)?);
    let prompt = count("prompt_tokens");
    let completion = count("completion_tokens");
    let read = detail("prompt_tokens_details", "cached_tokens")
        .or_else(|| count("prompt_cache_hit_tokens"))
        .or_else(|| count("cached_tokens"));
    let written = detail("prompt_tokens_details", "cache_write_tokens");
    let reasoning = detail("completion_tokens_details", "reasoning_tokens")
        .or_else(|| count("reasoning_tokens"));
    let sum = |counts: [Option<i64>; 3]| {
        let mut counts = counts.into_iter();
        counts.try_fold(0i64, |sum, count| sum.checked_add(count?))
    };
    let total = count("total_tokens");
    let is_apart = total.is_some() && sum([prompt, completion, reasoning]) == total;
    let output = if is_apart {
        sum([completion, reasoning, Some(0)])
    } else {
        completion
    };
    let reported = ReportedUsage {
        input: prompt,
        cache_read: read,
        cache_write: written,
        output,
        reasoning,
        total,
    };
    reported.split()
}
