//! The answer of a response while it arrives: its blocks, and what was noticed about it.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;

use amplifier_core::{Json, Object};

use crate::block::{Block, BlockType, ToolCall};
use crate::call_limit::CallLimit;
use crate::error::{ResponseError, in_stream};
use crate::framing::BodyEnd;
use crate::json::{PartialArguments, Piece, Scanner};
use crate::open_block::{OpenBlock, Part, Sealed};
use crate::stream_event::{Change, StreamEvent};
use crate::stream_result::{Finding, StreamResult};

mod correction;

/// The kind of the error of a stream that its dialect does not allow.
const INVALID: &str = "invalid_stream";

/// What a dialect folds its frames into.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// The HTTP status, which errors inside the stream get.
    pub(crate) status: u16,
    /// How the body ended, once it has.
    pub(crate) body_end: BodyEnd,
    blocks: BTreeMap<u64, Slot>,
    /// The arguments of the blocks whose arguments were asked for.
    partial_arguments: BTreeMap<u64, PartialArguments>,
    /// Which calls may run.
    calls: CallLimit,
    /// What happened since the caller asked last.
    pub(crate) events: Vec<StreamEvent>,
    /// The record at the end, without its blocks.
    pub(crate) result: StreamResult,
}

#[derive(Debug)]
enum Slot {
    Open(Box<OpenBlock>),
    Ended(Arc<Block>),
}

/// Why a block cannot grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotOpen {
    NeverBegan,
    Ended,
}

impl Answer {
    pub(crate) fn new(status: u16, max_calls: usize) -> Self {
        Self {
            status,
            calls: CallLimit::new(max_calls),
            ..Self::default()
        }
    }

    /// Marks the stream as failed; the first failure is the one that is reported.
    pub(crate) fn fail(&mut self, error: ResponseError) {
        self.result.error.get_or_insert(error);
    }

    /// Marks the stream as failed because of something that the dialect does not allow.
    pub(crate) fn fail_stream(&mut self, problem: &str) {
        self.fail(ResponseError {
            kind: INVALID.to_owned(),
            status: self.status,
            message: problem.to_owned(),
            retryable: true,
            ..ResponseError::default()
        });
    }

    /// Whether the stream failed because of something that the dialect does not allow.
    pub(crate) fn is_invalid(&self) -> bool {
        let error = self.result.error.as_ref();
        error.is_some_and(|error| error.kind == INVALID)
    }

    /// Marks the stream as failed because of an error that the provider reports in it.
    pub(crate) fn fail_reported(&mut self, data: &str) {
        let error = in_stream(self.status, data);
        let request_id = &mut self.result.request_id;
        *request_id = request_id.take().or_else(|| error.request_id.clone());
        self.fail(error);
    }

    /// Notes something; `raw` is kept as JSON where it is JSON, else as text.
    pub(crate) fn find(
        &mut self,
        kind: &'static str,
        block_index: Option<u64>,
        message: &str,
        raw: Option<&str>,
    ) {
        let raw = raw.map(|raw| {
            Scanner::new(raw)
                .document()
                .unwrap_or_else(|_| Json::Str(raw.to_owned()))
        });
        let message = message.to_owned();
        self.result.findings.push(Finding {
            kind,
            block_index,
            message,
            raw,
        });
    }

    pub(crate) fn find_unpaired(&mut self, block_index: Option<u64>, unpaired: usize) {
        if unpaired > 0 {
            let message = format!("{unpaired} unpaired surrogate halves became U+FFFD");
            self.find("unpaired_surrogate", block_index, &message, None);
        }
    }

    /// Whether a block with this index began.
    pub(crate) fn has(&self, index: u64) -> bool {
        self.blocks.contains_key(&index)
    }

    /// The indices of all blocks.
    pub(crate) fn indices(&self) -> Vec<u64> {
        self.blocks.keys().copied().collect()
    }

    /// The first index after every block.
    pub(crate) fn next_index(&self) -> u64 {
        let last = self.blocks.keys().next_back();
        last.map_or(0, |last| last.saturating_add(1))
    }

    /// Begins a block at an index that is free; text that it has already is its first delta.
    pub(crate) fn begin(&mut self, index: u64, mut block: OpenBlock) {
        if *block.block_type() == BlockType::ToolCall {
            if self.calls.admit(index) {
                let message = format!("{}; the others are refused", self.calls.refusal());
                self.find("refused_calls", None, &message, None);
            }
            if self.calls.refuses(index) {
                block.first_input = None;
            }
        }
        let block_type = block.block_type();
        self.report(index, block_type, Change::Start(block.metadata()));
        if let Some(text) = block.first_text() {
            self.report(index, block_type, Change::Delta(text.to_owned()));
        }
        self.put(index, Slot::Open(Box::new(block)));
    }

    /// How many calls may run.
    pub(crate) fn max_calls(&self) -> usize {
        self.calls.most()
    }

    /// Whether the answer has so many calls that a further one is left out.
    pub(crate) fn drops_call(&mut self) -> bool {
        let had_dropped = self.calls.has_dropped();
        let drops = self.calls.drops();
        if drops && !had_dropped {
            let message = "further calls were left out of the answer";
            self.find("dropped_calls", None, message, None);
        }
        drops
    }

    /// Whether nothing is known of the block at this index because its call was left out.
    pub(crate) fn may_have_dropped(&self, index: u64) -> bool {
        self.calls.has_dropped() && !self.has(index)
    }

    /// The block to hold: of a call past the limit neither arguments nor the right to run.
    fn limited(&self, index: u64, mut block: Block) -> Block {
        if let Block::ToolCall(call) = &mut block
            && self.calls.refuses(index)
        {
            *call = ToolCall {
                error: Some(self.calls.refusal()),
                arguments: None,
                raw_arguments: String::new(),
                ..std::mem::take(call)
            };
        }
        block
    }

    fn put(&mut self, index: u64, slot: Slot) {
        self.blocks.insert(index, slot);
        // They were of what was there before.
        self.partial_arguments.remove(&index);
    }

    /// The arguments of a call so far, or the input of another block that gets one.
    pub(crate) fn partial_arguments(&mut self, index: u64) -> Option<&Object> {
        let (text, is_custom) = match self.blocks.get(&index)? {
            Slot::Open(block) => block.raw_arguments()?,
            Slot::Ended(block) => match block.as_ref() {
                Block::ToolCall(call) => (call.raw_arguments.as_str(), call.is_custom),
                Block::Content(fields) => return fields.get("input").and_then(Json::as_object),
            },
        };
        let partial = self.partial_arguments.entry(index).or_default();
        Some(if is_custom {
            partial.read_custom(text)
        } else {
            partial.read(text)
        })
    }

    /// Whether the block at this index still grows.
    pub(crate) fn is_open(&self, index: u64) -> bool {
        matches!(self.blocks.get(&index), Some(Slot::Open(_)))
    }

    /// The block at this index, as long as it grows.
    pub(crate) fn open(&mut self, index: u64) -> Result<&mut OpenBlock, NotOpen> {
        match self.blocks.get_mut(&index) {
            Some(Slot::Open(block)) => Ok(block),
            Some(Slot::Ended(_)) => Err(NotOpen::Ended),
            None => Err(NotOpen::NeverBegan),
        }
    }

    /// Adds a piece to an open block.
    pub(crate) fn push(&mut self, index: u64, part: Part, piece: Piece<'_>) -> Result<(), NotOpen> {
        let is_refused = self.calls.refuses(index);
        let block = self.open(index)?;
        // A correction may make another block of a call.
        if is_refused && *block.block_type() == BlockType::ToolCall {
            return Ok(());
        }
        let (change, unpaired) = block.push(part, piece);
        let block_type = block.block_type().clone();
        self.report(index, &block_type, change);
        self.find_unpaired(Some(index), unpaired);
        Ok(())
    }

    /// Ends a block, and says whether it was open.
    pub(crate) fn end(&mut self, index: u64) -> bool {
        let Ok(open) = self.open(index) else {
            return false;
        };
        let open = mem::take(open);
        let block_type = open.block_type().clone();
        let sealed = self.seal(index, open);
        self.close(index, &block_type, sealed.changes, sealed.block);
        true
    }

    /// Ends an open block with the content on the wire, whatever its deltas add up to.
    pub(crate) fn end_as(&mut self, index: u64, block: Block) {
        let changes = match self.open(index) {
            Ok(open) => open.settle(),
            Err(_) => Vec::new(),
        };
        self.find_unpaired(Some(index), changes.len());
        self.close(index, &block.block_type(), changes, block);
    }

    /// Puts a block in the place of another that has ended, or that never will.
    pub(crate) fn replace(&mut self, index: u64, block: Block) {
        let block = self.limited(index, block);
        self.put(index, Slot::Ended(Arc::new(block)));
    }

    fn close(&mut self, index: u64, block_type: &BlockType, changes: Vec<Change>, block: Block) {
        let block = Arc::new(self.limited(index, block));
        let end = Change::End(Arc::clone(&block));
        for change in changes.into_iter().chain([end]) {
            self.report(index, block_type, change);
        }
        self.put(index, Slot::Ended(block));
    }

    fn seal(&mut self, index: u64, open: OpenBlock) -> Sealed {
        let mut sealed = open.seal();
        self.find_unpaired(Some(index), sealed.unpaired);
        if let Some((message, raw)) = sealed.finding.take() {
            self.result.findings.push(Finding {
                kind: "invalid_input",
                block_index: Some(index),
                message,
                raw: Some(Json::Str(raw)),
            });
        }
        sealed
    }

    /// Ends the stream; `missing` is the terminator that never came, which makes it truncated.
    ///
    /// No call of a stream that failed or was cut short keeps its arguments.
    pub(crate) fn finish(mut self, missing: Option<&str>) -> StreamResult {
        let mut blocks = Vec::with_capacity(self.blocks.len());
        for (index, slot) in mem::take(&mut self.blocks) {
            blocks.push(match slot {
                Slot::Ended(block) => Arc::unwrap_or_clone(block),
                Slot::Open(open) => {
                    let block_type = open.block_type().clone();
                    let sealed = self.seal(index, *open);
                    for change in sealed.changes {
                        self.report(index, &block_type, change);
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
        let mut result = self.result;
        result.blocks = blocks;
        result.events = self.events;
        result.truncated = missing.is_some();
        let failure = match (&result.error, missing) {
            (Some(error), _) => Some(format!("the stream failed: {}", error.message)),
            (None, Some(missing)) => Some(format!("the stream ended before {missing}")),
            (None, None) => None,
        };
        if let Some(failure) = failure {
            for block in &mut result.blocks {
                if let Block::ToolCall(call) = block {
                    call.refuse(&failure);
                }
            }
        }
        result
    }

    fn report(&mut self, index: u64, block_type: &BlockType, change: Change) {
        self.events.push(StreamEvent {
            block_type: block_type.clone(),
            block_index: index,
            change,
        });
    }
}
