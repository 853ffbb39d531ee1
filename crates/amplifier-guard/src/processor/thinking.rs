//! Messages without what was thought.

use amplifier_core::{ContentBlock as KernelBlock, Degradation, Message, MessageContent, Object};

use crate::claude::{ClaudeMessage, ContentBlock};

/// Leaves thoughts out of a message of the dialect, and names each.
pub(super) fn leave_out(message: &mut ClaudeMessage, lost: &mut Vec<Degradation>) {
    retain("content", &mut message.content, lost, |block| {
        !matches!(block, ContentBlock::Thinking(_)) && block.block_type() != "redacted_thinking"
    });
    if let Some(mut thoughts) = message.thinking.take() {
        retain("thinking", &mut thoughts, lost, |_| false);
    }
}

/// Leaves thoughts out of a message of the kernel, and names each.
pub(super) fn leave_out_of_kernel(message: &mut Message, lost: &mut Vec<Degradation>) {
    if let MessageContent::Blocks(blocks) = &mut message.content {
        retain("content", blocks, lost, |block| {
            !matches!(
                block,
                KernelBlock::Thinking(_)
                    | KernelBlock::RedactedThinking(_)
                    | KernelBlock::Reasoning(_)
            )
        });
    }
}

fn retain<B>(
    base: &str,
    blocks: &mut Vec<B>,
    lost: &mut Vec<Degradation>,
    stays: impl Fn(&B) -> bool,
) {
    let mut index = 0;
    blocks.retain(|block| {
        let stays = stays(block);
        if !stays {
            lost.push(Degradation {
                requested: format!("`{base}[{index}]`: a thinking block"),
                actual: "left out".to_owned(),
                reason: "thinking mode is off (`THINKING_MODE_ENABLED`)".to_owned(),
                extra: Object::new(),
            });
        }
        index += 1;
        stays
    });
}
