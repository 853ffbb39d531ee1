//! Costs per byte: framing against a bare walk over the newlines, and the decoding of text deltas.

use std::hint::black_box;
use std::time::SystemTime;

use amplifier_stream::{Dialect, Headers, Limits, SseDecoder, StreamDecoder, parse_arguments};
use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};

const EVENTS: usize = 10_000;
/// What one read from a socket brings.
const CHUNK: usize = 16 * 1024;

fn main() {
    divan::main();
}

fn event(kind: &str, data: &str) -> String {
    format!("event: {kind}\ndata: {{\"type\":\"{kind}\",{data}}}\n\n")
}

/// A stream of deltas, about 200 bytes each.
fn deltas(start: &str, delta: impl Fn(usize) -> String) -> Vec<u8> {
    let message =
        r#""message":{"id":"msg_1","content":[],"model":"claude","usage":{"input_tokens":1}}"#;
    let block = format!(r#""index":0,"content_block":{start}"#);
    let mut wire = event("message_start", message) + &event("content_block_start", &block);
    for number in 0..EVENTS {
        let delta = format!(r#""index":0,"delta":{}"#, delta(number));
        wire.push_str(&event("content_block_delta", &delta));
    }
    wire.push_str(&event("content_block_stop", r#""index":0"#));
    wire.push_str("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n");
    wire.into_bytes()
}

fn text_stream() -> Vec<u8> {
    deltas(r#"{"type":"text","text":""}"#, |number| {
        format!(
            r#"{{"type":"text_delta","text":"{number:06} {}"}}"#,
            "quick brown fox ".repeat(5)
        )
    })
}

fn tool_stream() -> Vec<u8> {
    deltas(
        r#"{"type":"tool_use","id":"t","name":"write","input":{}}"#,
        |number| {
            let piece = match number {
                0 => r#"{\"text\":\""#,
                number if number + 1 == EVENTS => r#"\"}"#,
                _ => "thirty-two bytes of one argument",
            };
            format!(r#"{{"type":"input_json_delta","partial_json":"{piece}"}}"#)
        },
    )
}

fn decode(wire: &[u8]) -> usize {
    let headers = Headers::default();
    let mut decoder = StreamDecoder::new(Dialect::Anthropic, 200, headers, Limits::DEFAULT);
    let mut events = Vec::new();
    let mut count = 0;
    for chunk in wire.chunks(CHUNK) {
        let fed = decoder.feed(chunk, &mut events);
        assert!(fed.is_ok());
        count += events.len();
        events.clear();
    }
    let result = decoder.finish(SystemTime::UNIX_EPOCH);
    assert!(!result.truncated && result.error.is_none());
    count
}

#[divan::bench]
fn newlines_by_memchr(bencher: Bencher<'_, '_>) {
    let wire = text_stream();
    bencher
        .counter(BytesCount::new(wire.len()))
        .bench(|| memchr::memchr_iter(b'\n', black_box(&wire)).fold(0, |last, place| last ^ place));
}

#[divan::bench]
fn framing(bencher: Bencher<'_, '_>) {
    let wire = text_stream();
    bencher.counter(BytesCount::new(wire.len())).bench(|| {
        let mut decoder = SseDecoder::new(Limits::DEFAULT);
        let mut bytes = 0;
        for chunk in black_box(&wire).chunks(CHUNK) {
            let fed = decoder.feed(chunk, |event| bytes += event.data.len());
            assert!(fed.is_ok());
        }
        bytes
    });
}

#[divan::bench]
fn text_deltas(bencher: Bencher<'_, '_>) {
    let wire = text_stream();
    bencher
        .counter(ItemsCount::new(EVENTS))
        .bench(|| decode(black_box(&wire)));
}

#[divan::bench]
fn tool_deltas(bencher: Bencher<'_, '_>) {
    let wire = tool_stream();
    bencher
        .counter(ItemsCount::new(EVENTS))
        .bench(|| decode(black_box(&wire)));
}

#[divan::bench(args = [1_000, 10_000, 100_000, 1_000_000])]
fn arguments(bencher: Bencher<'_, '_>, bytes: usize) {
    let item = r#"{"path":"src/module.py","line":12,"column":4,"text":"return value"},"#;
    let text = format!(r#"{{"items":[{}0]}}"#, item.repeat(bytes / item.len()));
    bencher
        .counter(BytesCount::new(text.len()))
        .bench(|| parse_arguments(black_box(&text)).is_ok());
}
