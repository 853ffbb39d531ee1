//! Modules that do what a test says.

use std::sync::{Arc, Mutex};

use amplifier_core::error::{AmplifierError, ApprovalError, ContextError};
use amplifier_core::traits::{
    ApprovalProvider, BoxFuture, ContextManager, DisplayService, Orchestrator, Provider, Turn,
};
use amplifier_core::{
    ApprovalRequest, ApprovalResponse, ContextInjection, ContextInjectionRole, HookAction,
    HookResult, Json, Message, Object, UserMessageLevel,
};

/// What was seen, shared with what sees it.
pub(crate) struct Seen<T>(Arc<Mutex<Vec<T>>>);

impl<T> Clone for Seen<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Default for Seen<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> Seen<T> {
    pub(crate) fn push(&self, one: T) {
        self.0.lock().unwrap().push(one);
    }

    pub(crate) fn take(&self) -> Vec<T> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// An object of these entries.
pub(crate) fn object<const N: usize>(entries: [(&str, Json); N]) -> Object {
    entries
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

/// The same result without the time stamp of its payload.
pub(crate) fn without_time(mut result: HookResult) -> HookResult {
    if let Some(data) = &mut result.data {
        data.shift_remove("timestamp");
    }
    result
}

pub(crate) fn action(action: HookAction) -> HookResult {
    HookResult {
        action,
        ..HookResult::default()
    }
}

pub(crate) fn denial(reason: &str) -> HookResult {
    HookResult {
        reason: Some(reason.to_owned()),
        ..action(HookAction::Deny)
    }
}

pub(crate) fn injection(content: &str) -> HookResult {
    HookResult {
        context_injection: Some(content.to_owned()),
        ..action(HookAction::InjectContext)
    }
}

pub(crate) fn item(content: &str, hook_name: &str, event: &str) -> ContextInjection {
    ContextInjection {
        content: content.to_owned(),
        role: ContextInjectionRole::System,
        ephemeral: false,
        append_to_last_tool_result: false,
        hook_name: hook_name.to_owned(),
        event: event.to_owned(),
    }
}

/// A context that keeps its messages where the test sees them, or fails.
#[derive(Clone, Default)]
pub(crate) struct Memory {
    pub(crate) messages: Seen<Message>,
    pub(crate) fails: bool,
}

impl ContextManager for Memory {
    fn add_message(&self, message: Message) -> BoxFuture<'_, Result<(), ContextError>> {
        Box::pin(async move {
            if self.fails {
                return Err(ContextError::StorageFailed("disk full".to_owned()));
            }
            self.messages.push(message);
            Ok(())
        })
    }

    fn get_messages_for_request<'a>(
        &'a self,
        _: Option<i64>,
        _: Option<&'a dyn Provider>,
    ) -> BoxFuture<'a, Result<Vec<Message>, ContextError>> {
        self.get_messages()
    }

    fn get_messages(&self) -> BoxFuture<'_, Result<Vec<Message>, ContextError>> {
        Box::pin(async { Ok(self.messages.0.lock().unwrap().clone()) })
    }

    fn set_messages(&self, messages: Vec<Message>) -> BoxFuture<'_, Result<(), ContextError>> {
        *self.messages.0.lock().unwrap() = messages;
        Box::pin(async { Ok(()) })
    }

    fn clear(&self) -> BoxFuture<'_, Result<(), ContextError>> {
        self.set_messages(Vec::new())
    }
}

/// An approval provider that answers this; `None` never answers.
pub(crate) struct Approval {
    pub(crate) answer: Option<Result<bool, ApprovalError>>,
    pub(crate) requests: Seen<ApprovalRequest>,
}

impl ApprovalProvider for Approval {
    fn request_approval(
        &self,
        request: ApprovalRequest,
    ) -> BoxFuture<'_, Result<ApprovalResponse, ApprovalError>> {
        self.requests.push(request);
        Box::pin(async {
            match self.answer.clone() {
                None => std::future::pending().await,
                Some(answer) => answer.map(|approved| ApprovalResponse {
                    approved,
                    reason: None,
                    remember: false,
                }),
            }
        })
    }
}

/// A display that notes what it is shown, or fails.
#[derive(Clone, Default)]
pub(crate) struct Display {
    pub(crate) shown: Seen<(String, UserMessageLevel, String)>,
    pub(crate) fails: bool,
}

impl DisplayService for Display {
    fn show_message<'a>(
        &'a self,
        message: &'a str,
        level: UserMessageLevel,
        source: &'a str,
    ) -> BoxFuture<'a, Result<(), AmplifierError>> {
        Box::pin(async move {
            if self.fails {
                return Err(AmplifierError::other("no terminal"));
            }
            self.shown
                .push((message.to_owned(), level, source.to_owned()));
            Ok(())
        })
    }
}

/// A loop that answers with the prompt after it did this.
pub(crate) struct Echo<F>(pub(crate) F);

impl<F> Orchestrator for Echo<F>
where
    F: Fn() -> BoxFuture<'static, Result<(), AmplifierError>> + Send + Sync,
{
    fn execute<'a>(&'a self, turn: Turn<'a>) -> BoxFuture<'a, Result<String, AmplifierError>> {
        Box::pin(async move {
            (self.0)().await?;
            Ok(turn.prompt.to_owned())
        })
    }
}
