//! Halves of surrogate pairs in two deltas of one block, in every dialect and in all that streams.

use std::time::SystemTime;

use amplifier_stream::{Change, Dialect, Headers, Limits, StreamDecoder};

/// A stream whose one block gets these JSON strings as its deltas.
type Wire = fn(&[&str]) -> String;

const WIRES: [(&str, Dialect, Wire); 10] = [
    ("text of Anthropic", Dialect::Anthropic, |pieces| {
        anthropic(r#"{"type":"text","text":""}"#, "text_delta", "text", pieces)
    }),
    ("thinking of Anthropic", Dialect::Anthropic, |pieces| {
        anthropic(
            r#"{"type":"thinking","thinking":""}"#,
            "thinking_delta",
            "thinking",
            pieces,
        )
    }),
    ("arguments of Anthropic", Dialect::Anthropic, |pieces| {
        let call = r#"{"type":"tool_use","id":"t","name":"n","input":{}}"#;
        anthropic(call, "input_json_delta", "partial_json", pieces)
    }),
    ("text of Responses", Dialect::Responses, |pieces| {
        let item = r#""type":"message","content":[]"#;
        responses(
            item,
            r#""content_index":0,"type":"response.output_text.delta""#,
            pieces,
        )
    }),
    ("summaries of Responses", Dialect::Responses, |pieces| {
        let delta = r#""summary_index":0,"type":"response.reasoning_summary_text.delta""#;
        responses(r#""type":"reasoning","summary":[]"#, delta, pieces)
    }),
    ("arguments of Responses", Dialect::Responses, |pieces| {
        let item = r#""type":"function_call","call_id":"c","name":"n","arguments":"""#;
        responses(
            item,
            r#""type":"response.function_call_arguments.delta""#,
            pieces,
        )
    }),
    ("text of Chat Completions", Dialect::Chat, |pieces| {
        chat(|piece| format!(r#"{{"content":{piece}}}"#), pieces)
    }),
    ("thinking of Chat Completions", Dialect::Chat, |pieces| {
        chat(
            |piece| format!(r#"{{"reasoning_content":{piece}}}"#),
            pieces,
        )
    }),
    ("arguments of Chat Completions", Dialect::Chat, |pieces| {
        let call = |piece: &str| {
            format!(
                r#"{{"tool_calls":[{{"index":0,"id":"c","function":{{"name":"n","arguments":{piece}}}}}]}}"#
            )
        };
        chat(call, pieces)
    }),
    ("thinking of Ollama", Dialect::Ollama, |pieces| {
        let line =
            |piece: &&str| format!("{{\"message\":{{\"thinking\":{piece}}},\"done\":false}}\n");
        let lines: Vec<String> = pieces.iter().map(line).collect();
        lines.concat() + "{\"message\":{},\"done\":true}\n"
    }),
];

fn event(data: &str) -> String {
    format!("data: {data}\n\n")
}

fn anthropic(block: &str, delta: &str, key: &str, pieces: &[&str]) -> String {
    let start = format!(r#"{{"type":"content_block_start","index":0,"content_block":{block}}}"#);
    let deltas = pieces.iter().map(|piece| {
        let delta = format!(r#"{{"type":"{delta}","{key}":{piece}}}"#);
        event(&format!(
            r#"{{"type":"content_block_delta","index":0,"delta":{delta}}}"#
        ))
    });
    let deltas: Vec<String> = deltas.collect();
    event(&start) + &deltas.concat() + &event(r#"{"type":"content_block_stop","index":0}"#)
}

fn responses(item: &str, delta: &str, pieces: &[&str]) -> String {
    let of_item = |what: &str| {
        event(&format!(
            r#"{{"type":"response.output_item.{what}","output_index":0,"item":{{"id":"i",{item}}}}}"#
        ))
    };
    let deltas = pieces
        .iter()
        .map(|piece| event(&format!(r#"{{"output_index":0,{delta},"delta":{piece}}}"#)));
    let deltas: Vec<String> = deltas.collect();
    of_item("added") + &deltas.concat() + &of_item("done")
}

fn chat(delta: impl Fn(&str) -> String, pieces: &[&str]) -> String {
    let chunks = pieces.iter().map(|piece| {
        event(&format!(
            r#"{{"choices":[{{"index":0,"delta":{}}}]}}"#,
            delta(piece)
        ))
    });
    let chunks: Vec<String> = chunks.collect();
    let end = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
    chunks.concat() + &event(end) + &event("[DONE]")
}

/// What was streamed, at the end too, and what kinds of findings there are.
fn streamed(dialect: Dialect, wire: &str) -> (String, Vec<&'static str>) {
    let mut decoder = StreamDecoder::new(dialect, 200, Headers::default(), Limits::DEFAULT);
    let mut events = Vec::new();
    decoder.feed(wire.as_bytes(), &mut events).unwrap();
    let result = decoder.finish(SystemTime::UNIX_EPOCH);
    events.extend(result.events);
    let texts = events.iter().map(|event| match &event.change {
        Change::Delta(text) | Change::PartialJson(text) => text.as_str(),
        Change::Start(_) | Change::End(_) | Change::Drop(_) => "",
    });
    let kinds = result.findings.iter().map(|finding| finding.kind);
    (
        texts.collect(),
        kinds.filter(|kind| *kind == "unpaired_surrogate").collect(),
    )
}

#[test]
fn halves_in_two_deltas_are_joined_in_every_dialect() {
    let pieces = [r#""a\ud83d""#, r#""""#, r#""\ude00b""#];
    for (what, dialect, wire) in WIRES {
        let joined = ("a😀b".to_owned(), vec![]);
        assert_eq!(streamed(dialect, &wire(&pieces)), joined, "{what}");
    }
}

#[test]
fn a_half_that_stays_alone_is_replaced_and_found_in_every_dialect() {
    let cases: [(&[&str], &str); 4] = [
        (&[r#""a\ud83d""#, r#""b""#], "a\u{FFFD}b"),
        (&[r#""a""#, r#""\ude00b""#], "a\u{FFFD}b"),
        (&[r#""a\ud83dz""#, r#""b""#], "a\u{FFFD}zb"),
        (&[r#""a\ud83d""#], "a\u{FFFD}"),
    ];
    for (pieces, expected) in cases {
        for (what, dialect, wire) in WIRES {
            let found = (expected.to_owned(), vec!["unpaired_surrogate"]);
            assert_eq!(
                streamed(dialect, &wire(pieces)),
                found,
                "{what}: {pieces:?}"
            );
        }
    }
}
