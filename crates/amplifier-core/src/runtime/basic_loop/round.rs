//! The tool calls of one response: run concurrently, with an answer for each.

use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;

use super::BasicLoop;
use super::answer::{Answer, CallError, presented};
use super::points::Points;
use crate::cancellation::CancellationState;
use crate::event;
use crate::json::{Json, Object};
use crate::message::ToolCall;
use crate::runtime::hook::payload;
use crate::runtime::sync::{Mutex, lock};
use crate::runtime::together::run_together;
use crate::schema::to_json;
use crate::tool_result::ToolResult;
use crate::traits::{BoxFuture, Kernel, RunningTool, Tool};

/// The calls of one response and their answers.
pub(super) struct Round {
    calls: Vec<ToolCall>,
    group_id: String,
    answers: Mutex<Vec<Answer>>,
}

/// What calls run with.
pub(super) struct Tooling<'a> {
    pub(super) kernel: &'a dyn Kernel,
    pub(super) points: &'a Points<'a>,
    pub(super) tools: &'a IndexMap<String, Arc<dyn Tool>>,
    pub(super) timeout: Option<Duration>,
}

impl Round {
    pub(super) fn new(calls: Vec<ToolCall>, group_id: String) -> Self {
        Self {
            answers: Mutex::new(vec![Answer::not_started(); calls.len()]),
            group_id,
            calls,
        }
    }

    /// Runs all calls; what goes wrong is the answer of its call.
    pub(super) async fn run(&self, tooling: &Tooling<'_>) {
        let runs = (0..self.calls.len())
            .map(|place| -> BoxFuture<'_, ()> { Box::pin(self.run_call(tooling, place)) });
        run_together(runs.collect()).await;
    }

    /// The answer of a call so far.
    pub(super) fn answer(&self, place: usize) -> Answer {
        let answers = lock(&self.answers);
        answers
            .get(place)
            .cloned()
            .unwrap_or_else(Answer::interrupted)
    }

    async fn run_call(&self, tooling: &Tooling<'_>, place: usize) {
        let call = &self.calls[place];
        match self.outcome(tooling, place, call).await {
            Ok(answer) => self.set(place, answer),
            Err(error) => {
                if let CallError::Failed(_) | CallError::Hook(_) = error {
                    log::warn!("{}", error.for_model(&call.name));
                }
                self.set(place, Answer::error(error.for_model(&call.name)));
                let mut data = self.about(call);
                data.insert("error".to_owned(), error.described(&call.name));
                tooling.points.emit(event::TOOL_ERROR, data).await;
            }
        }
        let message = self.answer(place).message(&call.id, &call.name);
        let mut data = self.about(call);
        data.insert("message".to_owned(), to_json(&message));
        tooling.points.emit(BasicLoop::TOOL_RESULT, data).await;
    }

    async fn outcome(
        &self,
        tooling: &Tooling<'_>,
        place: usize,
        call: &ToolCall,
    ) -> Result<Answer, CallError> {
        let is_cancelled = || tooling.kernel.cancellation() != CancellationState::None;
        if is_cancelled() {
            return Ok(Answer::not_started());
        }
        let judged = tooling
            .points
            .judge_call(&self.about(call), &call.arguments)
            .await;
        let (verdict, tool_input) = judged.map_err(CallError::Hook)?;
        if let Some(reason) = verdict.denial {
            return Err(CallError::Denied(reason));
        }
        let Some(tool) = tooling.tools.get(&call.name) else {
            return Err(CallError::Unknown(tooling.tools.keys().cloned().collect()));
        };
        let tool_input = match tool_input {
            Json::Object(tool_input) => tool_input,
            other => return Err(CallError::Replaced(other.kind())),
        };
        if is_cancelled() {
            return Ok(Answer::not_started());
        }
        let mut about = self.about(call);
        about.insert("tool_input".to_owned(), tool_input.clone().into());
        let result = {
            let _running = RunningTool::start(tooling.kernel, &call.id, &call.name);
            let judged = tooling.points.judge(BasicLoop::TOOL_START, about.clone());
            if let Some(reason) = judged.await.map_err(CallError::Hook)?.denial {
                return Err(CallError::Denied(reason));
            }
            self.set(place, Answer::interrupted());
            within(tooling.timeout, tool.execute(tool_input)).await?
        };
        let shown = presented(&result);
        about.insert("result".to_owned(), shown.clone());
        let judged = tooling.points.judge(event::TOOL_POST, about).await;
        let verdict = judged.map_err(CallError::Hook)?;
        let answer = Answer::of(&result);
        if let Some(reason) = verdict.denial {
            return Ok(Answer::error(format!("Denied by hook: {reason}")));
        }
        Ok(
            match verdict.data.as_ref().and_then(|data| data.get("result")) {
                Some(replaced) if *replaced != shown => answer.replaced(replaced),
                _ => answer,
            },
        )
    }

    fn set(&self, place: usize, answer: Answer) {
        lock(&self.answers)[place] = answer;
    }

    fn about(&self, call: &ToolCall) -> Object {
        payload([
            ("tool_name", call.name.as_str().into()),
            ("tool_call_id", call.id.as_str().into()),
            ("parallel_group_id", self.group_id.as_str().into()),
        ])
    }
}

/// The result of a tool, if it ends in time.
async fn within(
    limit: Option<Duration>,
    run: BoxFuture<'_, Result<ToolResult, crate::error::ToolError>>,
) -> Result<ToolResult, CallError> {
    let result = match limit {
        None => run.await,
        Some(limit) => match tokio::time::timeout(limit, run).await {
            Ok(result) => result,
            Err(_) => return Err(CallError::TimedOut(limit)),
        },
    };
    result.map_err(CallError::Failed)
}
