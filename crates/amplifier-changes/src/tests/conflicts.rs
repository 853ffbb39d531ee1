//! What somebody else changes stays, and both versions are named.

use std::fs;

use super::layers::every_kind;
use super::world::*;
use crate::{Change, Outcome, State};

fn conflicts(outcome: &Outcome) -> Vec<String> {
    let each = outcome.conflicts.iter();
    each.map(|it| it.path.to_str().unwrap().to_owned())
        .collect()
}

// Holds: changes-4
#[test]
fn what_a_person_changed_meanwhile_is_not_committed_over() {
    let world = every_kind();
    let project = world.project();
    write(&project, "modified", "mine");
    write(&project, "created", "mine");
    write(&project, "old/a/mine", "mine");
    fs::remove_file(project.join("deleted")).unwrap();
    fs::remove_file(project.join("typed")).unwrap();

    let outcome = world.change.commit(None).unwrap();

    assert_eq!(conflicts(&outcome), ["created", "modified", "old"]);
    for (path, theirs) in [("modified", "new content"), ("created", "created")] {
        assert_eq!(fs::read_to_string(project.join(path)).unwrap(), "mine");
        let conflict = outcome
            .conflicts
            .iter()
            .find(|it| it.path.to_str() == Some(path));
        let kept = conflict.unwrap().kept.clone().unwrap();
        assert_eq!(fs::read_to_string(kept).unwrap(), theirs);
    }
    assert!(project.join("old/a/b").exists() && project.join("old/a/mine").exists());
    assert!(project.join("typed/inner").exists());
    assert_eq!(world.change.undo(false).unwrap().conflicts, []);
    assert_eq!(
        fs::read_to_string(project.join("modified")).unwrap(),
        "mine"
    );
}

// Holds: changes-4
#[test]
fn what_changed_just_before_the_beginning_is_no_conflict() {
    for _ in 0..20 {
        let world = World::new(|project| write(project, "file", "old"));
        write(&world.layer(), "file", "new");
        expect_clean(&world.change.commit(None).unwrap());

        let next = Change::begin(world.project(), world.folder.path().join("next")).unwrap();
        write(&world.project(), "file", "mine");
        write(&next.layer(), "file", "newer");
        assert_eq!(conflicts(&next.commit(None).unwrap()), ["file"]);
    }
}

// Holds: changes-4
#[test]
fn an_edit_after_the_clock_was_set_back_is_a_conflict() {
    let world = World::new(|project| write(project, "file", "old"));
    write(&world.layer(), "file", "new");
    // As if the change had begun before the clock was set back by an hour.
    let marker = world.folder.path().join("change/begun");
    let mut begin: serde_json::Value = serde_json::from_slice(&fs::read(&marker).unwrap()).unwrap();
    begin["last"][0] = (begin["last"][0].as_i64().unwrap() + 3_600).into();
    fs::write(&marker, begin.to_string()).unwrap();
    write(&world.project(), "file", "mine");

    assert_eq!(conflicts(&world.change.commit(None).unwrap()), ["file"]);
}

// Holds: changes-4
#[test]
fn a_copied_file_that_a_person_removed_stays_away() {
    let world = World::new(|project| write(project, "a/file", "old"));
    write(&world.layer(), "a/file", "new");
    mark_copied(&world.layer().join("a/file"));
    mark_copied(&world.layer().join("a"));
    fs::remove_dir_all(world.project().join("a")).unwrap();

    let outcome = world.change.commit(None).unwrap();

    assert_eq!(conflicts(&outcome), ["a"]);
    let kept = outcome.conflicts[0].kept.clone().unwrap();
    assert_eq!(fs::read_to_string(kept.join("file")).unwrap(), "new");
}

// Holds: changes-4
#[test]
fn undo_and_redo_keep_the_edits_of_a_person() {
    let world = every_kind();
    world.change.commit(None).unwrap();
    let project = world.project();
    write(&project, "modified", "mine");
    write(&project, "fresh/mine", "mine");
    write(&project, "old", "mine");

    let preview = world.change.undo(true).unwrap();
    let undone = world.change.undo(false).unwrap();

    assert_eq!(preview, undone);
    assert_eq!(conflicts(&undone), ["fresh", "modified", "old"]);
    let kept = undone.conflicts[1].kept.clone().unwrap();
    assert_eq!(fs::read_to_string(kept).unwrap(), "modified");
    assert_eq!(undone.conflicts[0].kept, None);
    for path in ["modified", "fresh/mine", "old"] {
        assert_eq!(fs::read_to_string(project.join(path)).unwrap(), "mine");
    }
    assert!(!project.join("created").exists());
    let redone = world.change.redo(false).unwrap();
    assert_eq!(conflicts(&redone), ["fresh", "modified", "old"]);
    assert_eq!(
        fs::read_to_string(project.join("modified")).unwrap(),
        "mine"
    );
    assert!(project.join("created").exists());
}

// Holds: changes-4
#[test]
fn the_rights_of_a_folder_that_a_person_set_stay() {
    let world = every_kind();
    world.change.commit(None).unwrap();
    set_mode(&world.project().join("merged"), 0o700);

    let undone = world.change.undo(false).unwrap();

    assert_eq!(conflicts(&undone), ["merged"]);
    assert_eq!(world.look()[b"merged".as_slice()].0 & 0o777, 0o700);
}

// Holds: changes-2
#[test]
fn a_change_goes_only_from_state_to_state() {
    let world = every_kind();
    assert!(world.change.undo(false).is_err());
    world.change.commit(None).unwrap();
    assert!(world.change.commit(None).is_err());
    assert!(world.change.redo(false).is_err());
    assert_eq!(world.change.state().unwrap(), State::Committed);
}
