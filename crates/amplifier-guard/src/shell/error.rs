//! Why a command needs approval.

/// Why a command needs approval; words of it are escaped.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "its message says what each field is")]
pub enum ShellError {
    /// There is no command.
    #[error("the command is empty")]
    Empty,
    /// It is too long.
    #[error("the command has {found} {unit}, more than {limit}")]
    TooLong {
        found: usize,
        unit: &'static str,
        limit: usize,
    },
    /// It is not a single plain command, or could be read as more.
    #[error("the command is not plain: {construct} at byte {offset}")]
    NotPlain {
        construct: &'static str,
        /// Where it is, in bytes from 0.
        offset: usize,
    },
    /// It begins with no allowed prefix.
    #[error("no allowed prefix matches this `{program}` command")]
    NotAllowed { program: String },
    /// The program runs other programs.
    #[error("`{program}` runs other programs")]
    Runs { program: String },
    /// There is no table of the program.
    #[error(
        "what `{program}` does with its words is not known; allow the whole line if it is safe"
    )]
    Unknown { program: String },
    /// A word is not in the table of the program.
    #[error("`{word}` is not known to be harmless for `{program}`")]
    Word { program: String, word: String },
    /// A word names something outside the root.
    #[error("`{word}` lies outside the project")]
    Outside { word: String },
    /// A word names a file that holds secrets.
    #[error("`{word}` holds secrets")]
    Secret { word: String },
}
