//! The effects of a hook's result: inject into the context, show a message, ask for approval.

use std::time::{Duration, SystemTime};

use super::coordinator::Coordinator;
use super::emission::{injections, with_injections, without_injections};
use super::hook::payload;
use crate::coordinator::{charge_injections, clean_injections, clip_prompt};
use crate::error::{AmplifierError, ApprovalError};
use crate::hook::Projection;
use crate::json::{Json, Object};
use crate::message::{Message, Role};
use crate::model::{
    ApprovalDefault, ApprovalRequest, ContextInjection, ContextInjectionRole, HookAction,
    HookResult,
};
use crate::timestamp::event_timestamp;

/// How much longer the kernel waits for an approval than the approval provider, whose own timeout
/// should come first.
const APPROVAL_GRACE_SECONDS: u64 = 1;

const LOGGER: &str = "amplifier_core.coordinator";

impl Coordinator {
    /// Carries out what a hook's result asks for: adds its lasting texts to the context, shows its
    /// message, or asks the user. Returns what is left of it for the loop.
    pub async fn process_hook_result(
        &self,
        mut result: HookResult,
        event: &str,
        hook_name: &str,
    ) -> Result<HookResult, AmplifierError> {
        match result.action {
            HookAction::InjectContext => {
                result = inject(self, result, event, hook_name).await?;
            }
            HookAction::AskUser => return ask(self, result, event, hook_name).await,
            HookAction::Continue | HookAction::Deny | HookAction::Modify => {}
        }
        show(self, &result, hook_name).await;
        if result.suppress_output {
            log::debug!(target: LOGGER, "hook `{hook_name}` suppresses the output");
        }
        Ok(result)
    }
}

async fn inject(
    coordinator: &Coordinator,
    result: HookResult,
    event: &str,
    hook_name: &str,
) -> Result<HookResult, AmplifierError> {
    let items = clean_injections(injections(&result, hook_name, event));
    coordinator.charge(|limits, used| {
        let charge = charge_injections(&items, limits, used)?;
        for excess in &charge.excesses {
            log::warn!(
                target: LOGGER,
                "hook `{}` exceeds the injection budget of the turn: {} tokens used, {} more, \
                 {} allowed",
                items[excess.item].hook_name,
                excess.used,
                excess.tokens,
                limits.budget.unwrap_or_default(),
            );
        }
        Ok::<_, AmplifierError>(charge.tokens)
    })?;
    let (ephemeral, durable): (Vec<_>, Vec<_>) = items.into_iter().partition(|item| item.ephemeral);
    for item in durable {
        log::info!(
            target: LOGGER,
            "hook `{}` injects {} characters as `{}` on `{}`",
            item.hook_name,
            item.content.chars().count(),
            item.role.as_str(),
            item.event,
        );
        if let Some(context) = coordinator.context() {
            let now = coordinator.world().time();
            context.add_message(message(item, now)).await?;
        }
    }
    Ok(match Projection::of(&ephemeral) {
        Some(projection) => with_injections(result, ephemeral, projection),
        None => without_injections(result),
    })
}

/// An injection as a message whose metadata names its source.
fn message(item: ContextInjection, now: SystemTime) -> Message {
    let metadata = payload([
        ("source", "hook".into()),
        ("hook_name", item.hook_name.into()),
        ("event", item.event.into()),
        ("timestamp", event_timestamp(now).into()),
        ("requested_role", item.role.as_str().into()),
        ("ephemeral", false.into()),
        ("persisted", true.into()),
    ]);
    let role = match item.role {
        ContextInjectionRole::System => Role::System,
        ContextInjectionRole::User => Role::User,
        ContextInjectionRole::Assistant => Role::Assistant,
    };
    Message::new(role, item.content).with_metadata(metadata)
}

async fn show(coordinator: &Coordinator, result: &HookResult, hook_name: &str) {
    let Some(message) = result
        .user_message
        .as_deref()
        .filter(|text| !text.is_empty())
    else {
        return;
    };
    let Some(display) = coordinator.display_service() else {
        log::debug!(target: LOGGER, "hook `{hook_name}` has a message but no display is set");
        return;
    };
    let named = result.user_message_source.as_deref();
    let name = named.filter(|name| !name.is_empty()).unwrap_or(hook_name);
    let source = format!("hook:{name}");
    let shown = display.show_message(message, result.user_message_level, &source);
    if let Err(error) = shown.await {
        log::error!(
            target: LOGGER,
            "the display failed to show a message of hook `{hook_name}`: {}",
            error.describe(),
        );
    }
}

/// The result of a granted approval: continue with the payload it was about.
fn granting(data: Option<Object>) -> HookResult {
    HookResult {
        data,
        ..HookResult::default()
    }
}

async fn ask(
    coordinator: &Coordinator,
    result: HookResult,
    event: &str,
    hook_name: &str,
) -> Result<HookResult, AmplifierError> {
    let Some(approval) = coordinator.approval_provider() else {
        log::error!(target: LOGGER, "hook `{hook_name}` asks for approval, but no approval provider is set");
        return Ok(HookResult::deny("No approval system available"));
    };
    let prompt = result.approval_prompt.filter(|prompt| !prompt.is_empty());
    let prompt = prompt.unwrap_or_else(|| "Allow this operation?".to_owned());
    let options = result
        .approval_options
        .filter(|options| !options.is_empty());
    let options = options.unwrap_or_else(|| vec!["Allow".to_owned(), "Deny".to_owned()]);
    let timeout = result.approval_timeout;
    let request = ApprovalRequest {
        tool_name: hook_name.to_owned(),
        action: prompt.clone(),
        details: payload([
            ("event", event.into()),
            (
                "options",
                options
                    .into_iter()
                    .map(Json::from)
                    .collect::<Vec<_>>()
                    .into(),
            ),
            ("default", result.approval_default.as_str().into()),
        ]),
        risk_level: "medium".to_owned(),
        timeout: (timeout > 0.0).then_some(timeout),
    };
    let decision = approval.request_approval(request);
    // A number that is not a valid duration counts as infinite: no limit on the wait.
    let decided = match Duration::try_from_secs_f64(timeout.max(0.0)) {
        Err(_) => Some(decision.await),
        Ok(limit) => {
            let limit = limit.saturating_add(Duration::from_secs(APPROVAL_GRACE_SECONDS));
            tokio::time::timeout(limit, decision).await.ok()
        }
    };
    let prompt = clip_prompt(&prompt);
    match decided {
        Some(Ok(response)) if response.approved => Ok(granting(result.data)),
        Some(Ok(_)) => Ok(HookResult::deny(format!("User denied: {prompt}"))),
        Some(Err(error @ ApprovalError::Other(_))) => Err(error.into()),
        None | Some(Err(ApprovalError::Timeout(_))) => {
            let default = result.approval_default;
            log::warn!(
                target: LOGGER,
                "approval for hook `{hook_name}` timed out; using its default `{}`",
                default.as_str(),
            );
            Ok(match default {
                ApprovalDefault::Allow => granting(result.data),
                ApprovalDefault::Deny => {
                    HookResult::deny(format!("Approval timeout - denied by default: {prompt}"))
                }
            })
        }
    }
}
