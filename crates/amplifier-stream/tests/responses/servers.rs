//! Servers that are not as usual.

use super::*;

#[test]
fn ids_that_change_with_each_event_do_not_matter() {
    let mut item = call("");
    item["id"] = json!("a");
    let mut rotated = call("{}");
    rotated["id"] = json!("c");
    let mut arguments = input("function_call_arguments", 0, "{}");
    arguments["item_id"] = json!("b");
    let (events, result) = decode(&[
        created(),
        added(0, item),
        arguments,
        done(0, rotated.clone()),
        completed(json!([rotated])),
    ]);
    assert_eq!(story(&events, 0), ["tool_call begins", "json {}", "ends"]);
    assert_eq!((result.blocks.len(), result.findings), (1, vec![]));
}

#[test]
fn a_resumed_stream_may_begin_anywhere() {
    let (events, result) = decode(&[
        delta("output_text", 0, 0, "lo"),
        done(0, message(json!([text_part("Hello")]))),
        completed(json!([message(json!([text_part("Hello")]))])),
    ]);
    assert_eq!(
        story(&events, 0),
        [
            "text begins",
            "+lo",
            "is dropped",
            "text begins",
            "+Hello",
            "ends"
        ]
    );
    assert_eq!(blocks(&result)[0]["text"], "Hello");
    assert_eq!(kinds(&result), ["missing_response_created"]);
    assert_eq!(
        (result.truncated, result.stop_reason),
        (false, Some("end_turn"))
    );
}

#[test]
fn what_is_not_known_is_kept() {
    let news = json!({"type": "response.news", "n": 1});
    let gadget = json!({"type": "gadget", "id": "g", "dial": [1, 2]});
    let (events, result) = decode(&[
        created(),
        json!({"type": "keepalive", "sequence_number": 1}),
        json!({"type": "response.mcp_list_tools.in_progress"}),
        news.clone(),
        added(0, gadget.clone()),
        done(0, gadget.clone()),
        completed(json!([gadget])),
        news,
    ]);
    assert_eq!(blocks(&result), json!([gadget]));
    assert_eq!(story(&events, 0), ["gadget begins", "ends"]);
    assert_eq!(kinds(&result), ["unknown_event", "event_after_end"]);
    let raw = result.findings[0].raw.as_ref().unwrap().to_string();
    assert_eq!(raw, r#"{"type":"response.news","n":1}"#);
}

#[test]
fn servers_that_number_or_order_badly_are_understood() {
    let unnumbered = |mut event: Value| {
        event.as_object_mut().unwrap().remove("output_index");
        event
    };
    let output = json!([message(json!([text_part("Hi")])), call("{}")]);
    let (_, same_index) = decode(&[
        created(),
        added(0, message(json!([]))),
        delta("output_text", 0, 0, "Hi"),
        done(0, output[0].clone()),
        added(0, call("")),
        input("function_call_arguments", 0, "{}"),
        done(0, output[1].clone()),
        completed(output.clone()),
    ]);
    let (_, no_index) = decode(&[
        created(),
        unnumbered(added(0, message(json!([])))),
        unnumbered(delta("output_text", 0, 0, "Hi")),
        unnumbered(done(0, output[0].clone())),
        unnumbered(added(0, call(""))),
        unnumbered(input("function_call_arguments", 0, "{}")),
        unnumbered(done(0, output[1].clone())),
        completed(json!([])),
    ]);
    assert_eq!(kinds(&same_index), ["repeated_index"]);
    assert_eq!(kinds(&no_index), [""; 0]);
    assert_eq!(same_index.blocks, no_index.blocks);
    assert_eq!(blocks(&no_index)[1], called(json!({}), "{}", Value::Null));
}

#[test]
fn an_event_that_cannot_be_read_fails_the_stream_unless_it_does_not_matter() {
    let last = completed(json!([call("{}")]));
    let with = |event: &str| format!("{event}\n\ndata: {last}\n\ndata: [DONE]\n\n");
    for fatal in [
        "event: response.output_text.delta\ndata: {\"type\":",
        "data: 7",
        "data: {\"type\":\"response.output_text.delta\",\"output_index\":0}",
        "data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":7}",
        "data: {\"type\":\"response.output_item.done\"}",
        "data: {\"type\":\"response.completed\",\"response\":{\"output\":[1]}}",
    ] {
        let (_, result) = decode_wire(&with(fatal));
        let error = result.error.as_ref().unwrap();
        assert_eq!(
            (error.kind.as_str(), error.retryable),
            ("invalid_stream", true),
            "{fatal}"
        );
        for block in blocks(&result).as_array().unwrap() {
            assert_eq!(block["arguments"], Value::Null);
        }
    }
    for harmless in [
        "event: keepalive\ndata: .",
        "event: ping\ndata:",
        "event: response.web_search_call.searching\ndata: {",
        "event: noise\ndata: <html>",
    ] {
        let (_, result) = decode_wire(&with(harmless));
        assert_eq!(
            (result.error, result.stop_reason),
            (None, Some("tool_use")),
            "{harmless}"
        );
    }
}

#[test]
fn an_error_of_a_gateway_needs_no_type() {
    let wire = format!(
        "data: {}\n\ndata: {{\"error\":{{\"message\":\"Gone\",\"code\":503}}}}\n\n",
        created()
    );
    let (_, result) = decode_wire(&wire);
    let error = result.error.unwrap();
    assert_eq!(
        (
            error.kind.as_str(),
            error.code.as_deref(),
            error.message.as_str(),
            error.retryable
        ),
        ("api_error", Some("503"), "Gone", true)
    );
}

/// A step of the X search of xAI.
fn step(name: &str, call_id: &str, input: &str) -> Value {
    json!({"type": "custom_tool_call", "id": format!("ctc_1_{call_id}"), "call_id": call_id,
        "name": name, "input": input, "status": "completed"})
}

/// A response to a request with these tools, which has these items.
fn with_tools(tools: Value, items: &[Value]) -> StreamResult {
    let mut begun = created();
    begun["response"]["tools"] = tools.clone();
    let mut events = vec![begun];
    for (index, item) in (0..).zip(items) {
        let mut empty = item.clone();
        empty["input"] = json!("");
        events.push(added(index, empty));
        events.push(input(
            "custom_tool_call_input",
            index,
            item["input"].as_str().unwrap(),
        ));
        events.push(done(index, item.clone()));
    }
    events.push(ended("completed", json!({"output": items, "tools": tools})));
    let (events, result) = decode(&events);
    for (index, block) in (0..).zip(result.blocks.iter()) {
        let begins = format!("{} begins", block.block_type());
        assert_eq!(story(&events, index)[0], begins);
    }
    result
}

#[test]
fn a_custom_call_that_the_service_runs_itself_is_no_call_of_the_client() {
    let search = step("x_keyword_search", "xs_call_1", r#"{"query":"rust"}"#);
    let unnamed = step("x_thread_fetch", "call_9", "{}");
    let tools = json!([{"type": "web_search"}, {"type": "x_search"},
        {"type": "function", "name": "x_thread_fetch", "parameters": {"type": "object"}}]);
    let result = with_tools(tools, &[search.clone(), unnamed.clone()]);
    assert_eq!(blocks(&result), json!([search, unnamed]));
    assert_eq!(result.stop_reason, Some("end_turn"));
    // Without the tools of the request, its id names it.
    let result = with_tools(Value::Null, std::slice::from_ref(&search));
    assert_eq!(blocks(&result), json!([search]));
}

#[test]
fn a_custom_call_of_a_tool_of_the_client_is_its_call() {
    let call = step("x_keyword_search", "call_1", "rust");
    for tools in [
        json!(null),
        json!([]),
        json!([{"type": "custom", "name": "x_keyword_search"}]),
        json!([{"type": "x_search"}, {"type": "custom", "name": "x_keyword_search"}]),
        json!([{"type": "web_search"}, {"type": "tool_search"}]),
        json!([{"type": "web_search"}, {"type": "namespace", "name": "n", "tools": []}]),
    ] {
        let result = with_tools(tools, std::slice::from_ref(&call));
        assert_eq!(blocks(&result)[0]["input"], json!("rust"));
        assert_eq!(result.stop_reason, Some("tool_use"));
    }
}
