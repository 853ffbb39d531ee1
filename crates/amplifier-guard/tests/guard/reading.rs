//! Walks, searches and windows are complete, bounded and repeatable.
#![cfg(unix)]

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

use amplifier_guard::{
    FileMatches, LineMatch, LineRange, LineSearch, LineWindow, NamePattern, PathError, PathPolicy,
    SearchReport, Walker,
};
use proptest::prelude::*;
use tempfile::TempDir;

fn folder(files: &[(&str, &[u8])]) -> (TempDir, PathPolicy) {
    let folder = TempDir::new().unwrap();
    for (path, content) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    let policy = PathPolicy::new(folder.path()).unwrap();
    (folder, policy)
}

fn folder_of(text: &str) -> (TempDir, PathPolicy) {
    folder(&[("text", text.as_bytes())])
}

fn walked(policy: &PathPolicy, path: &str, pattern: &str, skip: &[&str]) -> Vec<String> {
    let skip: Vec<OsString> = skip.iter().map(OsString::from).collect();
    let pattern = NamePattern::new(pattern).unwrap();
    let stopped = &mut || false;
    let walk = policy
        .walk(
            path,
            &mut Walker {
                skip: &skip,
                pattern: Some(&pattern),
                stopped,
            },
        )
        .unwrap();
    assert_eq!(walk.unreadable, 0);
    walk.files
        .into_iter()
        .map(|file| file.path.into_os_string().into_string().unwrap())
        .collect()
}

fn found(policy: &PathPolicy, expression: &str, limit: usize) -> SearchReport {
    let search = LineSearch::new(expression, false).unwrap();
    let stopped = &mut || false;
    policy
        .search(
            ".",
            &search,
            limit,
            &mut Walker {
                skip: &[],
                pattern: None,
                stopped,
            },
        )
        .unwrap()
}

#[test]
fn a_walk_finds_regular_files_and_enters_neither_links_nor_skipped_directories() {
    let (folder, policy) = folder(&[
        ("a.rs", b""),
        ("src/b.rs", b""),
        ("src/.hidden.rs", b""),
        ("src/target/c.rs", b""),
        ("target/d.rs", b""),
        ("not-target/e.rs", b""),
        ("src/target.rs", b""),
        ("src/sub/.git", b"gitdir: elsewhere\n"),
    ]);
    symlink("src", folder.path().join("link")).unwrap();
    symlink("a.rs", folder.path().join("link.rs")).unwrap();
    symlink(".", folder.path().join("src/round")).unwrap();
    assert_eq!(
        walked(&policy, ".", "**", &[".git", "target"]),
        [
            "a.rs",
            "not-target/e.rs",
            "src/.hidden.rs",
            "src/b.rs",
            "src/sub/.git",
            "src/target.rs",
        ]
    );
    // A start that is named is entered, whatever it is called and however it is reached.
    assert_eq!(
        walked(&policy, "src/target", "**", &["target"]),
        ["src/target/c.rs"]
    );
    assert_eq!(walked(&policy, "link", "b.rs", &["target"]), ["src/b.rs"]);
    assert_eq!(walked(&policy, "link.rs", "**", &[]), ["a.rs"]);
}

#[test]
fn patterns_mean_what_they_say() {
    let matches =
        |pattern: &str, path: &str| NamePattern::new(pattern).unwrap().matches(Path::new(path));
    for (pattern, path, expected) in [
        ("*.rs", "a.rs", true),
        ("*.rs", "src/deep/a.rs", true),
        ("*.rs", "a.rsx", false),
        ("./*.rs", "src/a.rs", true),
        ("src/*.rs", "src/a.rs", true),
        ("src/*.rs", "src/deep/a.rs", false),
        ("src/**/*.rs", "src/a.rs", true),
        ("src/**/*.rs", "src/x/y/a.rs", true),
        ("**/*", "a", true),
        ("**/*", ".hidden", true),
        ("**", "a/b", true),
        ("src/**", "src/a/b", true),
        ("src/**", "srcs/a", false),
        ("?.rs", "ab.rs", false),
        ("?.rs", "é.rs", true),
        ("[a-c].rs", "b.rs", true),
        ("[!a-c].rs", "b.rs", false),
        ("*.{py,rs}", "x/a.py", true),
        ("a[*]b", "a*b", true),
        ("A.rs", "a.rs", false),
        ("??.rs", "é.rs", false),
        ("[à-ü].rs", "é.rs", true),
        ("[]x].rs", "].rs", true),
        ("[x-].rs", "-.rs", true),
        ("[^x].rs", "y.rs", true),
        ("a[!x]b/c", "a/b/c", false),
        ("{src,tests/{one,two}}/*.py", "tests/two/a.py", true),
        ("{src,tests/{one,two}}/*.py", "tests/a.py", false),
        ("*{.tar,}.gz", "a.gz", true),
        ("a\\*.rs", "a*.rs", true),
        ("a\\*.rs", "ab.rs", false),
        ("a(b)+.rs", "a(b)+.rs", true),
        ("line*break", "line\nbreak", true),
        ("a,b}.rs", "a,b}.rs", true),
        ("a,b", "a", false),
        ("[b-b].rs", "b.rs", true),
        ("[b-b].rs", "a.rs", false),
    ] {
        assert_eq!(matches(pattern, path), expected, "{pattern} on {path}");
    }
}

#[test]
fn a_pattern_that_means_nothing_is_refused_with_the_reason() {
    for (pattern, reason) in [
        ("", "it is empty (`**` means every file)"),
        ("./", "it is empty (`**` means every file)"),
        (
            "/etc/*",
            "it must be relative to the directory searched, without `..`",
        ),
        (
            "a/../b",
            "it must be relative to the directory searched, without `..`",
        ),
        ("{a,b", "`{` is not closed by `}`"),
        ("[ab", "`[` is not closed by `]`"),
        ("[b-a]", "a range in `[…]` runs backwards"),
        ("a\\", "`\\` at its end takes nothing"),
    ] {
        let refusal = NamePattern::new(pattern).unwrap_err();
        assert_eq!(
            refusal.to_string(),
            format!("invalid file pattern `{pattern}`: {reason}")
        );
    }
    let longest = "a".repeat(4096);
    assert!(NamePattern::new(&longest).is_ok() && LineSearch::new(&longest, true).is_ok());
    let (longer, refusal) = (
        longest + "a",
        "the pattern is too long (4097 bytes, at most 4096)",
    );
    assert_eq!(NamePattern::new(&longer).unwrap_err().to_string(), refusal);
    assert_eq!(
        LineSearch::new(&longer, true).unwrap_err().to_string(),
        refusal
    );
    for (expression, reason) in [
        ("a(b", "unclosed group"),
        ("(?:\\pL{500}){500}", "it is too large when compiled"),
    ] {
        assert_eq!(
            LineSearch::new(expression, false).unwrap_err().to_string(),
            format!("invalid regular expression `{expression}`: {reason}")
        );
    }
}

/// The memory of this process is a regular file of which the beginning cannot be read.
#[cfg(target_os = "linux")]
#[test]
fn a_read_that_fails_is_told_and_counted_and_never_tried_for_ever() {
    let policy = PathPolicy::new("/proc/self").unwrap();
    let told = "cannot read `mem`: Input/output error (os error 5)";

    assert_eq!(policy.read("mem", 1).unwrap_err().to_string(), told);
    let window = policy.lines("mem", ALL, &mut || false);
    assert_eq!(window.unwrap_err().to_string(), told);
    let search = LineSearch::new("x", false).unwrap();
    let walker = &mut Walker {
        skip: &[],
        pattern: None,
        stopped: &mut || false,
    };
    let expected = SearchReport {
        unreadable: 1,
        ..SearchReport::default()
    };
    assert_eq!(policy.search("mem", &search, 1, walker).unwrap(), expected);
}

#[test]
fn a_search_counts_everything_and_keeps_what_it_may() {
    let (_folder, policy) = folder(&[
        ("a.txt", b"one TODO\ntwo\r\nTODO three TODO"),
        ("b.bin", b"TODO\nTODO\0"),
        ("c.txt", b""),
        ("d.txt", b"TO\xffDO\nTODO \xff\r\n"),
        ("e.txt", b"\n\n"),
    ]);
    let line = |path: &str, line, text: &str| LineMatch {
        path: path.into(),
        line,
        text: text.into(),
    };
    let expected = SearchReport {
        lines: vec![
            line("a.txt", 1, "one TODO"),
            line("a.txt", 3, "TODO three TODO"),
            line("d.txt", 2, "TODO \u{fffd}"),
        ],
        files: vec![
            FileMatches {
                path: "a.txt".into(),
                matches: 2,
            },
            FileMatches {
                path: "d.txt".into(),
                matches: 1,
            },
        ],
        total_matches: 3,
        searched_files: 4,
        searched_lines: 6,
        binary_files: 1,
        unreadable: 0,
    };
    assert_eq!(found(&policy, "TODO", 100), expected);
    let first = SearchReport {
        lines: expected.lines[..1].to_vec(),
        ..expected
    };
    assert_eq!(found(&policy, "TODO", 1), first);
}

#[test]
fn a_match_stays_inside_its_line() {
    let (_folder, policy) = folder(&[("a.txt", b"a\nb\r\n\r\nend\n")]);
    let lines = |expression: &str| -> Vec<u64> {
        found(&policy, expression, 100)
            .lines
            .into_iter()
            .map(|found| found.line)
            .collect()
    };
    assert_eq!(lines(r"a\s*b"), [0; 0]);
    assert_eq!(lines(r"[^x]"), [1, 2, 4]);
    assert_eq!(lines(r"^$"), [3]);
    assert_eq!(lines(r"b$"), [2]);
    assert_eq!(lines(r"\Aend\z"), [4]);
    assert_eq!(lines(""), [1, 2, 3, 4]);
}

#[test]
fn binary_content_found_late_takes_its_lines_back() {
    let mut late = b"TODO\n".repeat(200_000);
    late.push(0);
    let (_folder, policy) = folder(&[("late.bin", &late), ("text.txt", b"TODO\n")]);
    let report = found(&policy, "TODO", 10);
    assert_eq!(
        (
            report.total_matches,
            report.binary_files,
            report.lines.len()
        ),
        (1, 1, 1)
    );
}

#[test]
fn long_lines_are_clipped_around_the_match() {
    let long = format!(
        "{}é{}TODO{}",
        "x".repeat(300_000),
        "y".repeat(100),
        "z".repeat(1000)
    );
    let (_folder, policy) = folder(&[("a.js", long.as_bytes())]);
    let text = &found(&policy, "TODO", 1).lines[0].text;
    let expected = format!("…{}TODO{}…", "y".repeat(100), "z".repeat(296));
    assert_eq!(text, &expected);
    for before in ["", "é", "€", "éa"] {
        let wide = "😀".repeat(100 - before.chars().count());
        let line = format!("{wide}{wide}{before}TODO");
        let (_folder, policy) = folder_of(&line);
        let text = &found(&policy, "TODO", 1).lines[0].text;
        assert_eq!(text, &format!("…{wide}{before}TODO"));
    }
}

#[test]
fn no_pattern_takes_long() {
    let hostile = "a".repeat(200_000);
    let (_folder, policy) = folder(&[("a.txt", hostile.as_bytes())]);
    let started = Instant::now();
    for expression in ["(a+)+$b", "(a|aa)*c", "(.*)(.*)(.*)(.*)x", "a{0,500}b"] {
        assert_eq!(
            found(&policy, expression, 1).total_matches,
            0,
            "{expression}"
        );
    }
    assert!(started.elapsed() < Duration::from_secs(30));
    for expression in ["((a{100}){100}){100}", "(?:\\pL{500}){500}"] {
        assert!(LineSearch::new(expression, false).is_err(), "{expression}");
    }
}

#[test]
fn a_stopped_walk_says_so() {
    let (_folder, policy) = folder(&[("a/b/c.txt", b"x\n")]);
    let stopped = &mut || true;
    let walk = policy.walk(
        ".",
        &mut Walker {
            skip: &[],
            pattern: None,
            stopped,
        },
    );
    assert!(matches!(walk, Err(PathError::Stopped { .. })));
    let window = policy.lines("a/b/c.txt", ALL, &mut || true);
    assert!(matches!(window, Err(PathError::Stopped { .. })));
}

#[test]
fn a_folder_that_goes_away_during_the_walk_is_counted_as_unreadable() {
    let (folder, policy) = folder(&[("a.txt", b"x\n"), ("gone/b.txt", b"x\n")]);
    let gone = folder.path().join("gone");
    let search = LineSearch::new("x", false).unwrap();
    let expected = SearchReport {
        lines: vec![LineMatch {
            path: "a.txt".into(),
            line: 1,
            text: "x".into(),
        }],
        files: vec![FileMatches {
            path: "a.txt".into(),
            matches: 1,
        }],
        total_matches: 1,
        searched_files: 1,
        searched_lines: 1,
        binary_files: 0,
        unreadable: 1,
    };
    // Between the look at its parent and the look into it.
    let stopped = &mut || {
        let _ = fs::remove_dir_all(&gone);
        false
    };
    let walker = &mut Walker {
        skip: &[],
        pattern: None,
        stopped,
    };
    assert_eq!(policy.search(".", &search, 9, walker).unwrap(), expected);
}

#[test]
fn a_search_of_one_long_line_asks_a_few_times_whether_to_stop() {
    let long = vec![b'x'; 1 << 20];
    let (_folder, policy) = folder(&[("long.txt", &long)]);
    let mut questions = 0;
    let stopped = &mut || {
        questions += 1;
        false
    };
    let walker = &mut Walker {
        skip: &[],
        pattern: None,
        stopped,
    };
    let search = LineSearch::new("xy", false).unwrap();
    let report = policy.search("long.txt", &search, 9, walker).unwrap();
    assert_eq!((report.searched_files, report.total_matches), (1, 0));
    // One for each piece, and pieces double in length.
    assert!((2..50).contains(&questions), "{questions}");
}

#[test]
fn a_tree_deeper_than_any_path_is_walked_to_its_end() {
    let folder = TempDir::new().unwrap();
    let mut directory =
        cap_std::fs::Dir::open_ambient_dir(folder.path(), cap_std::ambient_authority()).unwrap();
    for _ in 0..1200 {
        directory.create_dir("deeper").unwrap();
        directory = directory.open_dir("deeper").unwrap();
    }
    directory.write("bottom", "x").unwrap();
    let policy = PathPolicy::new(folder.path()).unwrap();
    assert_eq!(walked(&policy, ".", "bottom", &[]).len(), 1);
}

const ALL: LineRange = LineRange {
    first: 1,
    limit: u64::MAX,
    most_bytes: usize::MAX,
};

#[test]
fn a_window_over_its_bytes_ends_with_a_whole_line_or_a_whole_character() {
    let (_folder, policy) = folder(&[("a.txt", "één\ntwee\n€€€\n".as_bytes())]);
    let window = |first, most_bytes| {
        let range = LineRange {
            first,
            limit: 10,
            most_bytes,
        };
        let window = policy.lines("a.txt", range, &mut || false).unwrap();
        (
            String::from_utf8(window.content).unwrap(),
            window.shown_lines,
            window.truncated,
        )
    };
    assert_eq!(window(1, 8), ("één\n".to_owned(), 1, true));
    assert_eq!(window(1, 3), ("é".to_owned(), 1, true));
    assert_eq!(window(1, 0), (String::new(), 0, true));
    for (most_bytes, expected) in [(5, "€"), (6, "€€"), (7, "€€"), (8, "€€"), (9, "€€€")]
    {
        assert_eq!(window(3, most_bytes), (expected.to_owned(), 1, true));
    }
    assert_eq!(window(3, 10), ("€€€\n".to_owned(), 1, false));
}

#[test]
fn a_window_into_one_endless_line_is_filled_to_its_last_byte() {
    let long = "x".repeat(400_000) + "😀😀";
    let (_folder, policy) = folder(&[("long.txt", long.as_bytes())]);
    for (most_bytes, expected) in [
        (300_000, 300_000),
        (400_003, 400_000),
        (400_004, 400_004),
        (400_007, 400_004),
        (400_008, 400_008),
    ] {
        let range = LineRange {
            first: 1,
            limit: 1,
            most_bytes,
        };
        let window = policy.lines("long.txt", range, &mut || false).unwrap();
        assert_eq!(window.content, &long.as_bytes()[..expected]);
        assert_eq!(
            (
                window.bytes,
                window.total_lines,
                window.shown_lines,
                window.truncated
            ),
            (400_008, 0, 1, expected < 400_008)
        );
    }
}

#[test]
fn a_window_onto_binary_content_is_refused_wherever_the_nul_is() {
    let mut late = b"text\n".repeat(100_000);
    late.push(0);
    let (_folder, policy) = folder(&[("late.bin", &late)]);
    let range = LineRange {
        first: 1,
        limit: 1,
        most_bytes: 100,
    };
    let refusal = policy.lines("late.bin", range, &mut || false);
    assert!(matches!(
        refusal,
        Err(PathError::Binary {
            offset: 500_000,
            ..
        })
    ));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_window_is_what_splitting_the_text_gives(
        text in "[ab\n\r]{0,200}",
        first in 1_u64..20,
        limit in 0_u64..20,
    ) {
        let (_folder, policy) = folder_of(&text);
        let range = LineRange { first, limit, most_bytes: usize::MAX };
        let window = policy.lines("text", range, &mut || false).unwrap();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let skipped = usize::try_from(first - 1).unwrap();
        let shown: Vec<&str> =
            lines.iter().copied().skip(skipped).take(usize::try_from(limit).unwrap()).collect();
        prop_assert_eq!(window, LineWindow {
            bytes: text.len() as u64,
            total_lines: text.matches('\n').count() as u64,
            shown_lines: shown.len() as u64,
            content: shown.concat().into_bytes(),
            truncated: skipped + shown.len() < lines.len(),
        });
    }

    #[test]
    fn a_long_line_is_shown_from_a_hundred_characters_before_the_match_on(
        before in "[aé€😀]{0,450}",
        after in "[aé€😀]{0,450}",
    ) {
        let line = format!("{before}TODO{after}");
        let (_folder, policy) = folder_of(&line);
        let text = found(&policy, "TODO", 1).lines.remove(0).text;
        let skipped = before.chars().count().saturating_sub(100);
        let rest: Vec<char> = line.chars().skip(skipped).collect();
        let shown: String = rest.iter().take(400).collect();
        let (start, end) = (
            if skipped > 0 { "…" } else { "" },
            if rest.len() > 400 { "…" } else { "" },
        );
        // What is short enough is shown as it is.
        let expected = if line.len() > 400 { format!("{start}{shown}{end}") } else { line };
        prop_assert_eq!(text, expected);
    }

    #[test]
    fn no_pattern_panics(pattern in ".*", path in ".*") {
        if let Ok(pattern) = NamePattern::new(&pattern) {
            let _ = pattern.matches(Path::new(&path));
        }
        let _ = LineSearch::new(&pattern, true);
    }
}
