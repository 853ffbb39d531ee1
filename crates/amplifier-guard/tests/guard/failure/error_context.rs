//! A context survives JSON, holds no secret, and is told in one line that can be read.

use amplifier_core::Timestamp;
use amplifier_guard::{ErrorContext, ErrorKind, PastOperation, Redactor};
use proptest::prelude::*;

fn at(second: u8) -> Timestamp {
    Timestamp::from_text(&format!("2026-01-02T03:04:{second:02}Z")).unwrap()
}

fn unredacted(_name: &str, text: &str) -> String {
    text.to_owned()
}

#[test]
fn its_json_has_these_keys_in_this_order() {
    let mut context = ErrorContext::builder("request", at(1), unredacted)
        .message_id("m")
        .tool_use_id("t")
        .retry_count(1)
        .metadata("b", "2")
        .metadata("a", "1")
        .build();
    context.entered("tool", at(2));
    context.retried(ErrorKind::Timeout, at(3));

    let json = context.to_json().unwrap();
    assert_eq!(
        json,
        r#"{"operation":"tool","timestamp":"2026-01-02T03:04:02Z","message_id":"m","tool_use_id":"t","retry_count":2,"metadata":{"b":"2","a":"1"},"history":[{"operation":"request","timestamp":"2026-01-02T03:04:02Z","error":null},{"operation":"tool","timestamp":"2026-01-02T03:04:03Z","error":"timeout"}]}"#
    );
    assert_eq!(ErrorContext::of_json(json.as_bytes()).unwrap(), context);
}

#[test]
fn only_what_it_is_about_is_required() {
    let json = br#"{"operation":"x","timestamp":"2026-01-02T03:04:01Z","unknown":1}"#;

    assert_eq!(
        ErrorContext::of_json(json).unwrap(),
        ErrorContext::builder("x", at(1), unredacted).build()
    );
    assert!(ErrorContext::of_json(br#"{"operation":"x"}"#).is_err());
}

#[test]
fn a_redactor_takes_out_what_it_knows_and_what_a_name_says() {
    let redactor = Redactor::new(["correct horse battery"]).unwrap();
    let redact = |name: &str, text: &str| {
        let marked = redactor.redact_field(name, text);
        marked.unwrap_or_else(|| redactor.redact(text).into_owned())
    };
    let json = ErrorContext::builder("say correct horse battery", at(0), redact)
        .metadata("said", "correct%20horse%20battery")
        .metadata("access_token", "hunter2")
        .build()
        .to_json()
        .unwrap();

    let secrets = ["horse", "battery", "hunter2"];
    let found = secrets.iter().filter(|secret| json.contains(**secret));
    assert_eq!(found.count(), 0, "{json}");
}

#[test]
fn what_was_assigned_past_the_builder_is_neither_written_nor_told() {
    let key = ["sk-", "ant-api03-Q7wE9rT2yU4iO6pA8sD1fG3hJ5kL0zXcVb"].concat();
    let mut context = ErrorContext::builder("x", at(0), unredacted).build();
    context.operation = format!("asked with {key}");
    context.message_id = Some(key.clone());
    context
        .metadata
        .insert("access_token".into(), "hunter2hunter2".into());
    context.metadata.insert(key.clone(), "value".into());
    context.entered(format!("told {key}"), at(1));

    assert_eq!(
        context.to_json().unwrap(),
        r#"{"operation":"told [REDACTED:anthropic key]","timestamp":"2026-01-02T03:04:01Z","message_id":"[REDACTED:anthropic key]","tool_use_id":null,"retry_count":0,"metadata":{"access_token":"[REDACTED:token]","[REDACTED:anthropic key]":"value"},"history":[{"operation":"asked with [REDACTED:anthropic key]","timestamp":"2026-01-02T03:04:01Z","error":null}]}"#
    );
    assert_eq!(
        context.to_string(),
        "operation `told [REDACTED:anthropic key]`, message `[REDACTE…`, \
         access_token=[REDACTED:token], [REDACTED:anthropic key]=value, \
         after `asked with [REDACTED:anthropic key]`"
    );
}

#[test]
fn the_latest_operations_are_kept() {
    let mut context = ErrorContext::builder("0", at(0), unredacted).build();
    for number in 1..=40 {
        context.entered(number.to_string(), at(0));
    }

    let past = |number: u8| PastOperation {
        operation: number.to_string(),
        timestamp: at(0),
        error: None,
    };
    assert_eq!(context.history(), (8..40).map(past).collect::<Vec<_>>());
    let entry = r#"{"operation":"x","timestamp":"2026-01-02T03:04:01Z"}"#;
    let json = format!(
        r#"{{"operation":"x","timestamp":"2026-01-02T03:04:01Z","history":[{}]}}"#,
        [entry; 50].join(",")
    );
    let read = ErrorContext::of_json(json.as_bytes()).unwrap();
    assert_eq!(read.history().len(), 32);
}

#[test]
fn a_description_is_cut_and_escaped() {
    let context = ErrorContext::builder("a\nb\u{202e}", at(0), unredacted)
        .message_id("0123456789")
        .metadata("it's", &"é".repeat(101))
        .build();

    assert_eq!(
        context.to_string(),
        format!(
            r"operation `a\nb\u{{202e}}`, message `01234567…`, it's={}…",
            "é".repeat(100)
        )
    );
}

#[test]
fn a_description_tells_how_often_it_was_tried_and_what_came_before() {
    let mut context = ErrorContext::builder("request", at(0), unredacted)
        .tool_use_id("call")
        .build();
    assert_eq!(context.to_string(), "operation `request`, tool use `call`");
    context.retried(ErrorKind::Timeout, at(1));
    context.entered("parse", at(2));

    assert_eq!(
        context.to_string(),
        "operation `parse`, retry 1, tool use `call`, after `request`, after `request` (timeout)"
    );
}

/// Texts that the redactor leaves as they are: a random text can read like a password, as `Pw:A` does.
fn without_secrets() -> impl Strategy<Value = String> {
    let redactor = Redactor::new([""; 0]).unwrap();
    any::<String>().prop_filter("holds a secret", move |text| redactor.redact(text) == *text)
}

proptest! {
    #[test]
    fn nothing_gets_in_past_the_redactor(
        texts in proptest::collection::vec("[a-z ]{0,8}", 6),
        place in 0_usize..6,
    ) {
        let secret = "HUNTER2";
        let mut texts = texts;
        texts[place].push_str(secret);
        let context = ErrorContext::builder(&texts[0], at(0), |_, text| text.replace(secret, "***"))
            .message_id(&texts[1])
            .tool_use_id(&texts[2])
            .metadata(&texts[3], &texts[4])
            .metadata("last", &texts[5])
            .build();

        prop_assert!(!context.to_json().unwrap().contains(secret));
        prop_assert!(!context.to_string().contains(secret));
        // A random key can read like the name of a password, as `pw` does: then all of its value goes.
        let json = context.to_json().unwrap();
        prop_assert!(json.contains("***") || json.contains("[REDACTED"), "{}", json);
    }

    #[test]
    fn a_context_survives_json_and_is_told_in_one_short_line(
        operation in without_secrets(),
        message_id in proptest::option::of(without_secrets()),
        tool_use_id in proptest::option::of(without_secrets()),
        retry_count: u32,
        metadata in proptest::collection::vec((any::<String>(), without_secrets()), 0..5),
        history in proptest::collection::vec(without_secrets(), 0..40),
    ) {
        let mut context = ErrorContext::builder(&operation, at(0), unredacted)
            .retry_count(retry_count)
            .build();
        context.message_id = message_id;
        context.tool_use_id = tool_use_id;
        // What has a secret name is written as a mark, and so read as another value.
        let metadata = metadata.into_iter();
        context.metadata = metadata
            .filter(|(name, value)| Redactor::new([""; 0]).unwrap().redact_field(name, value).is_none())
            .collect();
        for operation in history {
            context.entered(operation, at(1));
            context.retried(ErrorKind::Stream, at(2));
        }

        let json = context.to_json().unwrap();
        prop_assert_eq!(&ErrorContext::of_json(json.as_bytes()).unwrap(), &context);
        let told = context.to_string();
        prop_assert!(!told.contains(char::is_control));
        prop_assert!(told.chars().count() <= 501);
    }

    #[test]
    fn no_bytes_break_the_reader(bytes: Vec<u8>) {
        prop_assert!(ErrorContext::of_json(&bytes).is_err());
    }
}
