//! One turn: from the prompt through model and tool calls to the answer.

use std::sync::Arc;

use super::BasicLoop;
use super::answer::Answer;
use super::model_call::{Model, assistant_message};
use super::points::{Points, Verdict};
use super::round::{Round, Tooling};
use crate::cancellation::CancellationState;
use crate::error::AmplifierError;
use crate::event;
use crate::json::{Json, Object};
use crate::message::{ChatRequest, ChatResponse, Message, Role, ToolCall, ToolSpec};
use crate::model::{ContextInjection, ContextInjectionRole};
use crate::provider_error::ProviderError;
use crate::runtime::history::open_calls;
use crate::runtime::hook::payload;
use crate::runtime::sync::{Mutex, lock};
use crate::runtime::together::unless_stopped;
use crate::runtime::world::new_uuid;
use crate::traits::Turn;

const ORCHESTRATOR: &str = "loop-basic";
const WRAP_UP: &str = "<system-reminder>The limit of model calls for this turn is reached. Do not \
    call tools. Tell the user what is done, what was found, and what is left to do.\
    </system-reminder>";
const CANCELLED: &str = "The turn was cancelled before it was finished.";

/// How a turn ended.
#[derive(Clone, Copy, PartialEq)]
enum Outcome {
    Completed,
    /// A hook refused it, or a limit was reached.
    Incomplete,
    Cancelled,
    Error,
}

/// A turn of the loop.
pub(super) struct Conversation<'a> {
    settings: &'a BasicLoop,
    turn: &'a Turn<'a>,
    points: Points<'a>,
    progress: Mutex<Progress>,
}

/// How far a turn is; it stays when the turn is interrupted.
#[derive(Default)]
struct Progress {
    /// The text of the last response that has text.
    answer: String,
    /// How many times the model was called.
    iterations: u32,
    /// Why the turn ends without an answer, or before the model was done.
    reason: Option<String>,
    /// Which step a hook denied, and why.
    denied: Option<Json>,
    /// The last tool calls.
    round: Option<Arc<Round>>,
}

impl<'a> Conversation<'a> {
    pub(super) fn new(settings: &'a BasicLoop, turn: &'a Turn<'a>) -> Self {
        Self {
            settings,
            turn,
            points: Points::new(turn.kernel),
            progress: Mutex::default(),
        }
    }

    /// The answer, or its beginning if the turn is cancelled.
    pub(super) async fn run(&self) -> Result<String, AmplifierError> {
        let kernel = self.turn.kernel;
        kernel.reset_turn();
        let ended = unless_stopped(kernel, self.converse()).await;
        let was_interrupted = ended.is_none();
        let (outcome, failure) = match ended {
            None => (Outcome::Cancelled, None),
            Some(Ok(outcome)) => (outcome, None),
            Some(Err(error)) => (Outcome::Error, Some(error)),
        };
        let mut closed = Ok(());
        if outcome == Outcome::Cancelled {
            let is_immediate = kernel.cancellation() == CancellationState::Immediate;
            closed = self.close_cancelled(was_interrupted || is_immediate).await;
        }
        self.emit_endings(outcome).await;
        match failure {
            Some(error) => Err(error),
            None => closed.map(|()| std::mem::take(&mut lock(&self.progress).answer)),
        }
    }

    async fn converse(&self) -> Result<Outcome, AmplifierError> {
        let prompt = self.turn.prompt;
        let submitted = payload([("prompt", prompt.into())]);
        self.points
            .emit(event::EXECUTION_START, submitted.clone())
            .await;
        let start = payload([
            ("orchestrator", ORCHESTRATOR.into()),
            ("prompt", prompt.into()),
        ]);
        self.points.emit(event::TURN_START, start).await;
        let verdict = self.points.judge(event::PROMPT_SUBMIT, submitted).await?;
        if let Some(reason) = verdict.denial {
            self.deny(event::PROMPT_SUBMIT, &reason);
            return Ok(Outcome::Incomplete);
        }
        let model = Model::choose(&self.turn.providers, self.settings.provider.as_deref())?;
        let changed = verdict.data.as_ref().and_then(|data| data.get("prompt"));
        let prompt = changed.and_then(Json::as_str).unwrap_or(prompt);
        // The calls of a turn whose future was dropped.
        self.answer_open_calls().await?;
        self.close_results(CANCELLED).await?;
        self.store(Message::user(prompt)).await?;
        let outcome = self.iterate(&model).await?;
        if outcome == Outcome::Incomplete {
            let reason = lock(&self.progress).reason.clone().unwrap_or_default();
            self.close_results(&format!("The turn was ended: {reason}."))
                .await?;
        }
        if outcome != Outcome::Cancelled {
            let response = lock(&self.progress).answer.clone();
            let data = payload([("prompt", prompt.into()), ("response", response.into())]);
            self.points.emit(event::PROMPT_COMPLETE, data).await;
        }
        Ok(outcome)
    }

    async fn iterate(&self, model: &Model) -> Result<Outcome, AmplifierError> {
        let is_cancelled = || self.turn.kernel.cancellation() != CancellationState::None;
        while !is_cancelled() {
            let done = lock(&self.progress).iterations;
            if self
                .settings
                .max_iterations
                .is_some_and(|most| done >= most)
            {
                let reason = format!("the limit of {done} model calls, `max_iterations`");
                lock(&self.progress).reason = Some(reason);
                self.wrap_up(model).await?;
                return Ok(Outcome::Incomplete);
            }
            lock(&self.progress).iterations = done.saturating_add(1);
            let response = match self.ask(model, None).await {
                Ok(Some(response)) => response,
                Ok(None) => return Ok(Outcome::Incomplete),
                // The provider stopped waiting because of the cancellation.
                Err(AmplifierError::Provider(ProviderError::Abort(_))) if is_cancelled() => break,
                Err(error) => return Err(error),
            };
            let calls = model.calls_of(&response, self.turn.kernel.world());
            if calls.is_empty() {
                model.judge_missing_call(&response)?;
                self.remember(&response, &[]).await?;
                return Ok(Outcome::Completed);
            }
            self.use_tools(&response, calls).await?;
        }
        Ok(Outcome::Cancelled)
    }

    /// The model's response; `None` if a hook denied the call.
    async fn ask(
        &self,
        model: &Model,
        reminder: Option<ContextInjection>,
    ) -> Result<Option<ChatResponse>, AmplifierError> {
        let context = &self.turn.context;
        let iteration = lock(&self.progress).iterations;
        let mut data = model.identity.clone();
        data.extend(payload([
            (
                "message_count",
                (context.get_messages().await?.len() as u64).into(),
            ),
            ("iteration", iteration.into()),
        ]));
        let verdict = self.points.judge(event::PROVIDER_REQUEST, data).await?;
        if let Verdict {
            denial: Some(reason),
            ..
        } = verdict
        {
            self.deny(event::PROVIDER_REQUEST, &reason);
            return Ok(None);
        }
        let messages = context
            .get_messages_for_request(None, Some(&*model.provider))
            .await?;
        let is_last = reminder.is_some();
        let messages = self.points.with_injections(messages, reminder);
        let mut request = ChatRequest::new(messages).with_tools(self.tool_specs());
        request
            .reasoning_effort
            .clone_from(&self.settings.reasoning_effort);
        if is_last {
            request = request.with_tool_choice("none");
        }
        let response = model.ask(&self.points, request, iteration).await?;
        let text = response.plain_text();
        if !text.is_empty() {
            lock(&self.progress).answer = text;
        }
        Ok(Some(response))
    }

    /// Asks the model for a closing answer at the limit of model calls.
    async fn wrap_up(&self, model: &Model) -> Result<(), AmplifierError> {
        let reminder = ContextInjection {
            role: ContextInjectionRole::User,
            ..ContextInjection::new(WRAP_UP)
        };
        match self.ask(model, Some(reminder)).await {
            Ok(Some(response)) => self.remember(&response, &[]).await,
            Ok(None) => Ok(()),
            // `provider:error` reports it.
            Err(error) => {
                let mut progress = lock(&self.progress);
                progress.answer = format!(
                    "Stopped after {} model calls, the limit of this turn; the closing call \
                     failed: {}",
                    progress.iterations,
                    error.describe(),
                );
                Ok(())
            }
        }
    }

    async fn use_tools(
        &self,
        response: &ChatResponse,
        calls: Vec<ToolCall>,
    ) -> Result<(), AmplifierError> {
        let group_id = new_uuid(self.turn.kernel.world()).to_string();
        let round = Arc::new(Round::new(calls.clone(), group_id));
        lock(&self.progress).round = Some(Arc::clone(&round));
        self.remember(response, &calls).await?;
        let tooling = Tooling {
            kernel: self.turn.kernel,
            points: &self.points,
            tools: &self.turn.tools,
            timeout: self.settings.tool_timeout,
        };
        round.run(&tooling).await;
        self.answer_open_calls().await
    }

    /// Stores a result for each call that has none, in their order.
    async fn answer_open_calls(&self) -> Result<(), AmplifierError> {
        let round = lock(&self.progress).round.clone();
        for call in open_calls(&self.turn.context.get_messages().await?) {
            let answer = match &round {
                Some(round) => round.answer(call.place),
                None => Answer::interrupted(),
            };
            self.store(answer.message(&call.id, &call.name)).await?;
        }
        Ok(())
    }

    /// Ends a conversation after results of tools with a message of the model.
    async fn close_results(&self, text: &str) -> Result<(), AmplifierError> {
        let messages = self.turn.context.get_messages().await?;
        if messages
            .last()
            .is_some_and(|message| message.role == Role::Tool)
        {
            let closing = Message::assistant(vec![text.into()]);
            self.store(closing).await?;
        }
        Ok(())
    }

    async fn remember(
        &self,
        response: &ChatResponse,
        calls: &[ToolCall],
    ) -> Result<(), AmplifierError> {
        match assistant_message(response, calls) {
            Some(message) => self.store(message).await,
            None => Ok(()),
        }
    }

    async fn store(&self, message: Message) -> Result<(), AmplifierError> {
        Ok(self.turn.context.add_message(message).await?)
    }

    /// The tools under their mount names.
    fn tool_specs(&self) -> Vec<ToolSpec> {
        let specs = self.turn.tools.iter().map(|(name, tool)| {
            let mut spec = tool.get_spec();
            spec.name.clone_from(name);
            if spec.parameters.is_empty() {
                let nothing = Json::from(Object::new());
                spec.parameters = payload([("type", "object".into()), ("properties", nothing)]);
            }
            spec
        });
        specs.collect()
    }

    fn deny(&self, event: &str, reason: &str) {
        let mut progress = lock(&self.progress);
        progress.answer = format!("Operation denied: {reason}");
        progress.reason = Some(reason.to_owned());
        let denied = payload([("event", event.into()), ("reason", reason.into())]);
        progress.denied = Some(denied.into());
    }

    async fn close_cancelled(&self, was_immediate: bool) -> Result<(), AmplifierError> {
        let answered = self.answer_open_calls().await;
        self.points.end_open("the turn was cancelled").await;
        let data = payload([("immediate", was_immediate.into())]);
        self.points.emit(event::CANCEL_REQUESTED, data).await;
        self.turn.kernel.trigger_cancel_callbacks().await;
        if let Err(error) = self.close_results(CANCELLED).await {
            let error = error.describe();
            log::error!("the closing message of a cancelled turn could not be stored: {error}");
        }
        let data = payload([("was_immediate", was_immediate.into())]);
        self.points.emit(event::CANCEL_COMPLETED, data).await;
        answered
    }

    /// Emits the closing events of the turn.
    async fn emit_endings(&self, outcome: Outcome) {
        let (execution, orchestrator) = match outcome {
            Outcome::Completed => ("completed", "success"),
            Outcome::Incomplete => ("completed", "incomplete"),
            Outcome::Cancelled => ("cancelled", "cancelled"),
            Outcome::Error => ("error", "incomplete"),
        };
        let (about, completion, end) = {
            let progress = lock(&self.progress);
            let about = |status: &str| {
                payload([
                    ("orchestrator", ORCHESTRATOR.into()),
                    ("turn_count", progress.iterations.into()),
                    ("status", status.into()),
                ])
            };
            let mut completion = about(orchestrator);
            completion.extend(progress.denied.clone().map(|it| ("denied".to_owned(), it)));
            let reason = progress.reason.clone();
            completion.extend(reason.map(|it| ("reason".to_owned(), it.into())));
            let end = payload([
                ("response", progress.answer.as_str().into()),
                ("status", execution.into()),
            ]);
            (about(execution), completion, end)
        };
        self.points.emit(event::TURN_END, about).await;
        self.points
            .emit(event::ORCHESTRATOR_COMPLETE, completion)
            .await;
        self.points.emit(event::EXECUTION_END, end).await;
    }
}
