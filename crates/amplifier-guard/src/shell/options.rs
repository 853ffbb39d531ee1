//! How a program reads its words, and which of its options do more than read.

/// What the operands of a program are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Operands {
    /// Paths, all of them.
    Paths,
    /// A pattern or a script, unless an option gave one, then paths.
    PatternThenPaths,
    /// Text that is never opened.
    Text,
}

/// How a program reads its options.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Options {
    /// `-abc` is three options, `--long` is one and may be cut short.
    Usual,
    /// As `Usual`, but no option may be cut short.
    Exact,
    /// `-long` is one option, and so is `--long`.
    Words,
    /// As `Words`, and an option may be cut short.
    Loose,
}

/// A program whose options are known.
pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) operands: Operands,
    pub(super) options: Options,
    /// Short options that take the rest of their word, or the next one.
    pub(super) valued: &'static str,
    /// Short options that are refused.
    pub(super) short: &'static str,
    /// Long options that are refused, without their dashes.
    pub(super) long: &'static [&'static str],
    /// Options whose value is the pattern or the script, which is then not an operand.
    pub(super) pattern: &'static [&'static str],
}
