//! One choice of an answer: its deltas, folded into blocks.

use amplifier_core::Json;

use super::calls::Calls;
use super::wire::{self, Content, Delta};
use super::{content, reasoning};
use crate::answer::Answer;
use crate::dialect::flow::{Flow, Kind};
use crate::dialect::kept::Kept;
use crate::json::Piece;

/// Folds the deltas of one choice.
///
/// Calls stay open until the end, because their fragments may take turns.
#[derive(Debug, Default)]
pub(super) struct Choice {
    flow: Flow,
    calls: Calls,
    pub(super) finish_reason: Option<String>,
    /// Usage that came with the choice.
    pub(super) usage: Option<String>,
    pub(super) kept: Kept,
}

impl Choice {
    /// Takes what a chunk says about the choice.
    pub(super) fn take(
        &mut self,
        choice: &wire::Choice<'_>,
        answer: &mut Answer,
    ) -> Result<(), String> {
        if let Some(delta) = choice.delta {
            let delta = Delta::read(delta).map_err(|error| error.to_string())?;
            self.fold(delta, answer)?;
        }
        if let Some(reason) = choice.finish_reason.as_deref()
            // An error after the end does not change how the answer ended.
            && (reason != "error" || self.finish_reason.is_none())
        {
            self.finish_reason = Some(reason.to_owned());
        }
        if let Some(logprobs) = choice.logprobs {
            self.kept.append("logprobs", logprobs, answer);
        }
        if let Some(usage) = choice.usage {
            self.usage = Some(usage.to_owned());
        }
        self.keep(&choice.rest, answer);
        Ok(())
    }

    fn fold(&mut self, delta: Delta<'_>, answer: &mut Answer) -> Result<(), String> {
        answer.find_unpaired(None, delta.unpaired);
        let details = match delta.reasoning_details {
            Some(raw) => reasoning::read(raw, answer)?,
            None => Vec::new(),
        };
        match delta.reasoning {
            Some(piece) if !piece.is_empty() => self.flow.grow(Kind::Thinking, piece, answer),
            _ => {
                for text in details.iter().filter_map(reasoning::text) {
                    self.flow.grow(Kind::Thinking, Piece::from(text), answer);
                }
            }
        }
        if !details.is_empty() {
            let index = self.flow.block(Kind::Thinking, answer);
            if let Ok(block) = answer.open(index) {
                reasoning::add(&mut block.fields, details);
            }
        }
        match delta.content {
            Some(Content::Text(piece)) => self.flow.grow(Kind::Text, piece, answer),
            Some(Content::Parts(parts)) => {
                for part in parts {
                    content::take(part, &mut self.flow, answer)
                        .map_err(|error| error.to_string())?;
                }
            }
            None => {}
        }
        if let Some(piece) = delta.refusal {
            self.flow.grow(Kind::Refusal, piece, answer);
        }
        if !delta.tool_calls.is_empty() || delta.function_call.is_some() {
            self.flow.end(answer);
            self.calls.take(delta.tool_calls, answer);
            if let Some(call) = delta.function_call {
                self.calls.take_function_call(call, answer);
            }
        }
        for (key, raw) in &delta.rest {
            self.kept.note_delta(key, raw, answer);
        }
        Ok(())
    }

    fn keep(&mut self, rest: &[(String, &str)], answer: &mut Answer) {
        let is_about_offsets = rest.iter().any(|(key, _)| key == "content_filter_offsets");
        if is_about_offsets {
            // Each says what was filtered up to where: they add up.
            let fields = rest
                .iter()
                .map(|(key, raw)| format!("{}:{raw}", Json::from(key.as_str())));
            let filter = fields.collect::<Vec<_>>().join(",");
            let raw = format!("[{{{filter}}}]");
            return self.kept.append("content_filters", &raw, answer);
        }
        for (key, raw) in rest {
            self.kept.note(key, raw);
        }
    }

    /// Ends every block.
    pub(super) fn end(&mut self, answer: &mut Answer) {
        self.flow.end(answer);
        self.calls.end(answer);
    }
}
