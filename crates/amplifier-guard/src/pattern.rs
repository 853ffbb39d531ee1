//! Which file names a glob pattern means.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

/// The longest pattern taken, in bytes: a longer one is a mistake or an attack.
pub(crate) const LONGEST_PATTERN: usize = 4096;

/// A pattern that means nothing.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// A glob pattern that cannot be read.
    #[error("invalid file pattern `{pattern}`: {reason}")]
    Name {
        /// The pattern as given.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A regular expression that cannot be read, or is too large to be run in linear time.
    #[error("invalid regular expression `{pattern}`: {reason}")]
    Expression {
        /// The pattern as given.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A pattern longer than any sensible one.
    #[error("the pattern is too long ({bytes} bytes, at most {LONGEST_PATTERN})")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
}

/// A glob pattern over relative paths.
///
/// `*` and `?` stay inside one name, `**` crosses directories, `[a-z]` and `{one,two}` choose.
/// A pattern without `/` means the name at any depth. Matching takes linear time.
#[derive(Clone, Debug)]
pub struct NamePattern {
    matcher: GlobMatcher,
    name_only: bool,
}

impl NamePattern {
    /// Reads a pattern.
    pub fn new(pattern: &str) -> Result<Self, PatternError> {
        if pattern.len() > LONGEST_PATTERN {
            return Err(PatternError::TooLong {
                bytes: pattern.len(),
            });
        }
        let fail = |reason: String| PatternError::Name {
            pattern: pattern.into(),
            reason,
        };
        let relative = pattern.trim_start_matches("./");
        if relative.is_empty() {
            return Err(fail("it is empty (`**` means every file)".into()));
        }
        if relative.starts_with('/') || relative.split('/').any(|part| part == "..") {
            return Err(fail(
                "it must be relative to the directory searched, without `..`".into(),
            ));
        }
        let glob = GlobBuilder::new(relative)
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .map_err(|error| fail(error.kind().to_string()))?;
        let name_only = !relative.contains('/');
        Ok(Self {
            matcher: glob.compile_matcher(),
            name_only,
        })
    }

    /// Whether `path`, relative to the directory searched, is meant.
    #[must_use]
    pub fn matches(&self, path: &Path) -> bool {
        if self.name_only {
            path.file_name()
                .is_some_and(|name| self.matcher.is_match(name))
        } else {
            self.matcher.is_match(path)
        }
    }
}
