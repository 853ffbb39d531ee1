//! A provider that answers what it was told to, for tests and examples.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use super::sync::{Mutex, lock};
use crate::content::ContentBlock;
use crate::json::Json;
use crate::message::{ChatRequest, ChatResponse, ToolCall, Usage};
use crate::model::{ModelInfo, ProviderInfo};
use crate::provider_error::{ProviderError, ProviderFailure};
use crate::schema::to_json;
use crate::traits::{BoxFuture, Provider};

/// One answer of a [`ScriptedProvider`]: a text, a tool call or several, a whole response or an
/// error.
#[derive(Clone)]
pub struct ScriptItem(Arc<Function>);

type Function = dyn Fn(&ChatRequest) -> Result<ChatResponse, ProviderError> + Send + Sync;

/// A provider with the answers of a script, one for each request; it keeps the requests.
///
/// Its usage counts words in the place of tokens. A tool call with an empty id gets one. A request
/// after the last answer is an error.
///
/// # Examples
///
/// ```
/// use amplifier_core::runtime::ScriptedProvider;
/// use amplifier_core::traits::Provider as _;
/// use amplifier_core::{ChatRequest, Message, ToolCall};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let model = ScriptedProvider::new()
///     .answer(ToolCall::new("", "add", [("a", 2), ("b", 3)]))
///     .answer_with(|request| format!("You wrote {} messages.", request.messages.len()));
///
/// let request = ChatRequest::new([Message::user("2 + 3?")]);
/// let first = model.complete(request.clone()).await.unwrap();
/// assert_eq!(first.tool_calls.unwrap()[0].id, "call_1");
///
/// let second = model.complete(request.clone()).await.unwrap();
/// assert_eq!(second.plain_text(), "You wrote 1 messages.");
/// assert_eq!(model.requests(), [request.clone(), request.clone()]);
/// assert!(model.complete(request).await.is_err());
/// # }
/// ```
#[derive(Clone, Default)]
pub struct ScriptedProvider {
    script: Vec<ScriptItem>,
    repeats: bool,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    next: usize,
    calls: usize,
    requests: Vec<ChatRequest>,
}

impl ScriptedProvider {
    /// A provider without answers. Clones share how far the script is, and the requests.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an answer to the script.
    #[must_use]
    pub fn answer(mut self, answer: impl Into<ScriptItem>) -> Self {
        self.script.push(answer.into());
        self
    }

    /// Adds an answer that depends on the request.
    #[must_use]
    pub fn answer_with<F, A>(self, function: F) -> Self
    where
        F: Fn(&ChatRequest) -> A + Send + Sync + 'static,
        A: Into<ScriptItem>,
    {
        self.answer(ScriptItem(Arc::new(move |request| {
            let ScriptItem(answer) = function(request).into();
            answer(request)
        })))
    }

    /// Begins the script again at its end.
    #[must_use]
    pub fn repeat(mut self) -> Self {
        self.repeats = true;
        self
    }

    /// Each request as it came.
    #[must_use]
    pub fn requests(&self) -> Vec<ChatRequest> {
        lock(&self.state).requests.clone()
    }

    /// How many answers are left; if the script repeats, of this round.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.script.len() - lock(&self.state).next
    }

    fn next_item(&self, request: &ChatRequest) -> Result<ScriptItem, ProviderError> {
        let mut state = lock(&self.state);
        state.requests.push(request.clone());
        if self.repeats && state.next == self.script.len() {
            state.next = 0;
        }
        let Some(item) = self.script.get(state.next) else {
            let message = format!(
                "the script of the model is over: request {} came after its {} answers; add one, \
                 or call `repeat`",
                state.requests.len(),
                self.script.len(),
            );
            let failure = ProviderFailure::new(message).provider(self.name());
            return Err(ProviderError::Other(failure.into()));
        };
        state.next += 1;
        Ok(item.clone())
    }

    fn respond(&self, request: &ChatRequest) -> Result<ChatResponse, ProviderError> {
        let ScriptItem(answer) = self.next_item(request)?;
        let mut response = answer(request)?;
        self.number_calls(&mut response);
        if response.usage.is_none() {
            let asked = request
                .messages
                .iter()
                .map(|one| words(&to_json(one)))
                .sum();
            let answered = response
                .content
                .iter()
                .map(|one| words(&to_json(one)))
                .sum();
            response.usage = Some(Usage::new(asked, answered));
        }
        if response.finish_reason.is_none() {
            let calls = response.tool_calls.is_some();
            let reason = if calls { "tool_use" } else { "end_turn" };
            response.finish_reason = Some(reason.to_owned());
        }
        Ok(response)
    }

    /// Gives ids to the calls without one, in the blocks and in the list alike.
    fn number_calls(&self, response: &mut ChatResponse) {
        let mut given = VecDeque::new();
        for call in response.tool_calls.iter_mut().flatten() {
            if call.id.is_empty() {
                let mut state = lock(&self.state);
                state.calls += 1;
                call.id = format!("call_{}", state.calls);
                given.push_back(call.id.clone());
            }
        }
        for block in &mut response.content {
            if let ContentBlock::ToolCall(block) = block
                && block.id.is_empty()
                && let Some(id) = given.pop_front()
            {
                block.id = id;
            }
        }
    }
}

impl Provider for ScriptedProvider {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn get_info(&self) -> ProviderInfo {
        ProviderInfo::new(self.name(), "Scripted")
    }

    fn list_models(&self) -> BoxFuture<'_, Result<Vec<ModelInfo>, ProviderError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn complete(&self, request: ChatRequest) -> BoxFuture<'_, Result<ChatResponse, ProviderError>> {
        Box::pin(async move { self.respond(&request) })
    }
}

impl fmt::Debug for ScriptedProvider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ScriptedProvider")
            .field("answers", &self.script.len())
            .field("remaining", &self.remaining())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ScriptItem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ScriptItem").finish_non_exhaustive()
    }
}

/// The words of all texts in a value.
fn words(value: &Json) -> i64 {
    match value {
        Json::Str(text) => i64::try_from(text.split_whitespace().count()).unwrap_or(i64::MAX),
        Json::Array(items) => items.iter().map(words).sum(),
        Json::Object(entries) => entries.values().map(words).sum(),
        Json::Null | Json::Bool(_) | Json::Int(_) | Json::BigInt(_) | Json::Float(_) => 0,
    }
}

impl From<ChatResponse> for ScriptItem {
    fn from(response: ChatResponse) -> Self {
        Self(Arc::new(move |_| Ok(response.clone())))
    }
}

impl From<ProviderError> for ScriptItem {
    fn from(error: ProviderError) -> Self {
        Self(Arc::new(move |_| Err(error.clone())))
    }
}

impl From<&str> for ScriptItem {
    fn from(text: &str) -> Self {
        ChatResponse::text(text).into()
    }
}

impl From<String> for ScriptItem {
    fn from(text: String) -> Self {
        ChatResponse::text(text).into()
    }
}

impl From<ToolCall> for ScriptItem {
    fn from(call: ToolCall) -> Self {
        ChatResponse::calls([call]).into()
    }
}

impl<const N: usize> From<[ToolCall; N]> for ScriptItem {
    fn from(calls: [ToolCall; N]) -> Self {
        ChatResponse::calls(calls).into()
    }
}
