//! Shell containment: which commands may run without approval.

mod error;
mod options;
mod program;
mod sed;
mod table;
mod words;

use std::path::{Component, Path, PathBuf};

use crate::shown::escaped;
use crate::trace::refused;

pub use error::ShellError;

/// The longest command line that is examined, in bytes.
const MAX_COMMAND_BYTES: usize = 16_384;
/// The most words of a command line that is examined.
const MAX_WORDS: usize = 1000;

/// Decides which commands may run without approval.
///
/// A command is allowed if every POSIX shell reads it as one plain command, it begins with the words
/// of an allowed prefix, no option makes the program run or write something, and its paths stay inside
/// the root. The words to run are returned, so that no shell parses the command again. The decision
/// is made on the words alone: links inside the root are not followed.
#[derive(Clone, Debug)]
pub struct ShellPolicy {
    prefixes: Vec<Vec<String>>,
    root: Option<PathBuf>,
}

impl ShellPolicy {
    /// Allows commands that begin with one of `prefixes` (words of plain shell); absolute paths
    /// must be beneath `root`, the folder in which commands run; without `root` they are refused.
    pub fn new<'prefix>(
        prefixes: impl IntoIterator<Item = &'prefix str>,
        root: Option<PathBuf>,
    ) -> Result<Self, ShellError> {
        let prefixes: Vec<_> = prefixes
            .into_iter()
            .map(|prefix| expect_words(words::words(prefix)?))
            .collect::<Result<_, _>>()?;
        Ok(Self { prefixes, root })
    }

    /// The words of `command` to run, or why it needs approval.
    pub fn check(&self, command: &str) -> Result<Vec<String>, ShellError> {
        self.judge(command)
            .inspect_err(|error| refused("shell", error))
    }

    fn judge(&self, command: &str) -> Result<Vec<String>, ShellError> {
        let argv = read(command)?;
        let name = argv[0].as_str();
        let prefix = self
            .prefixes
            .iter()
            .filter(|prefix| argv.starts_with(prefix))
            .map(Vec::len)
            .max();
        let Some(prefix) = prefix else {
            return Err(ShellError::NotAllowed {
                program: shown(name),
            });
        };
        if program::runs_others(name, prefix) {
            return Err(ShellError::Runs {
                program: shown(name),
            });
        }
        let reading = program::program(name).read(&argv, prefix - 1);
        if let Some(word) = reading.refused {
            return Err(ShellError::Word {
                program: shown(name),
                word: shown(word),
            });
        }
        match reading.paths.iter().find(|path| !self.is_inside(path)) {
            Some(path) => Err(ShellError::Outside { word: shown(path) }),
            None => Ok(argv),
        }
    }

    /// Whether `path`, counted from the root, stays beneath it by its spelling.
    fn is_inside(&self, path: &str) -> bool {
        if path == "/dev/null" {
            return true;
        }
        let path = Path::new(path);
        let path = match (&self.root, path.is_absolute()) {
            (Some(root), true) => match path.strip_prefix(root) {
                Ok(path) => path,
                Err(_) => return false,
            },
            (None, true) => return false,
            (_, false) => path,
        };
        let mut depth = 0_usize;
        path.components().all(|component| match component {
            Component::Normal(_) => {
                depth += 1;
                true
            }
            Component::ParentDir => {
                let is_inside = depth > 0;
                depth = depth.saturating_sub(1);
                is_inside
            }
            Component::CurDir => true,
            Component::RootDir | Component::Prefix(_) => false,
        })
    }
}

/// The words of one plain command, as every POSIX shell reads it.
pub fn read(command: &str) -> Result<Vec<String>, ShellError> {
    if command.len() > MAX_COMMAND_BYTES {
        return Err(ShellError::TooLong {
            found: command.len(),
            unit: "bytes",
            limit: MAX_COMMAND_BYTES,
        });
    }
    let words = expect_words(words::words(command)?)?;
    if words.len() > MAX_WORDS {
        return Err(ShellError::TooLong {
            found: words.len(),
            unit: "words",
            limit: MAX_WORDS,
        });
    }
    Ok(words)
}

fn expect_words(words: Vec<String>) -> Result<Vec<String>, ShellError> {
    if words.first().is_none_or(String::is_empty) {
        return Err(ShellError::Empty);
    }
    Ok(words)
}

/// The beginning of `text`, escaped.
fn shown(text: &str) -> String {
    const MAX_SHOWN_CHARACTERS: usize = 100;
    escaped(text.as_bytes(), MAX_SHOWN_CHARACTERS)
}
