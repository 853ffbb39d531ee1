//! The traits of modules: async, and usable as trait objects.
//!
//! Each has the members that the contract lists for the interface of the same name.

use std::any::Any;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use indexmap::IndexMap;

use crate::cancellation::CancellationState;
use crate::error::{AmplifierError, ApprovalError, ContextError, HookError, ToolError};
use crate::json::Object;
use crate::message::{ChatRequest, ChatResponse, Message, ToolCall, ToolSpec};
use crate::model::{
    ApprovalRequest, ApprovalResponse, HookResult, ModelInfo, ProviderInfo, UserMessageLevel,
};
use crate::provider_error::ProviderError;
use crate::tool_result::ToolResult;

/// The return type of the async methods of trait objects; `Box::pin(async move { … })` makes one.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A value that modules share under a name; the code that takes it knows its type.
pub type Capability = Arc<dyn Any + Send + Sync>;

/// An action that the model can request.
///
/// # Examples
///
/// A tool with a state of its own; `runtime::FunctionTool` makes one of a function.
///
/// ```
/// use std::sync::atomic::{AtomicI64, Ordering};
///
/// use amplifier_core::error::ToolError;
/// use amplifier_core::traits::{BoxFuture, Tool};
/// use amplifier_core::{Object, ToolResult};
///
/// struct Counter(AtomicI64);
///
/// impl Tool for Counter {
///     fn name(&self) -> &str {
///         "count"
///     }
///
///     fn description(&self) -> &str {
///         "Count one further."
///     }
///
///     fn execute(&self, _: Object) -> BoxFuture<'_, Result<ToolResult, ToolError>> {
///         Box::pin(async { Ok(ToolResult::of(self.0.fetch_add(1, Ordering::Relaxed) + 1)) })
///     }
/// }
/// # assert_eq!(Counter(AtomicI64::new(0)).get_spec().name, "count");
/// ```
pub trait Tool: Send + Sync {
    /// The name by which the model calls it.
    fn name(&self) -> &str;

    /// What it does, for the model.
    fn description(&self) -> &str;

    /// The JSON schema of its arguments; empty where it takes any.
    fn input_schema(&self) -> Object {
        Object::new()
    }

    /// The tool as it is described to the model.
    fn get_spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.name().to_owned(),
            parameters: self.input_schema(),
            description: Some(self.description().to_owned()),
            extra: Object::new(),
        }
    }

    /// Runs the tool with these arguments.
    fn execute(&self, input: Object) -> BoxFuture<'_, Result<ToolResult, ToolError>>;
}

/// A source of models.
///
/// # Examples
///
/// ```
/// use amplifier_core::traits::{BoxFuture, Provider};
/// use amplifier_core::{
///     ChatRequest, ChatResponse, Message, ModelInfo, ProviderError, ProviderFailure, ProviderInfo,
///     Usage,
/// };
///
/// /// Says what it was told last.
/// struct Echo;
///
/// impl Provider for Echo {
///     fn name(&self) -> &str {
///         "echo"
///     }
///
///     fn get_info(&self) -> ProviderInfo {
///         ProviderInfo::new("echo", "Echo")
///     }
///
///     fn list_models(&self) -> BoxFuture<'_, Result<Vec<ModelInfo>, ProviderError>> {
///         Box::pin(async { Ok(vec![ModelInfo::new("echo-1", "Echo One", 8_000, 1_000)]) })
///     }
///
///     fn complete(&self, request: ChatRequest) -> BoxFuture<'_, Result<ChatResponse, ProviderError>> {
///         Box::pin(async move {
///             let Some(last) = request.messages.last().map(Message::plain_text) else {
///                 let failure = ProviderFailure::new("nothing was said").provider(self.name());
///                 return Err(ProviderError::InvalidRequest(failure.into()));
///             };
///             Ok(ChatResponse::text(last).with_usage(Usage::new(1, 1)))
///         })
///     }
/// }
/// # assert_eq!(Echo.name(), "echo");
/// ```
pub trait Provider: Send + Sync {
    /// Its key.
    fn name(&self) -> &str;

    /// Its credentials, capabilities and settings.
    fn get_info(&self) -> ProviderInfo;

    /// The models that it offers.
    fn list_models(&self) -> BoxFuture<'_, Result<Vec<ModelInfo>, ProviderError>>;

    /// Requests a completion from a model.
    fn complete(&self, request: ChatRequest) -> BoxFuture<'_, Result<ChatResponse, ProviderError>>;

    /// The tool calls of a response.
    fn parse_tool_calls(&self, response: &ChatResponse) -> Vec<ToolCall> {
        response.tool_calls.clone().unwrap_or_default()
    }
}

/// The memory of a conversation.
pub trait ContextManager: Send + Sync {
    /// Adds a message at the end.
    fn add_message(&self, message: Message) -> BoxFuture<'_, Result<(), ContextError>>;

    /// The messages for the next request, within `token_budget` tokens if there is one.
    fn get_messages_for_request<'a>(
        &'a self,
        token_budget: Option<i64>,
        provider: Option<&'a dyn Provider>,
    ) -> BoxFuture<'a, Result<Vec<Message>, ContextError>>;

    /// All messages.
    fn get_messages(&self) -> BoxFuture<'_, Result<Vec<Message>, ContextError>>;

    /// Replaces all messages.
    fn set_messages(&self, messages: Vec<Message>) -> BoxFuture<'_, Result<(), ContextError>>;

    /// Removes all messages.
    fn clear(&self) -> BoxFuture<'_, Result<(), ContextError>>;
}

/// A handler of events, which may deny them; functions of the same signature are handlers too.
///
/// # Examples
///
/// A function needs no more than its signature. What waits implements the trait:
///
/// ```
/// use std::collections::HashSet;
///
/// use amplifier_core::error::HookError;
/// use amplifier_core::traits::{BoxFuture, HookHandler};
/// use amplifier_core::{HookResult, Object};
///
/// fn no_shell(_event: &str, data: &Object) -> Result<HookResult, HookError> {
///     Ok(match data["tool_name"].as_str() {
///         Some("shell") => HookResult::deny("no shell here"),
///         _ => HookResult::proceed(),
///     })
/// }
///
/// struct Allowed(HashSet<String>);
///
/// impl HookHandler for Allowed {
///     fn handle<'a>(
///         &'a self,
///         _event: &'a str,
///         data: &'a Object,
///     ) -> BoxFuture<'a, Result<HookResult, HookError>> {
///         Box::pin(async move {
///             let tool = data["tool_name"].as_str().unwrap_or_default();
///             if self.0.contains(tool) {
///                 return Ok(HookResult::proceed());
///             }
///             Ok(HookResult::ask(format!("Run `{tool}`?")))
///         })
///     }
/// }
/// # fn is_handler(_: impl HookHandler) {}
/// # is_handler(no_shell);
/// # is_handler(Allowed(HashSet::new()));
/// ```
pub trait HookHandler: Send + Sync {
    /// Answers an event. The payload is borrowed: return a changed one with `Modify`.
    fn handle<'a>(
        &'a self,
        event: &'a str,
        data: &'a Object,
    ) -> BoxFuture<'a, Result<HookResult, HookError>>;
}

impl<F> HookHandler for F
where
    F: Fn(&str, &Object) -> Result<HookResult, HookError> + Send + Sync,
{
    fn handle<'a>(
        &'a self,
        event: &'a str,
        data: &'a Object,
    ) -> BoxFuture<'a, Result<HookResult, HookError>> {
        Box::pin(std::future::ready(self(event, data)))
    }
}

impl<T: HookHandler + ?Sized> HookHandler for Arc<T> {
    fn handle<'a>(
        &'a self,
        event: &'a str,
        data: &'a Object,
    ) -> BoxFuture<'a, Result<HookResult, HookError>> {
        (**self).handle(event, data)
    }
}

/// The provider of approvals, on behalf of the user.
pub trait ApprovalProvider: Send + Sync {
    /// Decides on a request. The kernel stops waiting one second after the request's timeout.
    fn request_approval(
        &self,
        request: ApprovalRequest,
    ) -> BoxFuture<'_, Result<ApprovalResponse, ApprovalError>>;
}

/// The service that shows messages to the user.
pub trait DisplayService: Send + Sync {
    /// Shows a message; a failure is only logged.
    fn show_message<'a>(
        &'a self,
        message: &'a str,
        level: UserMessageLevel,
        source: &'a str,
    ) -> BoxFuture<'a, Result<(), AmplifierError>>;
}

/// The services of the kernel to a loop during a turn.
pub trait Kernel: Send + Sync {
    /// Emits an event to the hooks and returns their joint decision.
    fn emit<'a>(&'a self, event: &'a str, data: Object) -> BoxFuture<'a, HookResult>;

    /// Calls every hook of an event, each with this time limit, and returns the `data` of their
    /// answers. `None` is no time limit.
    fn emit_and_collect<'a>(
        &'a self,
        event: &'a str,
        data: &'a Object,
        timeout: Option<Duration>,
    ) -> BoxFuture<'a, Vec<Object>>;

    /// Carries out what a hook's result asks for, and returns what is left of it for the loop.
    fn process_hook_result<'a>(
        &'a self,
        result: HookResult,
        event: &'a str,
        hook_name: &'a str,
    ) -> BoxFuture<'a, Result<HookResult, AmplifierError>>;

    /// The cancellation level of the session.
    fn cancellation(&self) -> CancellationState;

    /// Waits until the session is cancelled to this level, so that a loop can drop its work.
    fn cancelled(&self, level: CancellationState) -> BoxFuture<'_, ()>;

    /// Records that the tool call `id` of the tool `name` is running; see [`RunningTool`].
    fn tool_started(&self, id: &str, name: &str);

    /// Records that the tool call `id` has ended.
    fn tool_completed(&self, id: &str);

    /// Runs the callbacks of the cancellation; a loop does when a cancelled turn ends.
    fn trigger_cancel_callbacks(&self) -> BoxFuture<'_, ()>;

    /// Resets the injection budget; a loop does when a turn begins.
    fn reset_turn(&self);

    /// The capability of this name.
    fn capability(&self, name: &str) -> Option<Capability>;

    /// Where the session gets time and randomness; a loop makes its ids of it.
    fn world(&self) -> &dyn World;
}

/// Where a session gets time and randomness: the system, or what a test or a replay puts in its
/// place.
pub trait World: Send + Sync {
    /// The current time, for time stamps.
    fn time(&self) -> SystemTime;

    /// Random bytes, for one id.
    fn random_bytes(&self) -> [u8; 16];
}

/// A running tool call; it counts as finished when this is dropped, for whatever reason.
pub struct RunningTool<'a> {
    kernel: &'a dyn Kernel,
    id: String,
}

impl<'a> RunningTool<'a> {
    /// Records that the tool call `id` of the tool `name` is running.
    #[must_use = "the call counts as over when this is dropped"]
    pub fn start(kernel: &'a dyn Kernel, id: &str, name: &str) -> Self {
        kernel.tool_started(id, name);
        Self {
            kernel,
            id: id.to_owned(),
        }
    }
}

impl Drop for RunningTool<'_> {
    fn drop(&mut self) {
        self.kernel.tool_completed(&self.id);
    }
}

impl fmt::Debug for RunningTool<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("RunningTool")
            .field(&self.id)
            .finish()
    }
}

/// The inputs of a loop in one turn.
#[derive(Clone)]
pub struct Turn<'a> {
    /// The prompt of the user.
    pub prompt: &'a str,
    /// The conversation.
    pub context: Arc<dyn ContextManager>,
    /// The model providers by name, in the order of mounting.
    pub providers: IndexMap<String, Arc<dyn Provider>>,
    /// The tools by name, in the order of mounting.
    pub tools: IndexMap<String, Arc<dyn Tool>>,
    /// The session's hooks and coordinator.
    pub kernel: &'a dyn Kernel,
}

impl fmt::Debug for Turn<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Turn")
            .field("prompt", &self.prompt)
            .field("providers", &self.providers.keys())
            .field("tools", &self.tools.keys())
            .finish_non_exhaustive()
    }
}

/// The loop: model call, tool calls, model call, until an answer.
pub trait Orchestrator: Send + Sync {
    /// Answers a prompt.
    fn execute<'a>(&'a self, turn: Turn<'a>) -> BoxFuture<'a, Result<String, AmplifierError>>;
}
