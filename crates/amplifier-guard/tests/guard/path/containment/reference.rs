//! What is read is what a slow walk of the path by hand finds inside.

use std::fs;
use std::path::Path;

use amplifier_guard::PathPolicy;
use proptest::prelude::*;
use tempfile::TempDir;

use super::{SECRET, tree};

/// What the rules say, found slowly: the canonical path must lie inside, and no part of the way
/// there may be outside.
fn reference(root: &Path, path: &str) -> Option<std::path::PathBuf> {
    let mut at = root.to_owned();
    let mut pending: Vec<String> = path.split('/').rev().map(str::to_owned).collect();
    let mut links = 0;
    while let Some(part) = pending.pop() {
        match part.as_str() {
            "" | "." => {
                if !at.is_dir() {
                    return None;
                }
            }
            ".." => {
                if at == root || !at.is_dir() {
                    return None;
                }
                at.pop();
            }
            name => {
                at.push(name);
                if let Ok(target) = fs::read_link(&at) {
                    links += 1;
                    if links > 40 {
                        return None;
                    }
                    if target.is_absolute() {
                        root.clone_into(&mut at);
                        let inside = target.strip_prefix(root).ok()?;
                        pending.extend(inside.to_str()?.split('/').rev().map(str::to_owned));
                    } else {
                        at.pop();
                        pending.extend(target.to_str()?.split('/').rev().map(str::to_owned));
                    }
                }
            }
        }
    }
    at.exists().then_some(at)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn decisions_equal_those_of_a_slow_reference(
        parts in proptest::collection::vec(
            prop::sample::select(vec![
                "..", ".", "", "src", "main.rs", "a", "b", "c.txt", "up", "out", "far", "chain",
                "loop", "dangling", "near", "back", "leave", "magic", "evil", "absolute",
                "winding", "secret", "proj", "proj-evil", "etc", "passwd", "...",
            ]),
            1..8,
        ),
    ) {
        thread_local! {
            static TREE: (TempDir, PathPolicy) = tree();
        }
        let path = parts.join("/");
        prop_assume!(!path.is_empty() && !path.starts_with('/'));
        TREE.with(|(_outer, policy)| {
            let expected = reference(policy.root(), &path);
            let resolved = policy.resolve(&path).ok().map(|found| policy.root().join(found));
            let same = |path: &Path| path.components().collect::<std::path::PathBuf>();
            prop_assert_eq!(resolved.as_deref().map(same), expected.as_deref().map(same));
            if let Ok(content) = policy.read(&path, 1000) {
                prop_assert_eq!(content, fs::read(expected.unwrap()).unwrap());
            }
            Ok(())
        })?;
    }

    #[test]
    fn no_string_reads_the_secret_or_panics(path in ".*") {
        thread_local! {
            static TREE: (TempDir, PathPolicy) = tree();
        }
        TREE.with(|(_outer, policy)| {
            if let Ok(content) = policy.read(&path, 1000) {
                prop_assert_ne!(content, SECRET);
            }
            Ok(())
        })?;
    }
}
