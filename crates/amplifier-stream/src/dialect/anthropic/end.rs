//! The end of a message: what may run, what it cost, and why it ended.

use std::sync::Arc;

use amplifier_core::{Json, Object};

use super::{Decoder, Phase, Slot};
use crate::block::Block;
use crate::stream_result::{Finding, StreamResult, Usage};

pub(super) fn finish(mut decoder: Decoder) -> StreamResult {
    let truncated = decoder.phase != Phase::Stopped;
    let mut blocks = Vec::with_capacity(decoder.blocks.len());
    for (index, slot) in std::mem::take(&mut decoder.blocks) {
        blocks.push(match slot {
            Slot::Ended(block) => Arc::unwrap_or_clone(block),
            Slot::Open(block) => {
                let sealed = block.seal();
                decoder.find_unpaired(Some(index), sealed.unpaired);
                if let Some((message, raw)) = sealed.finding {
                    let raw = Some(Json::Str(raw));
                    let kind = "invalid_input";
                    let block_index = Some(index);
                    decoder.findings.push(Finding {
                        kind,
                        block_index,
                        message,
                        raw,
                    });
                }
                match sealed.block {
                    Block::ToolCall(mut call) => {
                        call.error = None;
                        call.refuse("the call never ended");
                        Block::ToolCall(call)
                    }
                    block @ Block::Content(_) => block,
                }
            }
        });
    }
    let failure = match &decoder.error {
        Some(error) => Some(format!("the stream failed: {}", error.message)),
        None if truncated => Some("the stream ended before `message_stop`".to_owned()),
        None => None,
    };
    if let Some(failure) = failure {
        for block in &mut blocks {
            if let Block::ToolCall(call) = block {
                call.refuse(&failure);
            }
        }
    }
    let raw_stop_reason = decoder.stop_reason;
    let stop_reason = raw_stop_reason.as_deref().map(stop_reason);
    if let Some(Block::ToolCall(call)) = blocks.last_mut()
        && let Some(reason @ ("max_tokens" | "model_context_window_exceeded")) = stop_reason
        && call.raw_arguments.trim_ascii().is_empty()
    {
        // No arguments yet and no arguments at all look the same on the wire.
        call.refuse(&format!(
            "the answer was cut (`{reason}`) before the arguments"
        ));
    }
    StreamResult {
        blocks,
        usage: decoder.usage.as_ref().map(usage).unwrap_or_default(),
        raw_usage: decoder.usage,
        stop_reason,
        raw_stop_reason,
        stop_sequence: decoder.stop_sequence,
        id: decoder.id,
        model: decoder.model,
        request_id: decoder.request_id,
        metadata: decoder.metadata,
        truncated,
        error: decoder.error,
        findings: decoder.findings,
    }
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
    let count = |key: &str| raw.get(key).and_then(Json::as_i64);
    let reasoning = raw.get("output_tokens_details");
    let reasoning = reasoning.and_then(|details| details.get("thinking_tokens")?.as_i64());
    let written = || {
        let split = raw.get("cache_creation")?.as_object()?;
        split
            .values()
            .try_fold(0i64, |sum, part| sum.checked_add(part.as_i64()?))
    };
    Usage {
        input_tokens: count("input_tokens"),
        cache_read_tokens: count("cache_read_input_tokens"),
        cache_write_tokens: count("cache_creation_input_tokens").or_else(written),
        output_tokens: count("output_tokens")
            .map(|total| total.saturating_sub(reasoning.unwrap_or(0)).max(0)),
        reasoning_tokens: reasoning,
    }
}
