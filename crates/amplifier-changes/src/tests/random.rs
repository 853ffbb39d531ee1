//! Random trees: a commit makes one of the other, an undo goes back, a redo goes forth.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;

use super::world::*;

#[derive(Clone, Debug, PartialEq)]
enum Node {
    File {
        content: u8,
        mode: u32,
        time: i64,
    },
    Link(u8),
    Folder {
        mode: u32,
        time: i64,
        entries: BTreeMap<String, Node>,
    },
}

fn any_node() -> impl Strategy<Value = Node> {
    let mode = prop_oneof![Just(0o644), Just(0o755), Just(0o400)];
    let file = (any::<u8>(), mode, 1..4_i64).prop_map(|(content, mode, time)| Node::File {
        content,
        mode,
        time,
    });
    let leaf = prop_oneof![4 => file, 1 => (0..3_u8).prop_map(Node::Link)];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let entries = vec((0..4_u8, inner), 0..4);
        let mode = prop_oneof![3 => Just(0o755), 1 => Just(0o700)];
        (entries, mode, 1..4_i64).prop_map(|(entries, mode, time)| Node::Folder {
            mode,
            time,
            entries: entries
                .into_iter()
                .map(|(name, node)| (format!("n{name}"), node))
                .collect(),
        })
    })
}

fn any_root() -> impl Strategy<Value = Node> {
    vec((0..5_u8, any_node()), 0..6).prop_map(|entries| Node::Folder {
        mode: 0o755,
        time: 1,
        entries: entries
            .into_iter()
            .map(|(name, node)| (format!("n{name}"), node))
            .collect(),
    })
}

fn write_node(path: &Path, node: &Node) {
    match node {
        Node::File {
            content,
            mode,
            time,
        } => {
            fs::write(path, [*content]).unwrap();
            set_mode(path, *mode);
            set_time(path, *time);
        }
        Node::Link(target) => {
            link(&format!("n{target}"), path);
            set_time(path, 9);
        }
        Node::Folder {
            mode,
            time,
            entries,
        } => {
            fs::create_dir_all(path).unwrap();
            for (name, node) in entries {
                write_node(&path.join(name), node);
            }
            set_mode(path, *mode);
            set_time(path, *time);
        }
    }
}

/// Writes what an overlay has after a command made `after` of `before`.
fn write_layer(path: &Path, before: &Node, after: &Node, is_replaced: bool) {
    let (
        Node::Folder { entries: old, .. },
        Node::Folder {
            mode,
            time,
            entries,
        },
    ) = (before, after)
    else {
        write_node(path, after);
        if matches!(after, Node::Folder { .. }) {
            make_opaque(path);
        }
        reset_time(path, after);
        return;
    };
    if is_replaced {
        write_node(path, after);
        make_opaque(path);
        reset_time(path, after);
        return;
    }
    fs::create_dir_all(path).unwrap();
    for name in old.keys().filter(|name| !entries.contains_key(*name)) {
        whiteout(path, name);
    }
    for (number, (name, node)) in entries.iter().enumerate() {
        match old.get(name) {
            Some(other) if other == node => {}
            Some(other) => write_layer(&path.join(name), other, node, number % 3 == 2),
            None => write_node(&path.join(name), node),
        }
    }
    set_mode(path, *mode);
    set_time(path, *time);
}

fn reset_time(path: &Path, node: &Node) {
    match node {
        Node::File { time, .. } | Node::Folder { time, .. } => set_time(path, *time),
        Node::Link(_) => {}
    }
}

proptest! {
    // Holds: changes-3
    #[test]
    fn random_changes_are_committed_undone_and_redone_exactly(
        before in any_root(),
        after in any_root(),
    ) {
        let world = World::new(|project| write_node(project, &before));
        let start = world.look();
        let wanted = tempfile::tempdir().unwrap();
        write_node(&wanted.path().join("it"), &after);
        write_layer(&world.layer(), &before, &after, false);

        expect_clean(&world.change.commit(None).unwrap());
        let end = world.look();
        prop_assert_eq!(&end, &look(&wanted.path().join("it")));
        expect_clean(&world.change.undo(false).unwrap());
        prop_assert_eq!(world.look(), start);
        expect_clean(&world.change.redo(false).unwrap());
        prop_assert_eq!(world.look(), end);
    }
}
