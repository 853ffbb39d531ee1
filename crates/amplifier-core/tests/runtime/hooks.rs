//! Hooks through the driver: the expectations are those of `tests/kernel/test_hooks.py`.

use std::sync::Arc;
use std::time::Duration;

use amplifier_core::error::HookError;
use amplifier_core::hook::Policy;
use amplifier_core::runtime::{HookOptions, HookRegistry};
use amplifier_core::traits::{BoxFuture, HookHandler};
use amplifier_core::{ContextInjectionRole, HookAction, HookResult, Object};
use log::Level;

use crate::fakes::{Seen, action, denial, injection, item, object, without_time};
use crate::journal;

/// A handler that notes its calls and answers this.
fn answering(seen: &Seen<Object>, answer: HookResult) -> impl HookHandler + use<> {
    let seen = seen.clone();
    move |_: &str, data: &Object| {
        seen.push(data.clone());
        Ok(answer.clone())
    }
}

fn saying(answer: HookResult) -> impl HookHandler + use<> {
    answering(&Seen::default(), answer)
}

fn failing(text: &'static str) -> impl HookHandler + use<> {
    move |_: &str, _: &Object| Err(HookError::HandlerFailed(text.to_owned()))
}

/// A handler that never answers.
struct Silent;

impl HookHandler for Silent {
    fn handle<'a>(
        &'a self,
        _: &'a str,
        _: &'a Object,
    ) -> BoxFuture<'a, Result<HookResult, HookError>> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn lower_priorities_run_first_and_equal_ones_in_order_of_registration() {
    let (hooks, order) = (HookRegistry::default(), Seen::default());
    for (name, priority) in [("late", 10), ("first", 0), ("second", 0), ("early", -5)] {
        let order = order.clone();
        let note = move |_: &str, _: &Object| {
            order.push(name.to_owned());
            Ok(HookResult::default())
        };
        hooks.register("e", note, HookOptions::named(name).priority(priority));
    }

    hooks.emit("e", Object::new()).await;

    let order = order.take();
    assert_eq!(order, ["early", "first", "second", "late"]);
    assert_eq!(hooks.list_handlers()["e"], order);
}

#[tokio::test]
async fn a_denial_stops_later_hooks() {
    let (hooks, seen) = (HookRegistry::default(), Seen::default());
    let denies = answering(&seen, denial("no network"));
    hooks.register("e", denies, HookOptions::default());
    hooks.register(
        "e",
        answering(&seen, HookResult::default()),
        HookOptions::default().priority(10),
    );

    let result = hooks.emit("e", object([("tool", "web".into())])).await;

    assert_eq!(result, denial("no network"));
    assert_eq!(seen.take().len(), 1);
}

#[tokio::test]
async fn a_modification_replaces_the_payload_of_later_hooks_and_of_the_result() {
    let (hooks, seen) = (HookRegistry::default(), Seen::default());
    let only = object([("only", 1.into())]);
    let modified = HookResult {
        data: Some(only.clone()),
        ..action(HookAction::Modify)
    };
    hooks.register("e", saying(modified), HookOptions::default());
    hooks.register(
        "e",
        saying(action(HookAction::Modify)),
        HookOptions::default(),
    );
    hooks.register(
        "e",
        answering(&seen, HookResult::default()),
        HookOptions::default(),
    );

    let result = hooks.emit("e", object([("gone", true.into())])).await;

    assert_eq!(seen.take(), std::slice::from_ref(&only));
    let expected = HookResult {
        data: Some(only),
        ..HookResult::default()
    };
    assert_eq!(result, expected);
}

#[tokio::test]
async fn the_first_question_wins_over_injections_and_later_questions() {
    let hooks = HookRegistry::default();
    let asking = |prompt: &str| HookResult {
        approval_prompt: Some(prompt.to_owned()),
        ..action(HookAction::AskUser)
    };
    hooks.register("e", saying(injection("x")), HookOptions::default());
    hooks.register("e", saying(asking("first?")), HookOptions::default());
    hooks.register("e", saying(asking("second?")), HookOptions::default());

    assert_eq!(hooks.emit("e", Object::new()).await, asking("first?"));
}

#[tokio::test]
async fn injections_merge_in_order_and_cannot_forge_their_origin() {
    let hooks = HookRegistry::default();
    let one = HookResult {
        ephemeral: true,
        reason: Some("dropped".to_owned()),
        user_message: Some("kept".to_owned()),
        ..injection("a")
    };
    let mut forged = item("b", "kernel", "fake");
    forged.role = ContextInjectionRole::User;
    let two = HookResult {
        context_injections: vec![forged.clone()],
        ..action(HookAction::InjectContext)
    };
    hooks.register("e", saying(one), HookOptions::named("one"));
    hooks.register("e", saying(two), HookOptions::named("two"));

    let mut first = item("a", "one", "e");
    first.ephemeral = true;
    let mut second = item("b", "two", "e");
    second.role = ContextInjectionRole::User;
    let expected = HookResult {
        context_injection: Some("a\n\nb".to_owned()),
        ephemeral: true,
        user_message: Some("kept".to_owned()),
        context_injections: vec![first, second],
        ..action(HookAction::InjectContext)
    };
    assert_eq!(hooks.emit("e", Object::new()).await, expected);
}

#[tokio::test]
async fn a_single_injection_keeps_the_other_fields_of_its_result() {
    let hooks = HookRegistry::default();
    let answer = HookResult {
        reason: Some("kept".to_owned()),
        data: Some(object([("k", 1.into())])),
        ..injection("")
    };
    hooks.register("e", saying(answer.clone()), HookOptions::named("only"));
    hooks.register(
        "e",
        saying(action(HookAction::InjectContext)),
        HookOptions::named("empty"),
    );

    let expected = HookResult {
        context_injections: vec![item("", "only", "e")],
        ..answer
    };
    assert_eq!(hooks.emit("e", Object::new()).await, expected);
}

#[tokio::test]
async fn a_handler_that_fails_is_skipped_and_reported() {
    journal::begin();
    let (hooks, seen) = (HookRegistry::default(), Seen::default());
    hooks.register("e", failing("broken"), HookOptions::named("bad"));
    hooks.register(
        "e",
        answering(&seen, HookResult::default()),
        HookOptions::default(),
    );

    let result = hooks.emit("e", object([("k", 1.into())])).await;

    let expected = HookResult {
        data: Some(object([("k", 1.into())])),
        ..HookResult::default()
    };
    assert_eq!(without_time(result), expected);
    assert_eq!(seen.take().len(), 1);
    let line = "hook `bad` failed on `e`; continuing: broken".to_owned();
    assert_eq!(journal::lines(), [(Level::Error, line)]);
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_fails_or_is_late_denies_where_its_registration_says_so() {
    let (hooks, late) = (HookRegistry::default(), HookRegistry::default());
    hooks.register(
        "e",
        failing("broken"),
        HookOptions::named("gate").fails_closed(),
    );
    let options = HookOptions::named("gate").timeout(Duration::from_secs(5));
    late.register("e", Silent, options.clone().fails_closed());

    let failed = hooks.emit("e", Object::new()).await;
    assert_eq!(failed, denial("hook `gate` failed on `e`"));
    let was_late = late.emit("e", Object::new()).await;
    assert_eq!(was_late, denial("hook `gate` timed out on `e`"));
    assert_eq!(
        options.policy,
        Policy {
            timeout: Some(Duration::from_secs(5)),
            ..Policy::default()
        }
    );
}

#[tokio::test(start_paused = true)]
async fn a_handler_over_its_time_limit_is_skipped() {
    journal::begin();
    let (hooks, seen) = (HookRegistry::default(), Seen::default());
    let limited = HookOptions::named("slow").timeout(Duration::from_secs(5));
    hooks.register("e", Silent, limited);
    hooks.register(
        "e",
        answering(&seen, HookResult::default()),
        HookOptions::default(),
    );

    assert_eq!(
        hooks.emit("e", Object::new()).await.action,
        HookAction::Continue
    );

    assert_eq!(seen.take().len(), 1);
    let line = "hook `slow` timed out on `e`; continuing: no answer within 5 s";
    assert_eq!(journal::lines(), [(Level::Warn, line.to_owned())]);
}

#[tokio::test]
async fn defaults_come_first_data_wins_and_the_time_is_the_kernels() {
    let (hooks, seen) = (HookRegistry::default(), Seen::default());
    hooks.set_default_fields(object([("gone", 0.into())]));
    hooks.set_default_fields(object([
        ("session_id", "s".into()),
        ("parent_id", "p".into()),
    ]));
    hooks.register(
        "e",
        answering(&seen, HookResult::default()),
        HookOptions::default(),
    );

    let data = object([
        ("k", 1.into()),
        ("session_id", "mine".into()),
        ("timestamp", "forged".into()),
    ]);
    hooks.emit("e", data).await;

    let payload = seen.take().remove(0);
    let keys: Vec<&str> = payload.keys().map(String::as_str).collect();
    assert_eq!(keys, ["session_id", "parent_id", "k", "timestamp"]);
    assert_eq!(payload["session_id"].as_str(), Some("mine"));
    let time = payload["timestamp"].as_str().unwrap();
    assert_eq!((time.len(), &time[26..]), (32, "+00:00"));
}

#[tokio::test]
async fn without_a_handler_the_data_comes_back_as_it_is() {
    let hooks = HookRegistry::default();
    hooks.set_default_fields(object([("session_id", "s".into())]));
    let data = object([("k", 1.into())]);

    let expected = HookResult {
        data: Some(data.clone()),
        ..HookResult::default()
    };
    assert_eq!(hooks.emit("e", data).await, expected);
}

#[tokio::test]
async fn a_handle_removes_its_own_registration_and_a_name_all_of_them() {
    let hooks = HookRegistry::default();
    let silent = || saying(HookResult::default());
    let first = hooks.register("a", silent(), HookOptions::named("same"));
    hooks.register("b", silent(), HookOptions::named("same"));
    hooks.register("b", silent(), HookOptions::named("other"));

    first.unregister();
    first.unregister();
    assert!(hooks.list_handlers()["a"].is_empty());
    assert_eq!(hooks.list_handlers()["b"], ["same", "other"]);

    hooks.unregister("same");
    hooks.unregister("unknown");
    assert_eq!(hooks.list_handlers()["b"], ["other"]);
}

#[tokio::test]
async fn what_a_handler_registers_or_unregisters_counts_from_the_next_emit_on() {
    let (hooks, seen) = (HookRegistry::default(), Seen::default());
    let (inside, new) = (hooks.clone(), seen.clone());
    let changes = move |_: &str, _: &Object| {
        inside.register(
            "e",
            answering(&new, HookResult::default()),
            HookOptions::named("new"),
        );
        inside.unregister("changes");
        Ok(HookResult::default())
    };
    hooks.register("e", changes, HookOptions::named("changes"));

    hooks.emit("e", Object::new()).await;
    assert!(seen.take().is_empty());
    hooks.emit("e", Object::new()).await;
    assert_eq!(seen.take().len(), 1);
    assert_eq!(hooks.list_handlers()["e"], ["new"]);
}

#[tokio::test]
async fn handlers_emit_from_inside() {
    struct Outer(HookRegistry);
    impl HookHandler for Outer {
        fn handle<'a>(
            &'a self,
            event: &'a str,
            _: &'a Object,
        ) -> BoxFuture<'a, Result<HookResult, HookError>> {
            Box::pin(async move {
                let data = object([("from", event.into())]);
                Ok(self.0.emit("inner", data).await)
            })
        }
    }
    let hooks = HookRegistry::default();
    hooks.register("inner", saying(denial("inside")), HookOptions::default());
    hooks.register("outer", Outer(hooks.clone()), HookOptions::default());

    assert_eq!(hooks.emit("outer", Object::new()).await, denial("inside"));
    hooks.unregister("outer");
}

#[tokio::test(start_paused = true)]
async fn collecting_asks_every_handler_with_the_same_data() {
    journal::begin();
    let (hooks, seen) = (HookRegistry::default(), Seen::default());
    let giving = |value: i64| HookResult {
        data: Some(object([("v", value.into())])),
        ..denial("ignored")
    };
    hooks.register("e", answering(&seen, giving(1)), HookOptions::named("one"));
    hooks.register("e", failing("broken"), HookOptions::named("bad"));
    hooks.register("e", Silent, HookOptions::named("slow"));
    hooks.register(
        "e",
        answering(&seen, HookResult::default()),
        HookOptions::named("none"),
    );
    hooks.register("e", answering(&seen, giving(2)), HookOptions::named("two"));

    let data = object([("k", 1.into())]);
    let collected = hooks
        .emit_and_collect("e", &data, Some(Duration::ZERO))
        .await;

    assert_eq!(
        collected,
        [object([("v", 1.into())]), object([("v", 2.into())])]
    );
    assert_eq!(seen.take(), [data.clone(), data.clone(), data.clone()]);
    let levels: Vec<Level> = journal::lines().into_iter().map(|line| line.0).collect();
    assert_eq!(levels, [Level::Error, Level::Warn]);
    assert!(
        hooks
            .emit_and_collect("nobody", &data, None)
            .await
            .is_empty()
    );
}

#[tokio::test]
async fn one_handler_hears_of_several_events() {
    let (hooks, seen) = (HookRegistry::default(), Seen::default());
    let shared = Arc::new(answering(&seen, HookResult::default()));
    for event in ["a", "b"] {
        hooks.register(event, Arc::clone(&shared), HookOptions::default());
        hooks.emit(event, Object::new()).await;
    }
    assert_eq!(seen.take().len(), 2);
}

#[tokio::test]
async fn a_handler_that_panics_leaves_the_registry_usable() {
    let (hooks, seen) = (HookRegistry::default(), Seen::default());
    let panics = |_: &str, _: &Object| -> Result<HookResult, HookError> { panic!("planted") };
    hooks.register("e", panics, HookOptions::named("bad"));
    hooks.register(
        "e",
        answering(&seen, HookResult::default()),
        HookOptions::default(),
    );

    let inside = hooks.clone();
    let emission = tokio::spawn(async move { inside.emit("e", Object::new()).await });
    assert!(emission.await.unwrap_err().is_panic());

    hooks.unregister("bad");
    hooks.emit("e", Object::new()).await;
    assert_eq!(seen.take().len(), 1);
}

#[test]
fn threads_register_and_emit_at_the_same_time() {
    let hooks = HookRegistry::default();
    let work = |thread: i32| {
        for round in 0..200 {
            let options = HookOptions::default().priority(thread);
            let handle = hooks.register("e", saying(HookResult::default()), options);
            let emission = std::pin::pin!(hooks.emit("e", Object::new()));
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            assert!(emission.poll(&mut context).is_ready());
            if round > 0 {
                handle.unregister();
            }
        }
    };
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || work(thread));
        }
    });
    assert_eq!(hooks.list_handlers()["e"].len(), 4);
}

#[tokio::test]
async fn futures_of_the_driver_go_from_thread_to_thread() {
    fn is_send<T: Send>(value: T) -> T {
        value
    }
    let hooks = Arc::new(HookRegistry::default());
    is_send(hooks.emit("e", Object::new())).await;
    is_send(hooks.emit_and_collect("e", &Object::new(), None)).await;
}
