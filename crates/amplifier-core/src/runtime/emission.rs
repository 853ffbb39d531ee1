//! The emission of one event to its handlers.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use log::Level;

use crate::error::HookError;
use crate::hook::{
    Answer, Decision, Dispatch, Flow, Injection, Notice, Policy, Projection, Registration,
};
use crate::json::Object;
use crate::model::{ContextInjection, HookAction, HookResult};
use crate::timestamp::event_timestamp;
use crate::traits::HookHandler;

const LOGGER: &str = "amplifier_core.hooks";

/// A handler as registries and their snapshots share it.
pub(super) type Handler = Arc<dyn HookHandler>;

/// The result of an event that no handler objected to.
pub(super) fn continuing(data: Object) -> HookResult {
    HookResult {
        data: Some(data),
        ..HookResult::default()
    }
}

/// Calls the handlers in order until one denies, and decides.
pub(super) async fn emit(
    event: &str,
    handlers: &[Registration<Handler>],
    defaults: Object,
    data: Object,
    now: SystemTime,
) -> HookResult {
    let mut payload = defaults;
    payload.extend(data);
    payload.insert("timestamp".to_owned(), event_timestamp(now).into());
    let mut dispatch = Dispatch::new(payload);
    for registration in handlers {
        let name = &registration.name;
        let limit = registration.policy.timeout;
        let answer = match call(event, registration, dispatch.data(), limit).await {
            Ok(result) => {
                if let Some(notice) = notice(&result) {
                    dispatch.tell(notice);
                }
                read(result, name, event)
            }
            Err(error) => match skip(event, name, registration.policy, &error) {
                Some(denial) => Answer::Deny(denial),
                None => Answer::Continue,
            },
        };
        if dispatch.accept(event, name, answer) == Flow::Stop {
            break;
        }
    }
    let outcome = dispatch.finish();
    match outcome.decision {
        Decision::Continue => saying(continuing(outcome.data), outcome.notice),
        Decision::Deny(result) => result,
        Decision::Ask(result) => carrying(result, outcome.data, outcome.is_modified),
        Decision::Inject(injection) => {
            let result = carrying(injecting(injection), outcome.data, outcome.is_modified);
            saying(result, outcome.notice)
        }
    }
}

/// The result with a payload that a handler replaced, unless it has data of its own.
fn carrying(result: HookResult, payload: Object, is_modified: bool) -> HookResult {
    let data = result.data.or_else(|| is_modified.then_some(payload));
    HookResult { data, ..result }
}

/// The result with the messages of the handlers to the user.
fn saying(mut result: HookResult, notice: Notice) -> HookResult {
    result.suppress_output |= notice.suppresses_output;
    if notice.message.is_some() {
        result.user_message_source = notice.source();
        result.user_message = notice.message;
        result.user_message_level = notice.level;
    }
    result
}

/// The message to the user in a result that neither denies nor asks.
fn notice(result: &HookResult) -> Option<Notice> {
    let speaks = !matches!(result.action, HookAction::Deny | HookAction::AskUser);
    (speaks && (result.user_message.is_some() || result.suppress_output)).then(|| Notice {
        message: result.user_message.clone(),
        level: result.user_message_level,
        sources: result.user_message_source.iter().cloned().collect(),
        suppresses_output: result.suppress_output,
    })
}

/// Calls every handler with the same data and collects the data of their answers.
pub(super) async fn collect(
    event: &str,
    handlers: &[Registration<Handler>],
    data: &Object,
    timeout: Option<Duration>,
) -> Vec<Object> {
    let mut collected = Vec::new();
    for registration in handlers {
        let limit = match (timeout, registration.policy.timeout) {
            (Some(asked), Some(registered)) => Some(asked.min(registered)),
            (asked, registered) => asked.or(registered),
        };
        match call(event, registration, data, limit).await {
            Ok(result) => collected.extend(result.data),
            Err(error) => {
                let _ = skip(event, &registration.name, Policy::default(), &error);
            }
        }
    }
    collected
}

async fn call(
    event: &str,
    registration: &Registration<Handler>,
    data: &Object,
    limit: Option<Duration>,
) -> Result<HookResult, HookError> {
    let answer = registration.handler.handle(event, data);
    match limit {
        None => answer.await,
        Some(limit) => tokio::time::timeout(limit, answer)
            .await
            .unwrap_or_else(|_| {
                let seconds = limit.as_secs_f64();
                Err(HookError::Timeout(format!("no answer within {seconds} s")))
            }),
    }
}

/// Logs the failure of a handler; returns a denial if its policy fails closed.
fn skip(event: &str, name: &str, policy: Policy, error: &HookError) -> Option<HookResult> {
    let (what, level) = match error {
        HookError::Timeout(_) => ("timed out", Level::Warn),
        HookError::HandlerFailed(_) | HookError::Other(_) => ("failed", Level::Error),
    };
    let failure = format!("hook `{name}` {what} on `{event}`");
    if policy.fails_closed {
        log::error!(target: LOGGER, "SECURITY: {failure}; denying: {error}");
        return Some(HookResult::deny(failure));
    }
    log::log!(target: LOGGER, level, "{failure}; continuing: {error}");
    None
}

/// The part of an answer that counts for the decision.
fn read(result: HookResult, name: &str, event: &str) -> Answer<HookResult, Object> {
    match result.action {
        HookAction::Continue => Answer::Continue,
        HookAction::Deny => Answer::Deny(result),
        HookAction::AskUser => Answer::Ask(result),
        HookAction::Modify => Answer::Modify(result.data),
        HookAction::InjectContext => {
            let items = injections(&result, name, event);
            if items.is_empty() {
                Answer::Continue
            } else {
                Answer::Inject(result, items)
            }
        }
    }
}

/// The injections of a result: its list, else the one that its scalar fields describe, with this
/// hook's name and event.
pub(super) fn injections(
    result: &HookResult,
    hook_name: &str,
    event: &str,
) -> Vec<ContextInjection> {
    if !result.context_injections.is_empty() {
        return result.context_injections.clone();
    }
    let scalar = result.context_injection.iter();
    scalar
        .map(|content| ContextInjection {
            content: content.clone(),
            role: result.context_injection_role,
            ephemeral: result.ephemeral,
            append_to_last_tool_result: result.append_to_last_tool_result,
            hook_name: hook_name.to_owned(),
            event: event.to_owned(),
        })
        .collect()
}

/// The result with these injections in the place of its own.
pub(super) fn with_injections(
    result: HookResult,
    items: Vec<ContextInjection>,
    projection: Projection,
) -> HookResult {
    HookResult {
        action: HookAction::InjectContext,
        context_injection: Some(projection.content),
        context_injection_role: projection.role,
        ephemeral: projection.ephemeral,
        append_to_last_tool_result: projection.append_to_last_tool_result,
        context_injections: items,
        ..result
    }
}

/// The result without injections.
pub(super) fn without_injections(result: HookResult) -> HookResult {
    let plain = HookResult::default();
    HookResult {
        action: plain.action,
        context_injection: plain.context_injection,
        context_injection_role: plain.context_injection_role,
        ephemeral: plain.ephemeral,
        append_to_last_tool_result: plain.append_to_last_tool_result,
        context_injections: plain.context_injections,
        ..result
    }
}

/// The result of merged injections: a single handler keeps its other fields, of several only what
/// the first says about output and the user.
fn injecting(injection: Injection<HookResult>) -> HookResult {
    let Injection {
        first,
        is_single,
        items,
        projection,
    } = injection;
    let base = if is_single {
        first
    } else {
        HookResult {
            suppress_output: first.suppress_output,
            user_message: first.user_message,
            user_message_level: first.user_message_level,
            ..HookResult::default()
        }
    };
    with_injections(base, items, projection)
}
