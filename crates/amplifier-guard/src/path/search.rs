//! Lines that match a regular expression, in time linear in the text.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use memchr::{memchr, memrchr};
use regex::bytes::{Regex, RegexBuilder};

use super::PathPolicy;
use super::error::PathError;
use super::error::shown;
use super::pattern::PatternError;
use super::pattern::{MAX_PATTERN_BYTES, MAX_PROGRAM_BYTES, reason};
use super::walk::Walker;

/// How much is searched between two questions whether to stop, as long as lines are shorter.
const FIRST_BUFFER_BYTES: usize = 1 << 16;
/// A longer line is not text worth searching.
const MAX_LINE_BYTES: usize = 1 << 26;
/// How much of a matching line is shown, in characters.
const SHOWN_CHARACTERS: usize = 400;
/// How much of that comes before the match.
const SHOWN_CHARACTERS_BEFORE: usize = 100;

/// A compiled regular expression that is matched against one line at a time.
///
/// The syntax is that of the `regex` crate: no look-around and no back-references, hence no pattern
/// that takes exponential time. Both `\n` and `\r\n` end a line for `$`.
#[derive(Clone, Debug)]
pub struct LineSearch {
    expression: Regex,
}

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

/// What a search found; the figures are complete, whatever `lines` was limited to.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SearchReport {
    /// The first matching lines, by path and number.
    pub lines: Vec<LineMatch>,
    /// Every file with a match, by path.
    pub files: Vec<FileMatches>,
    /// Matching lines in all.
    pub total_matches: u64,
    /// Text files searched: files without a NUL byte.
    pub searched_files: u64,
    /// Newline characters in them.
    pub searched_lines: u64,
    /// Files with a NUL byte, whose matches do not count.
    pub binary_files: u64,
    /// Files and directories that could not be read.
    pub unreadable: u64,
}

impl LineSearch {
    /// Compiles a pattern.
    pub fn new(pattern: &str, ignore_case: bool) -> Result<Self, PatternError> {
        if pattern.len() > MAX_PATTERN_BYTES {
            return Err(PatternError::TooLong {
                bytes: pattern.len(),
            });
        }
        let expression = RegexBuilder::new(pattern)
            .case_insensitive(ignore_case)
            .multi_line(true)
            .crlf(true)
            .size_limit(MAX_PROGRAM_BYTES)
            .build()
            .map_err(|error| PatternError::Expression {
                pattern: pattern.into(),
                reason: reason(&error),
            })?;
        Ok(Self { expression })
    }
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
        let walk = self.walk(path, walker)?;
        let mut report = SearchReport {
            unreadable: walk.unreadable,
            ..SearchReport::default()
        };
        let mut buffer = vec![0; FIRST_BUFFER_BYTES];
        for file in walk.files {
            let stopped = &mut *walker.stopped;
            let mut scan = Scan {
                path: &file.path,
                search,
                report: &mut report,
                limit,
                stopped,
            };
            match self
                .open(&file.path)
                .map(|text| scan.run(text, &mut buffer))
            {
                Ok(Ok(Scanned::Text { matches, lines })) => {
                    report.searched_files += 1;
                    report.searched_lines += lines;
                    report.total_matches += matches;
                    if matches > 0 {
                        report.files.push(FileMatches {
                            path: file.path,
                            matches,
                        });
                    }
                }
                Ok(Ok(Scanned::Binary)) => report.binary_files += 1,
                Ok(Ok(Scanned::Stopped)) => return Err(PathError::Stopped { path: shown(path) }),
                // What vanished since the walk is not there.
                Err(PathError::Missing { .. }) => {}
                Ok(Err(_)) | Err(_) => report.unreadable += 1,
            }
        }
        Ok(report)
    }
}

enum Scanned {
    Text { matches: u64, lines: u64 },
    Binary,
    Stopped,
}

/// One file's way through the search.
struct Scan<'search> {
    path: &'search Path,
    search: &'search LineSearch,
    report: &'search mut SearchReport,
    limit: usize,
    stopped: &'search mut dyn FnMut() -> bool,
}

impl Scan<'_> {
    /// Reads the file in pieces that end at a line's end. Whether it is text is known only at its
    /// end, so lines found in what turns out to be binary are taken back.
    fn run(&mut self, file: impl Read, buffer: &mut Vec<u8>) -> io::Result<Scanned> {
        let kept = self.report.lines.len();
        let scanned = self.read(file, buffer);
        if !matches!(scanned, Ok(Scanned::Text { .. })) {
            self.report.lines.truncate(kept);
        }
        scanned
    }

    fn read(&mut self, mut file: impl Read, buffer: &mut Vec<u8>) -> io::Result<Scanned> {
        let (mut matches, mut lines, mut filled) = (0, 0, 0);
        loop {
            if (self.stopped)() {
                return Ok(Scanned::Stopped);
            }
            if filled == buffer.len() {
                if filled >= MAX_LINE_BYTES {
                    return Err(io::ErrorKind::FileTooLarge.into());
                }
                buffer.resize(filled * 2, 0);
            }
            let read = match file.read(&mut buffer[filled..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            if read == 0 {
                matches += self.lines(&buffer[..filled], &mut lines);
                return Ok(Scanned::Text { matches, lines });
            }
            let fresh = filled..filled + read;
            filled += read;
            if memchr(0, &buffer[fresh.clone()]).is_some() {
                return Ok(Scanned::Binary);
            }
            if let Some(end) = memrchr(b'\n', &buffer[fresh.clone()]) {
                let end = fresh.start + end + 1;
                matches += self.lines(&buffer[..end], &mut lines);
                buffer.copy_within(end..filled, 0);
                filled -= end;
            }
        }
    }

    /// Counts the matching lines of whole lines of text, and its newlines into `lines`.
    ///
    /// A line at a time, although a search of the whole text would be faster for rare matches: what
    /// may run across a newline (`\s`, `[^a]`) could then be searched over and over again.
    fn lines(&mut self, text: &[u8], lines: &mut u64) -> u64 {
        let expression = &self.search.expression;
        let mut matches = 0;
        let mut rest = text;
        while !rest.is_empty() {
            let newline = memchr(b'\n', rest);
            let line = &rest[..newline.unwrap_or(rest.len())];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if self.report.lines.len() < self.limit {
                if let Some(found) = expression.find(line) {
                    matches += 1;
                    let text = clipped(line, found.start());
                    let path = self.path.to_owned();
                    self.report.lines.push(LineMatch {
                        path,
                        line: *lines + 1,
                        text,
                    });
                }
            } else if expression.is_match(line) {
                matches += 1;
            }
            let Some(newline) = newline else { break };
            *lines += 1;
            rest = &rest[newline + 1..];
        }
        matches
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
    let before = String::from_utf8_lossy(&line[from..start]);
    let skipped = before
        .chars()
        .count()
        .saturating_sub(SHOWN_CHARACTERS_BEFORE);
    let window = &line[from..line.len().min(start + SHOWN_CHARACTERS * 4)];
    let shown = String::from_utf8_lossy(window);
    let shown: String = shown
        .chars()
        .skip(skipped)
        .take(SHOWN_CHARACTERS + 1)
        .collect();
    let mut clipped = String::new();
    if from > 0 || skipped > 0 {
        clipped.push('…');
    }
    match shown.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => {
            clipped.push_str(&shown[..end]);
            clipped.push('…');
        }
        None => clipped.push_str(&shown),
    }
    clipped
}
