//! Writes of file tools are recorded, decided after a crash, and undone as commands are.

use std::fs;
use std::path::PathBuf;

use super::crashes::stop_after;
use super::world::*;
use crate::{Kind, State};

fn files() -> World {
    World::new(|project| {
        write(project, "a/file", "old");
        write(project, "gone", "gone");
        set_attribute(&project.join("a/file"), "user.mine", "1");
        set_mode(&project.join("a/file"), 0o640);
        for path in ["a/file", "a", "gone", ""] {
            set_time(&project.join(path), 1_000);
        }
    })
}

fn announce(world: &World) {
    record(world).unwrap();
}

fn record(world: &World) -> Result<(), crate::ChangeError> {
    let paths = ["a/file", "gone", "new/deep/file"].map(PathBuf::from);
    let after = [Some(b"new".to_vec()), None, Some(b"fresh".to_vec())];
    world.change.record_before(&paths, &after)
}

/// What the tool does, in the order of its steps.
fn write_as_tool(world: &World, steps: usize) {
    let project = world.project();
    let all: [&dyn Fn(); 3] = [
        &|| {
            write(&project, "a/.temporary", "new");
            fs::rename(project.join("a/.temporary"), project.join("a/file")).unwrap();
        },
        &|| fs::remove_file(project.join("gone")).unwrap(),
        &|| write(&project, "new/deep/file", "fresh"),
    ];
    for step in &all[..steps] {
        step();
    }
}

// Holds: changes-9
#[test]
fn a_recorded_write_is_undone_and_redone_exactly() {
    let world = files();
    let before = world.look();
    announce(&world);
    assert_eq!(world.change.state().unwrap(), State::Half);
    write_as_tool(&world, 3);
    let after = world.look();

    let outcome = world.change.record_after().unwrap();

    expect_clean(&outcome);
    let expected = [
        (Kind::Modified, "a/file"),
        (Kind::Deleted, "gone"),
        (Kind::Created, "new"),
        (Kind::Created, "new/deep"),
        (Kind::Created, "new/deep/file"),
    ];
    assert_eq!(
        done(&outcome),
        expected.map(|(kind, path)| (kind, path.to_owned()))
    );
    expect_clean(&world.change.undo(false).unwrap());
    assert_eq!(world.look(), before);
    expect_clean(&world.change.redo(false).unwrap());
    assert_eq!(world.look(), after);
}

// Holds: changes-9
#[test]
fn a_crash_between_both_records_is_decided_by_what_is_there() {
    for steps in 0..=3 {
        let world = files();
        let before = world.look();
        announce(&world);
        write_as_tool(&world, steps);

        world.change.recover().unwrap();

        assert_eq!(
            world.change.list_paths().unwrap().len(),
            [0, 1, 2, 5][steps]
        );
        expect_clean(&world.change.undo(false).unwrap());
        assert_eq!(world.look(), before);
    }
}

// Holds: changes-9
#[test]
fn what_a_person_wrote_instead_is_a_conflict() {
    let world = files();
    announce(&world);
    write(&world.project(), "a/file", "mine");

    world.change.recover().unwrap();

    let undone = world.change.undo(false).unwrap();
    assert_eq!(undone.conflicts.len(), 1);
    let kept = undone.conflicts[0].kept.clone().unwrap();
    assert_eq!(fs::read_to_string(kept).unwrap(), "old");
    assert_eq!(
        fs::read_to_string(world.project().join("a/file")).unwrap(),
        "mine"
    );
}

// Holds: changes-8, changes-9
#[test]
fn a_crash_while_files_are_recorded_changes_nothing() {
    for calls in 0.. {
        let world = files();
        let before = world.look();
        let was_stopped = stop_after(calls, || record(&world));
        world.change.recover().unwrap();
        assert_eq!(world.look(), before);
        if !was_stopped {
            break;
        }
    }
}
