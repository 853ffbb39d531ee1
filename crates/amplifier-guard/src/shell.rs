//! Shell containment: which commands may run without approval.

mod arguments;
mod awk;
mod builtin;
mod error;
mod filter;
mod kind;
mod sed;
mod split;
mod table;

use std::cell::OnceCell;
use std::path::PathBuf;

use arguments::Arguments;
use kind::{Fault, Place};

use crate::shown::beginning as shown;
use crate::trace::refused;

pub use error::ShellError;
pub use split::{ShellJoiner, ShellStep};

/// The longest command line that is examined, in bytes.
const MAX_COMMAND_BYTES: usize = 16_384;
/// The most words of a command line that is examined.
const MAX_WORDS: usize = 1000;

/// Decides which commands may run without approval.
///
/// A command is allowed if every POSIX shell reads it as one plain command, it begins with the words
/// of an allowed line, and the table of its program says of every word that it only reads, inside the
/// root. A program without a table is allowed only as a whole line, and one that runs others never.
/// The words to run are returned, so that no shell parses the command again; if one does all the
/// same, `printf` and `test` are its own, so what passes has the same effect there. Paths are
/// resolved by a [`PathPolicy`](crate::PathPolicy) of the root: one that a link leads out is refused.
#[doc = include_str!("../docs/shell.md")]
#[derive(Clone, Debug)]
pub struct ShellPolicy {
    lines: Vec<Vec<String>>,
    root: Option<PathBuf>,
    reaches_loopback: bool,
}

impl ShellPolicy {
    /// Allows commands that begin with one of `lines` (words of plain shell); absolute paths must be
    /// beneath `root`, the folder in which commands run; without `root` they are refused.
    pub fn new<'line>(
        lines: impl IntoIterator<Item = &'line str>,
        root: Option<PathBuf>,
    ) -> Result<Self, ShellError> {
        let lines: Vec<_> = lines
            .into_iter()
            .map(split::words)
            .collect::<Result<_, _>>()?;
        // Read the tables now, so that no decision waits for them.
        _ = table::table("");
        Ok(Self {
            lines,
            root,
            reaches_loopback: false,
        })
    }

    /// Lets curl read from the servers of this machine, on any port.
    #[must_use]
    pub fn with_loopback(mut self) -> Self {
        self.reaches_loopback = true;
        self
    }

    /// The words of `command` to run, or why it needs approval.
    pub fn check(&self, command: &str) -> Result<Vec<String>, ShellError> {
        let judge = || {
            let argv = read(command)?;
            self.judge(&argv, false)?;
            Ok(argv)
        };
        judge().inspect_err(|error| refused("shell", error))
    }

    /// The commands of a line in which `|` and `&&` may join them, or why it needs approval.
    ///
    /// Each is judged as by [`check`](Self::check); behind a pipe a line that was allowed as a whole
    /// does not count, because its program could run what it reads.
    pub fn check_line(&self, line: &str) -> Result<Vec<ShellStep>, ShellError> {
        let judge = || {
            expect_short(line.len(), "bytes", MAX_COMMAND_BYTES)?;
            let steps = split::steps(line)?;
            let words = steps.iter().map(|step| step.words.len()).sum();
            expect_short(words, "words", MAX_WORDS)?;
            for step in &steps {
                self.judge(&step.words, step.joiner == Some(ShellJoiner::Pipe))?;
            }
            Ok(steps)
        };
        judge().inspect_err(|error| refused("shell", error))
    }

    fn judge(&self, argv: &[String], is_fed: bool) -> Result<(), ShellError> {
        let name = argv[0].as_str();
        let program = || shown(name);
        if !self.lines.iter().any(|line| argv.starts_with(line)) {
            return Err(ShellError::NotAllowed { program: program() });
        }
        let table = table::table(name);
        let runs_others = table.is_some_and(|table| table.runs_others);
        // The name alone allows what the table knows, also where there are no other words.
        let is_whole = argv.len() > 1 || table.is_none();
        if is_whole && !is_fed && !runs_others && self.lines.iter().any(|line| line == argv) {
            return Ok(());
        }
        let Some(table) = table else {
            return Err(ShellError::Unknown { program: program() });
        };
        let place = Place {
            root: self.root.as_ref(),
            folder: PathBuf::new(),
            policy: OnceCell::new(),
            reaches_loopback: self.reaches_loopback,
            lines: &self.lines,
            command: vec![name],
        };
        let arguments = Arguments {
            table,
            place,
            seen: Vec::new(),
            operands: 0,
            is_replaced: false,
        };
        let read = arguments.read(&argv[1..]);
        let evaluated = || builtin::first_evaluated(argv).map_or(Ok(()), Err);
        let judged = read.and_then(|()| evaluated().map_err(|word| (Fault::Unknown, word)));
        judged.map_err(|(fault, word)| {
            let (program, word) = (program(), shown(word));
            match fault {
                _ if runs_others => ShellError::Runs { program },
                Fault::Unknown => ShellError::Word { program, word },
                Fault::Outside => ShellError::Outside { word },
                Fault::Secret => ShellError::Secret { word },
            }
        })
    }
}

/// The words of one plain command, as every POSIX shell reads it.
pub fn read(command: &str) -> Result<Vec<String>, ShellError> {
    expect_short(command.len(), "bytes", MAX_COMMAND_BYTES)?;
    let words = split::words(command)?;
    expect_short(words.len(), "words", MAX_WORDS)?;
    Ok(words)
}

fn expect_short(found: usize, unit: &'static str, limit: usize) -> Result<(), ShellError> {
    if found > limit {
        return Err(ShellError::TooLong { found, unit, limit });
    }
    Ok(())
}
