//! Which files git ignores: the rules of `.gitignore` files and of `.git/info/exclude`.
//!
//! The crate `ignore` is not used because it reads some rules differently from git: to it `{a,b}` is a
//! choice and `[[:alpha:]]` no class; and its walker opens paths by their names.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::wildcard;

/// As much as all files of rules may take that are in force at the same time.
const MAX_RULES_BYTES: usize = 16 << 20;
/// A longer rule means no path.
const MAX_RULE_BYTES: usize = 4096;

/// The rules that hold in a folder: those of one file, and of the folders around it.
pub(super) struct Rules {
    /// In the order of the file.
    own: Vec<Rule>,
    /// The bytes of the path of their folder, with the slash behind it.
    base: usize,
    outer: Option<Arc<Rules>>,
    /// What the file takes of the sum.
    bytes: usize,
    sum: Arc<AtomicUsize>,
}

/// One line.
struct Rule {
    pattern: Vec<u8>,
    shape: Shape,
    /// Whether it takes back what an earlier rule ignores.
    is_negated: bool,
    is_for_folders: bool,
    /// Whether the whole path is compared, and not the name alone.
    has_slash: bool,
}

enum Shape {
    Literal,
    /// A star, and this behind it.
    Ending,
    Wildcard,
}

impl Rules {
    /// The rules of a file beneath those of the folders around it; nothing if there is no room for them.
    pub(super) fn read(
        text: &[u8],
        base: usize,
        outer: Option<Arc<Self>>,
        sum: &Arc<AtomicUsize>,
    ) -> Option<Self> {
        let bytes = text.len();
        if sum.fetch_add(bytes, Ordering::Relaxed) + bytes > MAX_RULES_BYTES {
            sum.fetch_sub(bytes, Ordering::Relaxed);
            return None;
        }
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        Some(Self {
            own: text
                .split(|byte| *byte == b'\n')
                .filter_map(Rule::read)
                .collect(),
            base,
            outer,
            bytes,
            sum: Arc::clone(sum),
        })
    }

    /// Whether the file or folder at `path`, which lies in the folder of these rules, is ignored.
    pub(super) fn ignore(&self, path: &[u8], is_folder: bool) -> bool {
        let mut next = Some(self);
        while let Some(rules) = next {
            let inner = path.get(rules.base..).unwrap_or_default();
            let name = memchr::memrchr(b'/', inner).map_or(inner, |slash| &inner[slash + 1..]);
            let mut latest_first = rules.own.iter().rev();
            if let Some(rule) = latest_first.find(|rule| rule.means(inner, name, is_folder)) {
                return !rule.is_negated;
            }
            next = rules.outer.as_deref();
        }
        false
    }
}

impl Drop for Rules {
    fn drop(&mut self) {
        self.sum.fetch_sub(self.bytes, Ordering::Relaxed);
        // One after the other: folders may be deeper than calls.
        let mut outer = self.outer.take();
        while let Some(mut rules) = outer.and_then(Arc::into_inner) {
            outer = rules.outer.take();
        }
    }
}

impl Rule {
    fn read(line: &[u8]) -> Option<Self> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = line.split(|byte| *byte == 0).next().unwrap_or_default();
        let line = trimmed(line);
        if line.is_empty() || line[0] == b'#' || line.len() > MAX_RULE_BYTES {
            return None;
        }
        let positive = line.strip_prefix(b"!");
        let pattern = positive.unwrap_or(line);
        let folders = pattern.strip_suffix(b"/");
        let pattern = folders.unwrap_or(pattern);
        let has_slash = pattern.contains(&b'/');
        let pattern = pattern.strip_prefix(b"/").unwrap_or(pattern);
        let is_literal = |part: &[u8]| !part.iter().any(|byte| b"*?[\\".contains(byte));
        let (shape, pattern) = match pattern.strip_prefix(b"*") {
            Some(ending) if !has_slash && is_literal(ending) => (Shape::Ending, ending),
            _ if is_literal(pattern) => (Shape::Literal, pattern),
            _ => (Shape::Wildcard, pattern),
        };
        Some(Self {
            pattern: pattern.to_vec(),
            shape,
            is_negated: positive.is_some(),
            is_for_folders: folders.is_some(),
            has_slash,
        })
    }

    fn means(&self, path: &[u8], name: &[u8], is_folder: bool) -> bool {
        if self.is_for_folders && !is_folder {
            return false;
        }
        let text = if self.has_slash { path } else { name };
        match self.shape {
            Shape::Literal => text == self.pattern,
            Shape::Ending => text.ends_with(&self.pattern),
            Shape::Wildcard => wildcard::matches(&self.pattern, text),
        }
    }
}

/// A line without the spaces at its end; one behind a `\` stays.
fn trimmed(line: &[u8]) -> &[u8] {
    let (mut at, mut end) = (0, 0);
    while at < line.len() {
        match line[at] {
            b' ' => at += 1,
            b'\\' => {
                if at + 1 == line.len() {
                    return line;
                }
                at += 2;
                end = at;
            }
            _ => {
                at += 1;
                end = at;
            }
        }
    }
    &line[..end]
}
