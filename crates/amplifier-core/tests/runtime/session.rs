//! A session: the expectations are those of `tests/kernel/test_session.py`.

use std::sync::Arc;

use amplifier_core::cancellation::CancellationState;
use amplifier_core::coordinator::Slot;
use amplifier_core::error::{AmplifierError, SessionError};
use amplifier_core::runtime::{HookOptions, Module, Session, SessionOptions};
use amplifier_core::traits::{BoxFuture, Orchestrator, Turn};
use amplifier_core::{
    HookResult, Json, Object, ProviderError, ProviderFailure, SessionConfig, event,
};

use crate::fakes::{Echo, Memory, Seen, object};

/// A session `s` of parent `p` whose loop does this before it answers with the prompt.
fn session_with<F>(plan: &str, is_resumed: bool, deed: F) -> Session
where
    F: Fn() -> BoxFuture<'static, Result<(), AmplifierError>> + Send + Sync + 'static,
{
    let config = SessionConfig::parse(plan.as_bytes()).unwrap();
    let options = SessionOptions {
        session_id: Some("s".to_owned()),
        parent_id: Some("p".to_owned()),
        is_resumed,
        ..SessionOptions::default()
    };
    let session = Session::with_options(config, options);
    let coordinator = session.coordinator();
    coordinator
        .mount(Module::orchestrator(Echo(deed)), None)
        .unwrap();
    coordinator
        .mount(Module::context(Memory::default()), None)
        .unwrap();
    session
}

const PLAN: &str = r#"{"session": {"orchestrator": "o", "context": "c"}}"#;

fn nothing() -> BoxFuture<'static, Result<(), AmplifierError>> {
    Box::pin(async { Ok(()) })
}

/// Notes events with their payloads, without what every payload has.
fn record(session: &Session, events: &[&str]) -> Seen<(String, Object)> {
    let seen = Seen::default();
    for event in events {
        let seen = seen.clone();
        let note = move |event: &str, data: &Object| {
            let mut data = data.clone();
            data.shift_remove("timestamp");
            seen.push((event.to_owned(), data));
            Ok(HookResult::default())
        };
        session
            .coordinator()
            .hooks()
            .register(event, note, HookOptions::default());
    }
    seen
}

/// A payload with the ids that the session puts into every one.
fn told<const N: usize>(event: &str, entries: [(&str, Json); N]) -> (String, Object) {
    let mut data = object([("session_id", "s".into()), ("parent_id", "p".into())]);
    data.extend(object(entries));
    (event.to_owned(), data)
}

#[tokio::test]
async fn a_session_starts_once_and_ends_once_while_hooks_still_hear_it() {
    let session = session_with(PLAN, false, nothing);
    let events = [
        event::SESSION_FORK,
        event::SESSION_START,
        event::SESSION_END,
    ];
    let seen = record(&session, &events);
    let cleaned = seen.clone();
    session.coordinator().register_cleanup(move || async move {
        cleaned.push(("cleaned".to_owned(), Object::new()));
        Ok(())
    });

    session.initialize().await.unwrap();
    session.initialize().await.unwrap();
    assert_eq!(session.execute("a").await.as_deref(), Ok("a"));
    assert_eq!(session.execute("b").await.as_deref(), Ok("b"));
    session.cleanup().await;
    session.cleanup().await;

    let expected = [
        told("session:fork", [("parent", "p".into())]),
        told("session:start", []),
        told("session:end", []),
        ("cleaned".to_owned(), Object::new()),
    ];
    assert_eq!(seen.take(), expected);
}

#[tokio::test]
async fn a_resumed_session_says_so_and_carries_its_metadata() {
    let plan = r#"{"session": {"orchestrator": "o", "context": "c", "metadata": {"user": "u"}}}"#;
    let session = session_with(plan, true, nothing);
    let seen = record(&session, &[event::SESSION_START, event::SESSION_RESUME]);
    session.initialize().await.unwrap();
    session.execute("a").await.unwrap();
    let metadata = Json::from_iter([("user", "u")]);
    assert_eq!(
        seen.take(),
        [told("session:resume", [("metadata", metadata)])]
    );
}

#[tokio::test]
async fn a_raw_configuration_is_emitted_before_every_turn_without_its_secrets() {
    let plan = r#"{"session": {"orchestrator": "o", "context": "c", "raw": true},
        "extra": [{"api_key": "sk", "accessToken": "t", "max_tokens": 5, "secret-name": 1}]}"#;
    let session = session_with(plan, false, nothing);
    let seen = record(&session, &[event::SESSION_CONFIG]);
    session.initialize().await.unwrap();
    session.execute("a").await.unwrap();
    session.execute("b").await.unwrap();

    let hidden = || Json::from("[REDACTED]");
    let extra = Json::from_iter([
        ("api_key", hidden()),
        ("accessToken", hidden()),
        ("max_tokens", 5.into()),
        ("secret-name", 1.into()),
    ]);
    let mut raw = session.config().plan.clone();
    raw.insert("extra".to_owned(), vec![extra].into());
    let expected = told("session:config", [("raw", raw.into())]);
    assert_eq!(seen.take(), [expected.clone(), expected]);
}

#[tokio::test]
async fn a_turn_needs_an_initialized_session_with_its_modules() {
    let session = Session::new(SessionConfig::new("o", "c"));
    assert_eq!(
        session.execute("a").await,
        Err(SessionError::NotInitialized.into())
    );

    session.initialize().await.unwrap();
    let missing = |slot| Err(SessionError::NotMounted(slot).into());
    assert_eq!(session.execute("a").await, missing(Slot::Orchestrator));
    session
        .coordinator()
        .mount(Module::orchestrator(Echo(nothing)), None)
        .unwrap();
    assert_eq!(session.execute("a").await, missing(Slot::Context));

    session.cleanup().await;
    assert_eq!(
        session.execute("a").await,
        Err(SessionError::AlreadyCompleted.into())
    );
    session.initialize().await.unwrap();
    assert_eq!(session.execute("a").await, missing(Slot::Context));
}

#[tokio::test]
async fn concurrent_initializes_mount_once() {
    let session = Arc::new(session_with(PLAN, false, nothing));
    let mounts = Seen::default();
    let tasks: Vec<_> = (0..5)
        .map(|_| {
            let (session, mounts) = (Arc::clone(&session), mounts.clone());
            tokio::spawn(async move {
                let mount = |_| async move {
                    tokio::task::yield_now().await;
                    mounts.push(());
                    Ok(())
                };
                session.initialize_with(mount).await
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    assert_eq!(mounts.take().len(), 1);
}

#[tokio::test]
async fn a_failed_load_can_be_tried_again() {
    let session = session_with(PLAN, false, nothing);
    let failed = session
        .initialize_with(|_| async { Err(AmplifierError::other("no module")) })
        .await;
    assert_eq!(failed, Err(AmplifierError::other("no module")));
    assert!(!session.is_initialized());
    session.initialize().await.unwrap();
    assert!(session.is_initialized());
}

#[tokio::test]
async fn a_load_that_was_dropped_is_taken_over_by_whoever_waits() {
    let session = Arc::new(session_with(PLAN, false, nothing));
    let spawn_load = |mount: BoxFuture<'static, Result<(), AmplifierError>>| {
        let session = Arc::clone(&session);
        tokio::spawn(async move { session.initialize_with(|_| mount).await })
    };
    let hanging = spawn_load(Box::pin(std::future::pending()));
    tokio::task::yield_now().await;
    let waiting = spawn_load(nothing());
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());

    hanging.abort();
    waiting.await.unwrap().unwrap();
    assert!(session.is_initialized());
}

#[tokio::test]
async fn what_the_loop_fails_with_comes_through_as_it_is() {
    let failure = ProviderFailure::new("slow down")
        .provider("anthropic")
        .retry_after(2.0);
    let error = ProviderError::RateLimit(failure.into());
    let fails = {
        let error = error.clone();
        move || -> BoxFuture<'static, Result<(), AmplifierError>> {
            let error = error.clone();
            Box::pin(async { Err(error.into()) })
        }
    };
    let session = session_with(PLAN, false, fails);
    session.initialize().await.unwrap();
    assert_eq!(session.execute("a").await, Err(error.into()));
}

#[tokio::test]
async fn a_cancelled_turn_says_so_whether_it_answers_or_fails() {
    let outcomes = Seen::default();
    outcomes.push(Ok(()));
    outcomes.push(Err(ProviderError::Abort(
        ProviderFailure::new("cut").into(),
    )
    .into()));
    let outcomes: Arc<std::sync::Mutex<Vec<_>>> = Arc::new(outcomes.take().into());
    let deed = move || -> BoxFuture<'static, Result<(), AmplifierError>> {
        let outcome = outcomes.lock().unwrap().remove(0);
        Box::pin(async { outcome })
    };
    let session = session_with(PLAN, false, deed);
    let seen = record(&session, &[event::CANCEL_COMPLETED]);
    session.initialize().await.unwrap();

    session.coordinator().request_cancel(false);
    session.execute("a").await.unwrap();
    session.coordinator().request_cancel(true);
    session.execute("b").await.unwrap_err();

    let expected = [
        told("cancel:completed", [("was_immediate", false.into())]),
        told(
            "cancel:completed",
            [
                ("was_immediate", true.into()),
                ("error", "AbortError: cut".into()),
            ],
        ),
    ];
    assert_eq!(seen.take(), expected);
}

#[tokio::test]
async fn a_loop_drops_what_runs_when_it_is_to_stop_at_once() {
    struct Obedient;
    impl Orchestrator for Obedient {
        fn execute<'a>(&'a self, turn: Turn<'a>) -> BoxFuture<'a, Result<String, AmplifierError>> {
            Box::pin(async move {
                tokio::select! {
                    () = turn.kernel.cancelled(CancellationState::Immediate) => {
                        Ok("stopped".to_owned())
                    }
                    () = std::future::pending() => Ok("done".to_owned()),
                }
            })
        }
    }
    let session = Arc::new(session_with(PLAN, false, nothing));
    session
        .coordinator()
        .mount(Module::orchestrator(Obedient), None)
        .unwrap();
    session.initialize().await.unwrap();
    let running = {
        let session = Arc::clone(&session);
        tokio::spawn(async move { session.execute("a").await })
    };
    tokio::task::yield_now().await;
    session.coordinator().request_cancel(false);
    tokio::task::yield_now().await;
    assert!(!running.is_finished());
    session.coordinator().request_cancel(true);
    assert_eq!(running.await.unwrap().as_deref(), Ok("stopped"));
}

#[tokio::test]
async fn a_second_turn_is_refused_while_one_runs_and_runs_after_it_was_dropped() {
    let hangs =
        || -> BoxFuture<'static, Result<(), AmplifierError>> { Box::pin(std::future::pending()) };
    let session = Arc::new(session_with(PLAN, false, hangs));
    session.initialize().await.unwrap();
    let first = {
        let session = Arc::clone(&session);
        tokio::spawn(async move { session.execute("a").await })
    };
    tokio::task::yield_now().await;
    let refused = session.execute("b").await.unwrap_err();
    let message = "a turn of this session is running; await it first";
    assert_eq!(refused, SessionError::Other(message.to_owned()).into());

    first.abort();
    first.await.unwrap_err();
    let answers = Module::orchestrator(Echo(nothing));
    session.coordinator().mount(answers, None).unwrap();
    assert_eq!(session.execute("c").await.as_deref(), Ok("c"));
}

#[tokio::test]
async fn a_session_goes_when_its_last_holder_does() {
    let held = Arc::new(());
    let inside = Arc::clone(&held);
    let deed = move || -> BoxFuture<'static, Result<(), AmplifierError>> {
        let _ = &inside;
        nothing()
    };
    let session = session_with(PLAN, false, deed);
    session.initialize().await.unwrap();
    session.execute("a").await.unwrap();
    drop(session);
    assert_eq!(Arc::strong_count(&held), 1);
}
