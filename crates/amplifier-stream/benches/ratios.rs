//! What framing and tag parsing cost as multiples of a bare walk over the newlines of the same bytes.
//!
//! Both sides of a ratio run in turns, thousands of times for a few tenths of a millisecond each, and
//! the median of the ratios counts: what else the machine does falls on both.

#![expect(clippy::print_stdout, reason = "a table is what it is for")]

use std::hint::black_box;
use std::time::Instant;

use amplifier_stream::{Limits, SseDecoder, ThinkingEvent, ThinkingParser, ToolCallParser};

const TURNS: usize = 2_001;
/// What one read from a socket brings.
const CHUNK: usize = 16 * 1024;
const WORDS: &str = "the quick brown fox jumps over the lazy dog, ";

fn main() {
    let rows = [
        (
            "server-sent events of 200 bytes",
            events(),
            6.0,
            frame as fn(&str),
        ),
        ("text with thinking", thoughts(), 15.0, parse_thinking),
        (
            "text with calls in JSON",
            calls(&[json_call]),
            15.0,
            parse_calls,
        ),
        (
            "text with calls in XML",
            calls(&[xml_call]),
            15.0,
            parse_calls,
        ),
        (
            "thinking and calls, both parsers",
            mixed(),
            15.0,
            parse_both,
        ),
    ];
    println!("against `memchr_iter` over the newlines");
    for (what, text, most, work) in rows {
        let ratio = ratio(&text, work);
        let verdict = if ratio <= most { "reached" } else { "MISSED" };
        println!("{what:34}  <= {most:>2}  {ratio:>5.2}  {verdict}");
    }
    println!();
}

fn ratio(text: &str, work: fn(&str)) -> f64 {
    let seconds = |work: fn(&str)| {
        let start = Instant::now();
        work(black_box(text));
        start.elapsed().as_secs_f64()
    };
    let turns = (0..TURNS).map(|_| {
        let walk = seconds(walk);
        seconds(work) / walk
    });
    let mut ratios: Vec<f64> = turns.collect();
    ratios.sort_by(f64::total_cmp);
    ratios[TURNS / 2]
}

fn walk(text: &str) {
    black_box(memchr::memchr_iter(b'\n', text.as_bytes()).fold(0, |last, place| last ^ place));
}

fn frame(text: &str) {
    let mut decoder = SseDecoder::new(Limits::DEFAULT);
    for chunk in text.as_bytes().chunks(CHUNK) {
        let fed = decoder.feed(chunk, |event| drop(black_box(event)));
        assert!(fed.is_ok());
    }
}

/// The text in chunks; all of it is ASCII.
fn chunks(text: &str) -> impl Iterator<Item = &str> {
    (0..text.len())
        .step_by(CHUNK)
        .map(|start| &text[start..text.len().min(start + CHUNK)])
}

fn parse_thinking(text: &str) {
    let mut parser = ThinkingParser::default();
    for chunk in chunks(text) {
        black_box(parser.feed(chunk));
    }
    black_box(parser.flush());
}

fn parse_calls(text: &str) {
    let mut parser = ToolCallParser::default();
    for chunk in chunks(text) {
        black_box(parser.feed(chunk));
    }
    black_box(parser.flush());
}

/// As a provider separates thinking, and an agent the calls in the rest.
fn parse_both(text: &str) {
    let mut thinking = ThinkingParser::default();
    let mut calls = ToolCallParser::default();
    let mut pass = |events: Vec<ThinkingEvent>| {
        for event in events {
            match event {
                ThinkingEvent::Message(text) => drop(black_box(calls.feed(&text))),
                other => drop(black_box(other)),
            }
        }
    };
    for chunk in chunks(text) {
        pass(thinking.feed(chunk));
    }
    pass(thinking.flush());
    black_box(calls.flush());
}

fn events() -> String {
    let event = |number| {
        let text = WORDS.repeat(2);
        format!(
            "event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":0,\
             \"delta\":{{\"type\":\"text_delta\",\"text\":\"{number:06} {text}\"}}}}\n\n"
        )
    };
    (0..5_000).map(event).collect()
}

fn lines() -> String {
    format!("    {WORDS}{WORDS}\n").repeat(12)
}

fn thought() -> String {
    format!("<thinking>{}</thinking>{}", lines(), lines())
}

fn json_call() -> String {
    let text = lines().replace('\n', "\\n");
    let call = format!("{{\"tool_name\": \"write\", \"arguments\": {{\"text\": \"{text}\"}}}}");
    format!("{}<tool>{call}</tool>\n", lines())
}

fn xml_call() -> String {
    let text = format!("<text><![CDATA[{}]]></text>", lines());
    let call = format!("<tool_name>write</tool_name><arguments>{text}</arguments>");
    format!("{}<tool>{call}</tool>\n", lines())
}

fn thoughts() -> String {
    thought().repeat(400)
}

fn calls(forms: &[fn() -> String]) -> String {
    let calls: String = forms.iter().map(|form| form()).collect();
    calls.repeat(400 / forms.len())
}

fn mixed() -> String {
    calls(&[thought, json_call, lines, xml_call])
}
