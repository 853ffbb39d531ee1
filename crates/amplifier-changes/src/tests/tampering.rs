//! Links that are swapped in, and folders that are not where they were.

use std::fs;

use super::layers::every_kind;
use super::world::*;
use crate::Change;

// Holds: changes-7
#[test]
fn nothing_outside_is_touched_through_a_link() {
    let world = World::new(|project| write(project, "folder/file", "old"));
    let outside = world.folder.path().join("outside");
    write(&outside, "file", "outside");
    write(&world.layer(), "folder/file", "new");
    let before = look(&outside);
    let project = world.project();
    fs::rename(project.join("folder"), project.join("away")).unwrap();
    link(outside.to_str().unwrap(), &project.join("folder"));

    let outcome = world.change.commit(None).unwrap();

    assert_eq!(outcome.conflicts.len(), 1);
    assert_eq!(look(&outside), before);
    assert_eq!(fs::read_link(project.join("folder")).unwrap(), outside);
}

// Holds: changes-7
#[test]
fn undo_touches_nothing_through_a_link() {
    let world = every_kind();
    world.change.commit(None).unwrap();
    let project = world.project();
    let outside = world.folder.path().join("outside");
    fs::rename(project.join("merged"), &outside).unwrap();
    link(outside.to_str().unwrap(), &project.join("merged"));
    let before = look(&outside);

    let outcome = world.change.undo(false).unwrap();

    assert_eq!(outcome.conflicts.len(), 3);
    assert_eq!(look(&outside), before);
}

// Holds: changes-7
#[test]
fn two_names_of_one_file_stay_one_file() {
    let world = World::new(|project| write(project, "a", "old"));
    let before = world.look();
    write(&world.layer(), "a", "new");
    fs::hard_link(world.layer().join("a"), world.layer().join("b")).unwrap();

    expect_clean(&world.change.commit(None).unwrap());

    write(&world.project(), "b", "both");
    assert_eq!(
        fs::read_to_string(world.project().join("a")).unwrap(),
        "both"
    );
    write(&world.project(), "b", "new");
    assert_eq!(world.change.undo(false).unwrap().conflicts.len(), 2);
    assert_ne!(world.look(), before);
}

// Holds: changes-7
#[test]
fn paths_that_lead_out_and_folders_in_the_project_are_refused() {
    let world = World::new(|_| {});
    for path in ["/etc/passwd", "../x", "a/../b", "", "."] {
        assert!(world.change.commit(Some(&[path.into()])).is_err());
        assert!(world.change.record_before(&[path.into()], &[None]).is_err());
    }
    let project = world.project();
    assert!(Change::begin(&project, project.join("change")).is_err());
    assert!(Change::open(&project, world.folder.path().join("missing")).is_err());
}
