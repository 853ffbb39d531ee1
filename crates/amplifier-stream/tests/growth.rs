//! The work of framing and parsing is linear in the bytes, however they are cut.

use std::time::SystemTime;

use amplifier_stream::{
    Dialect, Headers, Limits, NdjsonDecoder, PartialArguments, SseDecoder, StreamDecoder,
    parse_arguments, steps,
};

/// Fails unless the steps of this work grow as its size does: at most by 1.1 on logarithmic scales.
fn assert_linear(what: &str, work: impl Fn(usize)) {
    let [small, large] = [4_000, 60_000];
    let log = |number: usize| f64::from(u32::try_from(number).unwrap()).ln();
    let growth = log(steps::of(|| work(large))) - log(steps::of(|| work(small)));
    let slope = growth / (log(large) - log(small));
    assert!((0.9..=1.1).contains(&slope), "{what}: the slope is {slope}");
}

/// What it is, and how one of about so many bytes is made.
type Sample = (&'static str, fn(usize) -> String);

const CHUNKS: [usize; 4] = [1, 7, 4096, usize::MAX];

/// Streams of about so many bytes, each hard in another way.
const EVENTS: [Sample; 6] = [
    ("many events", |bytes| {
        "event: a\ndata: {\"b\":1}\n\n".repeat(bytes / 24)
    }),
    ("one long line", |bytes| {
        format!("data: {}\n\n", "x".repeat(bytes))
    }),
    ("a line without an end", |bytes| "x".repeat(bytes)),
    ("many lines of one event", |bytes| {
        "data: x\r\n".repeat(bytes / 9)
    }),
    ("blank lines", |bytes| "\n\r".repeat(bytes / 2)),
    ("comments", |bytes| ": ping\r".repeat(bytes / 7)),
];

#[test]
fn server_sent_events_are_framed_in_linear_time() {
    for (what, events) in EVENTS {
        for size in CHUNKS {
            assert_linear(&format!("{what}, {size} bytes each"), |bytes| {
                let wire = events(bytes);
                let mut decoder = SseDecoder::new(Limits::DEFAULT);
                for chunk in wire.as_bytes().chunks(size) {
                    decoder.feed(chunk, |_| ()).unwrap();
                }
            });
        }
    }
}

#[test]
fn lines_are_framed_and_read_in_linear_time() {
    let lines: [Sample; 3] = [
        ("many lines", |bytes| "{\"a\":[1,2]}\r\n".repeat(bytes / 13)),
        ("one long line", |bytes| {
            format!("[\"{}\"]", "x".repeat(bytes))
        }),
        ("blank lines", |bytes| " \n".repeat(bytes / 2)),
    ];
    for (what, lines) in lines {
        for size in CHUNKS {
            assert_linear(&format!("{what}, {size} bytes each"), |bytes| {
                let wire = lines(bytes);
                let mut decoder = NdjsonDecoder::new(Limits::DEFAULT);
                for chunk in wire.as_bytes().chunks(size) {
                    decoder.feed(chunk, |line| drop(line.value())).unwrap();
                }
                decoder.finish(|line| drop(line.value())).unwrap();
            });
        }
    }
}

/// Arguments of about so many bytes.
const ARGUMENTS: [Sample; 7] = [
    ("a long text", |bytes| {
        format!(r#"{{"a":"{}"}}"#, "x".repeat(bytes))
    }),
    ("escapes", |bytes| {
        format!(r#"{{"a":"{}"}}"#, r"\ud83d\ude00\n".repeat(bytes / 14))
    }),
    ("a long number", |bytes| {
        format!(r#"{{"a":0.{}}}"#, "1".repeat(bytes))
    }),
    ("a long key and blanks", |bytes| {
        format!(
            r#"{{"{}":{}null}}"#,
            "k".repeat(bytes / 2),
            " ".repeat(bytes / 2)
        )
    }),
    ("numbers", |bytes| list("1.5", bytes)),
    ("keys", |bytes| {
        let entries = (0..bytes / 13).map(|number| format!(r#""{number:06}":null"#));
        format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
    }),
    ("deep lists", |bytes| {
        list(&format!("{}1{}", "[".repeat(100), "]".repeat(100)), bytes)
    }),
];

fn list(item: &str, bytes: usize) -> String {
    format!(
        r#"{{"a":[{}]}}"#,
        vec![item; bytes / (item.len() + 1)].join(",")
    )
}

#[test]
fn arguments_are_parsed_in_linear_time() {
    for (what, arguments) in ARGUMENTS {
        assert_linear(what, |bytes| {
            parse_arguments(&arguments(bytes)).unwrap();
        });
    }
}

#[test]
fn asking_after_every_piece_is_linear_too() {
    for (what, arguments) in ARGUMENTS {
        for piece in [1, 7, 32] {
            assert_linear(&format!("{what}, {piece} bytes each"), |bytes| {
                let text = arguments(bytes);
                let mut partial = PartialArguments::default();
                for end in (0..text.len()).step_by(piece).chain([text.len()]) {
                    partial.read(&text[..end]);
                }
                assert!(partial.is_whole());
            });
        }
    }
}

#[test]
fn a_call_is_decoded_and_shown_in_linear_time() {
    for (what, arguments) in ARGUMENTS {
        assert_linear(what, |bytes| {
            let headers = Headers::default();
            let mut decoder = StreamDecoder::new(Dialect::Anthropic, 200, headers, Limits::DEFAULT);
            let mut events = Vec::new();
            let mut feed = |data: &str| {
                let event = format!("data: {data}\n\n");
                decoder.feed(event.as_bytes(), &mut events).unwrap();
                let _ = decoder.partial_arguments(0);
            };
            feed(
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"n"}}"#,
            );
            for piece in arguments(bytes).as_bytes().chunks(32) {
                let piece = serde_json::json!(str::from_utf8(piece).unwrap());
                feed(&format!(
                    r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"input_json_delta","partial_json":{piece}}}}}"#
                ));
            }
            feed(r#"{"type":"content_block_stop","index":0}"#);
            assert_eq!(decoder.finish(SystemTime::UNIX_EPOCH).blocks.len(), 1);
        });
    }
}
