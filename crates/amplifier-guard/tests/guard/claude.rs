//! The dialect and the kernel say the same, and what only one of them can say is named.

mod properties;

use amplifier_core::{ContentBlock as KernelBlock, FromJson, Message, Object};
use amplifier_guard::claude::{
    ClaudeMessage, ContentBlock, SHARED_TYPES, migrate_text, migrate_tool_response, new_tool_use_id,
};

fn written(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("JSON")
}

fn message(text: &str) -> ClaudeMessage {
    ClaudeMessage::parse(text.as_bytes()).expect(text)
}

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
fn thoughts_go_before_the_answer_in_the_kernel() {
    let text = concat!(
        r#"{"role":"assistant","content":[{"type":"text","text":"hi"}],"#,
        r#""thinking":[{"type":"thinking","content":"hm","signature":"s"}],"id":"m"}"#
    );
    assert_eq!(
        written(&message(text).into_kernel()),
        concat!(
            r#"{"role":"assistant","content":["#,
            r#"{"type":"thinking","thinking":"hm","signature":"s","visibility":null,"content":null},"#,
            r#"{"type":"text","text":"hi","visibility":null}],"#,
            r#""name":null,"tool_call_id":null,"metadata":{"claude":{"thinking":1}},"id":"m"}"#
        ),
    );
}

#[test]
fn calls_and_results_are_the_kernels_own() {
    let text = concat!(
        r#"{"role":"user","content":[{"type":"tool_use","id":"t","name":"ls","input":{}},"#,
        r#"{"type":"tool_result","tool_use_id":"t","content":"a","is_error":false,"metadata":{"ms":3}}]}"#
    );
    let kernel = message(text).into_kernel();
    assert_eq!(
        written(&kernel.content),
        concat!(
            r#"[{"type":"tool_call","id":"t","name":"ls","input":{},"visibility":null},"#,
            r#"{"type":"tool_result","tool_call_id":"t","output":"a","visibility":null,"#,
            r#""is_error":false,"metadata":{"ms":3}}]"#
        ),
    );
    assert_eq!(kernel.metadata, None);
}

#[test]
fn a_call_that_cannot_run_is_none_of_the_kernel() {
    for (block, kept_as) in [
        (
            r#"{"type":"tool_use","id":"t","name":"ls","input":"{}"}"#,
            "tool_use",
        ),
        (
            r#"{"type":"tool_call","id":"t","name":"ls","input":{}}"#,
            "claude/tool_call",
        ),
        (
            r#"{"type":"text","text":"x","visibility":7}"#,
            "claude/text",
        ),
        (
            r#"{"type":"redacted_thinking"}"#,
            "claude/redacted_thinking",
        ),
        (
            r#"{"type":"redacted_thinking","data":"x","visibility":null}"#,
            "claude/redacted_thinking",
        ),
        (
            r#"{"type":"reasoning","content":[],"summary":"x"}"#,
            "claude/reasoning",
        ),
        (
            r#"{"type":"reasoning","content":[],"summary":[],"visibility":null}"#,
            "claude/reasoning",
        ),
        (r#"{"type":"claude/text"}"#, "claude/claude/text"),
        (r#"{"type":"code","language":null,"text":"x"}"#, "code"),
    ] {
        let block = ContentBlock::parse(block.as_bytes()).expect(block);
        let kernel = block.clone().into_kernel();
        assert!(matches!(kernel, KernelBlock::Unknown(_)));
        assert_eq!(kernel.block_type(), kept_as);
        assert_eq!(ContentBlock::from_kernel(kernel), (block, vec![]));
    }
}

#[test]
fn keys_of_a_block_may_come_in_any_order() {
    let block = r#"{"type":"redacted_thinking","id":1,"data":"x"}"#;
    let block = ContentBlock::parse(block.as_bytes()).expect(block);
    let kernel = block.clone().into_kernel();
    assert_eq!(kernel.block_type(), "redacted_thinking");
    assert_eq!(ContentBlock::from_kernel(kernel).0, block);
}

#[test]
fn keys_that_mean_something_in_a_message_of_the_kernel_do_not_get_there() {
    let text = concat!(
        r#"{"role":"tool","content":[],"thinking":null,"#,
        r#""a":1,"metadata":{"claude":{"thinking":0}},"tool_call_id":"t"}"#
    );
    let kernel = message(text).into_kernel();
    assert_eq!(
        written(&kernel),
        concat!(
            r#"{"role":"user","content":[],"name":null,"tool_call_id":null,"metadata":{"claude":"#,
            r#"{"role":"tool","extra":{"a":1,"metadata":{"claude":{"thinking":0}},"#,
            r#""tool_call_id":"t"}}}}"#
        ),
    );
    let (back, degradations) = ClaudeMessage::from_kernel(kernel);
    assert_eq!((written(&back).as_str(), degradations), (text, vec![]));
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
