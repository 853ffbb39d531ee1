//! The token: the expectations are those of `tests/kernel/test_cancellation.py`.

use std::sync::Arc;

use amplifier_core::cancellation::CancellationState::{Graceful, Immediate, None as Not};
use amplifier_core::runtime::CancellationToken;

use crate::fakes::Seen;

#[test]
fn the_level_rises_and_only_a_reset_lowers_it() {
    let token = CancellationToken::default();
    assert_eq!((token.state(), token.is_cancelled()), (Not, false));

    assert!(token.request_graceful());
    assert!(!token.request_graceful());
    assert_eq!(
        (token.state(), token.is_graceful(), token.is_cancelled()),
        (Graceful, true, true)
    );

    assert!(token.request_immediate());
    assert!(!token.request_immediate() && !token.request_graceful());
    assert_eq!(
        (token.state(), token.is_graceful(), token.is_immediate()),
        (Immediate, false, true)
    );

    token.reset();
    assert_eq!(token.state(), Not);
}

#[test]
fn clones_share_their_level_and_a_reset_empties_the_running_tools() {
    let token = CancellationToken::default();
    let clone = token.clone();
    token.register_tool_start("1", "grep");
    token.register_tool_start("2", "glob");
    clone.register_tool_complete("1");
    clone.register_tool_complete("unknown");
    clone.request_graceful();

    assert_eq!(token.running_tools(), [("2".to_owned(), "glob".to_owned())]);
    assert!(token.is_cancelled());
    token.reset();
    assert!(clone.running_tools().is_empty());
}

#[test]
fn children_inherit_now_and_later_and_cycles_end() {
    let [parent, child, late] = std::array::from_fn(|_| CancellationToken::default());
    parent.register_child(&child);
    child.register_child(&parent);
    parent.request_graceful();
    assert!(child.is_graceful());

    parent.register_child(&late);
    assert!(late.is_graceful());

    parent.unregister_child(&late);
    parent.request_immediate();
    assert_eq!((child.state(), late.state()), (Immediate, Graceful));

    parent.reset();
    assert_eq!((parent.state(), child.state()), (Not, Immediate));
}

#[test]
fn a_cancelled_child_leaves_its_parent_alone() {
    let [parent, child] = std::array::from_fn(|_| CancellationToken::default());
    parent.register_child(&child);
    child.request_immediate();
    assert!(!parent.is_cancelled());
}

#[test]
fn tokens_that_hang_by_callbacks_may_be_dropped_deeper_than_a_stack_is() {
    let last = CancellationToken::default();
    let held = Arc::new(());
    let witness = Arc::clone(&held);
    last.on_cancel(move || {
        let _ = &held;
        async {}
    });
    let first = (0..100_000).fold(last, |child, _| {
        let token = CancellationToken::default();
        token.on_cancel(move || {
            child.request_graceful();
            async {}
        });
        token
    });
    drop(first);
    assert_eq!(Arc::strong_count(&witness), 1);
}

#[test]
fn children_may_be_nested_deeper_than_a_stack_is() {
    let tokens: Vec<_> = (0..100_000).map(|_| CancellationToken::default()).collect();
    for pair in tokens.windows(2) {
        pair[0].register_child(&pair[1]);
    }
    tokens[0].request_immediate();
    assert!(tokens.iter().all(CancellationToken::is_immediate));
}

#[test]
fn a_parent_does_not_keep_its_children() {
    let parent = CancellationToken::default();
    let held = Arc::new(());
    for _ in 0..1000 {
        let child = CancellationToken::default();
        let inside = Arc::clone(&held);
        child.on_cancel(move || {
            let _ = &inside;
            async {}
        });
        parent.register_child(&child);
    }
    assert_eq!(Arc::strong_count(&held), 1);
    assert!(parent.request_graceful());
}

#[tokio::test]
async fn callbacks_run_on_demand_in_order_and_every_time() {
    let (token, seen) = (CancellationToken::default(), Seen::default());
    for name in ["first", "second"] {
        let seen = seen.clone();
        token.on_cancel(move || {
            let seen = seen.clone();
            async move { seen.push(name) }
        });
    }
    token.request_graceful();
    assert!(seen.take().is_empty());
    token.trigger_callbacks().await;
    token.trigger_callbacks().await;
    assert_eq!(seen.take(), ["first", "second", "first", "second"]);
}

#[tokio::test]
async fn whoever_waits_for_a_level_wakes_when_it_is_reached() {
    let token = CancellationToken::default();
    let waiting = |level| {
        let token = token.clone();
        tokio::spawn(async move { token.reached(level).await })
    };
    let (graceful, immediate) = (waiting(Graceful), waiting(Immediate));
    tokio::task::yield_now().await;

    token.request_graceful();
    graceful.await.unwrap();
    assert!(!immediate.is_finished());

    token.request_immediate();
    immediate.await.unwrap();
    token.reached(Immediate).await;
}
