//! What the metadata of a kernel's message keeps of one of the dialect.

use amplifier_core::{Json, Message, Object, Role};

use super::message::ClaudeMessage;

/// What the kernel's own fields cannot say of a message of the dialect.
#[derive(Debug, Default)]
pub(super) struct Memo {
    /// A role that the kernel does not know; `user` replaces it.
    pub(super) role: Option<String>,
    /// How many of the first blocks are `thinking`.
    pub(super) thinking: Option<usize>,
    /// The unknown keys, where one of them means something to the kernel.
    pub(super) extra: Option<Object>,
}

impl Memo {
    /// Its key in the metadata.
    pub(super) const KEY: &'static str = "claude";

    /// The memo of a message as JSON, or `None` where there is nothing to keep.
    pub(super) fn of(message: &ClaudeMessage) -> Option<Object> {
        let mut memo = Object::new();
        if !is_known(&message.role) {
            memo.insert("role".to_owned(), message.role.as_str().into());
        }
        if let Some(thinking) = &message.thinking {
            let count = i64::try_from(thinking.len()).unwrap_or(i64::MAX);
            memo.insert("thinking".to_owned(), count.into());
        }
        if Self::keeps(&message.extra) {
            memo.insert("extra".to_owned(), message.extra.clone().into());
        }
        (!memo.is_empty()).then_some(memo)
    }

    /// Whether unknown keys are kept in the memo, because one of them means something to the kernel.
    pub(super) fn keeps(extra: &Object) -> bool {
        Message::KEYS.iter().any(|&key| extra.contains_key(key))
    }

    /// Take the memo out of the metadata of a message with so many blocks; what
    /// [`ClaudeMessage::into_kernel`] does not write is not a memo and stays.
    pub(super) fn take(
        metadata: &mut Option<Object>,
        role: Role,
        blocks: usize,
        extra: &Object,
    ) -> Self {
        let memo = metadata.as_ref().and_then(|entries| entries.get(Self::KEY));
        let Some(memo) = memo.and_then(Self::read) else {
            return Self::default();
        };
        let has_role = match role {
            Role::User => true,
            Role::System | Role::Assistant => memo.role.is_none(),
            Role::Developer | Role::Function | Role::Tool => false,
        };
        let fits = has_role
            && memo.thinking.is_none_or(|thinking| thinking <= blocks)
            && (memo.extra.is_none() || extra.is_empty());
        if !fits {
            return Self::default();
        }
        if let Some(entries) = metadata {
            entries.shift_remove(Self::KEY);
        }
        if metadata.as_ref().is_some_and(Object::is_empty) {
            *metadata = None;
        }
        memo
    }

    fn read(json: &Json) -> Option<Self> {
        let entries = json.as_object().filter(|entries| !entries.is_empty())?;
        let mut memo = Self::default();
        for (key, value) in entries {
            match (key.as_str(), value) {
                ("role", Json::Str(role)) if !is_known(role) => memo.role = Some(role.clone()),
                ("thinking", Json::Int(count)) => memo.thinking = Some((*count).try_into().ok()?),
                ("extra", Json::Object(extra)) if Self::keeps(extra) => {
                    memo.extra = Some(extra.clone());
                }
                _ => return None,
            }
        }
        Some(memo)
    }
}

/// Whether the dialect and the kernel both know a role.
pub(super) fn is_known(role: &str) -> bool {
    matches!(role, "user" | "assistant" | "system")
}
