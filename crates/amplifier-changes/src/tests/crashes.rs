//! A crash before any call that changes a disk: what follows is exactly before or exactly after.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::layers::every_kind;
use super::world::World;
use crate::step::LEFT;
use crate::{ChangeError, State};

/// Runs until a number of calls is made; returns whether it was stopped.
pub(crate) fn stop_after<T>(calls: usize, run: impl FnOnce() -> Result<T, ChangeError>) -> bool {
    LEFT.set(Some(calls));
    let ran = catch_unwind(AssertUnwindSafe(run));
    LEFT.set(None);
    match ran {
        Ok(done) => {
            done.unwrap();
            false
        }
        Err(_) => true,
    }
}

fn commit(world: &World) {
    if world.change.state().unwrap() == State::Open {
        assert_eq!(world.change.commit(None).unwrap().conflicts, []);
    }
}

// Holds: changes-8
#[test]
fn a_crash_at_any_step_of_a_commit_an_undo_and_a_redo_is_recovered_from() {
    let mut stops = 0;
    for calls in 0.. {
        let world = every_kind();
        let before = world.look();
        let mut was_stopped = stop_after(calls, || world.change.commit(None));
        // A crash of the recovery itself, too.
        stop_after(calls / 2, || world.change.recover());
        world.change.recover().unwrap();
        if world.change.state().unwrap() == State::Open {
            assert_eq!(world.look(), before);
        }
        commit(&world);
        assert_eq!(world.change.state().unwrap(), State::Committed);
        let after = world.look();
        assert_eq!(after[b"modified".as_slice()].4, b"new content");
        assert_eq!(after.keys().cloned().collect::<Vec<_>>(), expected_names());

        was_stopped |= stop_after(calls, || world.change.undo(false));
        world.change.recover().unwrap();
        let (now, is_undone) = (world.look(), world.change.state().unwrap() == State::Undone);
        assert_eq!(
            now,
            if is_undone {
                before.clone()
            } else {
                after.clone()
            }
        );
        if !is_undone {
            world.change.undo(false).unwrap();
        }

        was_stopped |= stop_after(calls, || world.change.redo(false));
        world.change.recover().unwrap();
        let (now, is_redone) = (
            world.look(),
            world.change.state().unwrap() == State::Committed,
        );
        assert_eq!(now, if is_redone { after } else { before });
        if !was_stopped {
            break;
        }
        stops += 1;
    }
    assert!(stops > 20, "{stops}");
}

fn expected_names() -> Vec<Vec<u8>> {
    let world = every_kind();
    commit(&world);
    world.look().into_keys().collect()
}
