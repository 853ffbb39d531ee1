//! Errors in a stream whose status promised success.

use serde_json::{Value, json};

use crate::wire::{blocks, decode_wire, delta, finish, kinds, result, text};

#[test]
fn an_error_in_the_stream_is_an_error() {
    let wire = |error: &str| format!("data: {}\n\n{error}\n\n", delta(json!({"content": "a"})));
    for (error, kind, code, message, retryable) in [
        (
            r#"data: {"id":"1","error":{"code":502,"message":"gone"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}"#,
            "api_error",
            Some("502"),
            "gone",
            true,
        ),
        (
            "event: error\ndata: {\"error\":{\"message\":\"no such tool\",\"type\":\"invalid_request_error\",\"code\":\"tool_use_failed\",\"status_code\":400}}",
            "invalid_request_error",
            Some("tool_use_failed"),
            "no such tool",
            false,
        ),
        (
            r#"data: {"object":"error","message":"too long","type":"BadRequestError","code":400}"#,
            "BadRequestError",
            Some("400"),
            "too long",
            false,
        ),
        (
            r#"data: {"error":{"message":"busy","code":"later","status_code":503}}"#,
            "api_error",
            Some("later"),
            "busy",
            true,
        ),
        (
            r#"data: {"error":"out of memory"}"#,
            "api_error",
            None,
            "out of memory",
            true,
        ),
        (
            r#"error: {"code":500,"message":"the slot is gone","type":"server_error"}"#,
            "server_error",
            Some("500"),
            "the slot is gone",
            true,
        ),
        (
            "error: upstream timed out",
            "api_error",
            None,
            "upstream timed out",
            true,
        ),
        (
            "event: error\ndata: broken",
            "api_error",
            None,
            "broken",
            true,
        ),
    ] {
        let (_, result) = decode_wire(&wire(error));
        assert_eq!(blocks(&result), json!([text("a")]));
        let found = result.error.unwrap();
        assert_eq!(
            (
                found.kind.as_str(),
                found.code.as_deref(),
                found.message.as_str()
            ),
            (kind, code, message)
        );
        assert_eq!((found.status, found.retryable), (200, retryable), "{error}");
        assert!(result.truncated);
    }
}

#[test]
fn an_error_line_at_the_end_of_a_stream_needs_no_blank_line() {
    let begun = delta(json!({"content": "a"}));
    for line in ["error: gone\n", "event: error\ndata: gone\n"] {
        let (_, result) = decode_wire(&format!("data: {begun}\n\n{line}"));
        assert_eq!(result.error.unwrap().message, "gone");
        assert!(result.truncated);
    }
}

#[test]
fn an_error_after_the_end_keeps_the_reason_of_the_end() {
    let error = json!({"error": {"code": 500, "message": "late"},
        "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}]});
    let result = result(&[delta(json!({"content": "a"})), finish("length"), error]);
    assert_eq!(result.stop_reason, Some("max_tokens"));
    assert_eq!(result.error.unwrap().message, "late");
}

#[test]
fn an_answer_that_ended_with_an_error_is_no_success() {
    let call = json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}});
    for reason in ["error", "insufficient_system_resource"] {
        let result = result(&[delta(json!({"tool_calls": [call]})), finish(reason)]);
        assert_eq!(blocks(&result)[0]["arguments"], Value::Null);
        let error = result.error.unwrap();
        assert_eq!((error.kind.as_str(), error.retryable), ("api_error", true));
        assert!(error.message.contains(reason));
    }
}

#[test]
fn what_is_no_chunk_fails_the_stream_and_what_follows_the_end_is_noted() {
    for data in ["{\"choices\": [", "7", "{\"choices\": [7]}"] {
        let (_, result) = decode_wire(&format!("data: {data}\n\ndata: [DONE]\n\n"));
        assert_eq!(result.error.unwrap().kind, "invalid_stream", "{data}");
    }
    let (_, result) = decode_wire("data: [DONE]\n\ndata: {}\n\ndata:\n\n: keep-alive\n\n");
    assert_eq!(kinds(&result), ["event_after_end"]);
    assert_eq!((result.truncated, result.error), (false, None));
}
