//! What a message of the dialect is in the kernel, from which it comes back as it was.

use amplifier_core::{ContentBlock as KernelBlock, FromJson};
use amplifier_guard::claude::{ClaudeMessage, ContentBlock};

use super::{message, written};

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
        (
            r#"{"type":"thinking","content":"a","thinking":"b"}"#,
            "claude/thinking",
        ),
        (
            r#"{"type":"image","source":{},"visibility":null}"#,
            "claude/image",
        ),
        (
            r#"{"type":"tool_use","id":"t","name":"ls","input":{},"visibility":"user"}"#,
            "tool_use",
        ),
        (
            r#"{"type":"tool_result","tool_use_id":"t","content":"a","is_error":null,"output":"b"}"#,
            "claude/tool_result",
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
