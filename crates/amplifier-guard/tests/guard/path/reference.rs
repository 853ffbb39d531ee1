//! In any tree, a path leads where a slow reference finds it, name by name, or is refused as it is.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use amplifier_guard::{PathError, PathPolicy};
use proptest::prelude::*;
use tempfile::TempDir;

const NAMES: [&str; 5] = ["a", "b", "c", "d", ".env"];

/// Where a path or a link begins.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Base {
    Here,
    Root,
    /// The folder around the root.
    Outer,
    Everything,
}

/// A path or the target of a link, before it is known where the tree lies.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Spelling {
    base: Base,
    parts: Vec<&'static str>,
    ends_in_slash: bool,
}

impl Spelling {
    fn text(&self, root: &Path) -> String {
        let outer = root.parent().unwrap();
        let base = match self.base {
            Base::Here => String::new(),
            Base::Root => format!("{}/", root.display()),
            Base::Outer => format!("{}/", outer.display()),
            Base::Everything => "/".to_owned(),
        };
        let end = if self.ends_in_slash { "/" } else { "" };
        format!("{base}{}{end}", self.parts.join("/"))
    }

    /// The parts as they count from the root, where the spelling says that they do.
    fn beneath(&self) -> Option<&[&'static str]> {
        match self.base {
            Base::Here | Base::Root => Some(&self.parts),
            Base::Outer => {
                let mut parts = self.parts.iter();
                let first = parts.position(|part| !matches!(*part, "." | ""))?;
                (self.parts[first] == "proj").then_some(parts.as_slice())
            }
            Base::Everything => None,
        }
    }
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Node {
    Folder,
    File(Vec<u8>),
    Link(Spelling),
}

type Place = Vec<&'static str>;

/// What lies beneath the root, as it was made; the reference looks at nothing else.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Tree(BTreeMap<Place, Node>);

impl Tree {
    /// The nodes whose folders are no files or links, with their folders.
    fn new(nodes: Vec<(Place, Node)>) -> Self {
        let mut tree = Self(BTreeMap::new());
        for (place, node) in nodes {
            let is_free = (1..place.len())
                .all(|end| matches!(tree.0.get(&place[..end]), None | Some(Node::Folder)));
            if is_free && !tree.0.contains_key(&place) {
                tree.put(place, node);
            }
        }
        tree
    }

    fn put(&mut self, place: Place, node: Node) {
        for end in 1..place.len() {
            self.0.insert(place[..end].to_vec(), Node::Folder);
        }
        self.0.insert(place, node);
    }

    fn is_folder(&self, place: &[&str]) -> bool {
        place.is_empty() || self.0.get(place) == Some(&Node::Folder)
    }

    /// Makes the tree and, around it, files that nobody may see.
    fn make(&self) -> (TempDir, PathPolicy) {
        let outer = TempDir::new().unwrap();
        let root = outer.path().canonicalize().unwrap().join("proj");
        fs::create_dir(&root).unwrap();
        for (place, node) in &self.0 {
            let path = root.join(place.join("/"));
            match node {
                Node::Folder => fs::create_dir(path).unwrap(),
                Node::File(content) => fs::write(path, content).unwrap(),
                Node::Link(target) => symlink(target.text(&root), path).unwrap(),
            }
        }
        for name in ["a", "c"] {
            fs::create_dir(outer.path().join(name)).unwrap();
            fs::write(outer.path().join(name).join("b"), "outside").unwrap();
        }
        fs::write(outer.path().join("b"), "outside").unwrap();
        let policy = PathPolicy::new(&root).unwrap();
        (outer, policy)
    }
}

/// Everything beneath `folder`, as it is on the disk.
fn snapshot(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut seen = BTreeMap::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let kind = path.symlink_metadata().unwrap().file_type();
            let content = if kind.is_symlink() {
                fs::read_link(&path)
                    .unwrap()
                    .into_os_string()
                    .into_encoded_bytes()
            } else if kind.is_dir() {
                pending.push(path.clone());
                Vec::new()
            } else {
                fs::read(&path).unwrap()
            };
            seen.insert(path, content);
        }
    }
    seen
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Refusal {
    Outside,
    Missing,
    Loop,
    NotAFile,
    NotAFolder,
    Protected,
}

fn refusal(error: &PathError) -> Refusal {
    match error {
        PathError::Outside { .. } => Refusal::Outside,
        PathError::Missing { .. } => Refusal::Missing,
        PathError::Loop { .. } => Refusal::Loop,
        PathError::NotAFile { .. } => Refusal::NotAFile,
        PathError::NotADirectory { .. } => Refusal::NotAFolder,
        PathError::Protected { .. } | PathError::Secret { .. } => Refusal::Protected,
        other => panic!("{other}"),
    }
}

/// Where `path` leads. For a write the names at its end may be missing.
fn lead(tree: &Tree, path: &Spelling, is_write: bool) -> Result<Place, Refusal> {
    let mut place = Place::new();
    let mut pending: Vec<&str> = path.beneath().ok_or(Refusal::Outside)?.to_vec();
    pending.reverse();
    let mut links = 0;
    while let Some(part) = pending.pop() {
        match part {
            ".." => {
                if place.is_empty() {
                    return Err(Refusal::Outside);
                }
                if !tree.is_folder(&place) {
                    return Err(Refusal::Missing);
                }
                place.pop();
            }
            "." | "" if is_write || tree.is_folder(&place) => {}
            "." | "" => return Err(Refusal::Missing),
            name => {
                if !is_write && !tree.is_folder(&place) {
                    return Err(Refusal::Missing);
                }
                place.push(name);
                match tree.0.get(&place) {
                    Some(Node::Link(target)) => {
                        links += 1;
                        if links > 40 {
                            return Err(Refusal::Loop);
                        }
                        if target.base == Base::Here {
                            place.pop();
                        } else {
                            place.clear();
                        }
                        let parts = target.beneath().ok_or(Refusal::Outside)?;
                        pending.extend(parts.iter().rev());
                    }
                    None if !is_write => return Err(Refusal::Missing),
                    _ => {}
                }
            }
        }
    }
    if path.ends_in_slash && !is_write && !tree.is_folder(&place) {
        return Err(Refusal::Missing);
    }
    Ok(place)
}

fn read(tree: &Tree, path: &Spelling) -> Result<Vec<u8>, Refusal> {
    let place = lead(tree, path, false)?;
    match tree.0.get(&place) {
        Some(Node::File(_)) if place.last() == Some(&".env") => Err(Refusal::Protected),
        Some(Node::File(content)) => Ok(content.clone()),
        _ => Err(Refusal::NotAFile),
    }
}

fn list(tree: &Tree, path: &Spelling) -> Result<Vec<&'static str>, Refusal> {
    let place = lead(tree, path, false)?;
    if !tree.is_folder(&place) {
        return Err(Refusal::NotAFolder);
    }
    let within = tree.0.keys().filter(|inner| {
        inner
            .split_last()
            .is_some_and(|(_, folder)| folder == place)
    });
    Ok(within.map(|inner| inner[place.len()]).collect())
}

/// Writes to the tree, and says where.
fn write(tree: &mut Tree, path: &Spelling, content: &[u8]) -> Result<Place, Refusal> {
    let place = lead(tree, path, true)?;
    let names_a_folder = path.ends_in_slash || matches!(path.parts.last(), Some(&("." | "")));
    let Some((name, folder)) = place.split_last().filter(|_| !names_a_folder) else {
        return Err(Refusal::NotAFile);
    };
    // The name of a file with secrets; a folder that is called so holds what it likes.
    if *name == ".env" {
        return Err(Refusal::Protected);
    }
    for end in 1..=folder.len() {
        match tree.0.get(&folder[..end]) {
            Some(Node::Folder) => {}
            Some(_) => return Err(Refusal::NotAFolder),
            None => break,
        }
    }
    if tree.is_folder(&place) {
        return Err(Refusal::NotAFile);
    }
    tree.put(place.clone(), Node::File(content.to_vec()));
    Ok(place)
}

fn names(most: usize) -> impl Strategy<Value = Place> {
    prop::collection::vec(prop::sample::select(&NAMES[..]), 1..=most)
}

fn spellings(most: usize) -> impl Strategy<Value = Spelling> {
    let part = prop_oneof![
        6 => prop::sample::select(&NAMES[..]),
        3 => Just(".."),
        1 => prop::sample::select(vec![".", "", "proj"]),
    ];
    let base = prop_oneof![
        8 => Just(Base::Here),
        3 => Just(Base::Root),
        1 => Just(Base::Outer),
        1 => Just(Base::Everything),
    ];
    (
        base,
        prop::collection::vec(part, 1..=most),
        prop::bool::weighted(0.1),
    )
        .prop_map(|(base, mut parts, ends_in_slash)| {
            if base == Base::Outer && parts.len() % 2 == 0 {
                parts.insert(0, "proj");
            }
            // No path begins with a slash by accident.
            if parts[0].is_empty() {
                parts[0] = ".";
            }
            Spelling {
                base,
                parts,
                ends_in_slash,
            }
        })
}

fn trees() -> impl Strategy<Value = Tree> {
    let link = spellings(4).prop_map(|target| {
        Node::Link(Spelling {
            ends_in_slash: false,
            ..target
        })
    });
    let node = prop_oneof![
        2 => Just(Node::Folder),
        2 => "[a-z]{1,4}".prop_map(|content| Node::File(content.into_bytes())),
        3 => link,
    ];
    prop::collection::vec((names(3), node), 0..14).prop_map(Tree::new)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_read_is_what_the_reference_reads(
        tree in trees(),
        paths in prop::collection::vec(spellings(6), 1..12),
    ) {
        let (_outer, policy) = tree.make();
        for path in paths {
            let text = path.text(policy.root());
            let resolved = policy.resolve(&text).map_err(|error| refusal(&error));
            let expected = lead(&tree, &path, false).map(|place| {
                if place.is_empty() { PathBuf::from(".") } else { place.iter().collect() }
            });
            prop_assert_eq!(resolved, expected, "{} in {:?}", text, tree);
            let content = policy.read(&text, 100).map_err(|error| refusal(&error));
            prop_assert_eq!(content, read(&tree, &path), "{} in {:?}", text, tree);
            let listed = policy.list(&text).map_err(|error| refusal(&error)).map(|entries| {
                let names = entries.into_iter().map(|entry| entry.name.into_string().unwrap());
                names.collect::<Vec<_>>()
            });
            let mut expected = list(&tree, &path);
            if let Ok(names) = &mut expected {
                names.sort_unstable();
            }
            let expected = expected.map(|names| names.into_iter().map(str::to_owned).collect());
            prop_assert_eq!(listed, expected, "{} in {:?}", text, tree);
        }
    }

    #[test]
    fn what_is_written_is_what_the_reference_writes_and_nothing_else(
        tree in trees(),
        paths in prop::collection::vec(spellings(6), 1..12),
    ) {
        let (outer, policy) = tree.make();
        let mut tree = tree;
        for (index, path) in paths.iter().enumerate() {
            let content = format!("new {index}").into_bytes();
            let text = path.text(policy.root());
            let judged = policy.writable(&text, false).map_err(|error| refusal(&error));
            let written = policy.write(&text, &content, false).map_err(|error| refusal(&error));
            prop_assert_eq!(&judged, &written, "{}", text);
            let before = tree.clone();
            let expected = write(&mut tree, path, &content).map(|place| place.iter().collect());
            prop_assert_eq!(written, expected, "{} in {:?}", text, before);
        }
        let (expected, other) = tree.make();
        let moved = |(path, content): (PathBuf, Vec<u8>)| {
            // Absolute links of one tree are those of the other.
            let content = String::from_utf8(content).unwrap();
            let from = expected.path().canonicalize().unwrap();
            let to = outer.path().canonicalize().unwrap();
            let content = content.replace(from.to_str().unwrap(), to.to_str().unwrap());
            (to.join(path.strip_prefix(&from).unwrap()), content.into_bytes())
        };
        let wanted = snapshot(other.root().parent().unwrap()).into_iter().map(moved).collect();
        prop_assert_eq!(snapshot(policy.root().parent().unwrap()), wanted);
    }
}
