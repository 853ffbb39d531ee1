//! Valid streams of every dialect, with all kinds of blocks in them.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::random::Random;

/// The JSON strings of the pieces in which a text comes; sometimes a pair is cut in half.
fn literals(random: &mut Random, text: &str) -> Vec<String> {
    let pieces = random.pieces(text);
    let mut literals: Vec<String> = pieces
        .iter()
        .map(|piece| json!(piece).to_string())
        .collect();
    if random.once_in(4) {
        let place = random.below(literals.len() + 1);
        let halves = [r#""\ud83d""#, r#""\ude00""#].map(str::to_owned);
        literals.splice(place..place, halves);
    }
    literals
}

/// The arguments of a call: valid, nearly so, or none.
fn arguments(random: &mut Random) -> String {
    match random.below(6) {
        0 => String::new(),
        1 => random.text(),
        _ => random.object_text(),
    }
}

/// Writes events with the line ends and the fields of one server or another.
fn events(random: &mut Random, events: &[(&str, String)]) -> Vec<u8> {
    let line_end = random.pick(&["\n", "\n", "\r\n", "\r"]);
    let is_named = random.once_in(2);
    let mut wire = String::new();
    for (name, data) in events {
        if is_named && !name.is_empty() {
            write!(wire, "event: {name}{line_end}").unwrap();
        }
        write!(wire, "data: {data}{line_end}{line_end}").unwrap();
    }
    wire.into_bytes()
}

pub(crate) fn anthropic(random: &mut Random) -> Vec<u8> {
    let message = json!({"type": "message_start", "message": {"id": "msg_1", "role": "assistant",
        "content": [], "model": "claude", "usage": {"input_tokens": 3, "output_tokens": 1}}});
    let mut all = vec![("message_start", message.to_string())];
    for index in 0..random.below(4) {
        let (block, delta, key, text) = match random.below(5) {
            0 => (
                json!({"type": "thinking", "thinking": "", "signature": ""}),
                "thinking_delta",
                "thinking",
                random.text(),
            ),
            1 => (
                json!({"type": "tool_use", "id": "t", "name": "n", "input": {}}),
                "input_json_delta",
                "partial_json",
                arguments(random),
            ),
            2 => (
                json!({"type": "server_tool_use", "id": "t", "name": "n", "input": {}}),
                "input_json_delta",
                "partial_json",
                arguments(random),
            ),
            3 => (
                json!({"type": "brand_new", "data": random.value(2)}),
                "",
                "",
                String::new(),
            ),
            _ => (
                json!({"type": "text", "text": ""}),
                "text_delta",
                "text",
                random.text(),
            ),
        };
        let start = json!({"type": "content_block_start", "index": index, "content_block": block});
        all.push(("content_block_start", start.to_string()));
        if !delta.is_empty() {
            for piece in literals(random, &text) {
                let delta = format!(r#"{{"type":"{delta}","{key}":{piece}}}"#);
                all.push((
                    "content_block_delta",
                    format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#),
                ));
            }
        }
        if block["type"] == "thinking" {
            let delta = json!({"type": "signature_delta", "signature": random.text()});
            all.push((
                "content_block_delta",
                json!({"type": "content_block_delta", "index": index, "delta": delta}).to_string(),
            ));
        }
        all.push((
            "content_block_stop",
            json!({"type": "content_block_stop", "index": index}).to_string(),
        ));
    }
    let end = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}});
    all.push(("message_delta", end.to_string()));
    all.push(("message_stop", r#"{"type":"message_stop"}"#.to_owned()));
    events(random, &all)
}

pub(crate) fn responses(random: &mut Random) -> Vec<u8> {
    let mut all = vec![(
        "response.created",
        json!({"type": "response.created",
        "response": {"id": "resp_1", "model": "gpt", "status": "in_progress", "output": []}})
        .to_string(),
    )];
    let mut output = Vec::new();
    for index in 0..random.below(4) {
        let (text, raw) = (random.text(), arguments(random));
        let (begun, item, delta, place, text) = match random.below(5) {
            0 => (
                json!({"type": "reasoning", "id": "rs_1", "summary": []}),
                json!({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": text}], "encrypted_content": "e"}),
                "response.reasoning_summary_text.delta",
                r#","summary_index":0"#,
                text,
            ),
            1 => (
                json!({"type": "function_call", "id": "fc", "call_id": "c", "name": "n", "arguments": ""}),
                json!({"type": "function_call", "id": "fc", "call_id": "c", "name": "n", "arguments": raw}),
                "response.function_call_arguments.delta",
                "",
                raw,
            ),
            2 => (
                json!({"type": "custom_tool_call", "id": "ct", "call_id": "c", "name": "n", "input": ""}),
                json!({"type": "custom_tool_call", "id": "ct", "call_id": "c", "name": "n", "input": text}),
                "response.custom_tool_call_input.delta",
                "",
                text,
            ),
            3 => (
                json!({"type": "web_search_call", "id": "ws"}),
                json!({"type": "web_search_call", "id": "ws", "action": random.value(2)}),
                "response.web_search_call.in_progress",
                "",
                String::new(),
            ),
            _ => (
                json!({"type": "message", "id": "m", "role": "assistant", "content": []}),
                json!({"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": text, "annotations": []}]}),
                "response.output_text.delta",
                r#","content_index":0"#,
                text,
            ),
        };
        all.push((
            "response.output_item.added",
            json!({"type": "response.output_item.added", "output_index": index, "item": begun})
                .to_string(),
        ));
        for piece in literals(random, &text) {
            all.push((
                delta,
                format!(r#"{{"type":"{delta}","output_index":{index}{place},"delta":{piece}}}"#),
            ));
        }
        all.push((
            "response.output_item.done",
            json!({"type": "response.output_item.done", "output_index": index, "item": item})
                .to_string(),
        ));
        output.push(item);
    }
    let status = random.pick(&["completed", "completed", "incomplete", "failed"]);
    let response = json!({"id": "resp_1", "model": "gpt", "status": status, "output": output,
        "usage": {"input_tokens": 3, "output_tokens": 9}});
    all.push((
        "end",
        json!({"type": format!("response.{status}"), "response": response}).to_string(),
    ));
    events(random, &all)
}

pub(crate) fn chat(random: &mut Random) -> Vec<u8> {
    let chunk = |delta: &str, reason: &str| {
        let choice = format!(r#"{{"index":0,"delta":{delta},"finish_reason":{reason}}}"#);
        (
            "",
            format!(
                r#"{{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{choice}]}}"#
            ),
        )
    };
    let mut all = vec![chunk(r#"{"role":"assistant","content":""}"#, "null")];
    for _ in 0..random.below(3) {
        let key = random.pick(&["content", "reasoning_content", "reasoning", "refusal"]);
        let text = random.text();
        for piece in literals(random, &text) {
            all.push(chunk(&format!(r#"{{"{key}":{piece}}}"#), "null"));
        }
    }
    let calls = random.below(3);
    for index in 0..calls {
        let start = json!({"tool_calls": [{"index": index, "id": format!("call_{index}"), "type": "function",
            "function": {"name": "look", "arguments": ""}}]});
        all.push(chunk(&start.to_string(), "null"));
        let raw = arguments(random);
        for piece in literals(random, &raw) {
            let call = format!(r#"{{"index":{index},"function":{{"arguments":{piece}}}}}"#);
            all.push(chunk(&format!(r#"{{"tool_calls":[{call}]}}"#), "null"));
        }
    }
    all.push(chunk(
        "{}",
        if calls > 0 {
            r#""tool_calls""#
        } else {
            r#""stop""#
        },
    ));
    all.push((
        "",
        json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 9}}).to_string(),
    ));
    all.push(("", "[DONE]".to_owned()));
    events(random, &all)
}

pub(crate) fn ollama(random: &mut Random) -> Vec<u8> {
    let line = |message: &str| {
        format!(
            r#"{{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{message},"done":false}}"#
        )
    };
    let mut lines = Vec::new();
    for key in ["thinking", "content"] {
        let text = random.text();
        for piece in literals(random, &text) {
            lines.push(line(&format!(r#"{{"role":"assistant","{key}":{piece}}}"#)));
        }
    }
    for _ in 0..random.below(3) {
        let arguments = random.object_text();
        lines.push(line(&format!(
            r#"{{"role":"assistant","tool_calls":[{{"function":{{"name":"look","arguments":{arguments}}}}}]}}"#
        )));
    }
    let end = json!({"model": "m", "message": {"role": "assistant", "content": ""}, "done": true,
        "done_reason": "stop", "prompt_eval_count": 3, "eval_count": 9});
    lines.push(end.to_string());
    let line_end = random.pick(&["\n", "\r\n", "\n\n"]);
    let mut wire = lines.join(line_end);
    if random.once_in(2) {
        wire.push_str(line_end);
    }
    wire.into_bytes()
}

/// The body of an error, as one provider or another writes it.
pub(crate) fn error_body(random: &mut Random) -> Vec<u8> {
    let error = json!({"type": random.text(), "message": random.text(), "code": random.value(1), "param": random.value(1)});
    let body: Value = match random.below(4) {
        0 => json!({"type": "error", "error": error, "request_id": random.value(1)}),
        1 => json!({"error": random.text()}),
        2 => error,
        _ => json!({"error": error}),
    };
    body.to_string().into_bytes()
}
