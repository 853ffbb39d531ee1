//! Canonical event names, in the order of the contract.

macro_rules! events {
    ($($(#[$doc:meta])* $name:ident = $value:literal;)+) => {
        $($(#[$doc])* pub const $name: &str = $value;)+

        /// Every canonical event with the name of its constant.
        pub const NAMED: &[(&str, &str)] = &[$((stringify!($name), $value)),+];
    };
}

events! {
    /// A session runs its first turn.
    SESSION_START = "session:start";
    /// A session is cleaned up.
    SESSION_END = "session:end";
    /// A child session is ready.
    SESSION_FORK = "session:fork";
    /// A resumed session runs its first turn.
    SESSION_RESUME = "session:resume";
    /// A prompt enters the loop.
    PROMPT_SUBMIT = "prompt:submit";
    /// The loop has answered a prompt.
    PROMPT_COMPLETE = "prompt:complete";
    /// Planning begins.
    PLAN_START = "plan:start";
    /// Planning is done.
    PLAN_END = "plan:end";
    /// A provider is about to be called.
    PROVIDER_REQUEST = "provider:request";
    /// A provider has answered.
    PROVIDER_RESPONSE = "provider:response";
    /// A provider call is tried again.
    PROVIDER_RETRY = "provider:retry";
    /// A provider call failed.
    PROVIDER_ERROR = "provider:error";
    /// A provider call is delayed by a rate limit.
    PROVIDER_THROTTLE = "provider:throttle";
    /// Missing tool results were filled in before a request.
    PROVIDER_TOOL_SEQUENCE_REPAIRED = "provider:tool_sequence_repaired";
    /// A provider was chosen.
    PROVIDER_RESOLVE = "provider:resolve";
    /// A request leaves for the model.
    LLM_REQUEST = "llm:request";
    /// The model has answered.
    LLM_RESPONSE = "llm:response";
    /// A content block begins.
    CONTENT_BLOCK_START = "content_block:start";
    /// A piece of a content block.
    CONTENT_BLOCK_DELTA = "content_block:delta";
    /// A content block is complete.
    CONTENT_BLOCK_END = "content_block:end";
    /// A piece of thinking.
    THINKING_DELTA = "thinking:delta";
    /// Thinking is complete.
    THINKING_FINAL = "thinking:final";
    /// A tool is about to run.
    TOOL_PRE = "tool:pre";
    /// A tool has run.
    TOOL_POST = "tool:post";
    /// A tool failed.
    TOOL_ERROR = "tool:error";
    /// The context is about to be compacted.
    CONTEXT_PRE_COMPACT = "context:pre_compact";
    /// The context was compacted.
    CONTEXT_POST_COMPACT = "context:post_compact";
    /// What a compaction did.
    CONTEXT_COMPACTION = "context:compaction";
    /// Something was included in the context.
    CONTEXT_INCLUDE = "context:include";
    /// The loop is done.
    ORCHESTRATOR_COMPLETE = "orchestrator:complete";
    /// The loop begins to execute.
    EXECUTION_START = "execution:start";
    /// The loop ends, on every path.
    EXECUTION_END = "execution:end";
    /// A message for the user.
    USER_NOTIFICATION = "user:notification";
    /// An artifact was written.
    ARTIFACT_WRITE = "artifact:write";
    /// An artifact was read.
    ARTIFACT_READ = "artifact:read";
    /// A policy was violated.
    POLICY_VIOLATION = "policy:violation";
    /// An approval is asked for.
    APPROVAL_REQUIRED = "approval:required";
    /// An approval was granted.
    APPROVAL_GRANTED = "approval:granted";
    /// An approval was denied.
    APPROVAL_DENIED = "approval:denied";
    /// Cancellation was requested.
    CANCEL_REQUESTED = "cancel:requested";
    /// Cancellation is complete.
    CANCEL_COMPLETED = "cancel:completed";
    /// A module's `on_session_ready` failed.
    MODULE_ON_SESSION_READY_FAILED = "module:on_session_ready_failed";
    /// A module failed to load.
    MODULE_LOAD_FAILED = "module:load_failed";
}

/// A turn begins (an older name, in addition to the canonical events).
pub const TURN_START: &str = "turn:start";
/// A turn ends (an older name, in addition to the canonical events).
pub const TURN_END: &str = "turn:end";
/// A model call begins (an older name, in addition to the canonical events).
pub const LLM_PRE: &str = "llm:pre";
/// A model call ends (an older name, in addition to the canonical events).
pub const LLM_POST: &str = "llm:post";

/// The older events with the names of their constants; they are not canonical.
pub const LEGACY: &[(&str, &str)] = &[
    ("TURN_START", TURN_START),
    ("TURN_END", TURN_END),
    ("LLM_PRE", LLM_PRE),
    ("LLM_POST", LLM_POST),
];

/// The raw mount plan of a session; emitted only when the plan asks for it.
pub const SESSION_CONFIG: &str = "session:config";

/// The role of an event in the correlation of a model call by its `request_id`.
#[must_use]
pub fn is_correlated(event: &str) -> bool {
    matches!(
        event,
        LLM_REQUEST | LLM_RESPONSE | PROVIDER_ERROR | PROVIDER_RETRY | PROVIDER_THROTTLE
    )
}
