//! The core models: the results of hooks, and the descriptions of modules and sessions.

use indexmap::IndexMap;

use crate::cost::Cost;
use crate::json::Object;
use crate::record::{Check, json_words, record};
use crate::timestamp::Timestamp;

json_words! {
    /// What a hook handler decided.
    pub enum HookAction {
        /// Go on.
        Continue = "continue",
        /// Stop here.
        Deny = "deny",
        /// Go on with other data.
        Modify = "modify",
        /// Add text to the conversation.
        InjectContext = "inject_context",
        /// Let the user decide.
        AskUser = "ask_user",
    }
}

json_words! {
    /// The role under which an injection enters the conversation.
    pub enum ContextInjectionRole {
        System = "system",
        User = "user",
        Assistant = "assistant",
    }
}

json_words! {
    /// What happens when the user does not answer in time.
    pub enum ApprovalDefault {
        Allow = "allow",
        Deny = "deny",
    }
}

json_words! {
    /// How important a message to the user is.
    pub enum UserMessageLevel {
        Info = "info",
        Warning = "warning",
        Error = "error",
    }
}

record! {
    /// One text that a hook adds to the conversation.
    pub struct ContextInjection {
        /// The text.
        pub content: String,
        /// The role of the text.
        pub role: ContextInjectionRole = ContextInjectionRole::System,
        /// Only for the next request, not stored.
        pub ephemeral: bool = false,
        /// Append to the last tool result instead of adding a message.
        pub append_to_last_tool_result: bool = false,
        /// The handler that injected it.
        pub hook_name: String = "unknown".to_owned(),
        /// The event of the injection.
        pub event: String = String::new(),
    }
}

record! {
    /// What a hook handler answers.
    ///
    /// `context_injections` is the complete ordered list; the scalar fields about injection show
    /// the merged text of them.
    pub struct HookResult {
        /// The decision.
        pub action: HookAction = HookAction::Continue,
        /// With `Modify`, the payload that later handlers and the caller get.
        pub data: Option<Object> = None,
        /// Why.
        pub reason: Option<String> = None,
        /// The text to inject.
        pub context_injection: Option<String> = None,
        /// The role of the text.
        pub context_injection_role: ContextInjectionRole = ContextInjectionRole::System,
        /// Only for the next request, not stored.
        pub ephemeral: bool = false,
        /// What to ask the user.
        pub approval_prompt: Option<String> = None,
        /// The options of the user.
        pub approval_options: Option<Vec<String>> = None,
        /// How long to wait for the answer, in seconds.
        pub approval_timeout: f64 = 300.0,
        /// The answer if the user does not reply in time.
        pub approval_default: ApprovalDefault = ApprovalDefault::Deny,
        /// Do not show the tool's output.
        pub suppress_output: bool = false,
        /// A message for the user.
        pub user_message: Option<String> = None,
        /// How important it is.
        pub user_message_level: UserMessageLevel = UserMessageLevel::Info,
        /// The source of the message.
        pub user_message_source: Option<String> = None,
        /// Append the injection to the last tool result.
        pub append_to_last_tool_result: bool = false,
        /// All injections, in their order.
        pub context_injections: Vec<ContextInjection> = Vec::new(),
    }
}

impl Default for HookResult {
    fn default() -> Self {
        Self {
            action: HookAction::Continue,
            data: None,
            reason: None,
            context_injection: None,
            context_injection_role: ContextInjectionRole::System,
            ephemeral: false,
            approval_prompt: None,
            approval_options: None,
            approval_timeout: 300.0,
            approval_default: ApprovalDefault::Deny,
            suppress_output: false,
            user_message: None,
            user_message_level: UserMessageLevel::Info,
            user_message_source: None,
            append_to_last_tool_result: false,
            context_injections: Vec::new(),
        }
    }
}

json_words! {
    /// The type of a setting.
    pub enum ConfigFieldType {
        Text = "text",
        Secret = "secret",
        Choice = "choice",
        Boolean = "boolean",
    }
}

json_words! {
    /// What a module provides.
    pub enum ModuleType {
        Orchestrator = "orchestrator",
        Provider = "provider",
        Tool = "tool",
        Context = "context",
        Hook = "hook",
        Resolver = "resolver",
    }
}

json_words! {
    /// The state of a session.
    pub enum SessionState {
        Running = "running",
        Completed = "completed",
        Failed = "failed",
        Cancelled = "cancelled",
    }
}

const IS_CURRENCY: Check<String> = Check {
    expected: "three capital letters of ISO 4217",
    holds: |code| code.len() == 3 && code.bytes().all(|letter| letter.is_ascii_uppercase()),
};

record! {
    /// Prices of a model per million tokens, for display.
    pub struct Pricing {
        /// Fresh input.
        pub input_per_million: f64,
        /// Output.
        pub output_per_million: f64,
        /// Input read from a cache.
        pub cache_read_per_million: Option<f64> = None,
        /// Input written to a cache.
        pub cache_write_per_million: Option<f64> = None,
        /// Three upper-case letters of ISO 4217.
        pub currency: String = "USD".to_owned() => IS_CURRENCY,
    }
}

record! {
    /// A model that a provider offers; sizes are in tokens.
    pub struct ModelInfo {
        /// The provider's name for it.
        pub id: String,
        /// The name for users.
        pub display_name: String,
        /// Input and output together.
        pub context_window: i64,
        /// Output of one response.
        pub max_output_tokens: i64,
        /// What it can do.
        pub capabilities: Vec<String> = Vec::new(),
        /// Default settings.
        pub defaults: Object = Object::new(),
        /// What it costs, if known.
        pub pricing: Option<Pricing> = None,
    }
}

record! {
    /// One setting that an application asks the user for.
    pub struct ConfigField {
        /// Its key.
        pub id: String,
        /// The name for users.
        pub display_name: String,
        /// Its type.
        pub field_type: ConfigFieldType = ConfigFieldType::Text,
        /// The question.
        pub prompt: String,
        /// The environment variable that answers it.
        pub env_var: Option<String> = None,
        /// The allowed answers.
        pub choices: Option<Vec<String>> = None,
        /// Whether it must be answered.
        pub required: bool = true,
        /// The default answer.
        pub default_value as "default": Option<String> = None,
        /// Values of other settings that must hold for this one to be asked.
        pub show_when: Option<IndexMap<String, String>> = None,
        /// Whether a model must be chosen first.
        pub requires_model: bool = false,
    }
}

record! {
    /// A provider: its credentials, capabilities and settings.
    pub struct ProviderInfo {
        /// Its key.
        pub id: String,
        /// The name for users.
        pub display_name: String,
        /// The environment variables that hold its credentials.
        pub credential_env_vars: Vec<String> = Vec::new(),
        /// What it can do.
        pub capabilities: Vec<String> = Vec::new(),
        /// Default settings.
        pub defaults: Object = Object::new(),
        /// What to ask the user.
        pub config_fields: Vec<ConfigField> = Vec::new(),
    }
}

record! {
    /// A module that can be loaded.
    pub struct ModuleInfo {
        /// Its key.
        pub id: String,
        /// The name for users.
        pub name: String,
        /// Its version.
        pub version: String,
        /// What it provides.
        pub module_type as "type": ModuleType,
        /// Where it is mounted.
        pub mount_point: String,
        /// What it does.
        pub description: String,
        /// The JSON schema of its configuration.
        pub config_schema: Option<Object> = None,
    }
}

record! {
    /// The state of a session.
    pub struct SessionStatus {
        /// The session.
        pub session_id: String,
        /// When it began; the kernel has no clock, so it is required here.
        pub started_at: Timestamp,
        /// When it ended.
        pub ended_at: Option<Timestamp> = None,
        /// Its state.
        pub status: SessionState = SessionState::Running,
        /// Messages so far.
        pub total_messages: i64 = 0,
        /// Tool calls so far.
        pub tool_invocations: i64 = 0,
        /// Those that succeeded.
        pub tool_successes: i64 = 0,
        /// Those that failed.
        pub tool_failures: i64 = 0,
        /// Input tokens so far.
        pub total_input_tokens: i64 = 0,
        /// Output tokens so far.
        pub total_output_tokens: i64 = 0,
        /// What it cost, if known.
        pub cost_usd: Option<Cost> = None,
        /// When something last happened.
        pub last_activity: Option<Timestamp> = None,
        /// The last error.
        pub last_error: Option<Object> = None,
    }
}

const IS_POSITIVE: Check<Option<f64>> = Check {
    expected: "a positive number or null",
    holds: |seconds| seconds.is_none_or(|seconds| seconds > 0.0),
};

record! {
    /// What an approval provider is asked.
    pub struct ApprovalRequest {
        /// The tool that asks.
        pub tool_name: String,
        /// The action to approve.
        pub action: String,
        /// Further details.
        pub details: Object = Object::new(),
        /// How dangerous it is.
        pub risk_level: String,
        /// How long to wait, in seconds; `None` waits without limit.
        pub timeout: Option<f64> = None => IS_POSITIVE,
    }
}

record! {
    /// What an approval provider answers.
    pub struct ApprovalResponse {
        /// Whether the tool may act.
        pub approved: bool,
        /// Why.
        pub reason: Option<String> = None,
        /// Whether to answer the same next time.
        pub remember: bool = false,
    }
}
