//! Bodies and headers of refused requests.

use std::time::{Duration, SystemTime};

use amplifier_stream::{Dialect, Headers, ProviderError, decode_error};

fn headers(fields: &[(&str, &str)]) -> Headers {
    fields
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn decode(status: u16, fields: &[(&str, &str)], body: &str) -> ProviderError {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000);
    decode_error(
        Dialect::Anthropic,
        status,
        &headers(fields),
        body.as_bytes(),
        now,
    )
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
    assert_eq!(wait(&[("retry-after", "-3")]), Some(0.0));
    // `now` is 00:16:40 of the first day.
    assert_eq!(
        wait(&[("retry-after", "Thu, 01 Jan 1970 00:17:00 GMT")]),
        Some(20.0)
    );
    assert_eq!(
        wait(&[("retry-after", "Thu, 01 Jan 1970 00:00:00 GMT")]),
        Some(0.0)
    );
    let with_date = [
        ("date", "Wed, 21 Oct 2015 07:28:00 GMT"),
        ("retry-after", "Wed, 21 Oct 2015 07:29:00 GMT"),
    ];
    assert_eq!(wait(&with_date), Some(60.0));
    for nonsense in ["", "tomorrow", "NaN", "inf", "1e999"] {
        assert_eq!(wait(&[("retry-after", nonsense)]), None, "{nonsense}");
    }
}
