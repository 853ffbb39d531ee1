//! The work of chat and Ollama is linear in the bytes, also where a server is at its oddest.

use std::time::SystemTime;

use amplifier_stream::{Dialect, Headers, Limits, StreamDecoder, steps};

/// What it is, and the data of the frame of a number.
type Sample = (&'static str, fn(usize) -> String);

fn steps_of(dialect: Dialect, frame: fn(usize) -> String, frames: usize) -> usize {
    let written = (0..frames).map(|number| match dialect {
        Dialect::Ollama => frame(number) + "\n",
        _ => format!("data: {}\n\n", frame(number)),
    });
    let mut wire = written.collect::<Vec<_>>().concat();
    wire.push_str(match dialect {
        Dialect::Ollama => "{\"done\":true}",
        _ => "data: [DONE]\n\n",
    });
    steps::of(|| {
        let headers = Headers::default();
        let mut decoder = StreamDecoder::new(dialect, 200, headers, Limits::DEFAULT);
        let mut events = Vec::new();
        for chunk in wire.as_bytes().chunks(1000) {
            decoder.feed(chunk, &mut events).unwrap();
        }
        let result = decoder.finish(SystemTime::UNIX_EPOCH);
        assert_eq!((result.truncated, result.error), (false, None));
    })
}

/// Fails unless the steps grow as the frames do: at most by 1.1 on logarithmic scales.
fn assert_linear(dialect: Dialect, samples: &[Sample]) {
    let [few, many] = [300, 3_000];
    let log = |number: usize| f64::from(u32::try_from(number).unwrap()).ln();
    for (what, frame) in samples {
        let growth = log(steps_of(dialect, *frame, many)) - log(steps_of(dialect, *frame, few));
        let slope = growth / (log(many) - log(few));
        assert!((0.9..=1.1).contains(&slope), "{what}: the slope is {slope}");
    }
}

fn delta(delta: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{delta}}}]}}"#)
}

fn call(index: usize, more: &str, arguments: &str) -> String {
    delta(&format!(
        r#"{{"tool_calls":[{{"index":{index}{more},"function":{{"name":"f","arguments":"{arguments}"}}}}]}}"#
    ))
}

#[test]
fn chat_completions_are_folded_in_linear_time() {
    assert_linear(
        Dialect::Chat,
        &[
            ("text", |_| delta(r#"{"content":"abc"}"#)),
            ("turns of text and thinking", |_| {
                delta(r#"{"content":"a","reasoning":"b"}"#)
            }),
            ("a name that always comes again", |number| match number {
                0 => call(0, "", r#"{\"a\":\""#),
                _ => call(0, "", "abc"),
            }),
            ("whole calls under one index", |_| call(0, "", "{}")),
            ("whole calls with ids", |number| {
                call(0, &format!(r#","id":"call_{number}""#), "{}")
            }),
            ("whole calls with indices", |number| call(number, "", "{}")),
            ("fields of a call", |number| {
                call(0, &format!(r#","id":"a","x{number}":1"#), "")
            }),
            ("pieces of reasoning details", |_| {
                delta(r#"{"reasoning_details":[{"type":"reasoning.text","text":"a"}]}"#)
            }),
            ("encrypted reasoning details", |_| {
                delta(r#"{"reasoning_details":[{"type":"reasoning.encrypted","data":"a"}]}"#)
            }),
            ("log probabilities", |_| {
                r#"{"choices":[{"delta":{"content":"a"},"logprobs":{"content":[{}]}}]}"#.to_owned()
            }),
            ("unknown keys", |number| format!(r#"{{"key{number}":1}}"#)),
            ("values that change", |number| {
                delta(&format!(r#"{{"channel":"{number}"}}"#))
            }),
            ("choices", |number| {
                format!(r#"{{"choices":[{{"index":{number},"delta":{{"content":"a"}}}}]}}"#)
            }),
        ],
    );
}

#[test]
fn ollama_is_folded_in_linear_time() {
    assert_linear(
        Dialect::Ollama,
        &[
            ("text", |_| r#"{"message":{"content":"abc"}}"#.to_owned()),
            ("calls", |_| {
                r#"{"message":{"tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]}}"#
                    .to_owned()
            }),
            ("log probabilities", |_| r#"{"logprobs":[{}]}"#.to_owned()),
            ("counts", |number| format!(r#"{{"x{number}_count":1}}"#)),
        ],
    );
}
