//! A search counts everything, keeps what it may, and shows lines around their match.

use std::fs;

use amplifier_guard::{
    FileMatches, LineMatch, LineSearch, Order, PathError, PathPolicy, SearchReport, Walker,
};
use proptest::prelude::*;

use super::{folder, folder_of};

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
                skip_ignored: false,
                pattern: None,
                order: Order::Path,
                limit: usize::MAX,
                most_bytes: usize::MAX,
                stopped,
            },
        )
        .unwrap()
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
        total_files: 2,
        searched_files: 4,
        searched_lines: 6,
        binary_files: 1,
        secret_files: 0,
        unreadable: 0,
        has_ignored: false,
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
fn no_pattern_backtracks() {
    let hostile = "a".repeat(200_000);
    let (_folder, policy) = folder(&[("a.txt", hostile.as_bytes())]);
    for expression in ["(a+)+$b", "(a|aa)*c", "(.*)(.*)(.*)(.*)x", "a{0,500}b"] {
        assert_eq!(
            found(&policy, expression, 1).total_matches,
            0,
            "{expression}"
        );
    }
    for expression in ["((a{100}){100}){100}", "(?:\\pL{500}){500}"] {
        assert!(LineSearch::new(expression, false).is_err(), "{expression}");
    }
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
        total_files: 1,
        searched_files: 1,
        searched_lines: 1,
        binary_files: 0,
        secret_files: 0,
        unreadable: 1,
        has_ignored: false,
    };
    // Between the look at its parent and the look into it, unless another thread is faster.
    let is_counted = (0..1000).any(|_| {
        fs::create_dir_all(&gone).unwrap();
        fs::write(gone.join("b.txt"), "x\n").unwrap();
        let mut asked = 0;
        let stopped = &mut || {
            asked += 1;
            if asked > 1 {
                let _ = fs::remove_dir_all(&gone);
            }
            false
        };
        let walker = &mut Walker {
            skip: &[],
            skip_ignored: false,
            pattern: None,
            order: Order::Path,
            limit: usize::MAX,
            most_bytes: usize::MAX,
            stopped,
        };
        policy.search(".", &search, 100, walker).unwrap() == expected
    });
    assert!(is_counted);
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
        skip_ignored: false,
        pattern: None,
        order: Order::Path,
        limit: usize::MAX,
        most_bytes: usize::MAX,
        stopped,
    };
    let search = LineSearch::new("xy", false).unwrap();
    let report = policy.search("long.txt", &search, 9, walker).unwrap();
    assert_eq!((report.searched_files, report.total_matches), (1, 0));
    // One for each piece, and pieces double in length.
    assert!((2..50).contains(&questions), "{questions}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

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
}

#[test]
fn an_expression_that_is_too_costly_for_the_text_is_given_up_and_says_where() {
    let mut state = 1_u32;
    let random: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        b"ab"[usize::from(state >> 31 == 1)]
    })
    .take(60_000)
    .collect();
    let (_folder, policy) = folder(&[("a.txt", &random)]);
    let search = LineSearch::new("(?:[ab]{1,100}a[ab]{1,100}){1,10}x", false).unwrap();
    let walker = &mut Walker {
        skip: &[],
        skip_ignored: false,
        pattern: None,
        order: Order::Path,
        limit: 9,
        most_bytes: 9999,
        stopped: &mut || false,
    };
    let refusal = policy.search(".", &search, 9, walker).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "the expression takes too many steps on `a.txt` (repeat fewer times, or search less)"
    );
}

#[test]
fn a_search_stops_within_a_line() {
    let plain = "x".repeat(1 << 20);
    for (expression, line) in [("x+y", plain.clone()), (r"\bx{1,9}y\b", plain + "é")] {
        let (_folder, policy) = folder_of(&line);
        // Far more questions than pieces are read: most of them come while the line is searched.
        let mut questions = 0;
        let stopped = &mut || {
            questions += 1;
            questions > 100
        };
        let walker = &mut Walker {
            skip: &[],
            skip_ignored: false,
            pattern: None,
            order: Order::Path,
            limit: 9,
            most_bytes: 9999,
            stopped,
        };
        let search = LineSearch::new(expression, false).unwrap();
        let refusal = policy.search("text", &search, 9, walker);
        assert!(
            matches!(refusal, Err(PathError::Stopped { .. })),
            "{expression}"
        );
    }
}

#[test]
fn a_match_without_a_longest_length_and_a_boundary_is_not_looked_for_in_a_long_line() {
    let line = format!("é{}", "x ".repeat(1 << 20));
    let (_folder, policy) = folder_of(&line);
    assert_eq!(found(&policy, r"\bx é\b", 1).total_matches, 0);
    assert_eq!(found(&policy, r"\bx x\b", 1).total_matches, 1);
    let search = LineSearch::new(r"\bx.*y", false).unwrap();
    let walker = &mut Walker {
        skip: &[],
        skip_ignored: false,
        pattern: None,
        order: Order::Path,
        limit: 9,
        most_bytes: 9999,
        stopped: &mut || false,
    };
    let refusal = policy.search(".", &search, 9, walker).unwrap_err();
    assert!(matches!(refusal, PathError::Costly { .. }), "{refusal}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lines_match_exactly_where_the_reference_engine_finds_them(
        expression in r"(\\b|\^|\(\?i\)|)([aé.]|\\w|\[\^a\]|\\s|\(a\|é\)){1,4}[*+?]?(\\b|\$|\\B|)",
        text in "[aAbé \n\r€]{0,80}",
    ) {
        let reference = regex::bytes::RegexBuilder::new(&expression)
            .multi_line(true)
            .crlf(true)
            .build()
            .unwrap();
        let (_folder, policy) = folder_of(&text);
        let lines = text.strip_suffix('\n').unwrap_or(&text).split('\n');
        let expected: Vec<u64> = lines
            .enumerate()
            .filter(|(_, line)| {
                reference.is_match(line.strip_suffix('\r').unwrap_or(line).as_bytes())
            })
            .map(|(index, _)| index as u64 + 1)
            .collect();
        let expected = if text.is_empty() { Vec::new() } else { expected };
        let found: Vec<u64> = found(&policy, &expression, 99)
            .lines
            .iter()
            .map(|line| line.line)
            .collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn a_match_across_pieces_of_a_line_is_found_as_in_one_piece(
        expression in r"(\\b|\^|)wort{1,3}(é| x)?(\\b|\$|\\B)",
        filler in prop::sample::select(&["é", "é ", "x", "xé", " "]),
        distance in 4_070_usize..4_110,
        word in "(wort|worttt|worté|wort x){1,2}",
        after in "[éx ]{0,9}",
    ) {
        let filled: String = filler.chars().cycle().take(distance / filler.len()).collect();
        let line = format!("é{filled}{word}{after}");
        let reference = regex::Regex::new(&expression).unwrap();
        let (_folder, policy) = folder_of(&line);
        let lines = found(&policy, &expression, 1).lines;
        let start = reference.find(&line).map(|found| found.start());
        prop_assert_eq!(lines.len(), usize::from(start.is_some()));
        if let Some(start) = start {
            let before = line[..start].chars().count().saturating_sub(100);
            let shown: String = line.chars().skip(before).take(400).collect();
            prop_assert!(lines[0].text.contains(&shown));
        }
    }

    #[test]
    fn what_is_kept_is_the_beginning_of_all_within_its_number_and_bytes(
        names in prop::collection::btree_set("[a-c]{1,9}", 1..30),
        limit in 0_usize..20,
        most_bytes in 0_usize..800,
    ) {
        let files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b"x\n"[..])).collect();
        let (_folder, policy) = folder(&files);
        let walker = &mut Walker {
            skip: &[],
            skip_ignored: false,
            pattern: None,
            order: Order::Path,
            limit,
            most_bytes,
            stopped: &mut || false,
        };
        let walk = policy.walk(".", walker).unwrap();
        let mut room = most_bytes;
        let fitting = names.iter().take(limit).take_while(|name| {
            let fits = name.len() + 24 <= room;
            room = room.saturating_sub(name.len() + 24);
            fits
        });
        let fitting: Vec<_> = fitting.collect();
        let kept: Vec<_> = walk.files.iter().map(|file| file.path.to_str().unwrap()).collect();
        prop_assert_eq!(kept, fitting);
        prop_assert_eq!(walk.total, names.len() as u64);
    }
}
