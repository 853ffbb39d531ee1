//! What a message of the kernel is in the dialect, and what is named as lost.

use amplifier_core::{ContentBlock as KernelBlock, FromJson, Message};
use amplifier_guard::claude::{ClaudeMessage, ContentBlock};

use super::written;

fn from_kernel(text: &str) -> (String, Vec<(String, String)>) {
    let kernel = Message::parse(text.as_bytes()).expect(text);
    let (message, degradations) = ClaudeMessage::from_kernel(kernel);
    let named = degradations.into_iter();
    let named = named.map(|one| (one.requested, one.actual)).collect();
    (written(&message), named)
}

fn named(requested: &str, actual: &str) -> (String, String) {
    (requested.to_owned(), actual.to_owned())
}

#[test]
fn what_only_looks_like_a_memo_is_metadata() {
    for memo in [
        r#"{"role":"system"}"#,
        r#"{"role":"human","x":1}"#,
        r#"{"thinking":2}"#,
        r#"{"thinking":-1}"#,
        r#"{"extra":{"a":1}}"#,
        "{}",
        "1",
    ] {
        let text = format!(r#"{{"role":"user","content":"x","metadata":{{"claude":{memo}}}}}"#);
        let plain = r#"{"role":"user","content":[{"type":"text","text":"x"}],"thinking":null}"#;
        let lost = vec![named("`metadata`: an object", "left out")];
        assert_eq!(from_kernel(&text), (plain.to_owned(), lost));
    }
}

#[test]
fn a_memo_is_of_the_message_that_it_was_written_for() {
    let keys = r#"{"extra":{"name":"n"}}"#;
    for (role, memo, more) in [
        ("assistant", r#"{"role":"human"}"#, ""),
        ("system", r#"{"role":"human"}"#, ""),
        ("developer", r#"{"thinking":0}"#, ""),
        ("tool", r#"{"thinking":2}"#, r#","tool_call_id":"t""#),
        ("function", r#"{"thinking":1}"#, ""),
        ("user", keys, r#","x":1"#),
    ] {
        let content = r#"[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#;
        let text = format!(
            r#"{{"role":"{role}","content":{content},"metadata":{{"claude":{memo}}}{more}}}"#
        );
        let (message, lost) = from_kernel(&text);
        assert!(
            lost.contains(&named("`metadata`: an object", "left out")),
            "{text}"
        );
        assert!(message.contains(r#""thinking":null"#), "{message}");
    }
}

#[test]
fn a_tool_message_is_a_tool_result_of_the_user() {
    let text =
        r#"{"role":"tool","tool_call_id":"t","content":"a.txt","is_error":true,"name":"ls"}"#;
    let result = concat!(
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","#,
        r#""content":"a.txt","is_error":true}],"thinking":null}"#
    );
    let lost = vec![named("`name`: a string", "left out")];
    assert_eq!(from_kernel(text), (result.to_owned(), lost));

    let image = r#"[{"type":"image","source":{}}]"#;
    let text = format!(r#"{{"role":"tool","tool_call_id":"t","content":{image}}}"#);
    let (message, lost) = from_kernel(&text);
    assert!(
        message.contains(r#""content":"[{\"type\":\"image\",\"source\":{},\"visibility\":null}]""#)
    );
    assert_eq!(
        lost,
        [named("`content`: an array of blocks", "its JSON as text")]
    );
}

#[test]
fn blocks_of_a_tool_message_are_a_text_if_they_say_no_more() {
    let in_json = vec![named("`content`: an array of blocks", "its JSON as text")];
    for (content, result, lost) in [
        (r#"[{"type":"text","text":"a"}]"#, r#""a""#, vec![]),
        (
            r#"[{"type":"text","text":"a","visibility":"user"}]"#,
            r#""[{\"type\":\"text\",\"text\":\"a\",\"visibility\":\"user\"}]""#,
            in_json.clone(),
        ),
        (
            r#"[{"type":"text","text":"a","x":1}]"#,
            r#""[{\"type\":\"text\",\"text\":\"a\",\"visibility\":null,\"x\":1}]""#,
            in_json.clone(),
        ),
        ("[]", r#""[]""#, in_json),
    ] {
        let text = format!(r#"{{"role":"function","tool_call_id":"t","content":{content}}}"#);
        let expected = format!(
            r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t","content":{result},"is_error":null}}],"thinking":null}}"#
        );
        assert_eq!(from_kernel(&text), (expected, lost));
    }
}

#[test]
fn a_tool_message_of_results_names_its_role_and_its_call() {
    for role in ["tool", "function"] {
        let text = format!(
            r#"{{"role":"{role}","tool_call_id":"t","content":[{{"type":"tool_result","tool_call_id":"t","output":"a"}}]}}"#
        );
        let message = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"a","is_error":null}],"thinking":null}"#;
        let lost = vec![
            named("`tool_call_id`: a string", "left out"),
            named(&format!("`role`: `{role}`"), "`user`"),
        ];
        assert_eq!(from_kernel(&text), (message.to_owned(), lost));
    }
}

#[test]
fn whatever_the_dialect_cannot_hold_is_named_with_its_place() {
    let text = concat!(
        r#"{"role":"developer","name":"n","tool_call_id":"t","metadata":{"a":1},"thinking":7,"#,
        r#""content":[{"type":"text","text":"x","visibility":"internal"},"#,
        r#"{"type":"thinking","thinking":"hm","content":[1]},"#,
        r#"{"type":"redacted_thinking","data":"d"},"#,
        r#"{"type":"tool_result","tool_call_id":"t","output":{"a":[1]},"content":"c","is_error":0},"#,
        r#"{"type":"code","text":7},"#,
        r#"{"type":"reasoning","content":[],"summary":[]}]}"#
    );
    let message = concat!(
        r#"{"role":"system","content":[{"type":"text","text":"x"},"#,
        r#"{"type":"thinking","content":"hm"},"#,
        r#"{"type":"redacted_thinking","data":"d"},"#,
        r#"{"type":"tool_result","tool_use_id":"t","content":"{\"a\":[1]}","is_error":null},"#,
        r#"{"type":"kernel/code","text":7},"#,
        r#"{"type":"reasoning","content":[],"summary":[]}],"thinking":null}"#
    );
    let whole = "kept whole as a block of an unknown type";
    let lost = vec![
        named("`tool_call_id`: a string", "left out"),
        named("`role`: `developer`", "`system`"),
        named("`content[0].visibility`: `internal`", "left out"),
        named("`content[1].content`: an array", "left out"),
        named("`content[2]`: a `redacted_thinking` block", whole),
        named("`content[3].content`: a string", "left out"),
        named("`content[3].is_error`: an integer", "left out"),
        named("`content[3].output`: an object", "its JSON as text"),
        named(
            "`content[4]`: a `code` block",
            "kept whole as a block of the unknown type `kernel/code`",
        ),
        named("`content[5]`: a `reasoning` block", whole),
        named("`name`: a string", "left out"),
        named("`metadata`: an object", "left out"),
        named("`thinking`: an integer", "left out"),
    ];
    assert_eq!(from_kernel(text), (message.to_owned(), lost));
}

#[test]
fn a_block_says_its_own_degradations() {
    let block = KernelBlock::parse(br#"{"type":"text","text":"x","visibility":"user"}"#);
    let (block, degradations) = ContentBlock::from_kernel(block.expect("a block"));
    assert_eq!(block, ContentBlock::text("x"));
    assert_eq!(degradations[0].requested, "`block.visibility`: `user`");
}
