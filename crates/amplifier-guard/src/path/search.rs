//! Lines that match a regular expression, in time linear in the text.

use std::cmp::Reverse;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use memchr::{memchr, memchr_iter, memrchr};

use super::PathPolicy;
use super::error::{PathError, shown};
use super::kept::{ITEM_BYTES, Kept};
use super::line_search::{Halt, LineSearch, Matcher};
use super::protected::secret;
use super::walk::{Walker, rank};

/// How much is searched between two questions whether to stop, as long as lines are shorter.
const FIRST_BUFFER_BYTES: usize = 1 << 16;
/// A longer line is not text worth searching.
const MAX_LINE_BYTES: usize = 1 << 23;
/// How much of a matching line is shown, in characters.
const SHOWN_CHARACTERS: usize = 400;
/// How much of that comes before the match.
const SHOWN_CHARACTERS_BEFORE: usize = 100;

/// A line that matched.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LineMatch {
    /// The file, from the root.
    pub path: PathBuf,
    /// The number of the line, from 1.
    pub line: u64,
    /// The line; a long one is clipped around the match, which a `…` at the cut end says.
    pub text: String,
}

/// How many lines of a file matched.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FileMatches {
    /// The file, from the root.
    pub path: PathBuf,
    /// Its matching lines.
    pub matches: u64,
}

/// What a search found; the figures are complete, whatever `lines` and `files` were limited to.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SearchReport {
    /// The first matching lines, by path and number.
    pub lines: Vec<LineMatch>,
    /// The first files with a match.
    pub files: Vec<FileMatches>,
    /// Matching lines in all.
    pub total_matches: u64,
    /// Files with a match in all.
    pub total_files: u64,
    /// Text files searched: files without a NUL byte.
    pub searched_files: u64,
    /// Newline characters in them.
    pub searched_lines: u64,
    /// Files with a NUL byte, whose matches do not count.
    pub binary_files: u64,
    /// Files and directories that could not be read, or hold secrets.
    pub unreadable: u64,
}

impl PathPolicy {
    /// Searches the text files beneath `path`, keeping at most `limit` matching lines.
    pub fn search(
        &self,
        path: impl AsRef<Path>,
        search: &LineSearch,
        limit: usize,
        walker: &mut Walker,
    ) -> Result<SearchReport, PathError> {
        let path = path.as_ref();
        if !self.reads_secrets && self.metadata(path).is_ok() {
            self.readable(path)?;
        }
        let mut report = SearchReport::default();
        let order = walker.order;
        let mut files = Kept::new(walker.limit, walker.most_bytes);
        let mut lines = Kept::new(limit, walker.most_bytes);
        let mut scan = Scan {
            matcher: search.matcher(),
            buffer: vec![0; FIRST_BUFFER_BYTES],
            limit,
            most_bytes: walker.most_bytes,
            found: Vec::new(),
            matches: 0,
            lines: 0,
        };
        let mut unreadable = 0;
        report.unreadable = self.visit(path, walker, &mut |file, stopped| {
            let key = |rank, line| (Reverse(rank), file.path.clone().into_os_string(), line);
            if !self.reads_secrets && secret(&file.path).is_some() {
                unreadable += 1;
                return Ok(());
            }
            match self
                .open_any(&file.path)
                .map(|text| scan.run(text, stopped))
            {
                Ok(Ok(true)) => {
                    report.searched_files += 1;
                    report.searched_lines += scan.lines;
                    report.total_matches += scan.matches;
                    if scan.matches > 0 {
                        report.total_files += 1;
                        let rank = rank(order, scan.matches, file.modified);
                        files.offer(key(rank, 0), 0, scan.matches);
                    }
                    for (line, text) in scan.found.drain(..) {
                        lines.offer(key(0, line), text.len(), text);
                    }
                }
                Ok(Ok(false)) => report.binary_files += 1,
                Ok(Err(Halt::Stopped)) => return Err(PathError::Stopped { path: shown(path) }),
                Ok(Err(Halt::Costly)) => {
                    let path = shown(&file.path);
                    return Err(PathError::Costly { path });
                }
                // What vanished since the walk is not there.
                Err(PathError::Missing { .. }) => {}
                Ok(Err(Halt::Unreadable)) | Err(_) => unreadable += 1,
            }
            Ok(())
        })?;
        report.unreadable += unreadable;
        report.files = files.into_items(|path, _, matches| FileMatches {
            path: path.into(),
            matches,
        });
        report.lines = lines.into_items(|path, line, text| LineMatch {
            path: path.into(),
            line,
            text,
        });
        Ok(report)
    }
}

/// One file after the other on its way through the search.
struct Scan<'search> {
    matcher: Matcher<'search>,
    buffer: Vec<u8>,
    limit: usize,
    most_bytes: usize,
    /// The first matching lines of the file; they count only if it turns out to be text.
    found: Vec<(u64, String)>,
    matches: u64,
    /// Its newline characters so far.
    lines: u64,
}

impl Scan<'_> {
    /// Reads a file in pieces that end at a line's end, and returns whether it is text.
    fn run(
        &mut self,
        mut file: impl Read,
        stopped: &mut dyn FnMut() -> bool,
    ) -> Result<bool, Halt> {
        self.found.clear();
        (self.matches, self.lines) = (0, 0);
        let (mut filled, mut room) = (0, self.most_bytes);
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
            if memchr(0, &self.buffer[fresh.clone()]).is_some() {
                return Ok(false);
            }
            let newline = memrchr(b'\n', &self.buffer[fresh.clone()]);
            let end = match newline {
                _ if read == 0 => filled,
                Some(newline) => fresh.start + newline + 1,
                None => continue,
            };
            let mut text = std::mem::take(&mut self.buffer);
            let searched = self.search(&text[..end], &mut room, stopped);
            text.copy_within(end..filled, 0);
            self.buffer = text;
            searched?;
            filled -= end;
            if read == 0 {
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
