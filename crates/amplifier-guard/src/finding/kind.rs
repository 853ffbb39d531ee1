//! The kinds of findings, and what to do about them.

/// What a suspicious part of a text looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FindingKind {
    /// Text that tells a model to ignore its instructions, or imitates those of the system.
    PromptInjection,
    /// HTML or a URL that runs a script.
    Script,
    /// A relative path that leads upwards.
    PathTraversal,
    /// A command that pipes into a shell, or deletes everything.
    ShellCommand,
    /// A key, a password or a token.
    Credential,
    /// Characters that cannot be seen or that turn the direction of the text.
    HiddenCharacter,
}

impl FindingKind {
    /// All kinds.
    pub const ALL: [Self; 6] = [
        Self::PromptInjection,
        Self::Script,
        Self::PathTraversal,
        Self::ShellCommand,
        Self::Credential,
        Self::HiddenCharacter,
    ];

    /// The kind as a word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PromptInjection => "prompt_injection",
            Self::Script => "script",
            Self::PathTraversal => "path_traversal",
            Self::ShellCommand => "shell_command",
            Self::Credential => "credential",
            Self::HiddenCharacter => "hidden_character",
        }
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

/// What to do about findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFinding {
    /// Report them.
    #[default]
    Report,
    /// Ask a person.
    Ask,
    /// Refuse the message.
    Reject,
}

impl OnFinding {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Report, Self::Ask, Self::Reject];

    /// The setting as a word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Report => "report",
            Self::Ask => "ask",
            Self::Reject => "reject",
        }
    }
}

/// A suspicious stretch of a text, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stretch {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) kind: FindingKind,
}
