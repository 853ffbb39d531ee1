//! What a hook's result does: the expectations are those of `tests/kernel/test_hook_effects.py`.

use std::sync::Arc;

use amplifier_core::coordinator::InjectionLimits;
use amplifier_core::error::{AmplifierError, ApprovalError, ContextError, MountError};
use amplifier_core::runtime::{Coordinator, Module};
use amplifier_core::{
    ApprovalDefault, ContextInjectionRole, HookAction, HookResult, Json, MessageContent, Role,
    UserMessageLevel,
};
use log::Level;

use crate::fakes::{Approval, Display, Memory, Seen, action, denial, injection, item, object};
use crate::journal;

fn coordinator_with(memory: &Memory, limits: InjectionLimits) -> Coordinator {
    let coordinator = Coordinator::new(limits);
    coordinator
        .mount(Module::context(memory.clone()), None)
        .unwrap();
    coordinator
}

#[tokio::test]
async fn durable_injections_enter_the_context_and_ephemeral_ones_stay_with_the_loop() {
    let memory = Memory::default();
    let coordinator = coordinator_with(&memory, InjectionLimits::default());
    let mut durable = item("keep\0 this", "h1", "e1");
    durable.role = ContextInjectionRole::User;
    let mut ephemeral = item("once", "h2", "e1");
    ephemeral.ephemeral = true;
    let result = HookResult {
        context_injections: vec![durable, ephemeral.clone()],
        reason: Some("kept".to_owned()),
        ..action(HookAction::InjectContext)
    };

    let left = coordinator
        .process_hook_result(result, "e1", "caller")
        .await;

    let message = memory.messages.take().remove(0);
    assert_eq!(message.role, Role::User);
    assert_eq!(
        message.content,
        MessageContent::Text("keep this".to_owned())
    );
    let mut metadata = message.metadata.unwrap();
    let time = metadata.shift_remove("timestamp").unwrap();
    assert!(time.as_str().unwrap().ends_with("+00:00"));
    let expected = object([
        ("source", "hook".into()),
        ("hook_name", "h1".into()),
        ("event", "e1".into()),
        ("requested_role", "user".into()),
        ("ephemeral", false.into()),
        ("persisted", true.into()),
    ]);
    assert_eq!(metadata, expected);
    let expected = HookResult {
        context_injection: Some("once".to_owned()),
        ephemeral: true,
        context_injections: vec![ephemeral],
        reason: Some("kept".to_owned()),
        ..action(HookAction::InjectContext)
    };
    assert_eq!(left, Ok(expected));
    assert_eq!(coordinator.turn_injections(), 3);
    coordinator.reset_turn();
    assert_eq!(coordinator.turn_injections(), 0);
}

#[tokio::test]
async fn a_scalar_injection_bears_the_names_of_the_call_and_leaves_nothing() {
    let memory = Memory::default();
    let coordinator = coordinator_with(&memory, InjectionLimits::default());
    let result = HookResult {
        user_message: Some("hi".to_owned()),
        ..injection("text")
    };
    let left = coordinator.process_hook_result(result, "e", "hook").await;

    let metadata = memory.messages.take().remove(0).metadata.unwrap();
    assert_eq!(metadata["hook_name"].as_str(), Some("hook"));
    assert_eq!(metadata["event"].as_str(), Some("e"));
    let expected = HookResult {
        user_message: Some("hi".to_owned()),
        ..HookResult::default()
    };
    assert_eq!(left, Ok(expected));
}

#[tokio::test]
async fn without_a_context_injections_are_charged_only() {
    let coordinator = Coordinator::default();
    let left = coordinator
        .process_hook_result(injection("12345678"), "e", "h")
        .await;
    assert_eq!(left, Ok(HookResult::default()));
    assert_eq!(coordinator.turn_injections(), 2);
}

#[tokio::test]
async fn one_item_over_the_size_limit_refuses_all_before_any_is_written() {
    let memory = Memory::default();
    let limits = InjectionLimits {
        size: Some(5),
        ..InjectionLimits::default()
    };
    let coordinator = coordinator_with(&memory, limits);
    let result = HookResult {
        context_injections: vec![item("short", "h", "e"), item("too long", "h", "e")],
        ..action(HookAction::InjectContext)
    };
    let refused = coordinator.process_hook_result(result, "e", "h").await;
    assert_eq!(
        refused,
        Err(MountError::InjectionTooLong { limit: 5 }.into())
    );
    assert!(memory.messages.take().is_empty());
    assert_eq!(coordinator.turn_injections(), 0);
}

#[tokio::test]
async fn the_budget_of_a_turn_only_warns() {
    journal::begin();
    let memory = Memory::default();
    let limits = InjectionLimits {
        budget: Some(1),
        ..InjectionLimits::default()
    };
    let coordinator = coordinator_with(&memory, limits);
    let left = coordinator
        .process_hook_result(injection("12345678"), "e", "greedy")
        .await;
    assert_eq!(left, Ok(HookResult::default()));
    assert_eq!(memory.messages.take().len(), 1);
    let warning = "hook `greedy` exceeds the injection budget of the turn: \
                   0 tokens used, 2 more, 1 allowed";
    assert_eq!(journal::lines()[0], (Level::Warn, warning.to_owned()));
}

#[tokio::test]
async fn a_failing_context_is_the_callers_to_know() {
    let memory = Memory {
        fails: true,
        ..Memory::default()
    };
    let coordinator = coordinator_with(&memory, InjectionLimits::default());
    let failed = coordinator
        .process_hook_result(injection("text"), "e", "h")
        .await;
    let expected = ContextError::StorageFailed("disk full".to_owned());
    assert_eq!(failed, Err(expected.into()));
}

#[tokio::test]
async fn the_users_message_is_shown_and_the_result_returned_as_it_is() {
    let (coordinator, display) = (Coordinator::default(), Display::default());
    coordinator.set_display_service(Some(Arc::new(display.clone())));
    let result = HookResult {
        user_message: Some("look".to_owned()),
        user_message_level: UserMessageLevel::Warning,
        ..denial("no")
    };
    let left = coordinator
        .process_hook_result(result.clone(), "e", "h")
        .await;
    assert_eq!(left, Ok(result.clone()));

    let named = HookResult {
        user_message_source: Some("guard".to_owned()),
        ..result
    };
    coordinator
        .process_hook_result(named, "e", "h")
        .await
        .unwrap();
    let shown = |source: &str| {
        (
            "look".to_owned(),
            UserMessageLevel::Warning,
            source.to_owned(),
        )
    };
    assert_eq!(display.shown.take(), [shown("hook:h"), shown("hook:guard")]);
}

#[tokio::test]
async fn a_failing_display_is_logged_and_ignored() {
    journal::begin();
    let coordinator = Coordinator::default();
    let result = HookResult {
        user_message: Some("look".to_owned()),
        ..HookResult::default()
    };
    let display = Display {
        fails: true,
        ..Display::default()
    };
    coordinator.set_display_service(Some(Arc::new(display)));
    let left = coordinator
        .process_hook_result(result.clone(), "e", "h")
        .await;
    assert_eq!(left, Ok(result));
    let line =
        "the display failed to show a message of hook `h`: Exception: no terminal".to_owned();
    assert_eq!(journal::lines(), [(Level::Error, line)]);
}

fn question() -> HookResult {
    HookResult {
        approval_prompt: Some("Run it?".to_owned()),
        approval_options: Some(vec!["Yes".to_owned(), "No".to_owned()]),
        approval_timeout: 7.0,
        ..action(HookAction::AskUser)
    }
}

/// What is left of a question that is answered like this, and what was asked.
async fn asked(
    question: HookResult,
    answer: Option<Result<bool, ApprovalError>>,
) -> (
    Result<HookResult, AmplifierError>,
    Vec<amplifier_core::ApprovalRequest>,
) {
    let (coordinator, requests) = (Coordinator::default(), Seen::default());
    let approval = Approval {
        answer,
        requests: requests.clone(),
    };
    coordinator.set_approval_provider(Some(Arc::new(approval)));
    let left = coordinator
        .process_hook_result(question, "tool:pre", "gate")
        .await;
    (left, requests.take())
}

#[tokio::test]
async fn a_grant_continues_and_the_question_arrives_whole() {
    let (left, requests) = asked(question(), Some(Ok(true))).await;
    assert_eq!(left, Ok(HookResult::default()));
    let options: Vec<Json> = vec!["Yes".into(), "No".into()];
    let expected = amplifier_core::ApprovalRequest {
        tool_name: "gate".to_owned(),
        action: "Run it?".to_owned(),
        details: object([
            ("event", "tool:pre".into()),
            ("options", options.into()),
            ("default", "deny".into()),
        ]),
        risk_level: "medium".to_owned(),
        timeout: Some(7.0),
    };
    assert_eq!(requests, [expected]);
}

#[tokio::test]
async fn what_was_asked_about_goes_on_when_it_is_granted() {
    let mut question = question();
    question.data = Some(object([("k", 2.into())]));
    let expected = HookResult {
        data: question.data.clone(),
        ..HookResult::default()
    };
    let (left, _) = asked(question, Some(Ok(true))).await;
    assert_eq!(left, Ok(expected));
}

#[tokio::test]
async fn a_refusal_denies_with_the_question_cut_to_a_line() {
    let mut long = question();
    long.approval_prompt = Some("x".repeat(300));
    let (left, _) = asked(long, Some(Ok(false))).await;
    let reason = format!("User denied: {}...[truncated]", "x".repeat(200));
    assert_eq!(left, Ok(denial(&reason)));
}

#[tokio::test]
async fn a_question_without_words_asks_for_permission() {
    let (left, requests) = asked(action(HookAction::AskUser), Some(Ok(false))).await;
    assert_eq!(left, Ok(denial("User denied: Allow this operation?")));
    assert_eq!(requests[0].timeout, Some(300.0));
}

#[tokio::test(start_paused = true)]
async fn a_timeout_takes_the_default_whoever_notices_it() {
    let late = ApprovalError::Timeout("asleep".to_owned());
    for answer in [None, Some(Err(late))] {
        let (left, _) = asked(question(), answer.clone()).await;
        let reason = "Approval timeout - denied by default: Run it?";
        assert_eq!(left, Ok(denial(reason)));

        let mut allowing = question();
        allowing.approval_default = ApprovalDefault::Allow;
        assert_eq!(asked(allowing, answer).await.0, Ok(HookResult::default()));
    }
}

#[tokio::test(start_paused = true)]
async fn the_kernels_own_timer_leaves_the_provider_a_second() {
    for (limit, seconds) in [(7.0, 8), (0.0, 1), (-5.0, 1)] {
        let mut question = question();
        question.approval_timeout = limit;
        let begun = tokio::time::Instant::now();
        let (left, requests) = asked(question, None).await;
        assert_eq!(left.unwrap().action, HookAction::Deny);
        assert_eq!(begun.elapsed().as_secs(), seconds);
        assert_eq!(requests[0].timeout, (limit > 0.0).then_some(limit));
    }
}

#[tokio::test(start_paused = true)]
async fn a_time_limit_beyond_all_time_waits() {
    for limit in [f64::INFINITY, f64::NAN, 1e300] {
        let mut question = question();
        question.approval_timeout = limit;
        let (left, _) = asked(question, Some(Ok(true))).await;
        assert_eq!(left, Ok(HookResult::default()));
    }
}

#[tokio::test]
async fn without_an_approval_provider_a_question_denies() {
    let left = Coordinator::default()
        .process_hook_result(question(), "e", "h")
        .await;
    assert_eq!(left, Ok(denial("No approval system available")));
}

#[tokio::test]
async fn other_errors_of_an_approval_provider_are_the_callers_to_know() {
    let error = ApprovalError::Other("no terminal".to_owned());
    let (left, _) = asked(question(), Some(Err(error.clone()))).await;
    assert_eq!(left, Err(error.into()));
}
