//! What reaches a terminal can neither act on it nor deceive who reads it.

mod chunks;
mod context;

use amplifier_guard::{TerminalLine, TerminalText, Untrusted};
use proptest::prelude::*;

fn show(text: &str) -> String {
    TerminalText::show(text).into_owned()
}

/// The text shown in chunks that end at these places.
fn streamed(text: &[u8], cuts: &[usize]) -> String {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (text.len() + 1)).collect();
    cuts.sort_unstable();
    cuts.push(text.len());
    let mut stream = TerminalText::new();
    let mut shown = String::new();
    let mut place = 0;
    for cut in cuts {
        shown.push_str(&stream.feed(&text[place..cut]));
        place = cut;
    }
    shown.push_str(&stream.flush());
    shown
}

/// Characters by which contexts are made and broken.
fn texts() -> impl Strategy<Value = String> {
    let odd = prop::sample::select(
        "\0\x07\x1b\r\n\t\\ 1#au+\u{7f}\u{9b}\u{a0}\u{ad}\u{301}\u{34f}\u{61c}\u{627}\u{628}\u{631}\u{64b}\
         \u{930}\u{93f}\u{94d}\u{9b0}\u{9cd}\u{dca}\u{1820}\u{180b}\u{180e}\u{200b}\u{200c}\u{200d}\u{200e}\
         \u{2028}\u{202e}\u{2066}\u{20e3}\u{2640}\u{2764}\u{2800}\u{2801}\u{2a9d}\u{3164}\u{845b}\u{fe00}\
         \u{fe0e}\u{fe0f}\u{feff}\u{ffff}\u{1f3f4}\u{1f3fb}\u{1f469}\u{e0062}\u{e0065}\u{e0067}\
         \u{e006e}\u{e007f}\u{e0100}"
            .chars()
            .collect::<Vec<_>>(),
    );
    let character = prop_oneof![6 => odd, 1 => any::<char>()];
    prop::collection::vec(character, 0..60).prop_map(String::from_iter)
}

/// Whether a character may never reach a terminal, whatever stands around it.
fn acts_or_hides(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'
        | '\u{2029}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffff}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' => true,
        _ => character.is_control(),
    }
}

#[test]
fn what_a_terminal_acts_on_is_shown_escaped() {
    for (text, shown) in [
        ("\x1b]0;owned\x07", "\\x1b]0;owned\\x07"),
        ("a\x08\x7f\0", "a\\x08\\x7f\\x00"),
        ("\u{9b}31m\u{85}", "\\u{9b}31m\\u{85}"),
        ("safe\rrm", "safe\\rrm"),
        ("end\r", "end\\r"),
        ("one\r\r\ntwo\r\n", "one\\r\ntwo\n"),
        ("\u{2028}line\u{2029}", "\\u{2028}line\\u{2029}"),
        (
            "\u{202e}abc\u{2069}\u{200e}\u{61c}",
            "\\u{202e}abc\\u{2069}\\u{200e}\\u{61c}",
        ),
    ] {
        assert_eq!(show(text), shown);
    }
}

#[test]
fn what_nobody_sees_is_shown_escaped() {
    let invisible = "\u{ad}\u{34f}\u{115f}\u{1160}\u{17b4}\u{180e}\u{200b}\u{2060}\u{2064}\u{206f}\
                     \u{2800}\u{3164}\u{fe0f}\u{feff}\u{ffa0}\u{fff9}\u{ffff}\u{1bca0}\u{1d173}\u{13430}\
                     \u{e0001}\u{e0041}\u{e007f}\u{e0100}\u{e0fff}";
    for character in invisible.chars() {
        let escaped = format!("a\\u{{{:x}}}b", u32::from(character));
        assert_eq!(show(&format!("a{character}b")), escaped);
    }
}

#[test]
fn legitimate_text_passes_unchanged() {
    for text in [
        "line1\nline2\ttab",
        "\\x1b[31m literal text",
        "a\u{a0}b\u{2003}c",
        "│ ├── src",
        "Tiếng Việt, e\u{301}\u{323}",
        "مرحبا بالعالم، ١٢٣ \u{600}١",
        "שָׁלוֹם",
        "می\u{200c}خواهم، خانه\u{200c}ام، بِ\u{200c}بِ",
        "नमस्ते, क्\u{200d}ष, क्\u{200c}ष",
        "ශ්\u{200d}රී, র\u{200d}্য, ന്\u{200d}",
        "ᠨ\u{180b}ᠮ\u{180e}ᠠ",
        "👩\u{200d}🚀 👩🏽\u{200d}⚕\u{fe0f} 🏳\u{fe0f}\u{200d}🌈 👨\u{200d}👩\u{200d}👧\u{200d}👦 ❤\u{fe0f} ☺\u{fe0e}",
        "1\u{fe0f}\u{20e3} #\u{20e3} 🇦🇹",
        "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}!",
        "葛\u{e0100}飾区、神\u{fe00} \u{2a9d}\u{fe00}",
        "⠓⠑⠇⠇⠕⠀⠺⠕⠗⠇⠙",
        "\u{e0b0} private use, \u{378} not assigned yet",
    ] {
        assert!(
            matches!(TerminalText::show(text), std::borrow::Cow::Borrowed(_)),
            "{text} became {}",
            show(text)
        );
    }
}

#[test]
fn bytes_and_code_points_that_are_no_text_are_shown_escaped() {
    let show = |bytes: &[u8]| TerminalText::show(bytes).into_owned();
    assert_eq!(show(b"\x9b31m"), "\\x9b31m");
    assert_eq!(
        show(b"\xc3\xa9 \xe2\x82 \xed\xa0\x80"),
        "é \\xe2\\x82 \\xed\\xa0\\x80"
    );
    assert_eq!(show(b"cut \xf0\x9f\x91"), "cut \\xf0\\x9f\\x91");
    let codes = [0x61, 0xd83d, 0xde00, 0x1f600, 0x110_000];
    let shown = TerminalText::show(Untrusted::Codes(&codes));
    assert_eq!(shown, "a\\u{d83d}\\u{de00}😀\\u{110000}");
}

#[test]
fn a_line_is_one_line_and_cut_between_visible_characters() {
    let line = |text: &str, most| TerminalText::line(text, most);
    assert_eq!(line("  one\r\n\n\ttwo   three\n", 80), "one two three");
    assert_eq!(line("10%\r20%", 80), "10%\\r20%");
    assert_eq!(line("abcdef", 6), "abcdef");
    assert_eq!(line("abcdefg", 6), "abcde…");
    assert_eq!(line("abc\x1bd", 6), "abc…");
    assert_eq!(line("ab e\u{301}\u{323}fgh", 6), "ab …");
    assert_eq!(line("ab 👩\u{200d}🚀 and more", 6), "ab …");
    assert_eq!(line("ab", 1), "…");
    assert_eq!(line("ab", 0), "");
}

#[test]
fn an_exact_line_can_be_read_back() {
    assert_eq!(
        TerminalText::exact("grep  '\\bfoo'\n\trm\r\n\x1b[m\u{200b}"),
        "grep  '\\\\bfoo'\\n\\trm\\r\\n\\x1b[m\\u{200b}"
    );
}

proptest! {
    #[test]
    fn nothing_that_acts_or_hides_is_left(text in texts()) {
        prop_assert_eq!(show(&text).chars().find(|character| acts_or_hides(*character)), None);
        prop_assert_eq!(TerminalText::exact(text.as_str()).chars().find(|each| acts_or_hides(*each)), None);
    }

    #[test]
    fn what_was_shown_stays(text in texts(), most in 0..80_usize) {
        let shown = show(&text);
        prop_assert_eq!(show(&shown), shown);
        let line = TerminalText::line(text.as_str(), most);
        prop_assert!(line.chars().count() <= most);
        prop_assert_eq!(TerminalText::line(line.as_str(), most), line.clone());
        prop_assert_eq!(show(&line), line);
    }

    #[test]
    fn where_the_chunks_end_does_not_matter(
        text in prop_oneof![
            texts().prop_map(String::into_bytes),
            prop::collection::vec(any::<u8>(), 0..60),
        ],
        cuts in prop::collection::vec(any::<usize>(), 0..6),
    ) {
        prop_assert_eq!(streamed(&text, &cuts), TerminalText::show(text.as_slice()));
        let mut line = TerminalLine::new(20);
        let half = cuts.first().map_or(0, |cut| cut % (text.len() + 1));
        let _ = line.feed(Untrusted::Bytes(&text[..half])) && line.feed(Untrusted::Bytes(&text[half..]));
        prop_assert_eq!(line.finish(), TerminalText::line(text.as_slice(), 20));
    }

    #[test]
    fn text_bytes_and_code_points_are_shown_alike(text in texts()) {
        let codes: Vec<u32> = text.chars().map(u32::from).collect();
        prop_assert_eq!(TerminalText::show(Untrusted::Codes(&codes)), show(&text));
        prop_assert_eq!(TerminalText::show(text.as_bytes()), show(&text));
        let line = TerminalText::line(text.as_str(), 20);
        prop_assert_eq!(TerminalText::line(Untrusted::Codes(&codes), 20), line.clone());
        prop_assert_eq!(TerminalText::line(text.as_bytes(), 20), line);
        let exact = TerminalText::exact(text.as_str());
        prop_assert_eq!(TerminalText::exact(Untrusted::Codes(&codes)), exact.clone());
        prop_assert_eq!(TerminalText::exact(text.as_bytes()), exact);
    }

    #[test]
    fn a_line_is_the_beginning_of_the_whole_line(text in texts(), most in 1..40_usize) {
        let whole = TerminalText::line(text.as_str(), usize::MAX);
        let line = TerminalText::line(text.as_str(), most);
        if whole.chars().count() <= most {
            prop_assert_eq!(line, whole);
        } else {
            prop_assert!(whole.starts_with(line.strip_suffix('…').unwrap()));
        }
    }

    #[test]
    fn different_texts_have_different_exact_lines(one in texts(), other in texts()) {
        prop_assert_eq!(one == other, TerminalText::exact(one.as_str()) == TerminalText::exact(other.as_str()));
        prop_assert!(!TerminalText::exact(one.as_str()).contains(['\n', '\t']));
    }
}
