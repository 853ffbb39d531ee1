//! The work of the parsers grows with the text and no faster.

use amplifier_stream::{TagNames, ThinkingParser, ToolCallParser, steps};

/// The largest exponent that counts as linear, where one would be exact.
const MAX_SLOPE: f64 = 1.1;

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];

/// Texts that are hard on a parser which looks at something twice.
const PATTERNS: [&str; 22] = [
    "plain text without anything in it. ",
    "<",
    "<<thinking",
    "<thinkin",
    "</",
    "a < b ",
    "<thinking>a</thinking>b",
    "<thinking>",
    "<think a='",
    "<think a=' <think ",
    "<tool>",
    "<tool>{\"tool_name\": \"a\"}</tool>",
    "<tool>{\"",
    "<tool>{\"a\": \"</tool>\\\"\", ",
    "<tool><tool_name>a</tool_name><arguments><x>&amp;& </x></arguments></tool>",
    "<tool><![CDATA[]]></tool>",
    "<tool><![CDATA[</tool",
    "<tool><x><arguments>{",
    "<tool><!-- > -- ></",
    "<tool>&lt;x&gt;",
    "`<tool>`` ```\n\n",
    "<!-- <tool> ` -->",
];

/// How fast the work grows with the text: the exponent over two decades.
fn slope(pattern: &str, piece: usize, mut work: impl FnMut(&[&str])) -> f64 {
    let steps = SIZES.map(|size| {
        let text = pattern.repeat(size / pattern.len());
        let pieces: Vec<&str> = text
            .as_bytes()
            .chunks(piece)
            .map(|bytes| std::str::from_utf8(bytes).unwrap())
            .collect();
        let steps = steps::of(|| work(&pieces));
        f64::from(u32::try_from(steps).unwrap())
    });
    (steps[2] / steps[0]).log10() / 2.0
}

fn check(piece: usize) {
    let names = |name| {
        TagNames::new([name, "think", "tools"])
            .unwrap()
            .with_attributes()
    };
    let thinking = ThinkingParser::new(names("thinking"));
    let tools = ToolCallParser::new(names("tool"));
    for pattern in PATTERNS {
        // The prefixes put the whole pattern inside of a thought or of a call, too.
        for prefix in [
            "",
            "<thinking>",
            "<tool>",
            "<tool>{\"a\": \"",
            "<tool><a><![CDATA[",
        ] {
            for parser in [&thinking, &ThinkingParser::default()] {
                let found = slope(pattern, piece, |pieces| {
                    let mut parser = parser.clone();
                    parser.feed(prefix);
                    for piece in pieces {
                        parser.feed(piece);
                    }
                    parser.flush();
                });
                assert!(found <= MAX_SLOPE, "thinking, {prefix}{pattern}: {found}");
            }
            for parser in [&tools, &ToolCallParser::default()] {
                let found = slope(pattern, piece, |pieces| {
                    let mut parser = parser.clone();
                    parser.feed(prefix);
                    for piece in pieces {
                        parser.feed(piece);
                    }
                    parser.flush();
                });
                assert!(found <= MAX_SLOPE, "calls, {prefix}{pattern}: {found}");
            }
        }
    }
}

#[test]
fn work_is_linear_in_texts_with_quotations() {
    let parser = ToolCallParser::default()
        .ignoring_quoted()
        .with_known_texts(["<tool>"]);
    for pattern in PATTERNS {
        let found = slope(pattern, usize::MAX, |pieces| {
            let mut parser = parser.clone();
            for piece in pieces {
                parser.feed(piece);
            }
            parser.flush();
        });
        assert!(found <= MAX_SLOPE, "{pattern}: {found}");
    }
}

#[test]
fn work_is_linear_in_texts_that_come_whole() {
    check(usize::MAX);
}

#[test]
fn work_is_linear_in_texts_that_come_byte_by_byte() {
    check(1);
}
