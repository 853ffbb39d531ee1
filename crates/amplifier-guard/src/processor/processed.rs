//! A message that was checked.

use std::sync::OnceLock;

use amplifier_core::{ContentBlock as KernelBlock, Degradation, Message, MessageContent};

use super::contents::{ContentStatistics, Enough, Findings};
use super::walk::Parts;
use crate::claude::{ClaudeMessage, ContentBlock};
use crate::finding::Finding;
use crate::tool_input::{ToolInputError, ToolInputPolicy};

/// A message that was checked; there is no other way to make one, so that it need not be checked
/// again.
///
/// Statistics and findings are made when they are first read, once, unless the findings decided on
/// the message at the entry.
#[derive(Clone, Debug)]
pub struct ProcessedMessage<M> {
    message: M,
    degradations: Vec<Degradation>,
    pub(super) needs_approval: bool,
    statistics: OnceLock<ContentStatistics>,
    findings: OnceLock<Vec<Finding>>,
}

/// What is made of the message alone is the same if the message is.
impl<M: PartialEq> PartialEq for ProcessedMessage<M> {
    fn eq(&self, other: &Self) -> bool {
        self.message == other.message
            && self.degradations == other.degradations
            && self.needs_approval == other.needs_approval
    }
}

impl<M> ProcessedMessage<M> {
    pub(super) fn new(message: M, degradations: Vec<Degradation>) -> Self {
        Self {
            message,
            degradations,
            needs_approval: false,
            statistics: OnceLock::new(),
            findings: OnceLock::new(),
        }
    }

    /// The message.
    pub fn message(&self) -> &M {
        &self.message
    }

    /// What was left out.
    pub fn degradations(&self) -> &[Degradation] {
        &self.degradations
    }

    /// Whether a person must approve it before it is used.
    pub fn needs_approval(&self) -> bool {
        self.needs_approval
    }
}

#[expect(private_bounds, reason = "there are no other messages")]
impl<M: Parts> ProcessedMessage<M> {
    /// The numbers of its blocks, characters and bytes, computed when first read.
    pub fn statistics(&self) -> &ContentStatistics {
        self.statistics.get_or_init(|| {
            let mut statistics = ContentStatistics::default();
            let Ok(()) = self.message.walk(&mut statistics);
            statistics
        })
    }

    /// The suspicious parts, at most 1,000, computed when first read.
    pub fn findings(&self) -> &[Finding] {
        self.findings.get_or_init(|| {
            let mut findings = Findings::default();
            let (Ok(()) | Err(Enough)) = self.message.walk(&mut findings);
            findings.0
        })
    }
}

impl ProcessedMessage<ClaudeMessage> {
    /// Checks the arguments of each tool call in place against the schema of its tool.
    pub fn validate_tool_uses(&self, tools: &ToolInputPolicy) -> Result<(), ToolInputError> {
        self.message
            .content
            .iter()
            .try_for_each(|block| match block {
                ContentBlock::ToolUse(call) => tools.check_value(&call.name, &call.input),
                _ => Ok(()),
            })
    }
}

impl ProcessedMessage<Message> {
    /// Checks the arguments of each tool call in place against the schema of its tool.
    pub fn validate_tool_uses(&self, tools: &ToolInputPolicy) -> Result<(), ToolInputError> {
        let MessageContent::Blocks(blocks) = &self.message.content else {
            return Ok(());
        };
        blocks.iter().try_for_each(|block| match block {
            KernelBlock::ToolCall(call) => {
                tools.check_value(&call.name, &call.input.clone().into())
            }
            _ => Ok(()),
        })
    }
}
