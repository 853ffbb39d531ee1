//! The end of a response: what may run, what it cost, and why it ended.

use amplifier_core::Object;

use crate::answer::Answer;
use crate::block::{Block, ToolCall};
use crate::error::ResponseError;
use crate::stream_result::StreamResult;
use crate::usage::{ReportedUsage, Usage, read_count};

/// Takes the status with which a terminal event ends the response; its name implies one, too.
pub(super) fn take_status(kind: &str, status: Option<String>, answer: &mut Answer) {
    let named = kind.strip_prefix("response.").unwrap_or(kind);
    let status = status.filter(|status| !matches!(status.as_str(), "queued" | "in_progress"));
    let status = status.unwrap_or_else(|| named.to_owned());
    if [named, &status]
        .iter()
        .any(|word| matches!(*word, "failed" | "cancelled"))
    {
        answer.fail(ResponseError {
            kind: "api_error".to_owned(),
            status: answer.status,
            message: format!("the response ended with the status `{status}`"),
            retryable: true,
            ..ResponseError::default()
        });
    }
    answer.result.raw_stop_reason = Some(status);
}

/// Judges the folded result by what this dialect says.
pub(super) fn finish(mut result: StreamResult) -> StreamResult {
    result.usage = result.raw_usage.as_ref().map(usage).unwrap_or_default();
    let is_cut = result.raw_stop_reason.as_deref() == Some("incomplete");
    let mut has_calls = false;
    for block in &mut result.blocks {
        if let Block::ToolCall(call) = block {
            let status = item_text(call, "status");
            has_calls |= status != Some("incomplete");
            if is_cut && (status.is_some_and(|status| status != "completed") || is_bare(call)) {
                call.refuse("the answer was cut before the call was complete");
            }
        }
    }
    result.stop_reason = result
        .raw_stop_reason
        .as_deref()
        .map(|status| match status {
            "completed" | "complete" | "incomplete" if has_calls => "tool_use",
            "completed" | "complete" if result.blocks.iter().any(Block::is_refusal) => "refusal",
            "completed" | "complete" => "end_turn",
            "incomplete" => incomplete_reason(&result.metadata),
            _ => "other",
        });
    result
}

fn incomplete_reason(metadata: &Object) -> &'static str {
    let details = metadata.get("incomplete_details");
    match details.and_then(|details| details.get("reason")?.as_str()) {
        Some("max_output_tokens") => "max_tokens",
        Some("content_filter") => "content_filter",
        _ => "other",
    }
}

fn item_text<'call>(call: &'call ToolCall, key: &str) -> Option<&'call str> {
    call.extra.get("item")?.get(key)?.as_str()
}

/// No arguments yet and no arguments at all look the same on the wire.
fn is_bare(call: &ToolCall) -> bool {
    item_text(call, "status").is_none() && call.raw_arguments.trim_ascii().is_empty()
}

/// The wire's `input_tokens` includes both cache counts, its `output_tokens` includes reasoning.
fn usage(raw: &Object) -> Usage {
    let count = |key: &str| raw.get(key).and_then(read_count);
    let detail = |of: &str, key: &str| read_count(raw.get(of)?.get(key)?);
    let reported = ReportedUsage {
        input: count("input_tokens"),
        cache_read: detail("input_tokens_details", "cached_tokens"),
        cache_write: detail("input_tokens_details", "cache_write_tokens"),
        output: count("output_tokens"),
        reasoning: detail("output_tokens_details", "reasoning_tokens"),
        total: count("total_tokens"),
    };
    reported.split()
}
