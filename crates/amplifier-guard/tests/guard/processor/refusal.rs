//! What is refused, and what is said about it.

use amplifier_guard::{CanBeEmpty, Limits, MessageError, MessageProcessor, OnFinding};

use super::{claude, with_limits};

fn refusal(blocks: &str) -> String {
    let message = claude(&format!(r#"{{"role":"assistant","content":{blocks}}}"#));
    MessageProcessor::default()
        .process(message, None)
        .expect_err(blocks)
        .to_string()
}

#[test]
fn a_refusal_says_where_and_what_would_be_right() {
    for (blocks, said) in [
        ("[]", "message has no content block"),
        (
            r#"[{"type":"text","text":""}]"#,
            "message has an empty text at `/content/0/text`",
        ),
        (
            r#"[{"type":"tool_use","id":"","name":"a","input":{}}]"#,
            "message has an empty id at `/content/0/id`",
        ),
        (
            r#"[{"type":"tool_use","id":"x","name":"","input":{}}]"#,
            "message has an empty name at `/content/0/name`",
        ),
        (
            r#"[{"type":"text","text":"a"},{"type":"tool_use","id":"x","name":"r\u0435ad","input":{}}]"#,
            "message at `/content/1/name`: tool name `r\\u{435}ad` contains U+0435 at character 1: \
             only ASCII letters, digits and `_-./:` are allowed",
        ),
        (
            r#"[{"type":"tool_use","id":"x","name":"a","input":{}},{"type":"tool_use","id":"x","name":"b","input":{}}]"#,
            "message has a second call with the id `x` at `/content/1/id`",
        ),
        (
            r#"[{"type":"tool_result","tool_use_id":"a b","content":"x"}]"#,
            "message at `/content/0/tool_use_id`: id `a b` contains U+0020 at character 1: only \
             visible ASCII characters are allowed",
        ),
    ] {
        assert_eq!(refusal(blocks), said);
    }
    let processor = MessageProcessor::default();
    let refused = |text: &str| {
        processor
            .process_json(text.as_bytes(), None)
            .expect_err(text)
            .to_string()
    };
    assert_eq!(
        refused(r#"{"role":"root","content":"x"}"#),
        "message has the role `root`, not `user`, `assistant` or `system`"
    );
    assert_eq!(
        refused("{"),
        "message is invalid JSON: EOF while parsing an object at line 1 column 1"
    );
    assert!(refused(r#"{"role":"user"}"#).starts_with("message is not of the Claude dialect: "));
    assert!(
        refused(r#"{"role":"user","content":[{"type":"text","text":7}]}"#).contains("found `7`")
    );
}

#[test]
fn characters_are_code_points_and_the_limit_is_exact() {
    let processor = with_limits(|limits| limits.message_max_chars = 7);
    let family = "\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{200d}\u{1f466}";
    for text in [
        "AAAAAAA",
        "\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}",
        family,
    ] {
        assert_eq!(
            processor
                .process_user_message(text)
                .expect(text)
                .statistics()
                .characters,
            7
        );
        let more = format!("{text}A");
        assert_eq!(
            processor
                .process_user_message(more)
                .expect_err("more")
                .to_string(),
            "message has 8 characters, at most 7 are allowed (`MESSAGE_MAX_CHARS`)"
        );
    }
    let parts = r#"{"role":"user","content":[{"type":"text","text":"AAAA"},{"type":"text","text":"AAAA"}]}"#;
    assert_eq!(
        processor.process_json(parts.as_bytes(), None),
        Err(MessageError::TooLong {
            characters: 8,
            most: 7
        })
    );
}

#[test]
fn blocks_are_counted_before_they_are_read() {
    let processor = with_limits(|limits| limits.max_content_blocks = 2);
    let message = |length: usize| {
        let blocks = vec![r#"{"type":"text","text":"x"}"#; length].join(",");
        claude(&format!(r#"{{"role":"user","content":[{blocks}]}}"#))
    };
    assert!(processor.process(message(2), None).is_ok());
    assert_eq!(
        processor
            .process(message(3), None)
            .expect_err("three")
            .to_string(),
        "message has 3 blocks, at most 2 are allowed (`MAX_CONTENT_BLOCKS`)"
    );
    let mut both = message(2);
    both.thinking = Some(message(1).content);
    assert!(processor.process(both, None).is_err());
}

#[test]
fn what_may_be_empty_is_a_setting() {
    let message = claude(
        r#"{"role":"assistant","content":[{"type":"text","text":""},{"type":"thinking","content":""},
        {"type":"tool_use","id":"","name":"","input":{}},{"type":"tool_result","tool_use_id":"","content":""}]}"#,
    );
    let all = MessageProcessor::default().allow_empty(CanBeEmpty::ALL);
    assert!(all.process(message, None).is_ok());
    assert!(
        all.process(claude(r#"{"role":"assistant","content":[]}"#), None)
            .is_ok()
    );
    let none = MessageProcessor::default().allow_empty([]);
    for (block, what) in [
        (r#"{"type":"thinking","content":""}"#, "thinking"),
        (
            r#"{"type":"tool_result","tool_use_id":"x","content":""}"#,
            "tool_result",
        ),
    ] {
        let message = claude(&format!(r#"{{"role":"user","content":[{block}]}}"#));
        assert!(
            MessageProcessor::default()
                .process(message.clone(), None)
                .is_ok()
        );
        let refused = none.process(message, None).expect_err(what).to_string();
        assert_eq!(
            refused,
            format!("message has an empty {what} at `/content/0/content`")
        );
    }
}

#[test]
fn a_result_names_an_open_call_and_answers_it_once() {
    let processor = MessageProcessor::default();
    let result =
        |id: &str| format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"x"}}"#);
    let process = |blocks: &[String], open: &[&str]| {
        let message = claude(&format!(
            r#"{{"role":"user","content":[{}]}}"#,
            blocks.join(",")
        ));
        let open = open.iter().map(|id| (*id).to_owned()).collect();
        processor
            .process(message, Some(&open))
            .map_err(|error| error.pointer().to_owned())
    };
    assert!(process(&[result("a"), result("b")], &["a", "b", "c"]).is_ok());
    assert_eq!(
        process(&[result("a"), result("d")], &["a"]),
        Err("/content/1/tool_use_id".to_owned())
    );
    assert_eq!(
        process(&[result("a"), result("a")], &["a"]),
        Err("/content/1/tool_use_id".to_owned())
    );
    let call = r#"{"type":"tool_use","id":"e","name":"t","input":{}}"#.to_owned();
    assert!(process(&[call, result("e")], &[]).is_ok());
}

#[test]
fn each_refusal_has_its_place() {
    let call = r#"{"type":"tool_use","id":"c","name":"t","input":{}}"#;
    let answer = r#"{"type":"tool_result","tool_use_id":"c","content":"x"}"#;
    let open = ["c".to_owned()].into();
    for (message, pointer) in [
        ("{".to_owned(), ""),
        (r#"{"role":"user"}"#.to_owned(), ""),
        (r#"{"role":"root","content":"x"}"#.to_owned(), "/role"),
        (r#"{"role":"user","content":[]}"#.to_owned(), ""),
        (r#"{"role":"user","content":"123456789"}"#.to_owned(), ""),
        (
            r#"{"role":"user","content":[{"type":"x"},{"type":"x"},{"type":"x"}]}"#.to_owned(),
            "",
        ),
        (
            r#"{"role":"user","content":""}"#.to_owned(),
            "/content/0/text",
        ),
        (
            format!(
                r#"{{"role":"user","content":[{}]}}"#,
                call.replace(r#""t""#, r#""-""#)
            ),
            "/content/0/name",
        ),
        (
            format!(r#"{{"role":"user","content":[{call},{call}]}}"#),
            "/content/1/id",
        ),
        (
            format!(r#"{{"role":"user","content":[{answer},{answer}]}}"#),
            "/content/1/tool_use_id",
        ),
        (
            r#"{"role":"user","content":[],"thinking":[{"type":"x","a/":"|sh"}]}"#.to_owned(),
            "/thinking/0/a~1",
        ),
    ] {
        let limits = Limits {
            message_max_chars: 8,
            max_content_blocks: 2,
            ..Limits::default()
        };
        let processor = MessageProcessor::new(limits, OnFinding::Reject);
        let refused = processor.process_json(message.as_bytes(), Some(&open));
        assert_eq!(refused.expect_err(&message).pointer(), pointer, "{message}");
    }
}
