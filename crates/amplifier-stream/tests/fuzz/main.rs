//! Random streams, bodies and arguments: nothing is fatal, cuts do not matter, the work is linear.
//!
//! A few inputs in every run of the tests, a million with `make fuzz`.

mod agreement;
mod campaign;
mod damage;
mod random;
mod restarts;
mod streams;
mod tags;

use std::time::SystemTime;

use amplifier_stream::{
    Block, Dialect, Headers, Limits, MAX_CALLS, NdjsonDecoder, NdjsonLine, PartialArguments,
    SseDecoder, StreamDecoder, StreamEvent, StreamResult, ThinkingFilter, ThinkingParser,
    decode_error, parse_arguments, steps,
};

use agreement::{assert_agent_events_agree, assert_blocks_agree};
use campaign::try_inputs;
use damage::damage;
use random::Random;

/// Steps that a byte may cost, and that a chunk or a stream may cost besides.
const STEPS_OF_A_BYTE: usize = 24;
const STEPS_OF_A_CHUNK: usize = 400;

fn chunks<'a>(random: &mut Random, wire: &'a [u8]) -> Vec<&'a [u8]> {
    let mut start = 0;
    let cuts = random.cuts(wire.len());
    let chunks = cuts.into_iter().map(|end| {
        let chunk = &wire[start..end];
        start = end;
        chunk
    });
    chunks.collect()
}

/// Does the work and holds it to be linear in the bytes.
fn linear<T>(bytes: usize, chunks: usize, work: impl FnOnce() -> T) -> T {
    let mut result = None;
    let steps = steps::of(|| result = Some(work()));
    let most = STEPS_OF_A_BYTE * bytes + STEPS_OF_A_CHUNK * (chunks + 1);
    assert!(
        steps <= most,
        "{steps} steps for {bytes} bytes in {chunks} chunks"
    );
    result.unwrap()
}

/// A stream of any dialect, damaged or not.
fn damaged(random: &mut Random, stream: fn(&mut Random) -> Vec<u8>) -> Vec<u8> {
    let (wire, other) = (stream(random), stream(random));
    damage(random, wire, &other)
}

fn any_stream(random: &mut Random) -> Vec<u8> {
    let all = [
        streams::anthropic,
        streams::responses,
        streams::chat,
        streams::ollama,
    ];
    let stream = all[random.below(all.len())];
    damaged(random, stream)
}

type Framed = Vec<(String, String, Option<String>, Option<u64>, bool)>;

fn frame_events(chunks: &[&[u8]], limits: Limits) -> (Framed, bool) {
    let mut decoder = SseDecoder::new(limits);
    let mut events = Vec::new();
    let fed = chunks.iter().try_for_each(|chunk| {
        decoder.feed(chunk, |event| {
            let id = event.id.map(str::to_owned);
            events.push((
                event.event.into_owned(),
                event.data.into_owned(),
                id,
                event.retry,
                event.is_lossy,
            ));
        })
    });
    let is_whole = fed.and_then(|()| decoder.finish()).is_ok();
    (events, is_whole)
}

fn frame_lines(chunks: &[&[u8]], limits: Limits) -> (Vec<String>, bool) {
    let mut decoder = NdjsonDecoder::new(limits);
    let mut lines = Vec::new();
    let mut keep = |line: NdjsonLine<'_>| lines.push(format!("{line:?} {:?}", line.value()));
    let fed = chunks
        .iter()
        .try_for_each(|chunk| decoder.feed(chunk, &mut keep));
    let is_whole = fed.and_then(|()| decoder.finish(&mut keep)).is_ok();
    (lines, is_whole)
}

/// Limits that are far away, or in the way.
fn limits(random: &mut Random) -> Limits {
    if random.once_in(4) {
        Limits {
            max_line_bytes: random.below(300),
            max_event_bytes: random.below(400),
            max_total_bytes: random.below(2000),
            ..Limits::DEFAULT
        }
    } else {
        Limits::DEFAULT
    }
}

#[test]
fn server_sent_events_are_the_same_at_any_cut() {
    try_inputs("server-sent events", 10, any_stream, |wire, random| {
        let limits = limits(random);
        let chunks = chunks(random, wire);
        let cut = linear(wire.len(), chunks.len(), || frame_events(&chunks, limits));
        assert_eq!(cut, frame_events(&[wire], limits));
    });
}

#[test]
fn lines_are_the_same_at_any_cut() {
    let lines = |random: &mut Random| damaged(random, streams::ollama);
    try_inputs("NDJSON lines", 10, lines, |wire, random| {
        let limits = limits(random);
        let chunks = chunks(random, wire);
        let cut = linear(wire.len(), chunks.len(), || frame_lines(&chunks, limits));
        assert_eq!(cut, frame_lines(&[wire], limits));
    });
}

/// Decodes chunks, and asks for arguments in between where `asks` says so.
fn decode(
    dialect: Dialect,
    max_calls: usize,
    chunks: &[&[u8]],
    asks: bool,
) -> (Vec<StreamEvent>, StreamResult) {
    let limits = Limits {
        max_calls,
        ..Limits::DEFAULT
    };
    let mut decoder = StreamDecoder::new(dialect, 200, Headers::default(), limits);
    let mut events = Vec::new();
    for chunk in chunks {
        decoder.feed(chunk, &mut events).unwrap();
        if asks {
            for index in 0..3 {
                let _ = decoder.partial_arguments(index);
            }
        }
    }
    (events, decoder.finish(SystemTime::UNIX_EPOCH))
}

/// What a filter of thinking makes of an answer.
fn filter(events: &[StreamEvent], result: &StreamResult) -> (Vec<StreamEvent>, StreamResult) {
    let mut filter = ThinkingFilter::new(ThinkingParser::default());
    let events = events.iter().flat_map(|event| filter.feed(event)).collect();
    (events, filter.finish(result.clone()))
}

/// Tries damaged streams, and streams that start again and repeat themselves.
fn hold_dialect(
    dialect: Dialect,
    percent: u64,
    stream: fn(&mut Random) -> Vec<u8>,
    restarts: fn(&mut Random) -> Vec<u8>,
) {
    let input = |random: &mut Random| {
        if random.once_in(2) {
            damaged(random, stream)
        } else {
            restarts(random)
        }
    };
    try_inputs(dialect.as_str(), percent, input, |wire, random| {
        let chunks = chunks(random, wire);
        let most = [0, 1, 2, MAX_CALLS, MAX_CALLS][random.below(5)];
        let decode = |chunks: &[&[u8]], asks| decode(dialect, most, chunks, asks);
        let (events, result) = linear(wire.len(), chunks.len(), || decode(&chunks, true));
        let whole = decode(&[wire], false);
        assert_eq!((&events, &result), (&whole.0, &whole.1));
        assert_blocks_agree(&events, &result);
        assert_agent_events_agree(&events, &result, false);
        let (split, filtered) = filter(&events, &result);
        assert_agent_events_agree(&split, &filtered, true);
        let has_failed = result.truncated || result.error.is_some();
        let calls = result.blocks.iter().filter_map(|block| match block {
            Block::ToolCall(call) => Some(call),
            Block::Content(_) => None,
        });
        // An item of Responses may become a call at its end.
        assert!(dialect == Dialect::Responses || calls.clone().count() <= most * 9);
        assert!(calls.filter(|call| call.arguments.is_some()).count() <= most);
        for block in &result.blocks {
            if let Block::ToolCall(call) = block {
                assert_eq!(call.arguments.is_some(), call.error.is_none(), "{call:?}");
                assert!(call.arguments.is_none() || !has_failed, "{call:?}");
            }
        }
    });
}

#[test]
fn anthropic_streams_are_the_same_at_any_cut_and_run_nothing_that_failed() {
    hold_dialect(
        Dialect::Anthropic,
        15,
        streams::anthropic,
        restarts::anthropic,
    );
}

#[test]
fn responses_streams_are_the_same_at_any_cut_and_run_nothing_that_failed() {
    hold_dialect(
        Dialect::Responses,
        13,
        streams::responses,
        restarts::responses,
    );
}

#[test]
fn chat_streams_are_the_same_at_any_cut_and_run_nothing_that_failed() {
    hold_dialect(Dialect::Chat, 12, streams::chat, restarts::chat);
}

#[test]
fn ollama_streams_are_the_same_at_any_cut_and_run_nothing_that_failed() {
    hold_dialect(Dialect::Ollama, 10, streams::ollama, restarts::ollama);
}

#[test]
fn error_bodies_are_never_fatal() {
    let body = |random: &mut Random| damaged(random, streams::error_body);
    try_inputs("error bodies", 5, body, |body, random| {
        let status = [400, 401, 408, 429, 500, 529][random.below(6)];
        let headers: Headers = [
            ("retry-after".to_owned(), random.text()),
            ("request-id".to_owned(), random.text()),
        ]
        .into_iter()
        .collect();
        for dialect in Dialect::ALL {
            let error = decode_error(dialect, status, &headers, body, SystemTime::UNIX_EPOCH);
            assert_eq!(error.status, status);
        }
    });
}

#[test]
fn arguments_are_shown_as_they_are_parsed() {
    let text = |random: &mut Random| random.object_text().into_bytes();
    let text = |random: &mut Random| damage_text(random, text);
    try_inputs("arguments", 15, text, |text, random| {
        let text = str::from_utf8(text).unwrap();
        let parsed = linear(text.len(), 0, || parse_arguments(text));
        let mut partial = PartialArguments::default();
        let pieces = random.pieces(text);
        linear(text.len(), pieces.len(), || {
            let mut end = 0;
            for piece in &pieces {
                end += piece.len();
                partial.read(&text[..end]);
            }
        });
        match parsed {
            Ok((arguments, _)) => {
                assert_eq!(partial.value(), &arguments);
                assert!(partial.is_whole() || text.trim_ascii().is_empty());
            }
            Err(_) => assert!(!partial.is_whole()),
        }
    });
}

#[test]
fn texts_with_tags_say_the_same_at_any_cut_and_run_nothing_that_did_not_end() {
    let text = |random: &mut Random| damage_text(random, tags::text);
    try_inputs("tags", 10, text, |text, random| {
        let text = str::from_utf8(text).unwrap();
        let whole = [text.to_owned()];
        let pieces = random.pieces(text);
        let parser = tags::thinking_parser(random);
        let thoughts = linear(text.len(), pieces.len(), || {
            tags::think(parser.clone(), &pieces)
        });
        assert_eq!(thoughts, tags::think(parser, &whole));
        let calls = linear(text.len(), pieces.len(), || tags::call(&pieces));
        assert_eq!(calls, tags::call(&whole));
        tags::assert_only_whole_calls_run(&calls);
    });
}

/// Damaged text that is still text.
fn damage_text(random: &mut Random, text: fn(&mut Random) -> Vec<u8>) -> Vec<u8> {
    String::from_utf8_lossy(&damaged(random, text))
        .into_owned()
        .into_bytes()
}
