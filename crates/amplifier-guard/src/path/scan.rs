//! A file on its way through a search: its lines, a piece of the file at a time.

use std::io::{self, Read};

use memchr::{memchr, memchr_iter, memrchr};

use super::kept::ITEM_BYTES;
use super::line_search::{Halt, LineSearch, Matcher};

/// How much is searched between two questions whether to stop, as long as lines are shorter.
const FIRST_BUFFER_BYTES: usize = 1 << 16;
/// A longer line is not text worth searching.
const MAX_LINE_BYTES: usize = 1 << 23;
/// How much of a matching line is shown, in characters.
const SHOWN_CHARACTERS: usize = 400;
/// How much of that comes before the match.
const SHOWN_CHARACTERS_BEFORE: usize = 100;

/// One file after the other on its way through the search.
pub(super) struct Scan<'search> {
    matcher: Matcher<'search>,
    buffer: Vec<u8>,
    /// How many matching lines are kept of a file.
    pub(super) limit: usize,
    most_bytes: usize,
    /// The first matching lines of the file; they count only if it turns out to be text.
    pub(super) found: Vec<(u64, String)>,
    pub(super) matches: u64,
    /// Its newline characters so far.
    pub(super) lines: u64,
}

impl<'search> Scan<'search> {
    pub(super) fn new(search: &'search LineSearch, most_bytes: usize) -> Self {
        Self {
            matcher: search.matcher(),
            buffer: vec![0; FIRST_BUFFER_BYTES],
            limit: 0,
            most_bytes,
            found: Vec::new(),
            matches: 0,
            lines: 0,
        }
    }

    /// Reads a file of so many bytes in pieces that end at a line's end, and returns whether it is
    /// text.
    pub(super) fn run(
        &mut self,
        mut file: impl Read,
        bytes: u64,
        stopped: &mut dyn FnMut() -> bool,
    ) -> Result<bool, Halt> {
        self.found.clear();
        (self.matches, self.lines) = (0, 0);
        let (mut filled, mut room) = (0, self.most_bytes);
        let mut left = bytes;
        loop {
            if stopped() {
                return Err(Halt::Stopped);
            }
            if filled == self.buffer.len() {
                if filled >= MAX_LINE_BYTES {
                    return Err(Halt::Unreadable);
                }
                self.buffer.resize(filled * 2, 0);
            }
            let read = match file.read(&mut self.buffer[filled..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read.map_err(|_| Halt::Unreadable)?,
            };
            let fresh = filled..filled + read;
            filled += read;
            // A file of which the size is known need not be asked whether it goes on.
            let is_last = read == 0 || read as u64 == left;
            left = left.saturating_sub(read as u64);
            if memchr(0, &self.buffer[fresh.clone()]).is_some() {
                return Ok(false);
            }
            let newline = memrchr(b'\n', &self.buffer[fresh.clone()]);
            let end = match newline {
                _ if is_last => filled,
                Some(newline) => fresh.start + newline + 1,
                None => continue,
            };
            let mut text = std::mem::take(&mut self.buffer);
            let searched = self.search(&text[..end], &mut room, stopped);
            text.copy_within(end..filled, 0);
            self.buffer = text;
            searched?;
            filled -= end;
            if is_last {
                return Ok(true);
            }
        }
    }

    /// Counts the newlines of whole lines of text, and the lines that match.
    ///
    /// A line at a time: what may run across a newline (`\s`, `[^a]`) could otherwise be searched
    /// over and over again.
    fn search(
        &mut self,
        mut rest: &[u8],
        room: &mut usize,
        stopped: &mut dyn FnMut() -> bool,
    ) -> Result<(), Halt> {
        while !rest.is_empty() {
            let start = self.matcher.candidate(rest).unwrap_or(rest.len());
            self.lines += memchr_iter(b'\n', &rest[..start]).count() as u64;
            rest = &rest[start..];
            let newline = memchr(b'\n', rest);
            let line = &rest[..newline.unwrap_or(rest.len())];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let shows = self.found.len() < self.limit && *room > 0;
            let exact = shows && line.len() > SHOWN_CHARACTERS;
            if !rest.is_empty()
                && let Some(found) = self.matcher.find(line, exact, stopped)?
            {
                self.matches += 1;
                if shows {
                    let text = clipped(line, found);
                    *room = room.saturating_sub(ITEM_BYTES + text.len());
                    self.found.push((self.lines + 1, text));
                }
            }
            let Some(newline) = newline else { break };
            self.lines += 1;
            rest = &rest[newline + 1..];
        }
        Ok(())
    }
}

/// A line as it is shown: what is not UTF-8 replaced, a long one clipped around byte `start`.
fn clipped(line: &[u8], start: usize) -> String {
    // A character takes at most four bytes, so a window of bytes bounds the work on a long line.
    if line.len() <= SHOWN_CHARACTERS {
        return String::from_utf8_lossy(line).into_owned();
    }
    // The rest of a character that was cut at its start is skipped; enough whole ones remain.
    let from = start.saturating_sub(SHOWN_CHARACTERS_BEFORE * 4);
    let before = String::from_utf8_lossy(&line[from..start]).chars().count();
    let skipped = before.saturating_sub(SHOWN_CHARACTERS_BEFORE);
    let window = &line[from..line.len().min(start + SHOWN_CHARACTERS * 4)];
    let window = String::from_utf8_lossy(window);
    let shown: String = window
        .chars()
        .skip(skipped)
        .take(SHOWN_CHARACTERS)
        .collect();
    let is_cut = window.chars().nth(skipped + SHOWN_CHARACTERS).is_some();
    let mark = |cut| if cut { "…" } else { "" };
    format!("{}{shown}{}", mark(from + skipped > 0), mark(is_cut))
}
