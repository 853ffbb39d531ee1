//! Futures of the driver that are dropped half-way while other threads use what they used.

use std::sync::Arc;

use super::{Notes, block_on, cut, explore, suspend, thread};
use crate::cancellation::CancellationState;
use crate::json::Object;
use crate::runtime::{CancellationToken, Coordinator, HookOptions, HookRegistry, Session};
use crate::session_config::SessionConfig;
use crate::traits::{BoxFuture, RunningTool};

fn emit(hooks: &HookRegistry) -> BoxFuture<'_, ()> {
    Box::pin(async {
        hooks.emit("e", Object::new()).await;
    })
}

/// An emit of two handlers that suspend ends at its third poll.
fn an_emit_is_dropped_after(polls: usize) {
    let (hooks, called) = <(HookRegistry, Notes)>::default();
    let (first, second) = (
        Arc::new(called.suspending("first")),
        Arc::new(called.suspending("second")),
    );
    let first_handle = hooks.register("e", Arc::clone(&first), HookOptions::named("first"));
    hooks.register("e", Arc::clone(&second), HookOptions::named("second"));
    let (registrar, third) = (hooks.clone(), called.suspending("third"));
    let register = thread::spawn(move || {
        registrar.register("e", third, HookOptions::named("third"));
    });
    let unregister = thread::spawn(move || first_handle.unregister());
    cut(emit(&hooks), polls);
    register.join().unwrap();
    unregister.join().unwrap();

    assert_eq!(hooks.list_handlers()["e"], ["second", "third"]);
    assert_eq!(Arc::strong_count(&first), 1, "a dropped emit holds nothing");
    assert_eq!(Arc::strong_count(&second), 2);
    called.take();
    block_on(emit(&hooks));
    assert_eq!(called.take(), ["second", "third"]);
}

// Holds: thread-10
#[test]
fn a_registry_is_as_before_after_an_emit_that_is_dropped_at_the_first_handler() {
    explore(|| an_emit_is_dropped_after(1));
}

// Holds: thread-10
#[test]
fn a_registry_is_as_before_after_an_emit_that_is_dropped_at_the_second_handler() {
    explore(|| an_emit_is_dropped_after(2));
}

// Holds: thread-10
#[test]
fn a_registry_is_as_before_after_an_emit_that_is_never_polled() {
    explore(|| an_emit_is_dropped_after(0));
}

// Holds: thread-10
#[test]
fn a_dropped_emit_leaves_another_of_the_same_event_alone() {
    explore(|| {
        let (hooks, called) = <(HookRegistry, Notes)>::default();
        let (other, heard) = (hooks.clone(), called.clone());
        hooks.register("e", called.suspending("first"), HookOptions::named("first"));
        hooks.register("e", called.handler("last"), HookOptions::named("last"));
        let whole = thread::spawn(move || block_on(emit(&other)));
        cut(emit(&hooks), 1);
        whole.join().unwrap();

        assert_eq!(heard.count("first"), 2);
        assert_eq!(heard.count("last"), 1);
    });
}

// Holds: thread-11
#[test]
fn a_turn_that_is_dropped_leaves_no_tool_running() {
    explore(|| {
        let coordinator = Coordinator::default();
        let shared = coordinator.clone();
        let turn = thread::spawn(move || {
            let turn = Box::pin(async {
                let _running = RunningTool::start(&shared, "1", "shell");
                suspend().await;
            });
            cut(turn, 1);
        });
        coordinator.request_cancel(false);
        let during = coordinator.cancellation().running_tools();
        turn.join().unwrap();

        assert!(during.len() <= 1);
        assert_eq!(coordinator.cancellation().running_tools(), []);
        assert!(coordinator.cancellation().is_graceful());
    });
}

// Holds: thread-3
#[test]
fn a_dropped_wait_takes_the_cancel_from_nobody() {
    explore(|| {
        let token = CancellationToken::default();
        let [patient, hasty] = [token.clone(), token.clone()];
        let waits = thread::spawn(move || {
            block_on(patient.reached(CancellationState::Graceful));
            patient.state()
        });
        let leaves = thread::spawn(move || {
            cut(Box::pin(hasty.reached(CancellationState::Graceful)), 1);
        });
        assert!(token.request_graceful());
        leaves.join().unwrap();

        assert_eq!(waits.join().unwrap(), CancellationState::Graceful);
    });
}

// Holds: thread-12
#[test]
fn a_load_that_is_dropped_is_taken_up_by_who_waits_for_it() {
    explore(|| {
        let session = Arc::new(Session::new(SessionConfig::new("loop", "context")));
        let (other, loads) = (Arc::clone(&session), Notes::default());
        let loaded = loads.clone();
        let waits = thread::spawn(move || {
            let load = other.initialize_with(|_| async {
                loaded.add("whole");
                Ok(())
            });
            block_on(load).unwrap();
        });
        let was_ready = cut(
            Box::pin(async {
                let load = session.initialize_with(|_| async {
                    suspend().await;
                    loads.add("half");
                    Ok(())
                });
                load.await.unwrap();
            }),
            1,
        );
        waits.join().unwrap();

        assert!(session.is_initialized());
        assert_eq!(loads.take(), ["whole"], "ready at once: {was_ready}");
    });
}

// Holds: thread-13
#[test]
fn clean_ups_at_once_run_each_function_once_though_one_is_dropped() {
    explore(|| {
        let (coordinator, ran) = <(Coordinator, Notes)>::default();
        for name in ["first", "second"] {
            let ran = ran.clone();
            coordinator.register_cleanup(move || async move {
                ran.add(name);
                suspend().await;
                Ok(())
            });
        }
        let other = coordinator.clone();
        let whole = thread::spawn(move || block_on(other.cleanup()));
        cut(Box::pin(coordinator.cleanup()), 1);
        whole.join().unwrap();

        assert_eq!((ran.count("first"), ran.count("second")), (1, 1));
    });
}
