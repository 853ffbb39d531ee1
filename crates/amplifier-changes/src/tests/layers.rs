//! Layers are read, committed, undone and redone exactly.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, mkdirat, mknodat, openat};

use super::world::*;
use crate::{Dropped, Kind, State};

/// A project and a layer that has each kind of change.
pub(crate) fn every_kind() -> World {
    let world = World::new(|project| {
        for path in [
            "kept",
            "modified",
            "deleted",
            "old/a/b",
            "merged/gone",
            "merged/stays",
            "typed",
        ] {
            write(project, path, path);
        }
        write(project, "replaced/old", "old");
        write(project, "folder-to-file/x", "x");
        link("modified", &project.join("link"));
        set_attribute(&project.join("modified"), "user.mine", "1");
        set_mode(&project.join("modified"), 0o751);
        for path in ["modified", "merged", "old/a", "old", "link", ""] {
            set_time(&project.join(path), 1_000_000);
        }
    });
    let layer = world.layer();
    write(&layer, "modified", "new content");
    mark_copied(&layer.join("modified"));
    write(&layer, "created", "created");
    whiteout(&layer, "deleted");
    whiteout(&layer, "old");
    whiteout(&layer, "merged/gone");
    write(&layer, "merged/new", "new");
    make_opaque(&layer.join("replaced"));
    write(&layer, "replaced/new", "new");
    write(&layer, "folder-to-file", "file");
    make_opaque(&layer.join("typed"));
    write(&layer, "typed/inner", "inner");
    write(&layer, "fresh/deep/er", "deep");
    fs::hard_link(layer.join("fresh/deep/er"), layer.join("fresh/other")).unwrap();
    link("elsewhere", &layer.join("link"));
    write_bytes(&layer, b"\xff\xfe\"", "not text");
    set_attribute(&layer.join("merged"), "user.folder", "2");
    set_mode(&layer.join("merged"), 0o711);
    for path in ["merged", "fresh/deep", "fresh", ""] {
        set_time(&layer.join(path), 2_000_000);
    }
    world
}

// Holds: changes-1, changes-2, changes-3
#[test]
fn every_kind_of_change_is_committed_undone_and_redone_exactly() {
    let world = every_kind();
    let before = world.look();
    let expected = [
        (Kind::Created, "created"),
        (Kind::Deleted, "deleted"),
        (Kind::Modified, "folder-to-file"),
        (Kind::Deleted, "folder-to-file/x"),
        (Kind::Created, "fresh"),
        (Kind::Created, "fresh/deep"),
        (Kind::Created, "fresh/deep/er"),
        (Kind::Created, "fresh/other"),
        (Kind::Modified, "link"),
        (Kind::Modified, "merged"),
        (Kind::Deleted, "merged/gone"),
        (Kind::Created, "merged/new"),
        (Kind::Modified, "modified"),
        (Kind::Deleted, "old"),
        (Kind::Deleted, "old/a"),
        (Kind::Deleted, "old/a/b"),
        (Kind::Modified, "replaced"),
        (Kind::Created, "replaced/new"),
        (Kind::Deleted, "replaced/old"),
        (Kind::Modified, "typed"),
        (Kind::Created, "typed/inner"),
        (Kind::Created, "\u{ff}\u{fe}\""),
    ]
    .map(|(kind, path)| (kind, path.to_owned()));

    let listed = world.change.list_paths().unwrap();
    let committed = world.change.commit(None).unwrap();
    expect_clean(&committed);
    assert_eq!(done(&committed), expected);
    assert_eq!(listed.len(), committed.done.len());
    let after = world.look();
    let project = world.project();
    assert_eq!(
        fs::read_to_string(project.join("modified")).unwrap(),
        "new content"
    );
    assert_eq!(
        fs::metadata(project.join("merged")).unwrap().mode() & 0o777,
        0o711
    );
    let attributes = &after[b"merged".as_slice()].5;
    assert_eq!(*attributes, [("user.folder".to_owned(), "2".to_owned())]);
    assert_eq!(fs::metadata(&project).unwrap().mtime(), 2_000_000);
    let inode = |path: &str| fs::metadata(project.join(path)).unwrap().ino();
    assert_eq!(inode("fresh/other"), inode("fresh/deep/er"));
    let is_mark = |it: &(String, String)| it.0.starts_with("user.overlay.");
    assert!(!after.values().any(|look| look.5.iter().any(is_mark)));

    for _ in 0..2 {
        let preview = world.change.undo(true).unwrap();
        assert_eq!(world.look(), after);
        let undone = world.change.undo(false).unwrap();
        expect_clean(&undone);
        assert_eq!(preview, undone);
        assert_eq!(world.look(), before);
        assert_eq!(world.change.state().unwrap(), State::Undone);
        expect_clean(&world.change.redo(false).unwrap());
        assert_eq!(world.look(), after);
    }
    world.change.remove().unwrap();
    assert!(!world.folder.path().join("change").exists());
}

// Holds: changes-3
#[test]
fn folders_have_the_times_of_their_versions_where_an_exchange_changes_them() {
    let world = every_kind();
    let before = world.look();
    expect_clean(&world.change.commit(None).unwrap());
    let after = world.look();

    // As XFS does.
    set_time(&world.layer().join("replaced"), 3_000_000);
    set_time(&world.project().join("replaced"), 3_000_000);

    expect_clean(&world.change.undo(false).unwrap());
    assert_eq!(world.look(), before);
    expect_clean(&world.change.redo(false).unwrap());
    assert_eq!(world.look(), after);
}

// Holds: changes-5
#[test]
fn chosen_paths_alone_are_committed_and_undone() {
    let world = every_kind();
    let before = world.look();
    let chosen = ["modified", "fresh/deep/er", "old/a/b", "replaced/old"].map(PathBuf::from);

    let outcome = world.change.commit(Some(&chosen)).unwrap();

    expect_clean(&outcome);
    let expected = [
        (Kind::Created, "fresh"),
        (Kind::Created, "fresh/deep"),
        (Kind::Created, "fresh/deep/er"),
        (Kind::Modified, "modified"),
        (Kind::Deleted, "old/a/b"),
        (Kind::Deleted, "replaced/old"),
    ];
    assert_eq!(
        done(&outcome),
        expected.map(|(kind, path)| (kind, path.to_owned()))
    );
    let project = world.project();
    assert!(project.join("old/a").is_dir() && project.join("deleted").exists());
    assert!(!project.join("fresh/other").exists() && !project.join("replaced/new").exists());
    expect_clean(&world.change.undo(false).unwrap());
    assert_eq!(world.look(), before);
}

// Holds: changes-6
#[test]
fn modes_that_lend_rights_and_special_files_are_dropped_and_named() {
    let world = World::new(|project| write(project, "tool", "1"));
    let layer = world.layer();
    write(&layer, "tool", "2");
    set_mode(&layer.join("tool"), 0o6755);
    write(&layer, "new/tool", "3");
    set_mode(&layer.join("new/tool"), 0o4711);
    set_mode(&layer.join("new"), 0o2755);
    for path in ["pipe", "new/pipe"] {
        mknodat(CWD, layer.join(path), FileType::Fifo, Mode::RUSR, 0).unwrap();
    }
    set_time(&layer.join("new"), 3_000_000);

    let outcome = world.change.commit(None).unwrap();

    expect_clean(&outcome);
    let dropped = ["new/pipe", "new/tool", "pipe", "tool"].map(PathBuf::from);
    let named: Vec<_> = outcome
        .dropped
        .iter()
        .map(|Dropped { path, .. }| path.clone())
        .collect();
    assert_eq!(named, dropped);
    let mode = |path: &str| {
        fs::metadata(world.project().join(path))
            .unwrap()
            .permissions()
            .mode()
    };
    assert_eq!(
        [mode("tool"), mode("new/tool"), mode("new")].map(|it| it & 0o7777),
        [0o755, 0o711, 0o2755]
    );
    assert!(!world.project().join("pipe").exists() && !world.project().join("new/pipe").exists());
    assert_eq!(
        fs::metadata(world.project().join("new")).unwrap().mtime(),
        3_000_000
    );
    expect_clean(&world.change.undo(false).unwrap());
}

// Holds: changes-1
#[test]
fn attributes_of_the_command_are_its_own_again() {
    let world = World::new(|_| {});
    let file = world.layer().join("file");
    write(&world.layer(), "file", "");
    mark_copied(&world.layer());
    for (name, value) in [
        ("opaque", "mark"),
        ("overlay.opaque", "y"),
        ("overlay.overlay.deep", "z"),
    ] {
        set_attribute(&file, &format!("user.overlay.{name}"), value);
    }
    set_attribute(&file, "user.plain", "p");

    expect_clean(&world.change.commit(None).unwrap());

    let look = &world.look()[b"file".as_slice()];
    let expected = [
        ("user.overlay.opaque", "y"),
        ("user.overlay.overlay.deep", "z"),
        ("user.plain", "p"),
    ];
    assert_eq!(
        look.5,
        expected.map(|(name, value)| (name.to_owned(), value.to_owned()))
    );
}

// Holds: changes-1
#[test]
fn deep_chains_and_closed_folders_are_no_obstacle() {
    let world = World::new(|_| {});
    let top = world.layer().join("chain");
    fs::create_dir(&top).unwrap();
    let mut folder = open(&top);
    for _ in 0..2_100 {
        mkdirat(&folder, "d", Mode::RWXU).unwrap();
        folder = openat(&folder, "d", OFlags::DIRECTORY, Mode::empty()).unwrap();
    }
    set_mode(&top, 0o000);

    let outcome = world.change.commit(None).unwrap();
    expect_clean(&outcome);
    assert_eq!(outcome.done.len(), 2_101);
    assert_eq!(
        fs::metadata(world.project().join("chain")).unwrap().mode() & 0o777,
        0
    );
    let undone = world.change.undo(false).unwrap();
    expect_clean(&undone);
    assert!(!world.project().join("chain").exists());
    world.change.remove().unwrap();
}

fn open(path: &Path) -> std::os::fd::OwnedFd {
    openat(CWD, path, OFlags::DIRECTORY, Mode::empty()).unwrap()
}

// Holds: changes-1
#[test]
fn a_file_that_was_only_opened_is_no_change() {
    let world = World::new(|project| {
        write(project, "file", "same");
        set_time(&project.join("file"), 5);
    });
    write(&world.layer(), "file", "same");
    set_time(&world.layer().join("file"), 5);
    mark_copied(&world.layer().join("file"));

    assert_eq!(world.change.list_paths().unwrap(), []);
}
