//! Chunks of a text give what is decided by then, and the text gives no more as one line.

use amplifier_guard::{TerminalLine, TerminalText, Untrusted};

#[test]
fn a_chunk_gives_what_no_later_one_can_change() {
    let bytes = |bytes: &'static [u8]| Untrusted::Bytes(bytes);
    for (chunks, shown) in [
        (
            vec![bytes(b"\xe2\x82"), bytes(b"A\xac")],
            vec!["", "\\xe2\\x82A\\xac", ""],
        ),
        (
            vec![bytes(b"\xe2"), bytes(b"\x82"), bytes(b"\xac")],
            vec!["", "", "€", ""],
        ),
        (
            vec![bytes(b"\xf0\x9f"), bytes(b"")],
            vec!["", "", "\\xf0\\x9f"],
        ),
        (
            vec![bytes(b"\xf0\x9f"), bytes(b"\xe2\x82")],
            vec!["", "\\xf0\\x9f", "\\xe2\\x82"],
        ),
        (
            vec![bytes(b"\xe2"), Untrusted::Text("x")],
            vec!["", "\\xe2x", ""],
        ),
        (
            vec![bytes(b"\xe2"), Untrusted::Codes(&[0x82])],
            vec!["", "\\xe2\\u{82}", ""],
        ),
        (vec!["a\r".into(), "\nb".into()], vec!["a", "\nb", ""]),
        (vec!["a\r".into(), "b".into()], vec!["a", "\\rb", ""]),
        (vec!["a\r".into()], vec!["a", "\\r"]),
        (
            vec!["1\u{fe0f}".into(), "\u{20e3}".into()],
            vec!["1", "\u{fe0f}\u{20e3}", ""],
        ),
    ] {
        let mut text = TerminalText::new();
        let mut given: Vec<String> = chunks.iter().map(|chunk| text.feed(*chunk)).collect();
        given.push(text.flush());
        assert_eq!(given, shown, "{chunks:?}");
        // Another text begins.
        assert_eq!(text.feed("\u{200d}🚀"), "\\u{200d}🚀");
    }
}

#[test]
fn a_carriage_return_in_a_line_is_dropped_right_before_a_newline_alone() {
    for (text, line) in [
        ("a\r\nb", "a b"),
        ("a\r\n", "a"),
        ("\r\nb", "b"),
        ("a\r b", "a\\r b"),
        ("a\r\t\nb", "a\\r b"),
        ("a\r\r\nb", "a\\r b"),
        ("a \r", "a \\r"),
        ("\r", "\\r"),
    ] {
        assert_eq!(TerminalText::line(text, 80), line, "{text:?}");
    }
}

#[test]
fn an_exact_line_tells_every_carriage_return() {
    assert_eq!(TerminalText::exact("\r\n\ra\r\r"), "\\r\\n\\ra\\r\\r");
}

#[test]
fn what_waits_is_not_told_by_debugging() {
    let mut text = TerminalText::new();
    let _ = text.feed("secret\r");
    assert_eq!(format!("{text:?}"), "TerminalText { .. }");
    let mut line = TerminalLine::new(80);
    assert!(line.feed("secret".into()));
    assert_eq!(format!("{line:?}"), "TerminalLine { .. }");
}
