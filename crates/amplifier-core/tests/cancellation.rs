//! A cancellation only rises until it is reset, and keeps its children and callbacks.

use amplifier_core::cancellation::{Cancellation, CancellationState};
use proptest::prelude::*;

const LEVELS: [CancellationState; 3] = [
    CancellationState::None,
    CancellationState::Graceful,
    CancellationState::Immediate,
];

proptest! {
    #[test]
    fn the_level_is_the_highest_since_the_last_reset(
        requests in prop::collection::vec(prop::option::of(0..3usize), 0..30),
    ) {
        let mut cancellation: Cancellation<(), ()> = Cancellation::default();
        let mut highest = CancellationState::None;
        for request in requests {
            if let Some(level) = request.map(|level| LEVELS[level]) {
                prop_assert_eq!(cancellation.request(level), level > highest);
                highest = highest.max(level);
            } else {
                cancellation.reset();
                highest = CancellationState::None;
            }
            prop_assert_eq!(cancellation.state(), highest);
        }
    }
}

#[test]
fn a_child_hears_the_level_that_it_has_missed() {
    let mut cancellation: Cancellation<u8, ()> = Cancellation::default();
    assert_eq!(cancellation.add_child(1), CancellationState::None);
    assert!(cancellation.request(CancellationState::Graceful));
    assert_eq!(cancellation.add_child(2), CancellationState::Graceful);
    assert_eq!(cancellation.children(), [1, 2]);
    cancellation.reset();
    assert_eq!(cancellation.children(), [1, 2]);
}

#[test]
fn a_child_leaves_with_all_its_registrations() {
    let mut cancellation: Cancellation<u8, ()> = Cancellation::default();
    for child in [1, 2, 1] {
        cancellation.add_child(child);
    }
    assert_eq!(cancellation.remove_children(|child| *child == 1), [1, 1]);
    assert!(cancellation.remove_children(|child| *child == 1).is_empty());
    assert_eq!(cancellation.children(), [2]);
}

#[test]
fn tools_run_from_their_start_to_their_end_or_a_reset() {
    let mut cancellation: Cancellation<(), ()> = Cancellation::default();
    for id in ["1", "2", "3"] {
        cancellation.tool_started(id.to_owned(), format!("tool {id}"));
    }
    cancellation.tool_completed("2");
    cancellation.tool_completed("unknown");
    let running: Vec<_> = cancellation.running_tools().collect();
    assert_eq!(running, [("1", "tool 1"), ("3", "tool 3")]);
    cancellation.reset();
    assert_eq!(cancellation.running_tools().count(), 0);
}

#[test]
fn callbacks_keep_their_order_and_leave_with_the_children() {
    let mut cancellation: Cancellation<u8, &str> = Cancellation::default();
    cancellation.add_callback("first");
    cancellation.add_callback("second");
    cancellation.add_child(1);
    assert_eq!(cancellation.callbacks(), ["first", "second"]);
    assert_eq!(cancellation.clear(), (vec![1], vec!["first", "second"]));
    assert_eq!(cancellation.clear(), (vec![], vec![]));
}
