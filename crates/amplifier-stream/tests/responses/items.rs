//! Items and the texts of their deltas.

use super::*;

#[test]
fn a_call_begins_with_the_id_that_its_result_must_name() {
    let (events, _) = decode(&[created(), added(0, call(""))]);
    let Change::Start(metadata) = &events[0].change else {
        panic!("no start: {events:?}");
    };
    let metadata: Value =
        serde_json::from_str(&amplifier_core::Json::Object(metadata.clone()).to_string()).unwrap();
    assert_eq!(
        metadata,
        json!({"item_id": "fc_1", "id": "call_1", "name": "look", "status": "completed",
            "namespace": "files"})
    );
}

#[test]
fn raw_reasoning_is_thinking_where_there_is_no_summary() {
    let reasoning =
        |content: Value| json!({"type": "reasoning", "summary": [], "content": content});
    let whole = reasoning(json!([{"type": "reasoning_text", "text": "So be it"}]));
    let (events, result) = decode(&[
        created(),
        added(0, reasoning(json!([]))),
        delta("reasoning_text", 0, 0, "So "),
        delta("reasoning_text", 0, 0, "be it"),
        done(0, whole.clone()),
        completed(json!([whole])),
    ]);
    assert_eq!(
        blocks(&result),
        json!([{"type": "thinking", "thinking": "So be it", "item": whole}])
    );
    assert_eq!(
        story(&events, 0),
        ["thinking begins", "+So ", "+be it", "ends"]
    );
}

#[test]
fn reasoning_beside_its_summary_is_told_and_kept_but_the_summary_counts() {
    let whole = json!({"type": "reasoning",
        "summary": [{"type": "summary_text", "text": "Short"}],
        "content": [{"type": "reasoning_text", "text": "Long "}, {"type": "reasoning_text", "text": "story"}]});
    let (events, result) = decode(&[
        created(),
        added(0, json!({"type": "reasoning", "summary": []})),
        delta("reasoning_summary_text", 0, 0, "Short"),
        delta("reasoning_text", 0, 0, "Long "),
        delta("reasoning_text", 0, 1, "story"),
        done(0, whole.clone()),
        completed(json!([whole])),
    ]);
    assert_eq!(
        story(&events, 0),
        [
            "thinking begins",
            "+Short",
            "+\n\n",
            "+Long ",
            "+story",
            "is dropped",
            "thinking begins",
            "+Short",
            "ends"
        ]
    );
    let block = json!({"type": "thinking", "thinking": "Short", "item": whole});
    assert_eq!(blocks(&result), json!([block]));
    assert_eq!(kinds(&result), [""; 0]);
}

#[test]
fn a_refusal_is_told_apart_from_the_answer() {
    let refused =
        message(json!([text_part("Well. "), {"type": "refusal", "refusal": "I will not"}]));
    let (events, result) = decode(&[
        created(),
        added(0, message(json!([]))),
        delta("output_text", 0, 0, "Well. "),
        delta("refusal", 0, 1, "I will not"),
        done(0, refused.clone()),
        completed(json!([refused])),
    ]);
    let block = json!({"type": "text", "text": "Well. ", "refusal": "I will not", "item": refused});
    assert_eq!(blocks(&result), json!([block]));
    assert_eq!(
        story(&events, 0),
        ["text begins", "+Well. ", "+I will not", "ends"]
    );
    assert_eq!(
        (result.stop_reason, result.findings),
        (Some("refusal"), vec![])
    );
}

#[test]
fn texts_that_have_no_deltas_are_told_when_they_are_whole() {
    let (events, _) = decode(&[
        created(),
        added(0, message(json!([]))),
        json!({"type": "response.output_text.done", "output_index": 0, "content_index": 0, "text": "Hi"}),
        json!({"type": "response.output_text.done", "output_index": 0, "content_index": 1, "text": " you"}),
        done(
            0,
            message(json!([text_part("Hi"), text_part(" you"), text_part("!")])),
        ),
        added(1, call("")),
        done(1, call("{\"a\": 2}")),
    ]);
    assert_eq!(
        story(&events, 0),
        ["text begins", "+Hi", "+ you", "+!", "ends"]
    );
    assert_eq!(
        story(&events, 1),
        ["tool_call begins", "json {\"a\": 2}", "ends"]
    );
}

#[test]
fn deltas_that_differ_from_their_item_are_found() {
    let (_, result) = decode(&[
        created(),
        added(0, call("")),
        input("function_call_arguments", 0, "{\"rm\": 1}"),
        done(0, call("{}")),
        completed(json!([call("{}")])),
    ]);
    assert_eq!(
        blocks(&result),
        json!([called(json!({}), "{}", Value::Null)])
    );
    assert_eq!(kinds(&result), ["different_deltas"]);
}

#[test]
fn halves_of_a_surrogate_pair_are_joined_across_deltas() {
    let half = |delta: &str| {
        format!(
            "data: {{\"type\":\"response.output_text.delta\",\"output_index\":0,\"content_index\":0,\"delta\":\"{delta}\"}}\n\n"
        )
    };
    let wire = [
        format!("data: {}\n\n", added(0, message(json!([])))),
        half("a\\ud83d"),
        half("\\ude00b\\ud83d"),
    ];
    let (events, result) = decode_wire(&wire.concat());
    assert_eq!(story(&events, 0), ["text begins", "+a", "+😀b"]);
    assert_eq!(blocks(&result)[0]["text"], "a😀b\u{fffd}");
    assert_eq!(
        kinds(&result),
        ["missing_response_created", "unpaired_surrogate"]
    );
}
