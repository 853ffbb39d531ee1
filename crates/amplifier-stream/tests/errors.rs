//! Bodies and headers of refused requests.

use std::time::{Duration, SystemTime};

use amplifier_core::{Json, Object};
use amplifier_stream::{Dialect, Headers, ResponseError, decode_error};

fn headers(fields: &[(&str, &str)]) -> Headers {
    fields
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn decode(status: u16, fields: &[(&str, &str)], body: &str) -> ResponseError {
    decode_as(Dialect::Anthropic, status, fields, body)
}

fn decode_as(dialect: Dialect, status: u16, fields: &[(&str, &str)], body: &str) -> ResponseError {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000);
    decode_error(dialect, status, &headers(fields), body.as_bytes(), now)
}

/// An object as the decoder keeps it.
fn object(text: &str) -> Object {
    match Json::parse(text.as_bytes()) {
        Ok(Json::Object(object)) => object,
        other => panic!("no object: {other:?}"),
    }
}

#[test]
fn a_body_is_read_whole() {
    let body = r#"{"type":"error","error":{"type":"rate_limit_error","message":"Slow down",
        "details":{"error_code":"enforced_spend_limit_reached"}},"request_id":"req_body"}"#;
    let expected = ResponseError {
        kind: "rate_limit_error".to_owned(),
        code: Some("enforced_spend_limit_reached".to_owned()),
        status: 429,
        message: "Slow down".to_owned(),
        retryable: false,
        retry_after: None,
        request_id: Some("req_body".to_owned()),
        details: object(r#"{"details":{"error_code":"enforced_spend_limit_reached"}}"#),
    };
    assert_eq!(decode(429, &[], body), expected);
    let from_header = decode(
        429,
        &[("Request-ID", "req_head"), ("x-should-retry", "true")],
        body,
    );
    let request_id = Some("req_head".to_owned());
    assert_eq!(
        from_header,
        ResponseError {
            retryable: true,
            request_id,
            ..expected
        }
    );
}

const FILTERED: &str = r#"{"error":{"code":"content_filter","message":"Blocked","param":"prompt",
    "innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{}}}}"#;

/// A status and a body, and what they mean: type, code and message.
const SHAPES: [(u16, &str, [&str; 3]); 12] = [
    (
        429,
        r#"{"error":{"message":"No quota","type":"insufficient_quota","code":"insufficient_quota"}}"#,
        ["insufficient_quota", "insufficient_quota", "No quota"],
    ),
    (
        429,
        r#"{"error":{"code":"RateLimitReached","message":"Too fast","details":"Too fast"}}"#,
        ["rate_limit_error", "RateLimitReached", "Too fast"],
    ),
    (
        400,
        FILTERED,
        ["invalid_request_error", "content_filter", "Blocked"],
    ),
    (
        400,
        r#"{"error":{"message":"No","code":null,"innererror":{"code":"PolicyViolation"}}}"#,
        ["invalid_request_error", "PolicyViolation", "No"],
    ),
    (
        401,
        r#"{"statusCode":401,"message":"Access denied"}"#,
        ["authentication_error", "", "Access denied"],
    ),
    (
        400,
        r#"[{"error":{"code":400,"message":"Bad key","status":"INVALID_ARGUMENT"}}]"#,
        ["invalid_request_error", "400", "Bad key"],
    ),
    (
        401,
        r#"{"error":{"code":"401","details":"No access"}}"#,
        ["authentication_error", "401", "No access"],
    ),
    (
        404,
        r#"{"error":"model `tiny` not found"}"#,
        ["not_found_error", "", "model `tiny` not found"],
    ),
    (
        422,
        r#"{"detail":[{"loc":["body","n"]}]}"#,
        ["invalid_request_error", "", r#"[{"loc":["body","n"]}]"#],
    ),
    (
        503,
        r#"{"error":{"mess"#,
        ["api_error", "", r#"{"error":{"mess"#],
    ),
    (500, "null", ["api_error", "", "null"]),
    (502, "<html>", ["api_error", "", "<html>"]),
];

#[test]
fn the_shapes_of_all_providers_are_read_whatever_the_dialect() {
    for dialect in Dialect::ALL {
        for (status, body, [kind, code, message]) in SHAPES {
            let error = decode_as(dialect, status, &[], body);
            let code = Some(code.to_owned()).filter(|code| !code.is_empty());
            assert_eq!(
                (
                    error.status,
                    error.kind.as_str(),
                    error.code,
                    error.message.as_str()
                ),
                (status, kind, code, message),
                "{body}"
            );
        }
        let expected = r#"{"param":"prompt","innererror":{"code":"ResponsibleAIPolicyViolation",
            "content_filter_result":{}}}"#;
        assert_eq!(
            decode_as(dialect, 400, &[], FILTERED).details,
            object(expected)
        );
    }
}

#[test]
fn a_limit_that_waiting_does_not_lift_is_not_retryable() {
    for code in ["insufficient_quota", "enforced_spend_limit_reached"] {
        let body = format!(r#"{{"error":{{"message":"No","code":"{code}"}}}}"#);
        for dialect in Dialect::ALL {
            assert!(!decode_as(dialect, 429, &[], &body).retryable);
            assert!(decode_as(dialect, 429, &[("x-should-retry", "true")], &body).retryable);
        }
    }
}

#[test]
fn the_id_of_a_request_is_found_under_the_names_of_its_dialect() {
    for (dialect, name) in [
        (Dialect::Anthropic, "request-id"),
        (Dialect::Responses, "x-request-id"),
        (Dialect::Responses, "apim-request-id"),
        (Dialect::Responses, "x-ms-request-id"),
    ] {
        let error = decode_as(dialect, 500, &[(name, "req_1")], "{}");
        assert_eq!(error.request_id.as_deref(), Some("req_1"), "{name}");
    }
}

#[test]
fn any_body_is_an_error_and_never_fatal() {
    let proxy = format!("<html>{}</html>", "é".repeat(400_000));
    for dialect in Dialect::ALL {
        for body in [
            proxy.as_bytes(),
            b"\xff\xfe\x00",
            b"",
            b"[]",
            b"[[[[",
            br#"{"error":[]}"#,
            br#"{"error":{"message":{"a":1},"code":{},"type":7}}"#,
        ] {
            let now = SystemTime::UNIX_EPOCH;
            let error = decode_error(dialect, 500, &Headers::default(), body, now);
            assert_eq!((error.status, error.retryable), (500, true));
            assert!(!error.kind.is_empty() && !error.message.is_empty());
            assert!(error.message.chars().count() <= 500);
        }
    }
}

#[test]
fn bodies_of_proxies_are_read_as_far_as_they_go() {
    for (status, body, kind, message) in [
        (
            502,
            "<html>Bad gateway</html>",
            "api_error",
            "<html>Bad gateway</html>",
        ),
        (
            529,
            "",
            "overloaded_error",
            "HTTP status 529 without a body",
        ),
        (
            401,
            r#"{"error":"no key"}"#,
            "authentication_error",
            "no key",
        ),
        (400, r#"{"message":"bad"}"#, "invalid_request_error", "bad"),
        (
            404,
            r#"{"error":{"type":"not_found_error","message":"gone"}}"#,
            "not_found_error",
            "gone",
        ),
    ] {
        let error = decode(status, &[], body);
        assert_eq!(
            (error.kind.as_str(), error.message.as_str()),
            (kind, message)
        );
    }
}

#[test]
fn only_what_may_pass_is_retryable() {
    let retryable = |status| decode(status, &[], "").retryable;
    let statuses = [400, 401, 403, 404, 408, 409, 413, 429, 500, 502, 504, 529];
    let passing: Vec<u16> = statuses
        .into_iter()
        .filter(|status| retryable(*status))
        .collect();
    assert_eq!(passing, [408, 409, 429, 500, 502, 504, 529]);
    assert!(!decode(503, &[("x-should-retry", "false")], "").retryable);
}

#[test]
fn under_a_status_of_success_the_error_itself_tells_whether_it_may_pass() {
    for (kind, may_pass) in [
        ("api_error", true),
        ("rate_limit_error", true),
        ("insufficient_quota", false),
        ("invalid_request_error", false),
    ] {
        let body = format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"m"}}}}"#);
        assert_eq!(decode(200, &[], &body).retryable, may_pass, "{kind}");
        let refused = decode(200, &[("x-should-retry", "false")], &body);
        assert!(!refused.retryable, "{kind}");
    }
}

#[test]
fn a_wait_is_read_from_milliseconds_seconds_and_dates() {
    let wait = |fields: &[(&str, &str)]| {
        decode(429, fields, "")
            .retry_after
            .map(|wait| wait.as_secs_f64())
    };
    assert_eq!(
        wait(&[("retry-after-ms", "1500"), ("retry-after", "9")]),
        Some(1.5)
    );
    assert_eq!(
        wait(&[("retry-after-ms", "soon"), ("retry-after", "2.5")]),
        Some(2.5)
    );
    assert_eq!(wait(&[("retry-after", "0")]), Some(0.0));
    assert_eq!(wait(&[("retry-after", "86400")]), Some(86_400.0));
    // `now` is 00:16:40 of the first day.
    assert_eq!(
        wait(&[("retry-after", "Thu, 01 Jan 1970 00:17:00 GMT")]),
        Some(20.0)
    );
    let with_date = [
        ("date", "Wed, 21 Oct 2015 07:28:00 GMT"),
        ("retry-after", "Wed, 21 Oct 2015 07:29:00 GMT"),
    ];
    assert_eq!(wait(&with_date), Some(60.0));
    for nonsense in [
        "",
        "tomorrow",
        "NaN",
        "inf",
        "1e999",
        "-3",
        "86401",
        "Thu, 01 Jan 1970 00:00:00 GMT",
        "Sat, 03 Jan 1970 00:00:00 GMT",
    ] {
        assert_eq!(wait(&[("retry-after", nonsense)]), None, "{nonsense}");
    }
}
