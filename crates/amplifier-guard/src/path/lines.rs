//! A window of lines of a text file, and the figures of the whole.

use std::io::{self, Read};
use std::path::Path;

use memchr::{memchr, memchr_iter};

use super::PathPolicy;
use super::error::{PathError, shown};

const PIECE_BYTES: usize = 1 << 18;

/// Some lines of a text file.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct LineWindow {
    /// The size of the whole file.
    pub bytes: u64,
    /// The lines of the whole file, an unfinished last one among them.
    pub total_lines: u64,
    /// The lines in `content`, an unfinished last one among them.
    pub shown_lines: u64,
    /// The lines as they are in the file, whole if at all possible.
    pub content: Vec<u8>,
    /// Whether the file continues after `content`.
    pub truncated: bool,
}

/// What part of a file is wanted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LineRange {
    /// The first line wanted, from 1.
    pub first: u64,
    /// How many lines are wanted.
    pub limit: u64,
    /// The most bytes of content; a line that does not fit is left out, the first one cut.
    pub most_bytes: usize,
}

impl PathPolicy {
    /// The lines of a text file that `range` names; `stopped` is asked now and then.
    pub fn lines(
        &self,
        path: impl AsRef<Path>,
        range: LineRange,
        stopped: &mut dyn FnMut() -> bool,
    ) -> Result<LineWindow, PathError> {
        let path = path.as_ref();
        let mut file = self.open(path)?;
        let mut window = LineWindow::default();
        let mut filling = Filling {
            range,
            line: 1,
            line_start: 0,
            closed: false,
        };
        let mut buffer = vec![0; PIECE_BYTES];
        let mut is_unfinished = false;
        loop {
            if stopped() {
                return Err(PathError::Stopped { path: shown(path) });
            }
            let read = match file.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read.map_err(|source| self.failure(path, source))?,
            };
            let piece = &buffer[..read];
            if read == 0 {
                break;
            }
            if let Some(offset) = memchr(0, piece) {
                let offset = window.bytes + offset as u64;
                let path = shown(path);
                return Err(PathError::Binary { path, offset });
            }
            window.bytes += read as u64;
            window.total_lines += newlines(piece);
            is_unfinished = !piece.ends_with(b"\n");
            filling.add(piece, &mut window);
        }
        window.total_lines += u64::from(is_unfinished);
        let content = &window.content;
        let is_unfinished = content.last().is_some_and(|last| *last != b'\n');
        window.shown_lines = newlines(content) + u64::from(is_unfinished);
        Ok(window)
    }
}

fn newlines(text: &[u8]) -> u64 {
    memchr_iter(b'\n', text).count() as u64
}

/// How far the content of a window is.
struct Filling {
    range: LineRange,
    /// The number of the line that the next byte belongs to.
    line: u64,
    /// Where that line begins in the content.
    line_start: usize,
    /// Whether nothing more is taken.
    closed: bool,
}

impl Filling {
    fn add(&mut self, piece: &[u8], window: &mut LineWindow) {
        let LineRange {
            first,
            limit,
            most_bytes,
        } = self.range;
        let mut rest = piece;
        while !rest.is_empty() {
            let end = memchr(b'\n', rest).map_or(rest.len(), |newline| newline + 1);
            let (part, after) = rest.split_at(end);
            if self.line >= first {
                if self.closed || self.line - first >= limit {
                    window.truncated = true;
                    return;
                }
                if window.content.len() + part.len() > most_bytes {
                    self.cut(part, window);
                    return;
                }
                window.content.extend_from_slice(part);
            }
            if part.ends_with(b"\n") {
                self.line = self.line.saturating_add(1);
                self.line_start = window.content.len();
            }
            rest = after;
        }
    }

    /// Ends the content before the line that does not fit, or within it if it is the first.
    fn cut(&mut self, part: &[u8], window: &mut LineWindow) {
        let content = &mut window.content;
        if self.line_start > 0 {
            content.truncate(self.line_start);
        } else {
            content.extend_from_slice(&part[..self.range.most_bytes - content.len()]);
            // A character that the cut went through is left out.
            let is_begun = |start: &usize| {
                let read = str::from_utf8(&content[*start..]);
                read.is_err_and(|error| error.error_len().is_none())
            };
            let mut tail = content.len().saturating_sub(3)..content.len();
            if let Some(start) = tail.rfind(is_begun) {
                content.truncate(start);
            }
        }
        self.closed = true;
        window.truncated = true;
    }
}
