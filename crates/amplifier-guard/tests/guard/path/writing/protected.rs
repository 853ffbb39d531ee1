//! Each row of the list of protected names, in every spelling.

use proptest::prelude::*;
use tempfile::TempDir;

use super::{tree, variant};
use amplifier_guard::PathPolicy;

const DATA: &str = include_str!("../../../../src/path/protected.txt");

/// The rows that need a person, or those that are free.
fn rows(free: bool) -> Vec<&'static str> {
    let mut heading = "";
    let mut rows = Vec::new();
    for line in DATA.lines() {
        if line.starts_with('[') {
            heading = line;
        } else if !line.is_empty() && !line.starts_with('#') && free == (heading == "[]") {
            rows.push(line);
        }
    }
    rows
}

#[test]
fn the_rows_are_in_lower_case_and_in_order_and_each_is_there_once() {
    let mut all = rows(false);
    all.extend(rows(true));
    assert!(all.len() > 500, "{}", all.len());
    for row in &all {
        assert_eq!(*row, row.to_lowercase());
        assert!(row.trim_end_matches('/').split('/').all(|name| {
            !name.is_empty() && name.matches('*').count() < 2 && !name.ends_with(['.', ' '])
        }));
    }
    for block in DATA.split("\n\n") {
        let block: Vec<_> = block
            .lines()
            .filter(|line| !line.starts_with(['#', '[']))
            .collect();
        assert!(block.is_sorted(), "{block:?}");
    }
    all.sort_unstable();
    let count = all.len();
    all.dedup();
    assert_eq!(all.len(), count);
}

#[test]
fn what_every_project_writes_is_free() {
    for path in [
        "package-lock.json",
        "pyproject.toml",
        "setup.py",
        "setup.cfg",
        "noxfile.py",
        "Makefile",
        "justfile",
        "Cargo.toml",
        "build.rs",
        "CMakeLists.txt",
        "Dockerfile",
        "docker-compose.yml",
        "compose.yaml",
        "Gemfile",
        "Rakefile",
        "go.mod",
        "pom.xml",
        "build.gradle",
        "gradle.properties",
        "BUILD.bazel",
        "WORKSPACE",
        "tsconfig.json",
        "vite.config.ts",
        "webpack.config.js",
        ".prettierrc",
        ".babelrc",
        ".editorconfig",
        ".gitignore",
        ".gitattributes",
        ".dockerignore",
        ".npmignore",
        ".nvmrc",
        ".python-version",
        ".rubocop.yml",
        ".coveragerc",
        ".config/nextest.toml",
        ".config/git/ignore",
        ".github/ISSUE_TEMPLATE/bug.md",
        ".github/dependabot.yml",
        ".gitlab/issue_templates/bug.md",
        "README.md",
        ".env.example/notes",
        "docs/travis.yml",
        "src/gitconfig.rs",
        "git/config",
        "mise/notes.md",
        "environment.py",
        "src/hooks/useTitle.ts",
        "hooks/pre-commit.md",
        "src/environment/dev.ts",
        "docs/claude.md.txt",
        "test_conftest.py",
        "mylefthook.yml",
        "src/lefthook.rs",
        "docs/jenkinsfile.md",
        "code-workspace",
        "pth",
    ] {
        let (_outer, policy) = tree();
        assert!(policy.writable(path, false).is_ok(), "{path}");
    }
}

/// `name` as a lenient file system would take it for the same.
fn respelled(name: &str, spelling: usize, at: usize) -> String {
    let characters: Vec<char> = name.chars().collect();
    let at = at % characters.len();
    let change = |change: &dyn Fn(char) -> String| {
        let changed = |(index, &each): (usize, &char)| {
            if index == at {
                change(each)
            } else {
                each.to_string()
            }
        };
        characters
            .iter()
            .enumerate()
            .map(changed)
            .collect::<String>()
    };
    match spelling {
        0 => name.to_owned(),
        1 => name.to_uppercase(),
        2 => change(&|each| each.to_uppercase().to_string()),
        3 => change(&|each| format!("{each}\u{200c}")),
        4 => change(&|each| format!("\u{2060}{each}")),
        5 => format!("{name}\u{feff}"),
        6 => format!("{name}:stream"),
        _ => change(&|each| match each {
            '!'..='~' => char::from_u32(u32::from(each) + 0xfee0)
                .unwrap()
                .to_string(),
            each => each.to_string(),
        }),
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None, cases: 2000, ..ProptestConfig::default()
    })]

    #[test]
    fn no_spelling_of_a_row_is_written_without_a_person_at_any_depth(
        row in prop::sample::select(rows(false)),
        star in "[a-z0-9]{0,3}",
        above in prop::sample::select(vec!["", "sub/", "a/.github/", ".config/"]),
        below in prop::sample::select(vec!["", "/x", "/a/b.md", "/.env.example"]),
        spelling in 0..8_usize,
        at in any::<usize>(),
    ) {
        thread_local! {
            static TREE: (TempDir, PathPolicy) = tree();
        }
        let is_folder = row.ends_with('/');
        let names = row.trim_end_matches('/');
        // Nothing after a dot would be another form, which is refused as such.
        let star = if names.ends_with('*') { star + "0" } else { star };
        let names = names.replace('*', &star);
        let names: Vec<_> = names.split('/').map(|name| respelled(name, spelling, at)).collect();
        let path = format!("{above}{}{}", names.join("/"), if is_folder { below } else { "" });
        TREE.with(|(_outer, policy)| {
            let judged = policy.writable(&path, false).map_err(|error| variant(&error));
            prop_assert_eq!(judged, Err("protected"), "{}", path);
            Ok(())
        })?;
    }

    #[test]
    fn a_free_row_is_free_only_as_itself(row in prop::sample::select(rows(true))) {
        let (_outer, policy) = tree();
        let name = row.trim_end_matches('/');
        prop_assert!(policy.writable(name, false).is_ok());
        for path in [format!(".git/{name}"), format!("{name}/.git/x"), format!("{name}.local")] {
            let judged = policy.writable(&path, false).map_err(|error| variant(&error));
            prop_assert_eq!(judged, Err("protected"), "{}", path);
        }
    }
}
