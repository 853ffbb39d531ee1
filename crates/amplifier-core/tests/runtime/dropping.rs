//! A turn that is dropped at any of its suspensions leaves a session that goes on as before.

use std::sync::Arc;
use std::task::Poll;

use amplifier_core::cancellation::CancellationState;
use amplifier_core::error::{AmplifierError, HookError};
use amplifier_core::runtime::{HookOptions, Module, Session, SessionOptions};
use amplifier_core::traits::{BoxFuture, HookHandler, Kernel, Orchestrator, RunningTool, Turn};
use amplifier_core::{HookAction, HookResult, Object, SessionConfig, event};

use crate::fakes::{Approval, Memory, Seen, action, injection};

/// Answers only when polled again.
async fn suspend() {
    tokio::task::yield_now().await;
}

/// A hook that suspends before and after it is asked.
struct Slow(HookResult);

impl HookHandler for Slow {
    fn handle<'a>(
        &'a self,
        _: &'a str,
        _: &'a Object,
    ) -> BoxFuture<'a, Result<HookResult, HookError>> {
        Box::pin(async {
            suspend().await;
            Ok(self.0.clone())
        })
    }
}

/// A loop with one tool call, before which hooks inject and ask.
struct Careful;

impl Orchestrator for Careful {
    fn execute<'a>(&'a self, turn: Turn<'a>) -> BoxFuture<'a, Result<String, AmplifierError>> {
        Box::pin(async move {
            let ask = |event: &'static str| async move {
                let result = turn.kernel.emit(event, Object::new()).await;
                turn.kernel.process_hook_result(result, event, "loop").await
            };
            ask(event::PROMPT_SUBMIT).await?;
            suspend().await;
            if ask(event::TOOL_PRE).await?.action == HookAction::Continue {
                let _running = RunningTool::start(turn.kernel, "1", "tool");
                suspend().await;
                suspend().await;
            }
            ask(event::TOOL_POST).await?;
            Ok(turn.prompt.to_owned())
        })
    }
}

fn session() -> (Session, Memory) {
    let approval = Approval {
        answer: Some(Ok(true)),
        requests: Seen::default(),
    };
    let options = SessionOptions {
        approval: Some(Arc::new(approval)),
        ..SessionOptions::default()
    };
    let session = Session::with_options(SessionConfig::new("o", "c"), options);
    let (coordinator, memory) = (session.coordinator(), Memory::default());
    coordinator
        .mount(Module::orchestrator(Careful), None)
        .unwrap();
    coordinator
        .mount(Module::context(memory.clone()), None)
        .unwrap();
    let hooks = coordinator.hooks();
    for event in [event::SESSION_START, event::TOOL_POST, event::SESSION_END] {
        hooks.register(
            event,
            Slow(HookResult::default()),
            HookOptions::named("slow"),
        );
    }
    let injects = Slow(injection("remember"));
    hooks.register(event::PROMPT_SUBMIT, injects, HookOptions::named("injects"));
    let asks = Slow(action(HookAction::AskUser));
    hooks.register(event::TOOL_PRE, asks, HookOptions::named("asks"));
    (session, memory)
}

/// Polls a future until it has suspended this often and drops it; what it gave if it ended before.
async fn cut<T>(future: impl Future<Output = T>, suspensions: usize) -> Option<T> {
    let mut future = Box::pin(future);
    let mut left = suspensions;
    std::future::poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending if left == 0 => Poll::Ready(None),
        Poll::Pending => {
            left -= 1;
            Poll::Pending
        }
    })
    .await
}

#[tokio::test]
async fn a_turn_can_be_dropped_at_every_suspension() {
    let mut places = 0;
    loop {
        let (session, memory) = session();
        session.initialize().await.unwrap();
        let handlers = session.coordinator().hooks().list_handlers();
        let was_cut = cut(session.execute("cut"), places).await.is_none();

        let coordinator = session.coordinator();
        assert_eq!(coordinator.hooks().list_handlers(), handlers);
        assert!(coordinator.cancellation().running_tools().is_empty());
        assert_eq!(Kernel::cancellation(coordinator), CancellationState::None);
        let tokens = i64::try_from(memory.messages.take().len()).unwrap() * 2;
        assert_eq!(coordinator.turn_injections(), tokens);

        assert_eq!(session.execute("again").await.as_deref(), Ok("again"));
        assert_eq!(memory.messages.take().len(), 1);
        session.cleanup().await;
        if !was_cut {
            break;
        }
        places += 1;
    }
    assert_eq!(places, 7);
}

#[tokio::test]
async fn a_cleanup_that_is_dropped_leaves_the_rest_to_the_next() {
    let (session, _) = session();
    let order = Seen::default();
    for name in ["first", "second", "third"] {
        let order = order.clone();
        session.coordinator().register_cleanup(move || async move {
            order.push(name);
            suspend().await;
            Ok(())
        });
    }
    session.initialize().await.unwrap();

    assert_eq!(cut(session.cleanup(), 1).await, None);
    assert_eq!(order.take(), ["third"]);
    session.cleanup().await;
    assert_eq!(order.take(), ["second", "first"]);
}
