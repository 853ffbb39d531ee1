//! Answers of hooks.

use crate::json::Object;
use crate::model::{
    ApprovalDefault, ContextInjection, ContextInjectionRole, HookAction, HookResult,
    UserMessageLevel,
};

impl HookResult {
    /// Go on; the same as the default.
    ///
    /// # Examples
    ///
    /// ```
    /// use amplifier_core::{HookAction, HookResult, Object};
    ///
    /// /// Lets no shell run, and asks before anything is deleted.
    /// fn judge(data: &Object) -> HookResult {
    ///     match data["tool_name"].as_str() {
    ///         Some("shell") => HookResult::deny("no shell here"),
    ///         Some("delete") => HookResult::ask("Delete the file?").with_timeout(60.0),
    ///         _ => HookResult::proceed(),
    ///     }
    /// }
    ///
    /// let data = Object::from_iter([("tool_name".to_owned(), "shell".into())]);
    /// assert_eq!(judge(&data).action, HookAction::Deny);
    /// ```
    #[must_use]
    pub fn proceed() -> Self {
        Self::default()
    }

    /// Stop here, for this reason.
    #[must_use]
    pub fn deny(reason: impl Into<String>) -> Self {
        Self {
            action: HookAction::Deny,
            reason: Some(reason.into()),
            ..Self::default()
        }
    }

    /// Go on with this payload, which replaces the whole one.
    #[must_use]
    pub fn modify(data: Object) -> Self {
        Self {
            action: HookAction::Modify,
            data: Some(data),
            ..Self::default()
        }
    }

    /// Add this text to the conversation, as a message of the system.
    ///
    /// # Examples
    ///
    /// ```
    /// use amplifier_core::{ContextInjectionRole, HookResult};
    ///
    /// // For the next request alone, not for the history:
    /// let reminder = HookResult::inject("Two tests still fail.")
    ///     .with_role(ContextInjectionRole::User)
    ///     .ephemeral();
    /// assert!(reminder.ephemeral);
    /// ```
    #[must_use]
    pub fn inject(content: impl Into<String>) -> Self {
        Self {
            action: HookAction::InjectContext,
            context_injection: Some(content.into()),
            ..Self::default()
        }
    }

    /// Let the user decide; without an answer in time it is denied.
    #[must_use]
    pub fn ask(prompt: impl Into<String>) -> Self {
        Self {
            action: HookAction::AskUser,
            approval_prompt: Some(prompt.into()),
            ..Self::default()
        }
    }

    /// Says why.
    #[must_use]
    pub fn with_reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Sets the role of the injected text.
    #[must_use]
    pub fn with_role(mut self, role: ContextInjectionRole) -> Self {
        self.context_injection_role = role;
        self
    }

    /// Injects the text into the next request only.
    #[must_use]
    pub fn ephemeral(mut self) -> Self {
        self.ephemeral = true;
        self
    }

    /// Sets how many seconds the user has to answer.
    #[must_use]
    pub fn with_timeout(mut self, seconds: f64) -> Self {
        self.approval_timeout = seconds;
        self
    }

    /// Sets what happens if the user does not answer in time.
    #[must_use]
    pub fn with_default(mut self, default: ApprovalDefault) -> Self {
        self.approval_default = default;
        self
    }

    /// Shows the user a message.
    #[must_use]
    pub fn with_user_message(
        mut self,
        message: impl Into<String>,
        level: UserMessageLevel,
    ) -> Self {
        self.user_message = Some(message.into());
        self.user_message_level = level;
        self
    }
}

impl ContextInjection {
    /// A text that enters the conversation as a message of the system.
    #[must_use]
    pub fn new(content: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            role: ContextInjectionRole::System,
            ephemeral: false,
            append_to_last_tool_result: false,
            hook_name: "unknown".to_owned(),
            event: String::new(),
        }
    }
}
