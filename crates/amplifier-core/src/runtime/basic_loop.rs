//! A loop: model call, tool calls, model call, until an answer.

mod answer;
mod missing_call;
mod model_call;
mod points;
mod round;
mod turn;

use std::time::Duration;

use crate::error::AmplifierError;
use crate::traits::{BoxFuture, Orchestrator, Turn};
use turn::Conversation;

/// The most model calls of a turn where nothing else is set.
const MAX_ITERATIONS: u32 = 100;

/// A loop that answers a prompt with a model and its tools.
///
/// It emits the events of Python's `loop-basic` with the same payloads. The tools of one response
/// run concurrently, and their results enter the history in the order of the calls. A tool that
/// fails, that a hook denies or that does not exist is a result for the model, not an error. After
/// the last model call that is allowed, the model is asked once more, to say what is done.
///
/// However a turn ends, each tool call in the history has one result: if the session is cancelled
/// immediately, one that says so; if the future of `execute` is dropped, the next turn adds it.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use amplifier_core::runtime::{BasicLoop, ScriptedProvider, Session};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), amplifier_core::error::AmplifierError> {
/// let session = Session::builder()
///     .orchestrator(BasicLoop::new().max_iterations(20).tool_timeout(Duration::from_secs(60)))
///     .provider(ScriptedProvider::new().answer("Hello."))
///     .initialize()
///     .await?;
/// assert_eq!(session.execute("Hi.").await?, "Hello.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct BasicLoop {
    max_iterations: Option<u32>,
    provider: Option<String>,
    reasoning_effort: Option<String>,
    tool_timeout: Option<Duration>,
}

impl BasicLoop {
    /// The event before a tool runs, after it was allowed to; who hears it last may still deny it.
    pub const TOOL_START: &str = "tool:start";

    /// The event after a call has ended, with the message that the history gets.
    pub const TOOL_RESULT: &str = "tool:result";

    /// A loop of at most 100 model calls a turn.
    #[must_use]
    pub fn new() -> Self {
        Self {
            max_iterations: Some(MAX_ITERATIONS),
            provider: None,
            reasoning_effort: None,
            tool_timeout: None,
        }
    }

    /// Sets the most model calls of a turn; the closing call comes on top.
    #[must_use]
    pub fn max_iterations(mut self, calls: u32) -> Self {
        self.max_iterations = Some(calls);
        self
    }

    /// Sets no limit on the model calls of a turn.
    #[must_use]
    pub fn unlimited(mut self) -> Self {
        self.max_iterations = None;
        self
    }

    /// Names the provider to use; without it, it is the one that was mounted first.
    #[must_use]
    pub fn provider(mut self, name: impl Into<String>) -> Self {
        self.provider = Some(name.into());
        self
    }

    /// Sets the effort of reasoning that each request asks for, such as `low` or `high`.
    #[must_use]
    pub fn reasoning_effort(mut self, effort: impl Into<String>) -> Self {
        self.reasoning_effort = Some(effort.into());
        self
    }

    /// Ends a tool after this time; it needs tokio's timer.
    #[must_use]
    pub fn tool_timeout(mut self, limit: Duration) -> Self {
        self.tool_timeout = Some(limit);
        self
    }
}

impl Default for BasicLoop {
    fn default() -> Self {
        Self::new()
    }
}

impl Orchestrator for BasicLoop {
    fn execute<'a>(&'a self, turn: Turn<'a>) -> BoxFuture<'a, Result<String, AmplifierError>> {
        Box::pin(async move { Conversation::new(self, &turn).run().await })
    }
}
