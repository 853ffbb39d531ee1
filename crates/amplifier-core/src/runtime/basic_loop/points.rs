//! The points of a turn at which hooks observe, decide and inject.

use indexmap::IndexMap;
use tokio::sync::Mutex as Turnstile;

use crate::content::ContentBlock;
use crate::error::AmplifierError;
use crate::event;
use crate::json::{Json, Object};
use crate::message::{Message, MessageContent, Role};
use crate::model::{ContextInjection, ContextInjectionRole, HookAction, HookResult};
use crate::runtime::emission::injections;
use crate::runtime::hook::payload;
use crate::runtime::sync::{Mutex, lock};
use crate::runtime::world::new_uuid;
use crate::traits::Kernel;

/// How often hooks may change the arguments of a call before a person is asked about it.
const MAX_ROUNDS: usize = 3;

/// The hooks of one turn, and their injections for the next request.
pub(super) struct Points<'a> {
    kernel: &'a dyn Kernel,
    waiting: Mutex<Vec<ContextInjection>>,
    open: Mutex<Open>,
    /// One question at a time: tools run concurrently, and there is one user.
    questions: Turnstile<()>,
}

/// What has begun, by its events, and not ended.
#[derive(Default)]
struct Open {
    model_call: Option<Object>,
    tool_calls: IndexMap<String, Object>,
}

impl Open {
    fn note(&mut self, event: &str, data: &Object) {
        let mut about = data.clone();
        match event {
            event::LLM_PRE => {
                about.shift_remove("message_count");
                self.model_call = Some(about);
            }
            event::LLM_POST => self.model_call = None,
            event::TOOL_PRE => {
                about.shift_remove("tool_input");
                self.tool_calls.insert(id_of(data), about);
            }
            event::TOOL_POST | event::TOOL_ERROR => {
                self.tool_calls.shift_remove(&id_of(data));
            }
            _ => {}
        }
    }
}

fn id_of(call: &Object) -> String {
    let id = call.get("tool_call_id").and_then(Json::as_str);
    id.unwrap_or_default().to_owned()
}

/// What the hooks decided about one step.
pub(super) struct Verdict {
    /// The reason of a denial.
    pub(super) denial: Option<String>,
    /// The payload as the hooks left it; `None` if they cannot have changed it.
    pub(super) data: Option<Object>,
}

impl<'a> Points<'a> {
    pub(super) fn new(kernel: &'a dyn Kernel) -> Self {
        Self {
            kernel,
            waiting: Mutex::new(Vec::new()),
            open: Mutex::default(),
            questions: Turnstile::new(()),
        }
    }

    /// Emits an event that hooks can only observe.
    pub(super) async fn emit(&self, event: &str, data: Object) {
        lock(&self.open).note(event, &data);
        self.kernel.emit(event, data).await;
    }

    /// Emits the ends of the model call and the tool calls that a cancellation has left open.
    pub(super) async fn end_open(&self, reason: &str) {
        let open = std::mem::take(&mut *lock(&self.open));
        if let Some(mut call) = open.model_call {
            call.insert("status".to_owned(), "cancelled".into());
            self.emit(event::LLM_POST, call).await;
        }
        for mut call in open.tool_calls.into_values() {
            let error = payload([("type", "CancelledError".into()), ("msg", reason.into())]);
            call.insert("error".to_owned(), error.into());
            self.emit(event::TOOL_ERROR, call).await;
        }
    }

    /// Lets the hooks decide about a step, and keeps their injections for the next request.
    pub(super) async fn judge(&self, event: &str, data: Object) -> Result<Verdict, AmplifierError> {
        lock(&self.open).note(event, &data);
        let result = self.kernel.emit(event, data).await;
        self.carry_out(result, event, Object::new()).await
    }

    /// Lets the hooks, and a person if one of them asks for it, decide about a tool call; also
    /// returns the arguments as the hooks left them.
    ///
    /// A question is about the arguments that its hook saw. If other hooks changed them in the same
    /// round, all hooks run again on the changed arguments, so that a person is asked about exactly
    /// what runs.
    pub(super) async fn judge_call(
        &self,
        call: &Object,
        tool_input: &Object,
    ) -> Result<(Verdict, Json), AmplifierError> {
        let input_of = |data: Option<&Object>, given: &Json| {
            let changed = data.and_then(|data| data.get("tool_input"));
            changed.unwrap_or(given).clone()
        };
        let mut given = Json::from(tool_input.clone());
        for _ in 0..MAX_ROUNDS {
            let mut data = call.clone();
            data.insert("tool_input".to_owned(), given.clone());
            let asked = data.clone();
            lock(&self.open).note(event::TOOL_PRE, &data);
            let result = self.kernel.emit(event::TOOL_PRE, data).await;
            let changed = input_of(result.data.as_ref(), &given);
            if result.action != HookAction::AskUser || changed == given {
                let verdict = self.carry_out(result, event::TOOL_PRE, asked).await?;
                return Ok((verdict, changed));
            }
            given = changed;
        }
        let reason = "hooks keep changing the arguments, so that nobody can be asked about them";
        let verdict = Verdict {
            denial: Some(reason.to_owned()),
            data: None,
        };
        Ok((verdict, given))
    }

    /// The messages of a request with the waiting injections at their end, each once.
    pub(super) fn with_injections(
        &self,
        mut messages: Vec<Message>,
        last: Option<ContextInjection>,
    ) -> Vec<Message> {
        let waiting = std::mem::take(&mut *lock(&self.waiting));
        let is_result = |message: &Message| message.role == Role::Tool;
        let result = messages
            .len()
            .checked_sub(1)
            .filter(|last| is_result(&messages[*last]));
        for injection in waiting.into_iter().chain(last) {
            match result {
                Some(result) if injection.append_to_last_tool_result => {
                    append(&mut messages[result], injection.content);
                }
                _ => {
                    let role = match injection.role {
                        ContextInjectionRole::System => Role::System,
                        ContextInjectionRole::User => Role::User,
                        ContextInjectionRole::Assistant => Role::Assistant,
                    };
                    messages.push(Message::new(role, injection.content));
                }
            }
        }
        messages
    }

    /// Carries out the action of a result; `call` is the tool call that it asks about.
    async fn carry_out(
        &self,
        result: HookResult,
        event: &str,
        call: Object,
    ) -> Result<Verdict, AmplifierError> {
        let data = result.data.clone();
        let result = if result.action == HookAction::AskUser {
            let _turn = self.questions.lock().await;
            let id = new_uuid(self.kernel.world()).simple().to_string();
            let required = required(&result, event, &call, id);
            self.emit(event::APPROVAL_REQUIRED, required).await;
            let answer = self.kernel.process_hook_result(result, event, "unknown");
            // Nobody has agreed, and what was asked about has not failed.
            answer.await.unwrap_or_else(|error| {
                let reason = format!("the approval system failed: {}", error.describe());
                log::warn!("{reason}; denying");
                HookResult::deny(reason)
            })
        } else {
            let done = self.kernel.process_hook_result(result, event, "unknown");
            done.await?
        };
        if result.action == HookAction::InjectContext {
            let items = injections(&result, "unknown", event).into_iter();
            lock(&self.waiting).extend(items.filter(|item| !item.content.is_empty()));
        }
        let is_denied = result.action == HookAction::Deny;
        let reason = result.reason.filter(|reason| !reason.is_empty());
        let reason = reason.unwrap_or_else(|| "no reason given".to_owned());
        Ok(Verdict {
            denial: is_denied.then_some(reason),
            data,
        })
    }
}

/// The data of `approval:required`; the call is named where the question is whether it may run.
fn required(result: &HookResult, event: &str, call: &Object, question_id: String) -> Object {
    let entry = |key: &str, otherwise: Json| call.get(key).cloned().unwrap_or(otherwise);
    let options = result.approval_options.clone();
    let options = options.map(|options| options.into_iter().map(Json::from).collect::<Vec<_>>());
    let is_about_call = event == event::TOOL_PRE;
    let call_id = is_about_call.then(|| entry("tool_call_id", Json::Null));
    payload([
        ("question_id", question_id.into()),
        ("tool_call_id", call_id.into()),
        ("tool_name", entry("tool_name", "".into())),
        ("arguments", entry("tool_input", Object::new().into())),
        ("prompt", result.approval_prompt.clone().into()),
        ("options", options.into()),
        ("timeout", result.approval_timeout.into()),
        ("default", result.approval_default.as_str().into()),
    ])
}

/// Appends a text to the result of a tool.
fn append(message: &mut Message, text: String) {
    match &mut message.content {
        MessageContent::Text(content) if content.is_empty() => *content = text,
        MessageContent::Text(content) => {
            content.push_str("\n\n");
            content.push_str(&text);
        }
        MessageContent::Blocks(blocks) => blocks.push(ContentBlock::text(text)),
    }
}
