//! The line that a chunk leaves unfinished.

use super::LimitError;
use crate::steps;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The beginning of a line, held until the rest of it comes.
#[derive(Debug)]
pub(super) struct HeldLine {
    bytes: Vec<u8>,
    is_first: bool,
    limit: usize,
}

impl HeldLine {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            is_first: true,
            limit,
        }
    }

    /// Whether the next line must go through here: one has begun, or it may begin with the mark.
    pub(super) fn is_needed(&self) -> bool {
        self.is_first || !self.bytes.is_empty()
    }

    /// Appends what a chunk has of the line; a CR at its very end does not count.
    pub(super) fn extend(&mut self, piece: &[u8]) -> Result<(), LimitError> {
        let length = self.bytes.len() + piece.len();
        if length > self.limit {
            // A line at the limit may still be followed by its CR, or begin with a mark: neither is
            // part of the line, but both are in the buffer.
            let last = piece.last().or(self.bytes.last());
            let uncounted = self.mark(piece) + usize::from(last == Some(&b'\r'));
            if length - uncounted > self.limit {
                return Err(LimitError::Line(self.limit));
            }
        }
        steps::count(piece.len());
        reserve(&mut self.bytes, piece.len(), self.limit);
        self.bytes.extend_from_slice(piece);
        Ok(())
    }

    /// How many bytes of the first line are a byte order mark, which may not be whole yet.
    fn mark(&self, piece: &[u8]) -> usize {
        if !self.is_first {
            return 0;
        }
        let start = self.bytes.iter().chain(piece).zip(BYTE_ORDER_MARK);
        let same = start.take_while(|(byte, mark)| byte == mark).count();
        let length = self.bytes.len() + piece.len();
        if same == length.min(BYTE_ORDER_MARK.len()) {
            same
        } else {
            0
        }
    }

    /// The whole line without the mark of the first one; `clear` must follow.
    pub(super) fn complete(&self) -> &[u8] {
        let line = self.bytes.as_slice();
        if self.is_first {
            line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)
        } else {
            line
        }
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.is_first = false;
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }
}

/// Makes room by doubling, but never beyond the limit, so that a limit bounds the memory too.
pub(super) fn reserve(buffer: &mut Vec<u8>, additional: usize, limit: usize) {
    let needed = buffer.len() + additional;
    if needed > buffer.capacity() {
        let target = needed.max(buffer.capacity().saturating_mul(2).min(limit));
        buffer.reserve_exact(target - buffer.len());
    }
}
