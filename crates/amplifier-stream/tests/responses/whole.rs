//! A response with items of all kinds.

use super::*;

/// What the text of the message refers to.
fn annotation() -> Value {
    json!({"type": "url_citation", "url": "https://example.org", "start_index": 0})
}

fn reasoning(encrypted: &str, summary: Value) -> Value {
    json!({"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": encrypted})
}

/// Items of all kinds as they are at their end.
fn output() -> [Value; 5] {
    let summary =
        json!([{"type": "summary_text", "text": "One"}, {"type": "summary_text", "text": "Two"}]);
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "completed",
        "action": {"type": "search", "query": "rust"}});
    let mut part = text_part("Hello");
    part["annotations"] = json!([annotation()]);
    [
        reasoning("whole", summary),
        search,
        message(json!([part, text_part(" there")])),
        call(r#"{"n": 1}"#),
        custom("*** a\n"),
    ]
}

/// The stream of these items.
fn stream() -> Vec<Value> {
    let output = output();
    vec![
        created(),
        added(0, reasoning("half", json!([]))),
        json!({"type": "response.reasoning_summary_part.added", "output_index": 0,
            "summary_index": 0, "part": {"type": "summary_text", "text": ""}}),
        delta("reasoning_summary_text", 0, 0, "One"),
        delta("reasoning_summary_text", 0, 1, "Two"),
        done(0, output[0].clone()),
        added(
            1,
            json!({"type": "web_search_call", "id": "ws_1", "status": "in_progress"}),
        ),
        json!({"type": "response.web_search_call.searching", "output_index": 1, "item_id": "ws_1"}),
        done(1, output[1].clone()),
        added(2, message(json!([]))),
        json!({"type": "response.content_part.added", "output_index": 2, "content_index": 0,
            "part": text_part("")}),
        delta("output_text", 2, 0, "Hel"),
        json!({"type": "response.output_text.annotation.added", "output_index": 2,
            "content_index": 0, "annotation_index": 0, "annotation": annotation()}),
        delta("output_text", 2, 0, "lo"),
        delta("output_text", 2, 1, " there"),
        done(2, output[2].clone()),
        added(3, call("")),
        input("function_call_arguments", 3, "{\"n\""),
        input("function_call_arguments", 3, ": 1}"),
        json!({"type": "response.function_call_arguments.done", "output_index": 3,
            "arguments": "{\"n\": 1}"}),
        done(3, output[3].clone()),
        added(4, custom("")),
        input("custom_tool_call_input", 4, "*** a\n"),
        done(4, output[4].clone()),
        ended(
            "completed",
            json!({"output": output, "service_tier": "default", "error": null,
            "tools": [{"type": "function"}], "content_filters": [{"blocked": false}],
            "usage": {"input_tokens": 100, "input_tokens_details":
                {"cached_tokens": 30, "cache_write_tokens": 20},
                "output_tokens": 50, "output_tokens_details": {"reasoning_tokens": 40}}}),
        ),
    ]
}

#[test]
fn each_item_becomes_one_block_and_is_kept_as_it_came() {
    let output = output();
    let (_, result) = decode(&stream());
    assert_eq!(
        blocks(&result),
        json!([
            {"type": "thinking", "thinking": "One\n\nTwo", "item": output[0]},
            output[1],
            {"type": "text", "text": "Hello there", "item": output[2]},
            called(json!({"n": 1}), r#"{"n": 1}"#, Value::Null),
            {"type": "tool_call", "id": "call_2", "name": "patch", "arguments":
                {"input": "*** a\n"}, "raw_arguments": "*** a\n", "input": "*** a\n",
                "error": null, "item": output[4]},
        ])
    );
    assert_eq!((result.error, result.findings), (None, vec![]));
}

#[test]
fn what_is_streamed_is_told_as_it_comes() {
    let (events, _) = decode(&stream());
    assert_eq!(
        story(&events, 0),
        ["thinking begins", "+One", "+\n\n", "+Two", "ends"]
    );
    assert_eq!(story(&events, 1), ["web_search_call begins", "ends"]);
    assert_eq!(
        story(&events, 2),
        ["text begins", "+Hel", "+lo", "+ there", "ends"]
    );
    assert_eq!(
        story(&events, 3),
        ["tool_call begins", "json {\"n\"", "json : 1}", "ends"]
    );
    assert_eq!(story(&events, 4), ["tool_call begins", "+*** a\n", "ends"]);
}

#[test]
fn a_response_has_its_usage_its_end_and_whatever_else_is_said_about_it() {
    let (_, result) = decode(&stream());
    let metadata = result.metadata.iter();
    let metadata: Vec<_> = metadata
        .map(|(key, value)| (key.as_str(), value.to_string()))
        .collect();
    assert_eq!(
        metadata,
        [
            ("service_tier", r#""default""#.to_owned()),
            ("content_filters", r#"[{"blocked":false}]"#.to_owned())
        ]
    );
    assert_eq!(
        result.usage,
        Usage {
            input_tokens: Some(50),
            cache_read_tokens: Some(30),
            cache_write_tokens: Some(20),
            output_tokens: Some(10),
            reasoning_tokens: Some(40),
        }
    );
    assert_eq!(
        (
            result.id.as_deref(),
            result.model.as_deref(),
            result.stop_reason,
            result.raw_stop_reason.as_deref()
        ),
        (
            Some("resp_1"),
            Some("gpt"),
            Some("tool_use"),
            Some("completed")
        )
    );
}
