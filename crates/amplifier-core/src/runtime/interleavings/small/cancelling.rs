//! Cancelling while tools start and end, and while somebody waits for it.

use super::{block_on, explore, thread};
use crate::cancellation::CancellationState;
use crate::runtime::CancellationToken;

// Holds: thread-1
#[test]
fn a_rise_is_news_to_one_of_those_who_ask_for_it() {
    explore(|| {
        let token = CancellationToken::default();
        let [first, second] = [(); 2].map(|()| {
            let token = token.clone();
            thread::spawn(move || token.request_immediate())
        });
        let graceful = token.request_graceful();
        let seen = token.state();
        let news = [first, second].map(|thread| thread.join().unwrap());

        assert_eq!(news.iter().filter(|is_news| **is_news).count(), 1);
        assert!(graceful || seen == CancellationState::Immediate);
        assert!(token.is_immediate());
    });
}

// Holds: thread-1
#[test]
fn a_level_never_falls_before_who_watches() {
    explore(|| {
        let token = CancellationToken::default();
        let [graceful, immediate] = [
            CancellationToken::request_graceful,
            CancellationToken::request_immediate,
        ]
        .map(|request| {
            let token = token.clone();
            thread::spawn(move || request(&token))
        });
        let seen = [(); 3].map(|()| token.state());
        graceful.join().unwrap();
        immediate.join().unwrap();

        assert!(seen.is_sorted(), "{seen:?}");
        assert!(token.is_immediate());
    });
}

// Holds: thread-2
#[test]
fn a_tool_that_starts_sees_the_cancel_or_is_seen_by_it() {
    explore(|| {
        let token = CancellationToken::default();
        let starter = token.clone();
        let start = thread::spawn(move || {
            starter.register_tool_start("1", "search");
            starter.state()
        });
        let other = token.clone();
        let passing = thread::spawn(move || {
            other.register_tool_start("2", "shell");
            other.register_tool_complete("2");
        });
        assert!(token.request_immediate());
        let running = token.running_tools();
        let seen = start.join().unwrap();
        passing.join().unwrap();

        let search = ("1".to_owned(), "search".to_owned());
        assert!(running.contains(&search) || seen == CancellationState::Immediate);
        assert_eq!(token.running_tools(), [search]);
    });
}

// Holds: thread-2
#[test]
fn every_start_and_end_of_a_tool_counts_during_a_cancel() {
    explore(|| {
        let token = CancellationToken::default();
        token.register_tool_start("0", "read");
        let [first, second] = ["1", "2"].map(|id| {
            let token = token.clone();
            thread::spawn(move || {
                token.register_tool_start(id, "shell");
                let running = token.running_tools();
                token.register_tool_complete(id);
                running.iter().any(|(running, _)| running == id)
            })
        });
        token.request_graceful();
        token.register_tool_complete("0");
        let were_seen = [first, second].map(|thread| thread.join().unwrap());

        assert_eq!(were_seen, [true, true]);
        assert_eq!(token.running_tools(), []);
        assert!(token.is_graceful());
    });
}

// Holds: thread-3
#[test]
fn who_waits_for_a_level_hears_of_it() {
    explore(|| {
        let (parent, child) = <(CancellationToken, CancellationToken)>::default();
        parent.register_child(&child);
        let (at_parent, at_child) = (parent.clone(), child.clone());
        let waiting = thread::spawn(move || {
            block_on(at_parent.reached(CancellationState::Immediate));
            at_parent.state()
        });
        let waiting_below = thread::spawn(move || {
            block_on(at_child.reached(CancellationState::Graceful));
            at_child.state()
        });
        parent.request_graceful();
        parent.request_immediate();

        assert_eq!(waiting.join().unwrap(), CancellationState::Immediate);
        assert!(waiting_below.join().unwrap() >= CancellationState::Graceful);
    });
}
