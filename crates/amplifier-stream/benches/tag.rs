//! What the tag parsers cost, against a bare walk over the newlines of the same bytes.

use std::hint::black_box;

use amplifier_stream::{ThinkingParser, ToolCallParser};
use divan::Bencher;
use divan::counter::BytesCount;

/// How much text of an answer is read at once.
const PIECE: usize = 4096;

fn main() {
    divan::main();
}

/// Lines as code has them, about 70 bytes each, with an angle bracket in every third.
fn lines(number: usize) -> String {
    format!(
        "{number:06} let quick: Vec<Fox> = brown.iter().filter(|fox| fox.jumps()).collect();\n    \
         // The quick brown fox jumps over the lazy dog, and then it rests.\n    \
         if quick.is_empty() {{ return Err(Error::new(\"no fox jumped\")); }}\n"
    )
}

fn thoughts() -> String {
    let part = |number| {
        let text = lines(number).repeat(6);
        format!("<thinking>{text}</thinking>{text}")
    };
    (0..500).map(part).collect()
}

fn json_calls() -> String {
    let part = |number| {
        let text = lines(number).repeat(6);
        let escaped = text.replace('"', "\\\"").replace('\n', "\\n");
        format!(
            "{text}<tool>{{\"tool_name\": \"write\", \"arguments\": {{\"path\": \"a.md\", \
             \"text\": \"{escaped}\"}}}}</tool>\n"
        )
    };
    (0..500).map(part).collect()
}

fn xml_calls() -> String {
    let part = |number| {
        let text = lines(number).repeat(6);
        format!(
            "{text}<tool><tool_name>write</tool_name><arguments><path>a.md</path>\
             <text><![CDATA[{text}]]></text></arguments></tool>\n"
        )
    };
    (0..500).map(part).collect()
}

fn newlines(bencher: Bencher<'_, '_>, text: &str) {
    bencher.counter(BytesCount::new(text.len())).bench(|| {
        memchr::memchr_iter(b'\n', black_box(text).as_bytes()).fold(0, |last, place| last ^ place)
    });
}

/// Pieces of a text; all of it is ASCII.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    (0..text.len())
        .step_by(PIECE)
        .map(|start| &text[start..text.len().min(start + PIECE)])
}

fn thinking(bencher: Bencher<'_, '_>, text: &str) {
    bencher.counter(BytesCount::new(text.len())).bench(|| {
        let mut parser = ThinkingParser::default();
        let mut events = 0;
        for piece in pieces(black_box(text)) {
            events += black_box(parser.feed(piece)).len();
        }
        events + parser.flush().len()
    });
}

fn calls(bencher: Bencher<'_, '_>, text: &str, parser: &ToolCallParser) {
    bencher.counter(BytesCount::new(text.len())).bench(|| {
        let mut parser = parser.clone();
        let mut events = 0;
        for piece in pieces(black_box(text)) {
            events += black_box(parser.feed(piece)).len();
        }
        events + parser.flush().len()
    });
}

/// Calls are found and read.
fn whole() -> ToolCallParser {
    ToolCallParser::default()
}

/// Calls are found but, as they are over the limit, neither kept nor read.
fn found() -> ToolCallParser {
    ToolCallParser::default().with_max_call_bytes(0)
}

#[divan::bench]
fn thoughts_newlines_by_memchr(bencher: Bencher<'_, '_>) {
    newlines(bencher, &thoughts());
}

#[divan::bench]
fn thoughts_parsed(bencher: Bencher<'_, '_>) {
    thinking(bencher, &thoughts());
}

#[divan::bench]
fn json_calls_newlines_by_memchr(bencher: Bencher<'_, '_>) {
    newlines(bencher, &json_calls());
}

#[divan::bench]
fn json_calls_parsed(bencher: Bencher<'_, '_>) {
    calls(bencher, &json_calls(), &whole());
}

#[divan::bench]
fn json_calls_found(bencher: Bencher<'_, '_>) {
    calls(bencher, &json_calls(), &found());
}

#[divan::bench]
fn xml_calls_newlines_by_memchr(bencher: Bencher<'_, '_>) {
    newlines(bencher, &xml_calls());
}

#[divan::bench]
fn xml_calls_parsed(bencher: Bencher<'_, '_>) {
    calls(bencher, &xml_calls(), &whole());
}

#[divan::bench]
fn xml_calls_found(bencher: Bencher<'_, '_>) {
    calls(bencher, &xml_calls(), &found());
}

/// A call that is all repairs: what is read of it must grow with it and no faster.
#[divan::bench(args = [10_000, 100_000, 1_000_000])]
fn bare_ampersands(bencher: Bencher<'_, '_>, bytes: usize) {
    let inside = "& ".repeat(bytes / 2);
    let text =
        format!("<tool><tool_name>a</tool_name><arguments><x>{inside}</x></arguments></tool>");
    calls(bencher, &text, &whole());
}
