//! However the bytes of a response are cut, and whatever its events are, it says the same.

use amplifier_stream::Block;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::*;

fn feed<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> (Vec<StreamEvent>, StreamResult) {
    let headers = Headers::default();
    let mut decoder = StreamDecoder::new(Dialect::Responses, 200, headers, Limits::DEFAULT);
    let mut events = Vec::new();
    for chunk in chunks {
        decoder.feed(chunk, &mut events).unwrap();
    }
    (events, decoder.finish(SystemTime::UNIX_EPOCH))
}

fn write_all(events: &[Value]) -> Vec<u8> {
    let lines = events.iter().map(|event| format!("data: {event}\r\n\r\n"));
    lines.collect::<String>().into_bytes()
}

/// The calls of a stream that failed or was cut have no arguments, and every refusal has a reason.
fn assert_nothing_runs_that_must_not(result: &StreamResult) {
    let has_failed = result.truncated || result.error.is_some();
    for block in &result.blocks {
        if let Block::ToolCall(call) = block {
            assert_eq!(call.arguments.is_none(), call.error.is_some());
            assert!(!has_failed || call.arguments.is_none());
        }
    }
}

/// An item that arrives in pieces: its announcement, the text of its deltas, and its end.
#[derive(Debug, Clone)]
enum Script {
    Message(Vec<Vec<String>>),
    Reasoning(Vec<Vec<String>>),
    Call(Vec<String>),
    Custom(Vec<String>),
}

impl Script {
    /// The events of the item, and the item at its end.
    fn events(&self, index: u64) -> (Vec<Value>, Value) {
        let parts = |event: &str, texts: &[Vec<String>]| -> Vec<Value> {
            let pieces = (0..)
                .zip(texts)
                .flat_map(|(place, pieces)| pieces.iter().map(move |piece| (place, piece)));
            pieces
                .map(|(place, piece)| delta(event, index, place, piece))
                .collect()
        };
        let whole = |kind: &str, texts: &[Vec<String>]| -> Value {
            let texts = texts
                .iter()
                .map(|pieces| json!({"type": kind, "text": pieces.concat()}));
            texts.collect()
        };
        let fields = |event: &str, pieces: &[String]| -> Vec<Value> {
            pieces
                .iter()
                .map(|piece| input(event, index, piece))
                .collect()
        };
        match self {
            Self::Message(texts) => (
                parts("output_text", texts),
                message(whole("output_text", texts)),
            ),
            Self::Reasoning(texts) => {
                let item = json!({"type": "reasoning", "summary": whole("summary_text", texts)});
                (parts("reasoning_summary_text", texts), item)
            }
            Self::Call(pieces) => (
                fields("function_call_arguments", pieces),
                call(&pieces.concat()),
            ),
            Self::Custom(pieces) => (
                fields("custom_tool_call_input", pieces),
                custom(&pieces.concat()),
            ),
        }
    }
}

fn pieces() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[a-z\"\\\\\n😀é]{1,6}", 1..4)
}

fn script() -> impl Strategy<Value = Script> {
    let arguments = pieces().prop_map(|texts| json!({"a": texts}).to_string());
    let arguments = (arguments, any::<Index>()).prop_map(|(raw, place)| {
        let (place, _) = raw
            .char_indices()
            .nth(place.index(raw.chars().count()))
            .unwrap();
        Script::Call(vec![raw[..place].to_owned(), raw[place..].to_owned()])
    });
    prop_oneof![
        prop::collection::vec(pieces(), 1..3).prop_map(Script::Message),
        prop::collection::vec(pieces(), 1..3).prop_map(Script::Reasoning),
        arguments,
        pieces().prop_map(Script::Custom),
    ]
}

/// A complete response of these items, and its output.
fn response(scripts: &[Script]) -> (Vec<u8>, Vec<Value>) {
    let mut events = vec![created()];
    let mut output = Vec::new();
    for (index, script) in (0..).zip(scripts) {
        let (deltas, item) = script.events(index);
        let mut start = item.clone();
        for key in ["content", "summary"] {
            if item.get(key).is_some() {
                start[key] = json!([]);
            }
        }
        for key in ["arguments", "input"] {
            if item.get(key).is_some() {
                start[key] = json!("");
            }
        }
        events.push(added(index, start));
        events.extend(deltas);
        events.push(done(index, item.clone()));
        output.push(item);
    }
    events.push(completed(json!(output)));
    (write_all(&events), output)
}

/// Events of the right form in any order, with fields that may not fit.
fn events_in_any_order() -> impl Strategy<Value = Vec<u8>> {
    let kinds = select(vec![
        "response.created",
        "response.output_item.added",
        "response.output_item.added",
        "response.output_item.done",
        "response.content_part.added",
        "response.reasoning_summary_part.done",
        "response.output_text.delta",
        "response.output_text.done",
        "response.reasoning_summary_text.delta",
        "response.reasoning_text.delta",
        "response.refusal.delta",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.custom_tool_call_input.delta",
        "response.code_interpreter_call_code.delta",
        "response.output_text.annotation.added",
        "response.completed",
        "response.incomplete",
        "response.failed",
        "error",
    ]);
    let values = select(vec![
        call("{}"),
        call("{"),
        custom("a"),
        message(json!([text_part("ab"), 7])),
        json!({"type": "reasoning", "summary": "x", "content": [{"text": "r"}]}),
        json!({"type": "gadget"}),
        json!({"output": [call("{}")], "status": "completed", "error": {"code": "x"}}),
        json!({"output": [], "incomplete_details": {"reason": "max_output_tokens"}}),
        json!({}),
        json!([]),
        Value::Null,
    ]);
    let text = select(vec!["a", "{}", "\u{1F600}", ""]);
    let number = || prop_oneof![(0..3u64).prop_map(Some), Just(None), Just(Some(u64::MAX))];
    let event = (kinds, number(), number(), values, text);
    let event = event.prop_map(|(kind, index, place, value, text)| {
        json!({"type": kind, "output_index": index, "content_index": place, "item": value,
            "part": value, "response": value, "annotation": value, "error": value,
            "delta": text, "text": text, "arguments": text})
    });
    prop::collection::vec(event, 0..24).prop_map(|events| write_all(&events))
}

fn cut<'a>(wire: &'a [u8], places: &[Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = places
        .iter()
        .map(|place| place.index(wire.len() + 1))
        .collect();
    places.extend([0, wire.len()]);
    places.sort_unstable();
    places
        .windows(2)
        .map(|edges| &wire[edges[0]..edges[1]])
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_response_comes_to_its_output_and_its_deltas_to_its_texts(
        scripts in prop::collection::vec(script(), 0..5),
    ) {
        let (wire, output) = response(&scripts);
        let (events, result) = feed([wire.as_slice()]);
        prop_assert_eq!((&result.findings, result.truncated, &result.error), (&vec![], false, &None));
        let blocks = blocks(&result);
        let items: Vec<Value> = blocks.as_array().unwrap().iter().map(|block| block["item"].clone()).collect();
        prop_assert_eq!(items, output);
        for (index, block) in (0..).zip(blocks.as_array().unwrap()) {
            let story = story(&events, index);
            let streamed: String = story.iter()
                .filter_map(|step| step.strip_prefix('+').or_else(|| step.strip_prefix("json ")))
                .collect();
            let whole = ["text", "thinking", "raw_arguments"].iter().find_map(|key| block.get(key));
            prop_assert_eq!(whole.unwrap(), &json!(streamed));
        }
    }

    #[test]
    fn chunk_boundaries_do_not_matter(
        scripts in prop::collection::vec(script(), 0..4),
        places in prop::collection::vec(any::<Index>(), 0..20),
    ) {
        let (wire, _) = response(&scripts);
        let whole = feed([wire.as_slice()]);
        prop_assert_eq!(&feed(cut(&wire, &places)), &whole);
        prop_assert_eq!(&feed(wire.chunks(1)), &whole);
    }

    #[test]
    fn a_response_cut_short_is_truncated_and_runs_nothing(
        scripts in prop::collection::vec(script(), 0..4),
        place: Index,
    ) {
        let (wire, _) = response(&scripts);
        // The last CR LF may lose its LF: the blank line is complete without it.
        let (_, result) = feed([&wire[..place.index(wire.len() - 1)]]);
        prop_assert!(result.truncated);
        assert_nothing_runs_that_must_not(&result);
    }

    #[test]
    fn events_in_any_order_are_never_fatal(
        wire in events_in_any_order(),
        places in prop::collection::vec(any::<Index>(), 0..6),
    ) {
        let (events, result) = feed([wire.as_slice()]);
        assert_nothing_runs_that_must_not(&result);
        prop_assert_eq!(feed(cut(&wire, &places)), (events, result));
    }

    #[test]
    fn damaged_bytes_are_never_fatal(
        scripts in prop::collection::vec(script(), 0..4),
        damage in prop::collection::vec((any::<Index>(), any::<u8>()), 1..6),
        places in prop::collection::vec(any::<Index>(), 0..6),
    ) {
        let (mut wire, _) = response(&scripts);
        for (place, byte) in damage {
            let place = place.index(wire.len());
            wire[place] = byte;
        }
        let (events, result) = feed([wire.as_slice()]);
        assert_nothing_runs_that_must_not(&result);
        prop_assert_eq!(feed(cut(&wire, &places)), (events, result));
    }
}
