//! The dialect and the kernel say the same, and what only one of them can say is named.

mod from_kernel;
mod into_kernel;
mod properties;
mod schema;

use amplifier_core::{FromJson, Object};
use amplifier_guard::claude::{
    ClaudeMessage, ContentBlock, SHARED_TYPES, migrate_text, migrate_tool_response, new_tool_use_id,
};

fn written(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("JSON")
}

fn message(text: &str) -> ClaudeMessage {
    ClaudeMessage::parse(text.as_bytes()).expect(text)
}

#[test]
fn a_legacy_message_migrates_as_the_seed_shows() {
    let expected = ClaudeMessage {
        role: "user".to_owned(),
        content: vec![ContentBlock::text("Hello, Claude!")],
        thinking: None,
        extra: Object::new(),
    };
    assert_eq!(migrate_text("user", "Hello, Claude!"), expected);
    assert_eq!(
        written(&expected),
        r#"{"role":"user","content":[{"type":"text","text":"Hello, Claude!"}],"thinking":null}"#,
    );
}

#[test]
fn an_unknown_legacy_role_is_the_user() {
    for (role, migrated) in [
        ("user", "user"),
        ("assistant", "assistant"),
        ("system", "system"),
        ("tool", "user"),
        ("Assistant", "user"),
        ("", "user"),
    ] {
        assert_eq!(migrate_text(role, "x").role, migrated);
    }
}

#[test]
fn a_legacy_tool_response_migrates_as_the_seed_shows() {
    assert_eq!(
        written(&migrate_tool_response(
            "unique_id",
            "Tool result: file contents"
        )),
        r#"{"type":"tool_result","tool_use_id":"unique_id","content":"file contents","is_error":null}"#,
    );
    for (response, content) in [
        ("Tool result:  two", " two"),
        ("Tool result:x", "x"),
        ("Tool result:", ""),
        ("Tool result: Tool result: x", "Tool result: x"),
        ("no Tool result: x", "no Tool result: x"),
        ("", ""),
    ] {
        assert_eq!(migrate_tool_response("id", response).content, content);
    }
}

#[test]
fn an_id_is_made_of_random_bits() {
    assert_eq!(new_tool_use_id(0), "toolu_00000000");
    assert_eq!(new_tool_use_id(0xBEEF), "toolu_0000beef");
    assert_eq!(new_tool_use_id(u32::MAX), "toolu_ffffffff");
}

#[test]
fn each_block_is_written_as_the_seed_declares_it() {
    for text in [
        r#"{"type":"text","text":"x"}"#,
        r#"{"type":"tool_use","id":"toolu_1","name":"ls","input":{"path":"."}}"#,
        r#"{"type":"tool_result","tool_use_id":"toolu_1","content":"a.txt","is_error":true}"#,
        r#"{"type":"thinking","content":"hm"}"#,
        r#"{"type":"image","source":{"type":"url","url":"https://example.org/a.png"}}"#,
        r#"{"type":"code","language":"rust","text":"fn main() {}"}"#,
        r#"{"type":"table","columns":["a","b"],"rows":[[1,"x"],[null,[2]]]}"#,
        r#"{"type":"chart","kind":"bar","data":[1,2.5]}"#,
        r#"{"type":"audio","data":[36893488147419103232],"visibility":"nobody"}"#,
    ] {
        let block = ContentBlock::parse(text.as_bytes()).expect(text);
        assert_eq!(written(&block), text);
        assert_eq!(text.split('"').nth(3), Some(block.block_type()));
    }
}

#[test]
fn a_thought_is_read_under_both_names_of_its_text() {
    for (text, rewritten) in [
        (
            r#"{"type":"thinking","thinking":"hm","signature":"s"}"#,
            r#"{"type":"thinking","content":"hm","signature":"s"}"#,
        ),
        (
            r#"{"signature":null,"thinking":"hm","type":"thinking"}"#,
            r#"{"type":"thinking","content":"hm"}"#,
        ),
        (
            r#"{"type":"thinking","thinking":"b","content":"a"}"#,
            r#"{"type":"thinking","content":"a","thinking":"b"}"#,
        ),
    ] {
        let block = ContentBlock::parse(text.as_bytes()).expect(text);
        assert_eq!(written(&block), rewritten);
    }
}

#[test]
fn a_text_stands_for_one_block() {
    let read = message(r#"{"role":"assistant","content":"hi","thinking":"hm"}"#);
    assert_eq!(
        written(&read),
        concat!(
            r#"{"role":"assistant","content":[{"type":"text","text":"hi"}],"#,
            r#""thinking":[{"type":"thinking","content":"hm"}]}"#
        ),
    );
}

#[test]
fn what_is_no_message_is_refused_by_place() {
    for (text, refusal) in [
        ("[]", "`ClaudeMessage` must be an object, found an array"),
        (r#"{"role":"user"}"#, "`ClaudeMessage.content` is missing"),
        (
            r#"{"role":1,"content":[]}"#,
            "`ClaudeMessage.role` must be a string, found `1`",
        ),
        (
            r#"{"role":"user","content":{}}"#,
            "`ClaudeMessage.content` must be a string or an array, found an object",
        ),
        (
            r#"{"role":"user","content":[],"thinking":7}"#,
            "`ClaudeMessage.thinking` must be a string or an array, found `7`",
        ),
        (
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[]}]}"#,
            "`ClaudeMessage.content[0].content` must be a string, found an array",
        ),
        (
            r#"{"role":"user","content":[{"type":"table","columns":[],"rows":[1]}]}"#,
            "`ClaudeMessage.content[0].rows[0]` must be an array, found `1`",
        ),
        (
            r#"{"role":"user","content":[{"text":"x"}]}"#,
            "`ClaudeMessage.content[0].type` is missing",
        ),
    ] {
        let error = ClaudeMessage::parse(text.as_bytes()).expect_err(text);
        assert_eq!(error.to_string(), refusal);
    }
}

#[test]
fn each_shared_type_has_the_name_of_the_dialect() {
    let names: Vec<_> = SHARED_TYPES.iter().map(|shared| shared.name).collect();
    assert!(names.iter().all(|name| name.starts_with("claude::")));
    let refusal = SHARED_TYPES[0].rewrite(b"{}").expect_err("no message");
    assert_eq!(refusal.to_string(), "`ClaudeMessage.role` is missing");
}
