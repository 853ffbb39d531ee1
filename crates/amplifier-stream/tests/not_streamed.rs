//! A success whose body is one document, although a stream was asked for.

mod result_json;

use std::time::SystemTime;

use amplifier_stream::{Dialect, Headers, Limits, StreamDecoder, StreamResult};
use serde_json::{Value, json};

use result_json::{blocks, kinds};

fn decode(dialect: Dialect, body: &str, chunk: usize) -> StreamResult {
    let headers = [("retry-after".to_owned(), "3".to_owned())];
    let headers = Headers::from_iter(headers);
    let mut decoder = StreamDecoder::new(dialect, 200, headers, Limits::DEFAULT);
    let mut events = Vec::new();
    for chunk in body.as_bytes().chunks(chunk) {
        decoder.feed(chunk, &mut events).unwrap();
    }
    let mut result = decoder.finish(SystemTime::UNIX_EPOCH);
    events.append(&mut result.events);
    result.events = events;
    result
}

/// The result, which is the same however the body is cut.
fn whole(dialect: Dialect, body: &str) -> StreamResult {
    let result = decode(dialect, body, body.len());
    for chunk in [1, 7] {
        assert_eq!(decode(dialect, body, chunk), result);
    }
    result
}

#[test]
fn an_error_under_200_is_an_error_with_its_message() {
    let overloaded =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Busy"}});
    let limited = json!({"error": {"code": "rate_limit_exceeded", "message": "Slow down", "type": "requests"}});
    for (body, kind, message) in [
        (overloaded.to_string(), "overloaded_error", "Busy"),
        (format!("\r\n {limited:#}\n"), "requests", "Slow down"),
        (
            json!({"error": "no such model"}).to_string(),
            "api_error",
            "no such model",
        ),
        (
            json!({"statusCode": 429, "message": "quota"}).to_string(),
            "rate_limit_error",
            "quota",
        ),
        (
            json!([{"error": {"message": "in a list"}}]).to_string(),
            "api_error",
            "in a list",
        ),
        (
            "<html>Bad gateway</html>".to_owned(),
            "api_error",
            "<html>Bad gateway</html>",
        ),
        (
            r#"{"error": {"mess"#.to_owned(),
            "invalid_stream",
            "the response is not JSON: unterminated string at byte 16",
        ),
    ] {
        for dialect in [Dialect::Anthropic, Dialect::Responses, Dialect::Chat] {
            let result = whole(dialect, &body);
            let error = result.error.unwrap();
            assert_eq!(
                (error.kind.as_str(), error.message.as_str()),
                (kind, message)
            );
            assert_eq!((error.status, error.retryable), (200, true));
            assert_eq!(error.retry_after.map(|wait| wait.as_secs()), Some(3));
            assert!(result.blocks.is_empty());
        }
    }
}

#[test]
fn a_whole_message_is_an_answer() {
    let call = json!({"type": "tool_use", "id": "t", "name": "read", "input": {"path": "a.md"}});
    let body = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude",
        "content": [{"type": "text", "text": "I read."}, call],
        "stop_reason": "tool_use", "stop_sequence": null,
        "usage": {"input_tokens": 5, "output_tokens": 7},
    });
    let result = whole(Dialect::Anthropic, &body.to_string());
    assert_eq!(
        blocks(&result),
        json!([
            {"type": "text", "text": "I read."},
            {
                "type": "tool_call", "id": "t", "name": "read", "arguments": {"path": "a.md"},
                "raw_arguments": r#"{"path":"a.md"}"#, "error": null,
            },
        ])
    );
    assert_eq!(
        (result.stop_reason, result.truncated),
        (Some("tool_use"), false)
    );
    assert_eq!(
        (result.id.as_deref(), result.error.clone()),
        (Some("msg_1"), None)
    );
    assert_eq!(result.usage.output_tokens, Some(7));
    assert_eq!(kinds(&result), ["not_streamed"]);
    assert_eq!(result.events.len(), 6);
}

#[test]
fn a_whole_response_is_an_answer() {
    let call = json!({
        "type": "function_call", "id": "fc", "call_id": "c", "name": "read",
        "arguments": r#"{"path":"a.md"}"#, "status": "completed",
    });
    let mut body = json!({
        "id": "resp_1", "object": "response", "model": "gpt", "status": "completed",
        "output": [call], "usage": {"input_tokens": 5, "output_tokens": 7},
    });
    let result = whole(Dialect::Responses, &body.to_string());
    assert_eq!(blocks(&result)[0]["arguments"], json!({"path": "a.md"}));
    assert_eq!(
        (result.stop_reason, result.truncated),
        (Some("tool_use"), false)
    );

    body["status"] = "complete".into();
    let result = whole(Dialect::Responses, &body.to_string());
    assert_eq!(blocks(&result)[0]["arguments"], json!({"path": "a.md"}));
    assert_eq!(
        (result.stop_reason, result.truncated, result.error),
        (Some("tool_use"), false, None)
    );

    body["status"] = "failed".into();
    body["error"] = json!({"code": "server_error", "message": "Oops"});
    let result = whole(Dialect::Responses, &body.to_string());
    assert_eq!(result.error.as_ref().unwrap().message, "Oops");
    assert_eq!(blocks(&result)[0]["arguments"], Value::Null);
}

#[test]
fn a_response_that_is_still_to_come_is_no_error_and_no_answer() {
    for status in ["queued", "in_progress", "paused"] {
        let body = json!({"id": "resp_1", "object": "response", "model": "gpt", "status": status,
            "output": [], "usage": null});
        let result = whole(Dialect::Responses, &body.to_string());
        assert_eq!(
            (result.error, result.truncated, result.stop_reason),
            (None, true, None)
        );
        assert_eq!(result.metadata["status"].as_str(), Some(status));
        assert_eq!(result.id.as_deref(), Some("resp_1"));
    }
}

#[test]
fn a_whole_completion_is_an_answer() {
    let call = |id, path| {
        let arguments = json!({"path": path}).to_string();
        json!({"id": id, "type": "function", "function": {"name": "read", "arguments": arguments}})
    };
    let message = json!({
        "role": "assistant", "content": "I read.", "reasoning_content": "Both.", "refusal": null,
        "tool_calls": [call("a", "a.md"), call("b", "b.md")],
    });
    let body = json!({
        "id": "chat_1", "object": "chat.completion", "model": "gpt",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 7},
    });
    let result = whole(Dialect::Chat, &body.to_string());
    let blocks = blocks(&result);
    assert_eq!(blocks[0]["thinking"], "Both.");
    assert_eq!(blocks[1], json!({"type": "text", "text": "I read."}));
    assert_eq!(blocks[2]["arguments"], json!({"path": "a.md"}));
    assert_eq!(blocks[3]["arguments"], json!({"path": "b.md"}));
    assert_eq!(
        (result.stop_reason, result.truncated),
        (Some("tool_use"), false)
    );
    assert_eq!((result.error, result.usage.input_tokens), (None, Some(5)));
}

#[test]
fn a_document_is_held_within_the_limits() {
    let limits = Limits {
        max_event_bytes: 100,
        ..Limits::DEFAULT
    };
    let mut decoder = StreamDecoder::new(Dialect::Chat, 200, Headers::default(), limits);
    let mut events = Vec::new();
    decoder.feed(b"{\"error\": \"", &mut events).unwrap();
    let failure = decoder.feed(&[b'x'; 100], &mut events).unwrap_err();
    assert_eq!(decoder.feed(b"\"}", &mut events), Err(failure));
    let error = decoder.finish(SystemTime::UNIX_EPOCH).error.unwrap();
    assert_eq!(error.kind, "stream_limit");
}
