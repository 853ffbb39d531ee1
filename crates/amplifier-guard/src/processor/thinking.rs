//! Messages without what was thought.

use amplifier_core::{Degradation, Object};

/// Leaves out the blocks that are thoughts, and names each by its place after `base`.
pub(super) fn leave_out<B>(
    base: &str,
    blocks: &mut Vec<B>,
    lost: &mut Vec<Degradation>,
    is_thought: impl Fn(&B) -> bool,
) {
    let mut index = 0;
    blocks.retain(|block| {
        let is_thought = is_thought(block);
        if is_thought {
            lost.push(Degradation {
                requested: format!("`{base}[{index}]`: a thinking block"),
                actual: "left out".to_owned(),
                reason: "thinking mode is off (`THINKING_MODE_ENABLED`)".to_owned(),
                extra: Object::new(),
            });
        }
        index += 1;
        !is_thought
    });
}
