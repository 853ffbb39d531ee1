//! Streams in which answers start again, indexes repeat and names change: few words, so that they
//! collide often.

use serde_json::{Value, json};

use crate::random::Random;

/// Tags too, which the filter of thinking and the parser of calls look for.
const TEXTS: [&str; 8] = [
    "",
    "a",
    "b c",
    "<thinking>d</thinking>",
    "<thinking>",
    "</thinking>e",
    "<tool_call>{\"name\":\"t\",\"arguments\":{}}</tool_call>",
    "<tool",
];
const ARGUMENTS: [&str; 6] = ["", "{}", "{\"x\":1}", "{ \"x\": 1 }", "{\"x\"", "{\"x\":2}"];
const NAMES: [&str; 3] = ["look", "see", ""];

fn index(random: &mut Random) -> usize {
    random.below(3)
}

fn text(random: &mut Random) -> &'static str {
    random.pick(&TEXTS)
}

/// An id, which may be missing or not be one.
fn id(random: &mut Random) -> Value {
    [json!("one"), json!("two"), json!(7), Value::Null][random.below(4)].clone()
}

fn write(events: &[Value]) -> Vec<u8> {
    let frames = events.iter().map(|event| format!("data: {event}\n\n"));
    frames.collect::<String>().into_bytes()
}

pub(crate) fn anthropic(random: &mut Random) -> Vec<u8> {
    let mut all = Vec::new();
    for _ in 0..random.below(14) {
        let index = index(random);
        match random.below(8) {
            0 => all.push(
                json!({"type": "message_start", "message": {"id": id(random),
                "model": random.pick(&["m", "n"]), "content": []}}),
            ),
            1 if random.once_in(2) => {
                all.push(json!({"type": "content_block_stop", "index": index}));
            }
            1 => {
                let (delta, key, text) = match random.below(3) {
                    0 => ("text_delta", "text", text(random)),
                    1 => ("thinking_delta", "thinking", text(random)),
                    _ => ("input_json_delta", "partial_json", random.pick(&ARGUMENTS)),
                };
                let delta = json!({"type": delta, key: text});
                all.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
            }
            2 => all.push(json!({"type": "message_delta", "delta": {
                "stop_reason": random.pick(&["max_tokens", "tool_use", "end_turn"])}})),
            3 if random.once_in(3) => all.push(json!({"type": "message_stop"})),
            kind => {
                let (block, delta, key, text) = match kind {
                    3 | 4 => (
                        json!({"type": "text", "text": text(random)}),
                        "text_delta",
                        "text",
                        text(random),
                    ),
                    5 => (
                        json!({"type": "thinking", "thinking": text(random)}),
                        "thinking_delta",
                        "thinking",
                        text(random),
                    ),
                    _ => (
                        json!({"type": "tool_use", "id": id(random), "name": random.pick(&NAMES),
                            "text": text(random), "input": {}}),
                        "input_json_delta",
                        "partial_json",
                        random.pick(&ARGUMENTS),
                    ),
                };
                all.push(
                    json!({"type": "content_block_start", "index": index, "content_block": block}),
                );
                for piece in random.pieces(text) {
                    let delta = json!({"type": delta, key: piece});
                    all.push(
                        json!({"type": "content_block_delta", "index": index, "delta": delta}),
                    );
                }
                if !random.once_in(3) {
                    all.push(json!({"type": "content_block_stop", "index": index}));
                }
            }
        }
    }
    if !random.once_in(4) {
        all.push(json!({"type": "message_stop"}));
    }
    write(&all)
}

/// An item with the events of its text, and the item as it may be at its end.
fn item(random: &mut Random) -> (Value, &'static str, String) {
    match random.below(4) {
        0 => {
            let text = text(random);
            let part = json!({"type": "output_text", "text": text});
            (
                json!({"type": "message", "content": [part]}),
                "response.output_text",
                text.to_owned(),
            )
        }
        1 => {
            let text = text(random);
            let part = json!({"type": "summary_text", "text": text});
            (
                json!({"type": "reasoning", "summary": [part]}),
                "response.reasoning_summary_text",
                text.to_owned(),
            )
        }
        2 => {
            let arguments = random.pick(&ARGUMENTS);
            (
                json!({"type": "function_call", "call_id": id(random), "name": random.pick(&NAMES),
                    "arguments": arguments}),
                "response.function_call_arguments",
                arguments.to_owned(),
            )
        }
        _ => {
            let input = text(random);
            (
                json!({"type": "custom_tool_call", "call_id": id(random), "text": text(random),
                    "name": random.pick(&NAMES), "input": input}),
                "response.custom_tool_call_input",
                input.to_owned(),
            )
        }
    }
}

/// The item before it has content.
fn begun(item: &Value) -> Value {
    let mut begun = item.clone();
    for (key, empty) in [
        ("content", json!([])),
        ("summary", json!([])),
        ("arguments", json!("")),
        ("input", json!("")),
    ] {
        if let Some(content) = begun.get_mut(key) {
            *content = empty;
        }
    }
    begun
}

pub(crate) fn responses(random: &mut Random) -> Vec<u8> {
    let mut all = Vec::new();
    let mut output: Vec<Value> = Vec::new();
    for _ in 0..random.below(10) {
        let index = index(random);
        if random.once_in(5) {
            let response = json!({"id": id(random), "status": "in_progress"});
            all.push(json!({"type": "response.created", "response": response}));
            continue;
        }
        let (whole, event, text) = item(random);
        let is_corrected = random.once_in(4);
        let last = if is_corrected {
            item(random).0
        } else {
            whole.clone()
        };
        if !random.once_in(5) {
            all.push(
                json!({"type": "response.output_item.added", "output_index": index,
                "item": begun(&whole)}),
            );
        }
        for piece in random.pieces(&text) {
            all.push(
                json!({"type": format!("{event}.delta"), "output_index": index,
                "delta": piece}),
            );
        }
        if !random.once_in(4) {
            all.push(
                json!({"type": "response.output_item.done", "output_index": index,
                "item": last}),
            );
        }
        output.push(last);
    }
    if !random.once_in(5) {
        match random.below(3) {
            0 => output.clear(),
            1 if !output.is_empty() => {
                let place = random.below(output.len());
                output[place] = item(random).0;
            }
            _ => {}
        }
        let status = random.pick(&["completed", "completed", "incomplete"]);
        all.push(json!({"type": format!("response.{status}"),
            "response": {"id": id(random), "status": status, "output": output}}));
    }
    write(&all)
}

pub(crate) fn chat(random: &mut Random) -> Vec<u8> {
    let mut all = Vec::new();
    for _ in 0..random.below(14) {
        let delta = match random.below(6) {
            0 => json!({"content": text(random)}),
            1 => json!({"reasoning_content": text(random)}),
            2 => json!({"function_call": {"name": random.pick(&NAMES),
                "arguments": random.pick(&ARGUMENTS)}}),
            _ => {
                let key = random.pick(&["function", "function", "custom"]);
                let field = if key == "custom" {
                    "input"
                } else {
                    "arguments"
                };
                let mut call = json!({key: {"name": random.pick(&NAMES), "text": text(random),
                    field: random.pick(&ARGUMENTS)}});
                if !random.once_in(4) {
                    call["index"] = json!(index(random));
                }
                if random.once_in(2) {
                    call["id"] = id(random);
                }
                json!({"tool_calls": [call]})
            }
        };
        let reason = [Value::Null, json!("tool_calls"), json!("length")][random.below(3)].clone();
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        all.push(json!({"id": id(random), "choices": [choice]}));
    }
    let mut wire = write(&all);
    if !random.once_in(4) {
        wire.extend_from_slice(b"data: [DONE]\n\n");
    }
    wire
}

pub(crate) fn ollama(random: &mut Random) -> Vec<u8> {
    let mut lines = Vec::new();
    for _ in 0..random.below(8) {
        let message = match random.below(3) {
            0 => json!({"content": text(random)}),
            1 => json!({"thinking": text(random)}),
            _ => {
                let arguments = random.pick(&ARGUMENTS);
                let function = json!({"name": random.pick(&NAMES), "id": id(random),
                    "arguments": arguments, "text": text(random)});
                json!({"tool_calls": [{"id": id(random), "function": function}]})
            }
        };
        let is_done = random.once_in(8);
        let line = json!({"model": "m", "message": message, "done": is_done});
        lines.push(line.to_string());
    }
    if !random.once_in(4) {
        lines.push(r#"{"done":true,"done_reason":"stop"}"#.to_owned());
    }
    lines.join("\n").into_bytes()
}
