//! Children that come and go while their parent is cancelled.

use super::{explore, thread};
use crate::runtime::CancellationToken;

fn tokens<const N: usize>() -> [CancellationToken; N] {
    std::array::from_fn(|_| CancellationToken::default())
}

// Holds: thread-4
#[test]
fn a_child_registered_during_a_cancel_ends_cancelled() {
    explore(|| {
        let [parent, child, late, grandchild] = tokens();
        let (canceller, registrar) = (parent.clone(), (parent.clone(), child.clone()));
        let cancel = thread::spawn(move || canceller.request_immediate());
        let register = thread::spawn(move || registrar.0.register_child(&registrar.1));
        child.register_child(&grandchild);
        parent.register_child(&late);
        assert!(cancel.join().unwrap());
        register.join().unwrap();

        let levels = [parent, child, late, grandchild].map(|token| token.is_immediate());
        assert_eq!(levels, [true; 4]);
    });
}

// Holds: thread-4
#[test]
fn a_child_registered_between_two_rises_ends_at_the_higher() {
    explore(|| {
        let [parent, child] = tokens();
        let (graceful, immediate) = (parent.clone(), parent.clone());
        let graceful = thread::spawn(move || graceful.request_graceful());
        let immediate = thread::spawn(move || immediate.request_immediate());
        parent.register_child(&child);
        graceful.join().unwrap();
        assert!(immediate.join().unwrap());

        assert!(child.is_immediate());
    });
}

// Holds: thread-5
#[test]
fn tokens_that_register_each_other_neither_wait_nor_turn_for_ever() {
    explore(|| {
        let [one, other] = tokens();
        let [there, back] = [(&one, &other), (&other, &one)].map(|(parent, child)| {
            let (parent, child) = (parent.clone(), child.clone());
            thread::spawn(move || parent.register_child(&child))
        });
        assert!(one.request_graceful());
        there.join().unwrap();
        back.join().unwrap();
        assert!(one.is_graceful() && other.is_graceful());

        assert!(other.request_immediate());
        assert!(one.is_immediate());
    });
}

// Holds: thread-5
#[test]
fn a_circle_that_is_cancelled_from_several_sides_comes_to_rest() {
    explore(|| {
        let [first, second, third] = tokens();
        first.register_child(&second);
        second.register_child(&third);
        third.register_child(&first);
        let (one, other) = (second.clone(), third.clone());
        let one = thread::spawn(move || one.request_graceful());
        let other = thread::spawn(move || other.request_immediate());
        first.request_graceful();
        one.join().unwrap();
        other.join().unwrap();

        let levels = [first, second, third].map(|token| token.is_immediate());
        assert_eq!(levels, [true; 3]);
    });
}

// Holds: thread-6
#[test]
fn a_child_that_has_left_hears_no_later_cancel() {
    explore(|| {
        let [parent, child, sibling] = tokens();
        parent.register_child(&child);
        parent.register_child(&sibling);
        let leaving = (parent.clone(), child.clone());
        let leave = thread::spawn(move || leaving.0.unregister_child(&leaving.1));
        let canceller = parent.clone();
        let cancel = thread::spawn(move || canceller.request_graceful());
        leave.join().unwrap();
        let level = child.state();
        parent.request_immediate();
        cancel.join().unwrap();

        assert!(!child.is_immediate());
        assert!(child.state() >= level);
        assert!(sibling.is_immediate());
    });
}

// Holds: thread-6
#[test]
fn places_of_children_that_nobody_holds_go_without_those_of_others() {
    explore(|| {
        let [parent, living, gone] = tokens();
        parent.register_child(&gone);
        let (registrar, child) = (parent.clone(), living.clone());
        let register = thread::spawn(move || {
            registrar.register_child(&child);
            registrar.register_child(&CancellationToken::default());
        });
        let drops = thread::spawn(move || drop(gone));
        let canceller = parent.clone();
        let cancel = thread::spawn(move || canceller.request_immediate());
        register.join().unwrap();
        drops.join().unwrap();
        assert!(cancel.join().unwrap());

        assert!(living.is_immediate());
    });
}
