//! Answers that start again or are corrected: the events, the result and what an agent is told name
//! the same calls. `tests/fuzz` claims it of damaged streams of every dialect.

use std::time::SystemTime;

use amplifier_core::Json;
use amplifier_stream::{
    AgentEvent, Block, Change, ChunkType, Dialect, Headers, Limits, ProcessedStream, StreamDecoder,
    StreamEvent, StreamResult, chunk_of, last_chunk, process_stream,
};
use serde_json::{Value, json};

fn decode(dialect: Dialect, events: &[Value]) -> (Vec<StreamEvent>, StreamResult) {
    let mut decoder = StreamDecoder::new(dialect, 200, Headers::default(), Limits::DEFAULT);
    let frames = events.iter().map(|event| format!("data: {event}\n\n"));
    let wire = frames.collect::<Vec<_>>().concat();
    let mut events = Vec::new();
    decoder.feed(wire.as_bytes(), &mut events).unwrap();
    (events, decoder.finish(SystemTime::UNIX_EPOCH))
}

fn process(events: &[StreamEvent], result: &StreamResult) -> (Vec<AgentEvent>, ProcessedStream) {
    let mut told = Vec::new();
    let chunks = events.iter().filter_map(chunk_of);
    let answer = process_stream(
        chunks.chain([last_chunk(result)]),
        None,
        |event| told.push(event),
        |_, _, _, _| {},
    );
    (told, answer)
}

/// Each call as its number, its id and its arguments.
fn calls(answer: &ProcessedStream) -> Vec<(u64, Option<&str>, Option<String>)> {
    let calls = answer.calls.iter();
    calls
        .map(|call| {
            let arguments = call.arguments.clone().map(Json::Object);
            let arguments = arguments.map(|arguments| arguments.to_string());
            (call.index, call.id.as_deref(), arguments)
        })
        .collect()
}

fn ended(events: &[AgentEvent]) -> Vec<(u64, Option<&str>, &str)> {
    let ends = events.iter().filter_map(|event| match event {
        AgentEvent::ToolCallEnd(call) => Some((call.index, call.id.as_deref(), call.raw.as_str())),
        _ => None,
    });
    ends.collect()
}

fn message(id: &str) -> Value {
    json!({"type": "message_start", "message": {"id": id, "content": []}})
}

fn begin(index: u64, block: &Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "look", "input": {}})
}

fn grow(index: u64, kind: &str, key: &str, text: &str) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": {"type": kind, key: text}})
}

fn end(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

#[test]
fn a_message_that_starts_again_drops_the_calls_and_the_text_of_the_first() {
    let (events, result) = decode(
        Dialect::Anthropic,
        &[
            message("m1"),
            begin(0, &json!({"type": "text", "text": ""})),
            grow(0, "text_delta", "text", "Hel"),
            end(0),
            begin(1, &call("a")),
            grow(1, "input_json_delta", "partial_json", r#"{"x":1"#),
            message("m2"),
            begin(0, &json!({"type": "text", "text": ""})),
            grow(0, "text_delta", "text", "Hello"),
            end(0),
            begin(1, &call("b")),
            grow(1, "input_json_delta", "partial_json", r#"{"x":2}"#),
            end(1),
            json!({"type": "message_stop"}),
        ],
    );
    let dropped = events.iter().filter_map(|event| match event.change {
        Change::Drop(_) => Some(event.block_index),
        _ => None,
    });
    assert_eq!(dropped.collect::<Vec<_>>(), [0, 1]);

    let (told, answer) = process(&events, &result);
    assert_eq!(answer.assistant_content, "Hello");
    assert_eq!(
        calls(&answer),
        [(2, Some("b"), Some(r#"{"x":2}"#.to_owned()))]
    );
    assert_eq!(answer.tool_call_content.lines().count(), 1);
    assert_eq!(
        ended(&told),
        [(1, Some("a"), r#"{"x":1"#), (2, Some("b"), r#"{"x":2}"#)]
    );
    let starts = told
        .iter()
        .position(|event| *event == AgentEvent::Restart(ChunkType::Message));
    assert_eq!(
        told[starts.unwrap() - 1..][..1],
        [AgentEvent::MessageEnd],
        "{told:?}"
    );
}

#[test]
fn a_call_that_ended_before_the_restart_is_not_among_the_calls() {
    let (events, result) = decode(
        Dialect::Anthropic,
        &[
            message("m1"),
            begin(0, &call("a")),
            end(0),
            message("m2"),
            begin(0, &call("b")),
            end(0),
            json!({"type": "message_stop"}),
        ],
    );
    let (_, answer) = process(&events, &result);
    let expected = [(1, Some("b"), Some("{}".to_owned()))];
    assert_eq!(calls(&answer), expected);
}

#[test]
fn an_answer_cut_after_its_restart_has_the_calls_of_the_second_start_alone() {
    let (events, result) = decode(
        Dialect::Anthropic,
        &[
            message("m1"),
            begin(0, &call("a")),
            end(0),
            message("m2"),
            begin(0, &call("b")),
            end(0),
        ],
    );
    let (_, answer) = process(&events, &result);
    assert!(answer.truncated);
    assert_eq!(calls(&answer), [(1, Some("b"), None)]);
}

#[test]
fn a_message_that_comes_again_under_its_id_drops_what_came_of_it() {
    for again in [
        message("m"),
        json!({"type": "message_start", "message": {}}),
    ] {
        let (events, result) = decode(
            Dialect::Anthropic,
            &[
                again.clone(),
                begin(0, &json!({"type": "text", "text": "Hel"})),
                begin(1, &call("a")),
                end(1),
                again,
                begin(0, &json!({"type": "text", "text": "Hello"})),
                end(0),
                begin(1, &call("a")),
                end(1),
                json!({"type": "message_stop"}),
            ],
        );
        let kinds = result.findings.iter().map(|finding| finding.kind);
        assert_eq!(
            kinds.collect::<Vec<_>>(),
            ["repeated_message_start", "restarted_message"]
        );
        let (_, answer) = process(&events, &result);
        assert_eq!(answer.assistant_content, "Hello");
        assert_eq!(
            calls(&answer),
            [(2, Some("a"), Some("{}".to_owned()))],
            "{events:?}"
        );
    }
}

#[test]
fn a_start_that_comes_twice_drops_nothing_of_what_follows() {
    let (_, result) = decode(
        Dialect::Anthropic,
        &[
            message("m"),
            message("m"),
            begin(0, &json!({"type": "text", "text": "a"})),
            end(0),
            begin(0, &json!({"type": "text", "text": "b"})),
            end(0),
            message("m"),
            begin(2, &json!({"type": "text", "text": "c"})),
            end(2),
            json!({"type": "message_stop"}),
        ],
    );
    assert_eq!(result.blocks.len(), 3, "{result:?}");
}

fn created(id: &str) -> Value {
    json!({"type": "response.created", "response": {"id": id, "status": "in_progress"}})
}

fn item(event: &str, call_id: &str, arguments: &str) -> Value {
    json!({"type": format!("response.output_item.{event}"), "output_index": 0,
        "item": {"type": "function_call", "call_id": call_id, "name": "look", "arguments": arguments}})
}

fn completed(id: &str, output: &Value) -> Value {
    let response = json!({"id": id, "status": "completed", "output": output});
    json!({"type": "response.completed", "response": response})
}

#[test]
fn another_response_in_the_same_stream_replaces_the_first() {
    let (events, result) = decode(
        Dialect::Responses,
        &[
            created("r1"),
            item("added", "a", ""),
            item("done", "a", "{}"),
            created("r2"),
            item("added", "b", ""),
            item("done", "b", r#"{"x":2}"#),
            completed("r2", &json!([])),
        ],
    );
    assert_eq!(result.findings[0].kind, "restarted_response");
    assert_eq!(result.blocks.len(), 1);
    let (_, answer) = process(&events, &result);
    assert_eq!(
        calls(&answer),
        [(1, Some("b"), Some(r#"{"x":2}"#.to_owned()))]
    );
}

#[test]
fn a_response_that_comes_again_under_its_id_drops_what_came_of_it() {
    let again = [
        created("r"),
        item("added", "a", ""),
        item("done", "a", "{}"),
    ];
    let (events, result) = decode(
        Dialect::Responses,
        &[&again[..], &again[..], &[completed("r", &json!([]))]].concat(),
    );
    assert_eq!(result.findings[0].kind, "restarted_response");
    let (_, answer) = process(&events, &result);
    assert_eq!(calls(&answer), [(1, Some("a"), Some("{}".to_owned()))]);
}

#[test]
fn a_call_whose_id_is_corrected_at_its_end_is_another_call() {
    let (events, result) = decode(
        Dialect::Responses,
        &[
            created("r"),
            item("added", "a", ""),
            item("done", "b", "{}"),
            completed("r", &json!([])),
        ],
    );
    let (told, answer) = process(&events, &result);
    let expected = [(1, Some("b"), Some("{}".to_owned()))];
    assert_eq!(calls(&answer), expected);
    assert_eq!(ended(&told), [(0, Some("a"), ""), (1, Some("b"), "{}")]);
}

#[test]
fn what_the_terminal_response_says_differently_counts_for_an_agent_too() {
    let text =
        |text: &str| json!({"type": "message", "content": [{"type": "output_text", "text": text}]});
    let done = |index: u64, text: Value| json!({"type": "response.output_item.done", "output_index": index, "item": text});
    let (events, result) = decode(
        Dialect::Responses,
        &[
            created("r"),
            done(0, text("one ")),
            done(1, text("two")),
            completed("r", &json!([text("One "), text("two")])),
        ],
    );
    let (told, answer) = process(&events, &result);
    assert_eq!(answer.assistant_content, "One two");
    let text = |text: &str| AgentEvent::MessageContent(text.to_owned());
    assert_eq!(
        told[told.len() - 5..],
        [
            AgentEvent::MessageEnd,
            AgentEvent::Restart(ChunkType::Message),
            AgentEvent::MessageStart,
            text("One two"),
            AgentEvent::MessageEnd,
        ]
    );
}

#[test]
fn a_call_that_its_decoder_refuses_at_the_end_does_not_run_for_an_agent_either() {
    let (events, result) = decode(
        Dialect::Anthropic,
        &[
            message("m"),
            begin(0, &call("a")),
            json!({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}),
            json!({"type": "message_stop"}),
        ],
    );
    assert!(!result.truncated);
    let (told, answer) = process(&events, &result);
    assert_eq!(calls(&answer), [(0, Some("a"), None)]);
    assert_eq!(
        told.last(),
        Some(&AgentEvent::ToolCallEnd(Box::new(answer.calls[0].clone())))
    );
}

#[test]
fn a_message_that_starts_again_says_anew_who_answers() {
    let named = json!({"type": "message_start", "message": {"id": "m1", "model": "one"}});
    let (_, result) = decode(
        Dialect::Anthropic,
        &[named, message("m2"), json!({"type": "message_stop"})],
    );
    assert_eq!((result.id.as_deref(), result.model), (Some("m2"), None));
}

#[test]
fn a_message_without_an_id_that_is_dropped_is_reported_as_such() {
    let (_, result) = decode(
        Dialect::Anthropic,
        &[
            begin(0, &call("a")),
            message("m"),
            json!({"type": "message_stop"}),
        ],
    );
    assert_eq!(
        result.findings[1].message,
        "a message without an id was dropped when another began in its stream"
    );
}

#[test]
fn a_custom_call_has_the_input_of_its_deltas_whatever_its_other_keys_are() {
    let custom = json!({"name": "look", "text": "never streamed", "input": "here"});
    let call = json!({"index": 0, "id": "a", "type": "custom", "custom": custom});
    let choice = json!({"index": 0, "delta": {"tool_calls": [call]}});
    let (events, result) = decode(
        Dialect::Chat,
        &[json!({"choices": [choice]}), json!("[DONE]")],
    );
    let deltas = events.iter().filter_map(|event| match &event.change {
        Change::Delta(text) => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(deltas.collect::<String>(), "here");
    let Block::ToolCall(call) = &result.blocks[0] else {
        panic!("{result:?}");
    };
    assert_eq!(call.raw_arguments, "here");
}
