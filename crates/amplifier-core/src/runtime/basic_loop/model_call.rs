//! One call of the model: its events, its errors, its blocks.

use std::sync::Arc;

use indexmap::IndexMap;

use super::missing_call::MissingCalls;
use super::points::Points;
use crate::content::ContentBlock;
use crate::event;
use crate::json::{Json, Object};
use crate::message::{ChatRequest, ChatResponse, Message, ToolCall};
use crate::provider_error::{ProviderError, ProviderFailure};
use crate::runtime::hook::payload;
use crate::runtime::world::new_uuid;
use crate::schema::to_json;
use crate::traits::{Provider, World};

/// Key in the metadata of a response whose provider emitted the block events itself.
const BLOCKS_EMITTED: &str = "content_blocks_emitted";

/// The model of one turn.
pub(super) struct Model {
    pub(super) provider: Arc<dyn Provider>,
    /// The provider's mount name, and its default model.
    pub(super) identity: Object,
    missing_calls: MissingCalls,
}

impl Model {
    /// The provider of this name, else the one that was mounted first.
    pub(super) fn choose(
        providers: &IndexMap<String, Arc<dyn Provider>>,
        preferred: Option<&str>,
    ) -> Result<Self, ProviderError> {
        let named = preferred.and_then(|name| providers.get_key_value(name));
        if let (Some(name), None) = (preferred, named) {
            let mounted: Vec<_> = providers.keys().map(|name| format!("`{name}`")).collect();
            let mounted = mounted.join(", ");
            log::warn!("provider `{name}` is not mounted (mounted: {mounted})");
        }
        let Some((name, provider)) = named.or_else(|| providers.first()) else {
            let failure = ProviderFailure::new("no provider is mounted");
            return Err(ProviderError::Configuration(failure.into()));
        };
        let defaults = provider.get_info().defaults;
        let model = defaults
            .get("default_model")
            .or_else(|| defaults.get("model"));
        Ok(Self {
            provider: Arc::clone(provider),
            identity: payload([
                ("provider", name.as_str().into()),
                ("model", model.cloned().unwrap_or_default()),
            ]),
            missing_calls: MissingCalls::default(),
        })
    }

    /// The model's response, after its block events.
    pub(super) async fn ask(
        &self,
        points: &Points<'_>,
        request: ChatRequest,
        iteration: u32,
    ) -> Result<ChatResponse, ProviderError> {
        let about = |entries: Object| {
            let mut data = self.identity.clone();
            data.insert("iteration".to_owned(), iteration.into());
            data.extend(entries);
            data
        };
        let count = request.messages.len() as u64;
        let entries = payload([("message_count", count.into())]);
        points.emit(event::LLM_PRE, about(entries)).await;
        let response = match self.provider.complete(request).await {
            Ok(response) => response,
            Err(error) => {
                let status = payload([("status", "error".into())]);
                points.emit(event::LLM_POST, about(status)).await;
                points
                    .emit(event::PROVIDER_ERROR, about(described(&error)))
                    .await;
                return Err(error);
            }
        };
        let mut facts = about(payload([
            ("usage", response.usage.as_ref().map(to_json).into()),
            ("finish_reason", response.finish_reason.clone().into()),
        ]));
        facts.insert("status".to_owned(), "ok".into());
        points.emit(event::LLM_POST, facts.clone()).await;
        facts.shift_remove("status");
        facts.insert("response".to_owned(), to_json(&response));
        points.emit(event::PROVIDER_RESPONSE, facts).await;
        emit_blocks(points, &response).await;
        Ok(response)
    }

    /// Refuses an answer without a call that announces one and has no text either.
    pub(super) fn judge_missing_call(&self, response: &ChatResponse) -> Result<(), ProviderError> {
        let named = |key| self.identity.get(key).and_then(Json::as_str);
        let provider = named("provider").unwrap_or_default();
        self.missing_calls.judge(response, provider, named("model"))
    }

    /// The tool calls of a response, from its field, else from its provider, else from its content;
    /// each has an id.
    pub(super) fn calls_of(&self, response: &ChatResponse, world: &dyn World) -> Vec<ToolCall> {
        let listed = response
            .tool_calls
            .clone()
            .filter(|calls| !calls.is_empty());
        let mut calls = listed.unwrap_or_else(|| self.provider.parse_tool_calls(response));
        if calls.is_empty() {
            calls.extend(response.content.iter().filter_map(call_in));
        }
        for call in &mut calls {
            if call.id.is_empty() {
                call.id = format!("call_{}", new_uuid(world).simple());
            }
        }
        calls
    }
}

/// The call that a block is, if it is one.
fn call_in(block: &ContentBlock) -> Option<ToolCall> {
    let ContentBlock::ToolCall(block) = block else {
        return None;
    };
    Some(ToolCall {
        id: block.id.clone(),
        name: block.name.clone(),
        arguments: block.input.clone(),
        extra: block.extra.clone(),
    })
}

/// The message that stores a response with these calls; `None` if it is empty.
pub(super) fn assistant_message(response: &ChatResponse, calls: &[ToolCall]) -> Option<Message> {
    let is_call = |block: &ContentBlock, id: &str| match block {
        ContentBlock::ToolCall(block) => block.id == id,
        _ => false,
    };
    let kept = response.content.iter().filter(|block| match block {
        ContentBlock::ToolCall(block) => calls.iter().any(|call| call.id == block.id),
        _ => true,
    });
    let mut blocks: Vec<_> = kept.cloned().collect();
    for call in calls {
        if !blocks.iter().any(|block| is_call(block, &call.id)) {
            blocks.push(call.clone().into());
        }
    }
    if blocks.is_empty() {
        return None;
    }
    let mut message = Message::assistant(blocks);
    if !calls.is_empty() {
        let calls = calls.iter().map(|call| {
            let entries = [
                ("id", call.id.as_str().into()),
                ("tool", call.name.as_str().into()),
                ("arguments", call.arguments.clone().into()),
            ];
            Json::from(payload(entries))
        });
        let calls: Vec<_> = calls.collect();
        message.extra.insert("tool_calls".to_owned(), calls.into());
    }
    let mut metadata = response.metadata.clone().unwrap_or_default();
    metadata.shift_remove(BLOCKS_EMITTED);
    message.metadata = Some(metadata).filter(|metadata| !metadata.is_empty());
    Some(message)
}

/// Emits start and end of each block, unless the provider did.
async fn emit_blocks(points: &Points<'_>, response: &ChatResponse) {
    let metadata = response.metadata.as_ref();
    let emitted = metadata.and_then(|metadata| metadata.get(BLOCKS_EMITTED));
    if emitted.is_some_and(Json::is_truthy) {
        return;
    }
    for (index, block) in (0_u64..).zip(&response.content) {
        let place = || {
            payload([
                ("block_type", block.block_type().into()),
                ("block_index", index.into()),
            ])
        };
        let mut start = place();
        start.insert("metadata".to_owned(), names_of(block));
        points.emit(event::CONTENT_BLOCK_START, start).await;
        let mut end = place();
        end.insert("block".to_owned(), block_record(block));
        points.emit(event::CONTENT_BLOCK_END, end).await;
    }
}

/// What the start of a call says of it.
fn names_of(block: &ContentBlock) -> Json {
    let ContentBlock::ToolCall(call) = block else {
        return Json::Null;
    };
    let known = [("id", &call.id), ("name", &call.name)];
    let entries = known.into_iter().filter(|(_, value)| !value.is_empty());
    let names: Object = entries
        .map(|(key, value)| (key.to_owned(), value.as_str().into()))
        .collect();
    if names.is_empty() {
        Json::Null
    } else {
        names.into()
    }
}

/// A block for its event: with the keys of the content models in addition to its own, and without
/// the declared fields that it does not have.
fn block_record(block: &ContentBlock) -> Json {
    let Json::Object(mut entries) = to_json(block) else {
        return Json::Null;
    };
    entries.retain(|key, value| !value.is_null() || block.extra().contains_key(key));
    let further = match block {
        ContentBlock::Thinking(_) => Some(("text", "thinking")),
        ContentBlock::ToolCall(_) => Some(("arguments", "input")),
        _ => None,
    };
    if let Some((key, own)) = further {
        let is_unusable = key == "arguments" && entries.get("error").is_some_and(Json::is_truthy);
        let value = entries.get(own).filter(|_| !is_unusable).cloned();
        entries.insert(key.to_owned(), value.into());
    }
    entries.into()
}

/// The data of `provider:error` about an error.
fn described(error: &ProviderError) -> Object {
    let kind = || ("type", error.contract_name().into());
    let message = || ("msg", error.to_string().into());
    let status = error.failure().status_code.map(u32::from);
    payload([
        kind(),
        message(),
        ("error", payload([kind(), message()]).into()),
        ("retryable", error.retryable().into()),
        ("status_code", status.into()),
    ])
}
