//! However the bytes of a Chat Completions or Ollama stream are cut, they say the same.

mod cut;
mod decoded;
mod vendor_wire;

use amplifier_stream::{Block, Dialect, StreamResult};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use cut::cut;
use decoded::{blocks, decode};

/// Whether a call of the result may run.
fn runs(result: &StreamResult) -> bool {
    let mut blocks = result.blocks.iter();
    blocks.any(|block| matches!(block, Block::ToolCall(call) if call.arguments.is_some()))
}

/// Frames of the right form in any order, with fields that may not fit.
fn frames_in_any_order() -> impl Strategy<Value = (Dialect, Vec<u8>)> {
    let value = select(vec![
        r#""a\ud83d""#,
        r#""\ude00b""#,
        r#""""#,
        "null",
        "true",
        "7",
        "1e400",
        "[]",
        "{}",
        "[null]",
        r#"[{"type":"text","text":"a"}]"#,
        r#"{"type":"thinking","thinking":[{"type":"text","text":"a"},8]}"#,
        r#"[{"type":"reasoning.text","text":"a","index":0}]"#,
        r#"[{"type":"reasoning.encrypted","data":"a"}]"#,
        r#"[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]"#,
        r#"[{"index":0,"function":{"arguments":"{\"a\""}}]"#,
        r#"[{"index":0,"function":{"name":"f","arguments":":1}"}}]"#,
        r#"[{"id":"b","function":{"name":"g"}},{"function":{"name":"g","arguments":{"a":1}}}]"#,
        r#"[{"index":1,"custom":{"name":"h","input":"x"}}]"#,
        r#"{"name":"f","arguments":"{}"}"#,
    ]);
    let field = select(vec![
        "content",
        "content",
        "reasoning",
        "reasoning_content",
        "reasoning_details",
        "refusal",
        "tool_calls",
        "tool_calls",
        "tool_calls",
        "function_call",
        "role",
        "thinking",
        "audio",
    ]);
    let outside = select(vec![
        "",
        r#""finish_reason":"stop","#,
        r#""finish_reason":"error","#,
        r#""done":true,"#,
        r#""error":{},"#,
        r#""usage":{"prompt_tokens":-1},"#,
        r#""logprobs":{"content":[1]},"#,
        r#""content_filter_offsets":{},"#,
        r#""index":1,"#,
        r#""model":7,"#,
    ]);
    let frame = (
        outside,
        prop::collection::vec((field, value), 0..4),
        0..40u32,
    );
    (any::<bool>(), prop::collection::vec(frame, 0..20)).prop_map(|(is_chat, frames)| {
        let write = |(outside, fields, chance): (&str, Vec<(&str, &str)>, u32)| {
            let fields = fields
                .iter()
                .map(|(key, value)| format!("\"{key}\":{value}"));
            let fields = fields.collect::<Vec<_>>().join(",");
            match (chance, is_chat) {
                (0, true) => "data: [DONE]\n\n".to_owned(),
                (1, true) => format!("event: error\ndata: {{{fields}}}\n\n"),
                (2, _) => "data: {\n\n".to_owned(),
                (_, true) => format!(
                    "data: {{{outside}\"choices\":[{{{outside}\"delta\":{{{fields}}}}}]}}\n\n"
                ),
                (_, false) => format!("{{{outside}\"message\":{{{fields}}}}}\n"),
            }
        };
        let wire: Vec<String> = frames.into_iter().map(write).collect();
        let dialect = if is_chat {
            Dialect::Chat
        } else {
            Dialect::Ollama
        };
        (dialect, wire.concat().into_bytes())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn frames_in_any_order_are_never_fatal(
        (dialect, wire) in frames_in_any_order(),
        places in prop::collection::vec(any::<Index>(), 0..6),
    ) {
        let (events, result) = decode(dialect, [wire.as_slice()]);
        prop_assert_eq!(&decode(dialect, cut(&wire, &places)), &(events, result.clone()));
        for block in &result.blocks {
            if let Block::ToolCall(call) = block {
                prop_assert_eq!(call.arguments.is_none(), call.error.is_some());
            }
        }
        prop_assert!(!runs(&result) || (!result.truncated && result.error.is_none()));
    }

    #[test]
    fn a_stream_decodes_to_the_blocks_that_it_was_made_of(script in vendor_wire::script()) {
        let (_, result) = decode(script.dialect, [script.wire.as_slice()]);
        prop_assert_eq!(blocks(&result), script.blocks);
        prop_assert_eq!(&result.findings, &vec![]);
        prop_assert_eq!(
            (result.truncated, &result.error, result.stop_reason),
            (false, &None, Some("max_tokens"))
        );
    }

    #[test]
    fn chunk_boundaries_do_not_matter(
        script in vendor_wire::script(),
        places in prop::collection::vec(any::<Index>(), 0..20),
    ) {
        let whole = decode(script.dialect, [script.wire.as_slice()]);
        prop_assert_eq!(decode(script.dialect, cut(&script.wire, &places)), whole);
    }

    #[test]
    fn single_bytes_say_the_same_as_the_whole(script in vendor_wire::script()) {
        let whole = decode(script.dialect, [script.wire.as_slice()]);
        prop_assert_eq!(decode(script.dialect, script.wire.chunks(1)), whole);
    }

    #[test]
    fn a_stream_cut_short_is_truncated_and_runs_nothing(
        script in vendor_wire::script(),
        place: Index,
    ) {
        // The very end may miss the last line feed, and all of the last line end of Ollama.
        let end = match script.dialect {
            Dialect::Chat => script.wire.len() - usize::from(script.wire.ends_with(b"\r\n")),
            _ => script.wire.trim_ascii_end().len(),
        };
        let (_, result) = decode(script.dialect, [&script.wire[..place.index(end)]]);
        prop_assert!(result.truncated);
        prop_assert!(!runs(&result));
    }

    #[test]
    fn damaged_bytes_are_never_fatal(
        script in vendor_wire::script(),
        damage in prop::collection::vec((any::<Index>(), any::<u8>()), 1..6),
        places in prop::collection::vec(any::<Index>(), 0..6),
    ) {
        let mut wire = script.wire;
        for (place, byte) in damage {
            let place = place.index(wire.len());
            wire[place] = byte;
        }
        let whole = decode(script.dialect, [wire.as_slice()]);
        prop_assert_eq!(decode(script.dialect, cut(&wire, &places)), whole);
    }
}
