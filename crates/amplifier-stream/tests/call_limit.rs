//! How many calls an answer may have: further ones are refused by name, and far more are not held.

use std::time::SystemTime;

use amplifier_stream::{
    AgentEvent, Block, ChunkCall, ChunkType, Dialect, Headers, Limits, MAX_CALLS, ProcessedStream,
    StreamChunk, StreamDecoder, StreamEvent, StreamProcessor, StreamResult, ToolCall,
    ToolCallParser, chunk_of, last_chunk,
};
use serde_json::{Value, json};

/// A stream of so many calls, each with the arguments `{"x":"…"}`.
fn stream(dialect: Dialect, calls: usize) -> Vec<Value> {
    let arguments = r#"{"x":"y"}"#;
    let mut events = vec![match dialect {
        Dialect::Anthropic => json!({"type": "message_start", "message": {"id": "m"}}),
        Dialect::Responses => json!({"type": "response.created", "response": {"id": "r"}}),
        Dialect::Chat | Dialect::Ollama => json!({"id": "c"}),
    }];
    for index in 0..calls {
        let (id, name) = (format!("id{index}"), format!("tool{index}"));
        match dialect {
            Dialect::Anthropic => {
                let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
                let delta = json!({"type": "input_json_delta", "partial_json": arguments});
                events.extend([
                    json!({"type": "content_block_start", "index": index, "content_block": block}),
                    json!({"type": "content_block_delta", "index": index, "delta": delta}),
                    json!({"type": "content_block_stop", "index": index}),
                ]);
            }
            Dialect::Responses => {
                let item = |arguments| json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments});
                let kind = |kind| format!("response.{kind}");
                events.extend([
                    json!({"type": kind("output_item.added"), "output_index": index, "item": item("")}),
                    json!({"type": kind("function_call_arguments.delta"), "output_index": index, "delta": arguments}),
                    json!({"type": kind("output_item.done"), "output_index": index, "item": item(arguments)}),
                ]);
            }
            Dialect::Chat => {
                let named = json!({"index": index, "id": id, "function": {"name": name}});
                let more = json!({"index": index, "function": {"arguments": arguments}});
                for call in [named, more] {
                    events
                        .push(json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}));
                }
            }
            Dialect::Ollama => {
                let call = json!({"id": id, "function": {"name": name, "arguments": {"x": "y"}}});
                events.push(json!({"message": {"tool_calls": [call]}}));
            }
        }
    }
    events.push(match dialect {
        Dialect::Anthropic => json!({"type": "message_stop"}),
        Dialect::Responses => json!({"type": "response.completed", "response": {"id": "r"}}),
        Dialect::Chat => json!("[DONE]"),
        Dialect::Ollama => json!({"done": true}),
    });
    events
}

fn decode(
    dialect: Dialect,
    max_calls: usize,
    events: &[Value],
) -> (Vec<StreamEvent>, StreamResult) {
    let limits = Limits {
        max_calls,
        ..Limits::DEFAULT
    };
    let mut decoder = StreamDecoder::new(dialect, 200, Headers::default(), limits);
    let mut found = Vec::new();
    for event in events {
        let text = match event {
            Value::String(text) => text.clone(),
            event => event.to_string(),
        };
        let frame = match dialect {
            Dialect::Ollama => format!("{text}\n"),
            _ => format!("data: {text}\n\n"),
        };
        decoder.feed(frame.as_bytes(), &mut found).unwrap();
    }
    let result = decoder.finish(SystemTime::UNIX_EPOCH);
    assert!(
        !result.truncated && result.error.is_none(),
        "{:?}",
        result.error
    );
    (found, result)
}

fn calls(result: &StreamResult) -> Vec<&ToolCall> {
    let calls = result.blocks.iter().filter_map(|block| match block {
        Block::ToolCall(call) => Some(call),
        Block::Content(_) => None,
    });
    calls.collect()
}

fn process(max_calls: usize, chunks: &[StreamChunk]) -> (Vec<AgentEvent>, ProcessedStream) {
    let parser = ToolCallParser::default();
    let mut processor = StreamProcessor::new(parser).with_max_calls(max_calls);
    let mut events: Vec<AgentEvent> = chunks
        .iter()
        .flat_map(|chunk| processor.feed(chunk))
        .collect();
    events.extend(processor.finish());
    (events, processor.into_result())
}

#[test]
fn calls_past_the_limit_are_refused_by_name_in_every_dialect() {
    for dialect in Dialect::ALL {
        let (events, result) = decode(dialect, 3, &stream(dialect, 5));
        let found = calls(&result);
        let names = found.iter().map(|call| call.name.as_str());
        assert_eq!(
            names.collect::<Vec<_>>(),
            ["tool0", "tool1", "tool2", "tool3", "tool4"]
        );
        let ids = found.iter().map(|call| call.id.as_deref().unwrap());
        assert_eq!(ids.collect::<Vec<_>>(), ["id0", "id1", "id2", "id3", "id4"]);
        for call in &found[..3] {
            assert_eq!(
                (&call.error, call.raw_arguments.as_str()),
                (&None, r#"{"x":"y"}"#)
            );
        }
        for call in &found[3..] {
            let error = Some("an answer can have at most 3 tool calls".to_owned());
            assert_eq!((&call.error, &call.arguments), (&error, &None));
            assert_eq!(call.raw_arguments, "");
        }
        assert_eq!(result.findings[0].kind, "refused_calls", "{result:?}");

        let chunks: Vec<StreamChunk> = events.iter().filter_map(chunk_of).collect();
        let chunks = [chunks, vec![last_chunk(&result)]].concat();
        let (_, answer) = process(MAX_CALLS, &chunks);
        let errors = answer.calls.iter().map(|call| call.error.is_some());
        assert_eq!(
            errors.collect::<Vec<_>>(),
            [false, false, false, true, true]
        );
    }
}

#[test]
fn an_answer_of_endless_calls_holds_no_more_of_them_and_reports_no_more() {
    for dialect in Dialect::ALL {
        let few = decode(dialect, 2, &stream(dialect, 18));
        let many = decode(dialect, 2, &stream(dialect, 3_000));
        assert_eq!(many.0, few.0);
        assert_eq!(calls(&many.1), calls(&few.1));
        assert_eq!(calls(&many.1).len(), 18);
        let kinds = many.1.findings.iter().map(|finding| finding.kind);
        assert_eq!(
            kinds.collect::<Vec<_>>(),
            ["refused_calls", "dropped_calls"]
        );
    }
}

#[test]
fn what_follows_a_call_that_is_left_out_is_not_of_the_call_before_it() {
    let call = |index: u64, id: &str, name: &str| {
        json!({"choices": [{"index": 0, "delta": {
        "tool_calls": [{"index": index, "id": id, "function": {"name": name}}]}}]})
    };
    let more = json!({"choices": [{"index": 0, "delta": {
        "tool_calls": [{"index": 0, "function": {"arguments": r#"{"rm": 1}"#}}]}}]});
    let mut events = vec![call(0, "a", "look")];
    events.extend((1..9).map(|index| call(index, &format!("b{index}"), "more")));
    events.extend([call(0, "z", "remove"), more, json!("[DONE]")]);
    let (_, result) = decode(Dialect::Chat, 1, &events);
    let found = calls(&result);
    assert_eq!(found.len(), 9);
    assert_eq!(
        (found[0].name.as_str(), found[0].raw_arguments.as_str()),
        ("look", "")
    );

    let start = |index: u64, name: &str| {
        json!({"type": "content_block_start", "index": index,
        "content_block": {"type": "tool_use", "id": name, "name": name, "input": {}}})
    };
    let delta = json!({"type": "content_block_delta", "index": 0,
        "delta": {"type": "input_json_delta", "partial_json": r#"{"rm": 1}"#}});
    let mut events = vec![
        json!({"type": "message_start", "message": {}}),
        start(0, "look"),
    ];
    events.extend((1..9).map(|index| start(index, "more")));
    events.extend([
        start(0, "remove"),
        delta,
        json!({"type": "content_block_stop", "index": 0}),
    ]);
    events.extend([json!({"type": "message_stop"})]);
    let (_, result) = decode(Dialect::Anthropic, 1, &events);
    assert_eq!(calls(&result)[0].raw_arguments, "");
}

#[test]
fn an_answer_that_starts_again_has_its_limit_anew() {
    let mut events = stream(Dialect::Anthropic, 3);
    events.pop();
    events.push(json!({"type": "message_start", "message": {"id": "other"}}));
    events.extend_from_slice(&stream(Dialect::Anthropic, 3)[1..]);
    let (found, result) = decode(Dialect::Anthropic, 3, &events);
    assert!(calls(&result).iter().all(|call| call.error.is_none()));
    let chunks = found.iter().filter_map(chunk_of);
    let chunks: Vec<StreamChunk> = chunks.chain([last_chunk(&result)]).collect();
    let (_, answer) = process(3, &chunks);
    assert_eq!(answer.calls.len(), 3);
    assert!(answer.calls.iter().all(|call| call.error.is_none()));
}

#[test]
fn endless_choices_are_left_out() {
    let choice = |index: usize| json!({"choices": [{"index": index, "delta": {"content": "a"}}]});
    let events = (0..400).map(choice).chain([json!("[DONE]")]);
    let (_, result) = decode(Dialect::Chat, 1, &events.collect::<Vec<_>>());
    let others = result
        .metadata
        .get("choices")
        .and_then(|choices| choices.as_array());
    assert_eq!(others.map(<[_]>::len), Some(128));
    assert_eq!(result.findings[0].kind, "dropped_choices");
}

fn last() -> StreamChunk {
    StreamChunk {
        finished: true,
        ..StreamChunk::default()
    }
}

#[test]
fn calls_in_tags_past_the_limit_are_refused_and_far_more_are_left_out() {
    let tagged = |count: usize| {
        let calls = (0..count).map(|index| {
            format!(r#"<tool>{{"tool_name": "tool{index}", "arguments": {{"x": 1}}}}</tool>"#)
        });
        StreamChunk {
            content: calls.collect::<String>() + "done",
            ..last()
        }
    };
    let (events, answer) = process(2, &[tagged(3_000)]);
    let (fewer, _) = process(2, &[tagged(18)]);
    assert_eq!(events.len(), fewer.len());
    assert_eq!(
        (answer.calls.len(), answer.assistant_content.as_str()),
        (18, "done")
    );
    let runnable = answer.calls.iter().filter(|call| call.arguments.is_some());
    let names = runnable.map(|call| call.name.as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["tool0", "tool1"]);
    let error = answer.calls[2].error.as_ref().map(ToString::to_string);
    assert_eq!(
        error.as_deref(),
        Some("an answer can have at most 2 tool calls")
    );
    assert_eq!(answer.calls[2].name, "tool2");
    assert_eq!(answer.tool_call_content.lines().count(), 2);
}

#[test]
fn native_calls_of_chunks_past_the_limit_are_refused_and_far_more_are_left_out() {
    let native = |index: u64| StreamChunk {
        content: r#"{"x": 1}"#.to_owned(),
        kind: ChunkType::ToolCall,
        call: Some(ChunkCall {
            index,
            id: Some(format!("id{index}")),
            name: Some("read".to_owned()),
            block: None,
        }),
        ..StreamChunk::default()
    };
    let chunks: Vec<StreamChunk> = (0..3_000).map(native).chain([last()]).collect();
    let (events, answer) = process(2, &chunks);
    assert_eq!(answer.calls.len(), 18);
    assert!(
        answer.calls[..2]
            .iter()
            .all(|call| call.arguments.is_some())
    );
    assert!(
        answer.calls[2..]
            .iter()
            .all(|call| call.arguments.is_none() && call.raw.is_empty())
    );
    let starts = events
        .iter()
        .filter(|event| matches!(event, AgentEvent::ToolCallStart { .. }));
    assert_eq!(starts.count(), 18);
}
