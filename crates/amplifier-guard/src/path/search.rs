//! Lines that match a regular expression, in time linear in the text.

use std::cmp::Reverse;
use std::io;
use std::path::{Path, PathBuf};

use super::PathPolicy;
use super::error::{PathError, shown};
use super::folder::Found;
use super::kept::{Kept, Order};
use super::line_search::{Halt, LineSearch};
use super::scan::Scan;
use super::tour::{Visitor, Walker};
use super::walk::{rank, since_1970};

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
    /// Files that hold secrets, which were not searched.
    pub secret_files: u64,
    /// Files and directories that could not be read.
    pub unreadable: u64,
    /// Whether something was left out because git ignores it.
    pub has_ignored: bool,
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
        let (order, max_files, most_bytes) = (walker.order, walker.limit, walker.most_bytes);
        let reads_secrets = self.reads_secrets;
        let make = || Searched {
            reads_secrets,
            order,
            scan: Scan::new(search, most_bytes),
            report: SearchReport::default(),
            lines: Kept::new(limit, most_bytes),
            files: Kept::new(max_files, most_bytes),
        };
        let visited = self.visit(path, walker, make)?;
        let mut report = SearchReport {
            unreadable: visited.unreadable,
            has_ignored: visited.has_ignored,
            ..SearchReport::default()
        };
        let mut lines = Kept::new(limit, most_bytes);
        let mut files = Kept::new(max_files, most_bytes);
        for searched in visited.visitors {
            let part = searched.report;
            report.total_matches += part.total_matches;
            report.total_files += part.total_files;
            report.searched_files += part.searched_files;
            report.searched_lines += part.searched_lines;
            report.binary_files += part.binary_files;
            report.secret_files += part.secret_files;
            report.unreadable += part.unreadable;
            lines.merge(searched.lines);
            files.merge(searched.files);
        }
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

/// What one thread has found.
struct Searched<'search> {
    reads_secrets: bool,
    order: Order,
    scan: Scan<'search>,
    /// The totals.
    report: SearchReport,
    lines: Kept<String>,
    files: Kept<u64>,
}

impl Visitor for Searched<'_> {
    fn visit(
        &mut self,
        found: &Found<'_>,
        stopped: &mut dyn FnMut() -> bool,
    ) -> Result<(), PathError> {
        let (scan, report) = (&mut self.scan, &mut self.report);
        if !self.reads_secrets && found.is_secret() {
            report.secret_files += 1;
            return Ok(());
        }
        let (file, metadata) = match found.open() {
            Ok(opened) => opened,
            // What vanished since the walk is not there.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(_) => {
                report.unreadable += 1;
                return Ok(());
            }
        };
        let key = |rank, line| (Reverse(rank), found.path.clone().into_os_string(), line);
        scan.limit = self.lines.room_for(&key(0, 0));
        match scan.run(file, metadata.len(), stopped) {
            Ok(true) => {
                report.searched_files += 1;
                report.searched_lines += scan.lines;
                report.total_matches += scan.matches;
                if scan.matches > 0 {
                    report.total_files += 1;
                    let modified = since_1970(metadata.modified().ok());
                    let rank = rank(self.order, scan.matches, modified);
                    self.files.offer(key(rank, 0), 0, scan.matches);
                }
                for (line, text) in scan.found.drain(..) {
                    self.lines.offer(key(0, line), text.len(), text);
                }
            }
            Ok(false) => report.binary_files += 1,
            Err(Halt::Stopped) => {
                let path = shown(&found.path);
                return Err(PathError::Stopped { path });
            }
            Err(Halt::Costly) => {
                let path = shown(&found.path);
                return Err(PathError::Costly { path });
            }
            Err(Halt::Unreadable) => report.unreadable += 1,
        }
        Ok(())
    }
}
