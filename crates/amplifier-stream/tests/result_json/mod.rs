//! Parts of a result as JSON, to compare whole.

use amplifier_stream::StreamResult;
use serde_json::Value;

pub(crate) fn plain(json: &str) -> Value {
    serde_json::from_str(json).unwrap()
}

pub(crate) fn blocks(result: &StreamResult) -> Value {
    let blocks = result.blocks.iter();
    blocks
        .map(|block| plain(&block.to_json().to_string()))
        .collect()
}

pub(crate) fn kinds(result: &StreamResult) -> Vec<&'static str> {
    result.findings.iter().map(|finding| finding.kind).collect()
}
