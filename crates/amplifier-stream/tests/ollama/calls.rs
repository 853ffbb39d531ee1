//! Calls, which come whole and without ids.

use amplifier_stream::Change;
use serde_json::{Value, json};

use crate::{blocks, calls, decode, decode_wire, done, kinds};

#[test]
fn a_call_is_told_whole() {
    let call = calls(json!([{"function": {"name": "f", "arguments": {"x": 1}}}]));
    let (events, _) = decode_wire(&format!("{call}\n"));
    let told: Vec<&str> = events
        .iter()
        .map(|event| match &event.change {
            Change::Start(_) => "start",
            Change::Delta(_) => "delta",
            Change::PartialJson(json) => json,
            Change::End(_) => "end",
            Change::Drop(_) => "drop",
        })
        .collect();
    assert_eq!(told, ["start", "{\"x\":1}", "end"]);
}

#[test]
fn arguments_are_never_repaired() {
    for arguments in [
        "{\"x\":1,\"x\":2}",
        "{\"x\":1e400}",
        "[1]",
        "\"{\"",
        "7",
        "true",
    ] {
        let call = format!(
            "{{\"message\":{{\"tool_calls\":[{{\"function\":{{\"name\":\"f\",\"arguments\":{arguments}}}}}]}}}}"
        );
        let (_, result) = decode_wire(&format!("{call}\n{{\"done\":true}}\n"));
        let found = &blocks(&result)[0];
        assert_eq!(found["arguments"], Value::Null, "{arguments}");
        assert!(
            found["error"]
                .as_str()
                .unwrap()
                .starts_with("invalid tool arguments")
        );
    }
}

#[test]
fn arguments_may_be_the_text_of_an_object_or_nothing() {
    let call = |arguments: Value| json!({"function": {"name": "f", "arguments": arguments}});
    let given = json!([call(json!("{\"x\":1}")), call(Value::Null), {"function": {"name": "f"}}]);
    let result = decode(&[calls(given), done(None)]);
    let found: Vec<Value> = blocks(&result)
        .as_array()
        .unwrap()
        .iter()
        .map(|call| call["arguments"].clone())
        .collect();
    assert_eq!(found, [json!({"x": 1}), json!({}), json!({})]);
}

#[test]
fn without_the_line_that_says_done_nothing_runs() {
    let call = calls(json!([{"function": {"name": "f", "arguments": {"x": 1}}}])).to_string();
    let end = done(Some("stop")).to_string();
    let wire = format!("{call}\n\n{end}");
    for cut in 0..wire.len() {
        let (_, result) = decode_wire(&wire[..cut]);
        assert_eq!((result.truncated, result.stop_reason), (true, None));
        let findings: &[&str] = match cut {
            0 => &[],
            cut if cut < call.len() => &["cut_line"],
            cut if cut <= call.len() + 2 => &[],
            _ => &["cut_line"],
        };
        assert_eq!(kinds(&result), findings);
        for block in blocks(&result).as_array().unwrap() {
            assert_eq!(block["arguments"], Value::Null);
            let error = "the stream ended before the line that says `done`";
            assert_eq!(block["error"], error);
        }
    }
}
