//! Calls, however a server numbers and names them.

use amplifier_stream::StreamResult;
use serde_json::{Value, json};

use crate::wire::{blocks, decode_wire, delta, result};

/// Decodes deltas that are given as their lists of calls.
fn decode(deltas: &[Value]) -> StreamResult {
    let chunks = deltas
        .iter()
        .map(|calls| delta(json!({"tool_calls": calls})));
    result(&chunks.collect::<Vec<_>>())
}

/// The id, the name and the arguments of each call.
fn calls(result: &StreamResult) -> Value {
    let blocks = blocks(result);
    let calls = blocks.as_array().unwrap().iter();
    calls
        .map(|call| json!([call["id"], call["name"], call["arguments"]]))
        .collect()
}

fn fragment(index: &Value, id: &Value, name: &Value, arguments: &str) -> Value {
    let mut fragment = json!({"function": {"name": name, "arguments": arguments}});
    for (key, value) in [("index", index), ("id", id)] {
        if !value.is_null() {
            fragment[key] = value.clone();
        }
    }
    fragment
}

const NONE: Value = Value::Null;

#[test]
fn fragments_of_parallel_calls_may_take_turns() {
    let (zero, one) = (json!(0), json!(1));
    let result = decode(&[
        json!([fragment(&zero, &json!("a"), &json!("f"), "{\"x\"")]),
        json!([fragment(&one, &json!("b"), &json!("g"), "{\"y\"")]),
        json!([
            fragment(&zero, &NONE, &NONE, ":1}"),
            fragment(&one, &NONE, &NONE, ":2}")
        ]),
    ]);
    assert_eq!(
        calls(&result),
        json!([["a", "f", {"x": 1}], ["b", "g", {"y": 2}]])
    );
}

#[test]
fn an_index_that_is_always_zero_or_missing_does_not_mix_calls() {
    for index in [json!(0), NONE] {
        let result = decode(&[
            json!([fragment(&index, &json!("a"), &json!("f"), "")]),
            json!([fragment(&index, &NONE, &NONE, "{\"x\":")]),
            json!([fragment(&index, &NONE, &NONE, "1}")]),
            json!([fragment(&index, &json!("b"), &json!("g"), "{}")]),
        ]);
        assert_eq!(
            calls(&result),
            json!([["a", "f", {"x": 1}], ["b", "g", {}]])
        );
    }
}

#[test]
fn whole_calls_in_one_delta_need_neither_index_nor_id() {
    let call = |name: &str| fragment(&NONE, &NONE, &json!(name), "{\"x\":1}");
    let empty = fragment(&NONE, &json!(""), &json!("h"), "");
    let expected = json!([[null, "f", {"x": 1}], [null, "f", {"x": 1}], [null, "h", {}]]);
    let together = decode(&[json!([call("f"), call("f"), empty])]);
    assert_eq!(calls(&together), expected);
    let apart = decode(&[json!([call("f")]), json!([call("f")]), json!([empty])]);
    assert_eq!(calls(&apart), expected);
    let same = decode(&[json!([empty, empty])]);
    assert_eq!(calls(&same), json!([[null, "h", {}], [null, "h", {}]]));
}

#[test]
fn calls_without_an_index_go_on_at_their_place_in_the_list() {
    let result = decode(&[
        json!([
            fragment(&NONE, &json!("a"), &json!("f"), "{\"x\""),
            fragment(&NONE, &json!("b"), &json!("g"), "{\"y\""),
        ]),
        json!([
            fragment(&NONE, &NONE, &NONE, ":1}"),
            fragment(&NONE, &NONE, &NONE, ":2}"),
        ]),
    ]);
    let expected = json!([["a", "f", {"x": 1}], ["b", "g", {"y": 2}]]);
    assert_eq!(calls(&result), expected);
}

#[test]
fn whole_calls_under_one_index_are_told_apart_without_ids() {
    let index = json!(0);
    let call = |name: &str, arguments| fragment(&index, &NONE, &json!(name), arguments);
    let result = decode(&[
        json!([call("f", "{\"a\":\"}{\"}")]),
        json!([call("f", "{}")]),
        json!([call("g", "{}")]),
    ]);
    let expected = json!([[null, "f", {"a": "}{"}], [null, "f", {}], [null, "g", {}]]);
    assert_eq!(calls(&result), expected);
}

#[test]
fn an_id_and_a_name_that_come_again_name_the_same_call() {
    for name in [json!("f"), json!(""), NONE] {
        let again = |arguments| fragment(&json!(0), &json!("a"), &name, arguments);
        let result = decode(&[
            json!([fragment(&json!(0), &json!("a"), &json!("f"), "")]),
            json!([again("{\"x\":{\"y\":\"}\"}")]),
            json!([again("}")]),
            json!([again("")]),
        ]);
        assert_eq!(calls(&result), json!([["a", "f", {"x": {"y": "}"}}]]));
    }
}

#[test]
fn an_index_may_stay_while_ids_take_turns() {
    let of = |id: &str, name: &Value, arguments| fragment(&json!(0), &json!(id), name, arguments);
    let result = decode(&[
        json!([of("a", &json!("f"), "{\"x\"")]),
        json!([of("b", &json!("g"), "{\"y\"")]),
        json!([of("a", &NONE, ":1}")]),
        json!([of("b", &NONE, ":2}")]),
    ]);
    assert_eq!(
        calls(&result),
        json!([["a", "f", {"x": 1}], ["b", "g", {"y": 2}]])
    );
}

#[test]
fn an_id_or_a_name_may_come_late() {
    let result = decode(&[
        json!([fragment(&json!(3), &NONE, &NONE, "{")]),
        json!([fragment(&json!(3), &json!("a"), &json!("f"), "}")]),
    ]);
    assert_eq!(calls(&result), json!([["a", "f", {}]]));
}

#[test]
fn arguments_may_be_the_object_itself_or_nothing() {
    let function = |arguments: Value| json!([{"function": {"name": "f", "arguments": arguments}}]);
    let result = decode(&[
        function(json!({"x": 1})),
        json!([{"id": "a", "function": {"name": "f", "arguments": null}}]),
        json!({"id": "b", "function": {"name": "f"}}),
    ]);
    let expected = json!([[null, "f", {"x": 1}], ["a", "f", {}], ["b", "f", {}]]);
    assert_eq!(calls(&result), expected);
}

#[test]
fn what_a_vendor_adds_to_a_call_is_kept() {
    let opaque = json!({"google": {"thought_signature": "c2ln"}});
    let result = decode(&[
        json!([{"id": "a", "type": "function", "extra_content": opaque,
        "function": {"name": "f", "arguments": "{}", "parsed": true}}]),
    ]);
    let call = &blocks(&result)[0];
    assert_eq!(
        *call,
        json!({"type": "tool_call", "id": "a", "name": "f", "arguments": {},
            "raw_arguments": "{}", "error": null, "extra_content": opaque, "parsed": true})
    );
}

#[test]
fn a_custom_call_carries_its_text() {
    let result = decode(&[
        json!([{"index": 0, "id": "a", "type": "custom", "custom": {"name": "sh", "input": "ls"}}]),
        json!([{"index": 0, "custom": {"input": " -l"}}]),
    ]);
    let call = &blocks(&result)[0];
    assert_eq!(
        (&call["name"], &call["input"], &call["error"]),
        (&json!("sh"), &json!("ls -l"), &NONE)
    );
}

#[test]
fn the_deprecated_function_call_is_a_call_without_an_id() {
    let chunk = |call: Value| {
        let chunk = json!({"choices": [{"index": 0, "delta": {"function_call": call}}]});
        format!("data: {chunk}\n\n")
    };
    let wire = [
        chunk(json!({"name": "f", "arguments": ""})),
        chunk(json!({"arguments": "{\"x\""})),
        chunk(json!({"name": "", "arguments": ":1}"})),
        "data: [DONE]\n\n".to_owned(),
    ];
    let (_, result) = decode_wire(&wire.concat());
    assert_eq!(calls(&result), json!([[null, "f", {"x": 1}]]));
}

#[test]
fn an_empty_form_of_a_call_beside_the_real_one_is_nothing() {
    let empty = json!({"name": "", "arguments": ""});
    let real = json!({"name": "f", "arguments": "{\"x\":1}"});
    for nothing in [json!({}), empty, json!({"name": "", "input": ""}), NONE] {
        let call =
            json!({"index": 0, "id": "a", "type": "function", "function": real, "custom": nothing});
        let calls_beside = delta(json!({"tool_calls": [call], "function_call": nothing}));
        let text = delta(json!({"content": "Hm.", "tool_calls": [], "function_call": nothing}));
        let result = result(&[text, calls_beside]);
        assert_eq!(
            calls(&result),
            json!([[null, null, null], ["a", "f", {"x": 1}]])
        );
        let call = &blocks(&result)[1];
        assert_eq!((&call["input"], &call["error"]), (&NONE, &NONE));

        let custom = json!({"name": "sh", "input": "ls"});
        let call =
            json!({"index": 0, "id": "a", "type": "custom", "function": nothing, "custom": custom});
        let call = &blocks(&decode(&[json!([call])]))[0];
        assert_eq!(
            (&call["name"], &call["input"]),
            (&json!("sh"), &json!("ls"))
        );
    }
}

#[test]
fn the_type_of_a_call_says_which_of_its_forms_counts() {
    let function = json!({"name": "f", "arguments": "{}"});
    let custom = json!({"name": "sh", "input": "ls"});
    for (kind, name, input) in [("function", "f", &NONE), ("custom", "sh", &json!("ls"))] {
        // In either order: the wire does not say which key comes first.
        for call in [
            format!(r#"{{"index":0,"type":"{kind}","function":{function},"custom":{custom}}}"#),
            format!(r#"{{"index":0,"custom":{custom},"function":{function},"type":"{kind}"}}"#),
        ] {
            let chunk =
                format!(r#"{{"choices":[{{"index":0,"delta":{{"tool_calls":[{call}]}}}}]}}"#);
            let (_, result) = decode_wire(&format!("data: {chunk}\n\ndata: [DONE]\n\n"));
            let call = &blocks(&result)[0];
            assert_eq!(
                (&call["name"], &call["input"]),
                (&json!(name), input),
                "{chunk}"
            );
        }
    }
}

#[test]
fn a_fragment_that_says_nothing_begins_no_call() {
    for nothing in [
        json!([{"index": 0}]),
        json!([{}]),
        json!([{"index": 0, "id": "", "type": "function", "function": {"name": "", "arguments": ""}}]),
    ] {
        assert_eq!(blocks(&decode(std::slice::from_ref(&nothing))), json!([]));
        let real = fragment(&json!(0), &json!("a"), &json!("f"), "{}");
        assert_eq!(
            calls(&decode(&[nothing, json!([real])])),
            json!([["a", "f", {}]])
        );
    }
}

#[test]
fn arguments_are_never_repaired() {
    for arguments in [
        "{\"x\":1,\"x\":2}",
        "{\"x\":NaN}",
        "{\"x\":1e400}",
        "[1]",
        "{",
        "{}{}",
    ] {
        let result = decode(&[json!([fragment(&NONE, &NONE, &json!("f"), arguments)])]);
        assert_eq!(calls(&result), json!([[null, "f", null]]), "{arguments}");
    }
    let nameless = decode(&[json!([fragment(&json!(0), &json!("a"), &NONE, "{}")])]);
    assert_eq!(calls(&nameless), json!([["a", "", null]]));
}
