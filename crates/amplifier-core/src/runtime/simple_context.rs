//! A context that keeps the conversation in memory.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use super::history::open_calls;
use super::sync::{Mutex, lock};
use super::world::SharedWorld;
use crate::content::ContentBlock;
use crate::error::ContextError;
use crate::json::Json;
use crate::message::{Message, MessageContent, Role};
use crate::schema::to_json;
use crate::timestamp::event_timestamp;
use crate::traits::{BoxFuture, ContextManager, Provider, World};

/// The tokens of a request where neither the caller nor the provider names a limit.
const DEFAULT_BUDGET: i64 = 200_000;
/// Tokens kept free, as estimates are inexact.
const SAFETY_MARGIN_TOKENS: i64 = 4_096;
const CHARACTERS_PER_TOKEN: usize = 4;
const IMAGE_TOKENS: i64 = 1_600;
/// Tokens of a message without its content.
const OVERHEAD_TOKENS: i64 = 4;

/// A conversation in memory; the conversation itself stays complete.
///
/// A request gets all of it as long as it fits. After that it gets the system's messages and the
/// latest turns: half of what fits, so that a provider can cache the beginning of the next
/// requests. The result of a tool is put behind its call, also if a hook has added a message
/// meanwhile, and each message gets a timestamp in its metadata.
///
/// # Examples
///
/// ```
/// use amplifier_core::runtime::SimpleContext;
/// use amplifier_core::traits::ContextManager as _;
/// use amplifier_core::{Message, Role};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), amplifier_core::error::ContextError> {
/// let context = SimpleContext::new().with_system_prompt("You answer in one sentence.");
/// context.add_message(Message::user("Hello.")).await?;
///
/// let request = context.get_messages_for_request(None, None).await?;
/// assert_eq!([request[0].role, request[1].role], [Role::System, Role::User]);
/// assert_eq!(context.get_messages().await?.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct SimpleContext {
    system_prompt: Option<String>,
    conversation: Mutex<Conversation>,
    world: SharedWorld,
}

#[derive(Default)]
struct Conversation {
    messages: Vec<Message>,
    /// Where the part for requests begins; the system's messages before it are sent, too.
    start: usize,
    /// The budget of the last request.
    budget: i64,
}

impl SimpleContext {
    /// An empty conversation.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins each request with this text, which is not part of the conversation.
    #[must_use]
    pub fn with_system_prompt(mut self, text: impl Into<String>) -> Self {
        self.system_prompt = Some(text.into());
        self
    }

    /// Gets the times of the messages from a world that is not the system; call it before
    /// `with_messages`.
    #[must_use]
    pub fn with_world(mut self, world: Arc<dyn World>) -> Self {
        self.world = SharedWorld::new(world);
        self
    }

    /// Begins with the messages of an earlier conversation.
    #[must_use]
    pub fn with_messages(self, messages: impl IntoIterator<Item = Message>) -> Self {
        let now = self.world.time();
        lock(&self.conversation).set(messages.into_iter().collect(), now);
        self
    }
}

impl Conversation {
    fn set(&mut self, messages: Vec<Message>, now: SystemTime) {
        let dated = |message| dated(message, now);
        self.messages = messages.into_iter().map(dated).collect();
        self.start = 0;
    }

    /// Adds a message at the end, or the result of a tool behind its call: providers accept
    /// nothing between them.
    fn put(&mut self, message: Message, now: SystemTime) {
        let is_awaited = message.role == Role::Tool && {
            let calls = open_calls(&self.messages);
            let id = message.tool_call_id.as_deref();
            calls.iter().any(|call| Some(call.id.as_str()) == id)
        };
        let joins = |message: &Message| matches!(message.role, Role::Assistant | Role::Tool);
        let place = match self.messages.iter().rposition(joins) {
            Some(last) if is_awaited => last + 1,
            _ => self.messages.len(),
        };
        self.messages.insert(place, dated(message, now));
    }

    /// The messages that fit.
    fn for_request(&mut self, budget: i64) -> Vec<Message> {
        if budget > self.budget {
            // What was left out for a smaller model may fit now.
            self.start = 0;
        }
        self.budget = budget;
        // What a request spares that begins at each place.
        let mut spared = vec![0];
        let mut total = 0;
        for message in &self.messages {
            let tokens = tokens_of(message);
            total += tokens;
            let here = if is_lasting(message) { 0 } else { tokens };
            spared.push(spared.last().unwrap_or(&0) + here);
        }
        if total - spared[self.start] > budget {
            let places = self.start + 1..self.messages.len();
            let turns = places.filter(|place| begins_turn(&self.messages[*place]));
            let mut last = self.start;
            for start in turns {
                last = start;
                if total - spared[start] <= budget / 2 {
                    break;
                }
            }
            self.start = last;
            if total - spared[last] > budget {
                log::warn!("conversation too long: its last turn alone exceeds {budget} tokens");
            }
        }
        let sent = self.messages.iter().enumerate();
        sent.filter(|(place, message)| *place >= self.start || is_lasting(message))
            .map(|(_, message)| message.clone())
            .collect()
    }
}

impl ContextManager for SimpleContext {
    fn add_message(&self, message: Message) -> BoxFuture<'_, Result<(), ContextError>> {
        Box::pin(async move {
            let now = self.world.time();
            lock(&self.conversation).put(message, now);
            Ok(())
        })
    }

    fn get_messages_for_request<'a>(
        &'a self,
        token_budget: Option<i64>,
        provider: Option<&'a dyn Provider>,
    ) -> BoxFuture<'a, Result<Vec<Message>, ContextError>> {
        Box::pin(async move {
            let prompt = self.system_prompt.as_deref().map(Message::system);
            let budget = token_budget.or_else(|| budget_of(provider?));
            let budget = budget.unwrap_or(DEFAULT_BUDGET) - prompt.as_ref().map_or(0, tokens_of);
            let messages = lock(&self.conversation).for_request(budget);
            Ok(prompt.into_iter().chain(messages).collect())
        })
    }

    fn get_messages(&self) -> BoxFuture<'_, Result<Vec<Message>, ContextError>> {
        Box::pin(async { Ok(lock(&self.conversation).messages.clone()) })
    }

    fn set_messages(&self, messages: Vec<Message>) -> BoxFuture<'_, Result<(), ContextError>> {
        Box::pin(async move {
            let now = self.world.time();
            lock(&self.conversation).set(messages, now);
            Ok(())
        })
    }

    fn clear(&self) -> BoxFuture<'_, Result<(), ContextError>> {
        self.set_messages(Vec::new())
    }
}

impl fmt::Debug for SimpleContext {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SimpleContext")
            .field("messages", &lock(&self.conversation).messages.len())
            .finish_non_exhaustive()
    }
}

/// Whether it is a message of the user, and not one that a hook added in the user's name.
fn begins_turn(message: &Message) -> bool {
    let metadata = message.metadata.as_ref();
    let source = metadata.and_then(|metadata| metadata.get("source"));
    message.role == Role::User && source.and_then(Json::as_str) != Some("hook")
}

/// Whether a message is never left out.
fn is_lasting(message: &Message) -> bool {
    matches!(message.role, Role::System | Role::Developer)
}

/// The message with a timestamp in its metadata.
fn dated(mut message: Message, now: SystemTime) -> Message {
    let metadata = message.metadata.get_or_insert_default();
    if !metadata.contains_key("timestamp") {
        metadata.insert("timestamp".to_owned(), event_timestamp(now).into());
    }
    message
}

/// What the provider's model takes, less a part of the longest answer.
fn budget_of(provider: &dyn Provider) -> Option<i64> {
    let defaults = provider.get_info().defaults;
    let size = |key| {
        defaults
            .get(key)
            .and_then(Json::as_i64)
            .filter(|size| *size > 0)
    };
    let window = size("context_window")?;
    let answer = size("max_output_tokens").unwrap_or(0) / 2;
    Some((window - answer - SAFETY_MARGIN_TOKENS).max(window / 2))
}

/// The estimated tokens of a message.
fn tokens_of(message: &Message) -> i64 {
    let mut characters = 0;
    let mut tokens = OVERHEAD_TOKENS;
    match &message.content {
        MessageContent::Text(text) => characters += text.chars().count(),
        MessageContent::Blocks(blocks) => {
            for block in blocks {
                match block {
                    ContentBlock::Image(_) => tokens += IMAGE_TOKENS,
                    other => characters += to_json(other).to_string().chars().count(),
                }
            }
        }
    }
    tokens + i64::try_from(characters / CHARACTERS_PER_TOKEN).unwrap_or(i64::MAX)
}
