//! The terminal response, and what is missing without it.

use super::*;

#[test]
fn the_terminal_response_counts_more_than_the_items_before_it() {
    let (events, result) = decode(&[
        created(),
        added(0, message(json!([]))),
        delta("output_text", 0, 0, "Hi"),
        done(0, message(json!([text_part("Hi")]))),
        completed(json!([
            message(json!([text_part("Hi, whole")])),
            call("{}")
        ])),
    ]);
    assert_eq!(
        blocks(&result),
        json!([
            {"type": "text", "text": "Hi, whole", "item": message(json!([text_part("Hi, whole")]))},
            called(json!({}), "{}", Value::Null),
        ])
    );
    assert_eq!(
        story(&events, 0),
        [
            "text begins",
            "+Hi",
            "ends",
            "is dropped",
            "text begins",
            "+Hi, whole",
            "ends"
        ]
    );
    // What was never announced is told when it comes.
    assert_eq!(story(&events, 1), ["tool_call begins", "json {}", "ends"]);
}

#[test]
fn without_output_in_the_terminal_response_the_ended_items_count() {
    for last in [
        completed(json!([])),
        ended("completed", json!({})),
        json!({"type": "response.completed"}),
        json!({"type": "response.completed", "response": {"status": "in_progress"}}),
    ] {
        let (_, result) = decode(&[
            created(),
            added(1, call("")),
            added(0, message(json!([]))),
            done(1, call("{}")),
            done(0, message(json!([text_part("Hi")]))),
            last,
        ]);
        assert_eq!(
            blocks(&result),
            json!([
                {"type": "text", "text": "Hi", "item": message(json!([text_part("Hi")]))},
                called(json!({}), "{}", Value::Null),
            ])
        );
        assert_eq!(
            (result.truncated, result.stop_reason),
            (false, Some("tool_use"))
        );
    }
}

#[test]
fn an_item_that_is_not_in_the_output_is_dropped_and_kept_as_a_finding() {
    let (_, result) = decode(&[
        created(),
        added(0, call("{}")),
        done(0, call("{}")),
        added(7, message(json!([]))),
        done(7, message(json!([text_part("Hi")]))),
        completed(json!([message(json!([text_part("Hi")]))])),
    ]);
    // Numbers beyond the output are in the server's own order.
    assert_eq!(
        blocks(&result),
        json!([{"type": "text", "text": "Hi", "item": message(json!([text_part("Hi")]))}])
    );
    assert_eq!(kinds(&result), ["dropped_item"]);
}

#[test]
fn a_stream_without_its_terminal_event_keeps_what_came_and_runs_nothing() {
    let annotation = json!({"type": "file_citation", "index": 1});
    let events = [
        created(),
        json!({"type": "response.queued", "response": {"status": "queued"}}),
        added(0, call("")),
        done(0, call("{}")),
        added(1, message(json!([]))),
        delta("output_text", 1, 0, "Hel"),
        json!({"type": "response.output_text.annotation.added", "output_index": 1,
            "content_index": 0, "annotation": annotation}),
        delta("output_text", 1, 1, "lo"),
        added(2, custom("")),
        input("custom_tool_call_input", 2, "*** a"),
        added(3, json!({"type": "reasoning", "summary": []})),
        delta("reasoning_summary_text", 3, 0, "So"),
        delta("reasoning_summary_text", 3, 1, "then"),
        added(4, json!({"type": "code_interpreter_call", "id": "ci"})),
        input("code_interpreter_call_code", 4, "print("),
    ];
    let (_, result) = decode(&events);
    let ended = "the stream ended before its terminal event (`response.completed`, `.incomplete` or `.failed`)";
    let mut first = text_part("Hel");
    first["annotations"] = json!([annotation]);
    let second = json!({"type": "output_text", "text": "lo"});
    let summary =
        json!([{"type": "summary_text", "text": "So"}, {"type": "summary_text", "text": "then"}]);
    assert_eq!(
        blocks(&result),
        json!([
            called(Value::Null, "{}", json!(ended)),
            {"type": "text", "text": "Hello", "item": message(json!([first, second]))},
            {"type": "tool_call", "id": "call_2", "name": "patch", "arguments": null,
                "raw_arguments": "*** a", "input": null, "error": "the call never ended",
                "item": custom("*** a")},
            {"type": "thinking", "thinking": "So\n\nthen", "item": {"type": "reasoning", "summary": summary}},
            {"type": "code_interpreter_call", "id": "ci", "code": "print("},
        ])
    );
    assert_eq!(
        (result.truncated, result.stop_reason, result.raw_stop_reason),
        (true, None, None)
    );
}

#[test]
fn parts_that_grow_by_turns_are_kept_apart() {
    let (_, result) = decode(&[
        created(),
        added(0, message(json!([]))),
        delta("output_text", 0, 0, "a"),
        delta("output_text", 0, 1, "1"),
        delta("output_text", 0, 0, "b"),
        delta("output_text", 0, 1, "2"),
    ]);
    let part = |text: &str| json!({"type": "output_text", "text": text});
    let item = message(json!([part("ab"), part("12")]));
    let block = json!({"type": "text", "text": "ab12", "item": item});
    assert_eq!(blocks(&result), json!([block]));
}

#[test]
fn every_end_has_its_reason() {
    let said = || json!([message(json!([text_part("Hi")]))]);
    for (last, reason, raw) in [
        (completed(said()), "end_turn", "completed"),
        (completed(json!([custom("a")])), "tool_use", "completed"),
        (
            ended(
                "incomplete",
                json!({"output": said(), "incomplete_details": {"reason": "max_output_tokens"}}),
            ),
            "max_tokens",
            "incomplete",
        ),
        (
            ended(
                "incomplete",
                json!({"output": said(), "incomplete_details": {"reason": "content_filter"}}),
            ),
            "content_filter",
            "incomplete",
        ),
        (
            ended(
                "incomplete",
                json!({"output": said(), "incomplete_details": {"reason": "steered"}}),
            ),
            "other",
            "incomplete",
        ),
        (
            ended("incomplete", json!({"output": said()})),
            "other",
            "incomplete",
        ),
        (
            ended("cancelled", json!({"output": said()})),
            "other",
            "cancelled",
        ),
    ] {
        let (_, result) = decode(&[created(), last]);
        assert_eq!(
            (result.stop_reason, result.raw_stop_reason.as_deref()),
            (Some(reason), Some(raw))
        );
    }
}

#[test]
fn a_call_that_the_limit_cut_never_runs() {
    let mut cut = call("{}");
    cut["status"] = json!("incomplete");
    let mut going = call("{}");
    going["status"] = json!("in_progress");
    let mut bare = call("");
    bare.as_object_mut().unwrap().remove("status");
    for item in [cut, going, bare] {
        let more = json!({"output": [item], "incomplete_details": {"reason": "max_output_tokens"}});
        let (_, result) = decode(&[created(), ended("incomplete", more)]);
        assert_eq!(blocks(&result)[0]["arguments"], Value::Null, "{item}");
        assert!(blocks(&result)[0]["error"].is_string());
    }
    let more =
        json!({"output": [call("{}")], "incomplete_details": {"reason": "max_output_tokens"}});
    let (_, result) = decode(&[created(), ended("incomplete", more)]);
    assert_eq!(blocks(&result)[0]["arguments"], json!({}));
    assert_eq!(result.stop_reason, Some("tool_use"));
}

#[test]
fn errors_inside_the_stream_fail_it_however_they_are_written() {
    let flat = json!({"type": "error", "code": "server_error", "message": "Oops", "param": null, "sequence_number": 3});
    let nested = json!({"type": "error", "error": {"type": "tokens", "code": "rate_limit_exceeded",
        "message": "Slow down", "param": "model"}});
    let failed = ended(
        "failed",
        json!({"error": {"code": "insufficient_quota", "message": "No quota"}, "output": [call("{}")]}),
    );
    let bare = ended("failed", json!({"error": null}));
    let error = |kind: &str, code: Option<&str>, message: &str, retryable| ResponseError {
        kind: kind.to_owned(),
        code: code.map(str::to_owned),
        status: 200,
        message: message.to_owned(),
        retryable,
        ..ResponseError::default()
    };
    for (events, expected) in [
        (
            vec![flat.clone()],
            error("server_error", Some("server_error"), "Oops", true),
        ),
        (
            vec![failed.clone()],
            error(
                "insufficient_quota",
                Some("insufficient_quota"),
                "No quota",
                false,
            ),
        ),
        (
            vec![flat.clone(), failed.clone()],
            error("server_error", Some("server_error"), "Oops", true),
        ),
        (
            vec![completed(json!([call("{}")])), flat],
            error("server_error", Some("server_error"), "Oops", true),
        ),
        (
            vec![bare],
            error(
                "api_error",
                None,
                "the response ended with the status `failed`",
                true,
            ),
        ),
    ] {
        let ends = events.iter().any(|event| event["type"] != "error");
        let mut all = vec![created(), added(0, call("{}")), done(0, call("{}"))];
        all.extend(events);
        let (_, result) = decode(&all);
        assert_eq!(blocks(&result)[0]["arguments"], Value::Null);
        assert_eq!(result.stop_reason.is_some(), ends);
        assert_eq!((result.error, result.truncated), (Some(expected), !ends));
    }
    let (_, result) = decode(&[created(), nested, failed]);
    let found = result.error.unwrap();
    assert_eq!(
        (found.kind.as_str(), found.code.as_deref()),
        ("tokens", Some("rate_limit_exceeded"))
    );
    assert_eq!(
        (found.retryable, found.details["param"].as_str()),
        (true, Some("model"))
    );
    assert_eq!(result.raw_stop_reason.as_deref(), Some("failed"));
}

#[test]
fn usage_without_details_is_unknown_where_it_is_not_told() {
    let (_, result) = decode(&[ended(
        "completed",
        json!({"usage": {"input_tokens": 9, "output_tokens": 4}}),
    )]);
    let usage = Usage {
        input_tokens: Some(9),
        output_tokens: Some(4),
        ..Usage::default()
    };
    assert_eq!(result.usage, usage);
}

#[test]
fn numbers_of_events_that_do_not_go_up_by_one_are_a_finding() {
    let numbered = |numbers: [Option<u64>; 3]| {
        let mut events = [
            json!({"type": "response.created", "response": {"id": "r", "output": []}}),
            json!({"type": "keepalive"}),
            json!({"type": "response.completed", "response": {"id": "r", "output": []}}),
        ];
        for (event, number) in events.iter_mut().zip(numbers) {
            if let Some(number) = number {
                event["sequence_number"] = number.into();
            }
        }
        let (_, result) = decode(&events);
        let findings = result.findings.into_iter();
        let findings = findings.map(|finding| (finding.kind, finding.message));
        findings.collect::<Vec<_>>()
    };
    let broken = |message: &str| vec![("broken_sequence", message.to_owned())];
    assert_eq!(numbered([None, None, None]), []);
    assert_eq!(numbered([Some(0), Some(1), Some(2)]), []);
    // A stream that is taken up again begins in the middle; pings may have no number.
    assert_eq!(numbered([Some(7), None, Some(8)]), []);
    assert_eq!(
        numbered([Some(0), Some(2), Some(5)]),
        broken("events are missing: `sequence_number` 2 follows 0 (number of breaks: 2)")
    );
    assert_eq!(
        numbered([Some(4), Some(4), Some(5)]),
        broken("events came again: `sequence_number` 4 follows 4 (number of breaks: 1)")
    );
    assert_eq!(
        numbered([Some(4), Some(3), Some(4)]),
        broken("events came again: `sequence_number` 3 follows 4 (number of breaks: 1)")
    );
}
