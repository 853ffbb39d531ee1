//! How far a message is, and where its blocks are.

use std::collections::BTreeMap;
use std::mem;

use super::block;
use crate::answer::Answer;
use crate::block::BlockType;

/// Where blocks are that are left out: at an index that the wire cannot have.
const NOWHERE: u64 = u64::MAX;

/// Folds the events of one response.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    pub(super) phase: Phase,
    /// Where blocks went whose index on the wire was taken.
    pub(super) moved: BTreeMap<u64, u64>,
    /// Whether the start of the message came again, and no block has begun since.
    pub(super) is_start_repeated: bool,
}

/// Where the message is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Phase {
    #[default]
    Expected,
    Open,
    Stopped,
}

impl Decoder {
    /// Where the block with this index on the wire really is.
    pub(super) fn place(&self, index: u64) -> u64 {
        self.moved.get(&index).copied().unwrap_or(index)
    }

    /// Opens a block and says at which index it really is.
    pub(super) fn begin_block(
        &mut self,
        index: u64,
        raw: &str,
        answer: &mut Answer,
    ) -> Result<u64, String> {
        let (block, unpaired) = block::read(raw).map_err(|error| error.to_string())?;
        if self.phase == Phase::Expected {
            self.phase = Phase::Open;
            let message = "a block came before `message_start`";
            answer.find("missing_message_start", None, message, None);
        }
        if mem::take(&mut self.is_start_repeated) && answer.has(index) {
            answer.drop_blocks();
            self.moved.clear();
            let message =
                "the message came again from its start, and its first blocks were dropped";
            answer.find("restarted_message", None, message, None);
        }
        if *block.block_type() == BlockType::ToolCall && answer.drops_call() {
            if answer.has(index) {
                self.moved.insert(index, NOWHERE);
            }
            return Ok(NOWHERE);
        }
        let mut place = index;
        if answer.has(index) {
            place = answer.next_index();
            self.moved.insert(index, place);
            let message = format!("a second block with index {index} was put at index {place}");
            answer.find("repeated_index", Some(place), &message, None);
        }
        answer.find_unpaired(Some(place), unpaired);
        if let Some(model) = block::fallback_model(&block) {
            answer.result.model = Some(model.to_owned());
        }
        answer.begin(place, block);
        Ok(place)
    }
}
