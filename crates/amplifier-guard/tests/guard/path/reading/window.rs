//! A window is the lines that were asked for, whole, within its bytes.

use amplifier_guard::{LineRange, LineWindow, PathError};
use proptest::prelude::*;

use super::{folder, folder_of};

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
            (400_008, 1, 1, expected < 400_008)
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
            total_lines: lines.len() as u64,
            shown_lines: shown.len() as u64,
            content: shown.concat().into_bytes(),
            truncated: skipped + shown.len() < lines.len(),
        });
    }
}
