//! The kinds of findings, and what to do about them.

use amplifier_core::words;

words! {
    /// What a suspicious part of a text looks like.
    #[derive(PartialOrd, Ord)]
    pub enum FindingKind {
        /// Text that tells a model to ignore its instructions, or imitates those of the system.
        PromptInjection = "prompt_injection",
        /// HTML or a URL that runs a script.
        Script = "script",
        /// A relative path that leads upwards.
        PathTraversal = "path_traversal",
        /// A command that pipes into a shell, or deletes everything.
        ShellCommand = "shell_command",
        /// A key, a password or a token.
        Credential = "credential",
        /// Characters that cannot be seen or that turn the direction of the text.
        HiddenCharacter = "hidden_character",
    }
}

/// A suspicious part of a message. It says where, and not what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it looks like.
    pub kind: FindingKind,
    /// Which text of the message, as a JSON pointer: `/content/0/text`.
    pub pointer: String,
    /// The first character, counted from 0.
    pub start: usize,
    /// The character after the last one.
    pub end: usize,
}

words! {
    /// What to do about findings.
    #[derive(Default)]
    pub enum OnFinding {
        /// Report them.
        #[default]
        Report = "report",
        /// Ask a person.
        Ask = "ask",
        /// Refuse the message.
        Reject = "reject",
    }
}

/// A suspicious stretch of a text, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stretch {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) kind: FindingKind,
}
