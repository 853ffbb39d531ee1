//! The result of a stream.

use amplifier_core::{Json, Object};

use crate::block::Block;
use crate::error::ResponseError;
use crate::stream_event::StreamEvent;
use crate::usage::Usage;

/// The final record of a stream.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StreamResult {
    /// The blocks in the order of their index.
    pub blocks: Vec<Block>,
    /// Tokens in disjoint buckets.
    pub usage: Usage,
    /// Usage as the provider counts it.
    pub raw_usage: Option<Object>,
    /// Why the answer ended, in our words; `other` for a reason that is not known.
    pub stop_reason: Option<&'static str>,
    /// Why the answer ended, in the provider's words.
    pub raw_stop_reason: Option<String>,
    /// The stop sequence that was met.
    pub stop_sequence: Option<String>,
    /// The provider's id of the answer.
    pub id: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// The provider's id of the request.
    pub request_id: Option<String>,
    /// All other fields that the provider sent about the answer.
    pub metadata: Object,
    /// Whether the stream ended before its terminator.
    pub truncated: bool,
    /// The error, if any.
    pub error: Option<ResponseError>,
    /// What was repaired, ignored or not understood.
    pub findings: Vec<Finding>,
    /// Events that only the end of the stream completed.
    pub events: Vec<StreamEvent>,
}

/// Something that was repaired, ignored or not understood.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The kind of finding, such as `unpaired_surrogate` or `unknown_event`.
    pub kind: &'static str,
    /// The block it is about.
    pub block_index: Option<u64>,
    /// What was found.
    pub message: String,
    /// The original, if it would be lost otherwise.
    pub raw: Option<Json>,
}
