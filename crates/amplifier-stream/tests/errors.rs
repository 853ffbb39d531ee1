//! Bodies and headers of refused requests.

use std::time::{Duration, SystemTime};

use amplifier_core::{Json, Object};
use amplifier_stream::{Dialect, Headers, ProviderError, decode_error};

fn headers(fields: &[(&str, &str)]) -> Headers {
    fields
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn decode(status: u16, fields: &[(&str, &str)], body: &str) -> ProviderError {
    decode_as(Dialect::Anthropic, status, fields, body)
}

fn decode_as(dialect: Dialect, status: u16, fields: &[(&str, &str)], body: &str) -> ProviderError {
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
    let expected = ProviderError {
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
        ProviderError {
            retryable: true,
            request_id,
            ..expected
        }
    );
}

#[test]
fn the_shapes_of_all_providers_are_read_whatever_the_dialect() {
    let quota = r#"{"error":{"message":"No quota","type":"insufficient_quota","param":null,
        "code":"insufficient_quota"}}"#;
    let azure =
        r#"{"error":{"code":"RateLimitReached","message":"Too fast","details":"Too fast"}}"#;
    let filtered = r#"{"error":{"code":"content_filter","message":"Blocked","param":"prompt",
        "innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{}}}}"#;
    let inner = r#"{"error":{"message":"Blocked","code":null,
        "innererror":{"code":"ResponsibleAIPolicyViolation"}}}"#;
    let gateway = r#"{"statusCode":401,"message":"Access denied"}"#;
    let listed = r#"[{"error":{"code":400,"message":"Bad key","status":"INVALID_ARGUMENT"}}]"#;
    let told = r#"{"error":{"code":"401","details":"No access"}}"#;
    let ollama = r#"{"error":"model `tiny` not found"}"#;
    let validation = r#"{"detail":[{"loc":["body","n"]}]}"#;
    for dialect in Dialect::ALL {
        for (status, body, kind, code, message, retryable) in [
            (
                429,
                quota,
                "insufficient_quota",
                Some("insufficient_quota"),
                "No quota",
                false,
            ),
            (
                429,
                azure,
                "rate_limit_error",
                Some("RateLimitReached"),
                "Too fast",
                true,
            ),
            (
                400,
                filtered,
                "invalid_request_error",
                Some("content_filter"),
                "Blocked",
                false,
            ),
            (
                400,
                inner,
                "invalid_request_error",
                Some("ResponsibleAIPolicyViolation"),
                "Blocked",
                false,
            ),
            (
                401,
                gateway,
                "authentication_error",
                None,
                "Access denied",
                false,
            ),
            (
                400,
                listed,
                "invalid_request_error",
                Some("400"),
                "Bad key",
                false,
            ),
            (
                401,
                told,
                "authentication_error",
                Some("401"),
                "No access",
                false,
            ),
            (
                404,
                ollama,
                "not_found_error",
                None,
                "model `tiny` not found",
                false,
            ),
            (
                422,
                validation,
                "invalid_request_error",
                None,
                r#"[{"loc":["body","n"]}]"#,
                false,
            ),
            (
                503,
                r#"{"error":{"mess"#,
                "api_error",
                None,
                r#"{"error":{"mess"#,
                true,
            ),
            (500, "null", "api_error", None, "null", true),
            (500, "\u{feff}", "api_error", None, "\u{feff}", true),
        ] {
            let error = decode_as(dialect, status, &[], body);
            let found = (
                error.kind.as_str(),
                error.code.as_deref(),
                error.message.as_str(),
            );
            assert_eq!(found, (kind, code, message), "{body}");
            assert_eq!(
                (error.status, error.retryable),
                (status, retryable),
                "{body}"
            );
        }
        let details = decode_as(dialect, 400, &[], filtered).details;
        let expected = r#"{"param":"prompt","innererror":{"code":"ResponsibleAIPolicyViolation",
            "content_filter_result":{}}}"#;
        assert_eq!(details, object(expected));
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
