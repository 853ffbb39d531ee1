//! Constructors: what they leave out is what JSON without the key is read as.

use std::fmt::Debug;

use amplifier_core::{
    ApprovalRequest, ApprovalResponse, ChatRequest, ChatResponse, ConfigField, ContentBlock,
    ContextInjection, Degradation, FromJson, HookResult, Message, ModelInfo, ModuleInfo,
    ModuleType, Object, Pricing, ProviderInfo, ResponseFormat, Role, ToolCall, ToolChoice,
    ToolResult, ToolSpec, Usage, Visibility,
};
/// A constructed value equals the one that is read from JSON.
fn reads<T: FromJson + PartialEq + Debug>(text: &str, built: &T) {
    assert_eq!(&T::parse(text.as_bytes()).unwrap(), built);
}

#[test]
fn messages_are_built_as_they_are_read() {
    reads(
        r#"{"role": "system", "content": "a"}"#,
        &Message::system("a"),
    );
    reads(
        r#"{"role": "developer", "content": "a"}"#,
        &Message::developer("a"),
    );
    reads(
        r#"{"role": "user", "content": "a", "name": "ada", "metadata": {"k": 1}}"#,
        &Message::user("a")
            .with_name("ada")
            .with_metadata(Object::from_iter([("k".to_owned(), 1.into())])),
    );
    reads(
        r#"{"role": "assistant", "content": [{"type": "text", "text": "a"}]}"#,
        &Message::assistant(vec![ContentBlock::text("a")]),
    );
    reads(
        r#"{"role": "tool", "content": "5", "tool_call_id": "1"}"#,
        &Message::tool("1", "5"),
    );
    assert_eq!(Message::new(Role::User, "a".to_owned()), Message::user("a"));
}

#[test]
fn blocks_are_built_as_they_are_read() {
    reads(
        r#"{"type": "thinking", "thinking": "a"}"#,
        &ContentBlock::thinking("a"),
    );
    reads(
        r#"{"type": "tool_call", "id": "1", "name": "add", "input": {"a": 2}}"#,
        &ContentBlock::tool_call("1", "add", [("a", 2)]),
    );
    reads(
        r#"{"type": "tool_result", "tool_call_id": "1", "output": 5, "visibility": "user"}"#,
        &ContentBlock::tool_result("1", 5).with_visibility(Visibility::User),
    );
}

#[test]
fn requests_and_responses_are_built_as_they_are_read() {
    reads(r#"{"messages": []}"#, &ChatRequest::new([]).with_tools([]));
    reads(
        r#"{"messages": [{"role": "user", "content": "a"}], "model": "m", "temperature": 0.5,
            "tools": [{"name": "add", "parameters": {}, "description": "d"}],
            "tool_choice": "none", "max_output_tokens": 9, "stop": ["x"],
            "reasoning_effort": "low", "response_format": {"type": "json"}, "metadata": {}}"#,
        &ChatRequest::new([Message::user("a")])
            .with_tools([ToolSpec::new("add", Object::new()).with_description("d")])
            .with_tool_choice("none")
            .with_model("m")
            .with_temperature(0.5)
            .with_max_output_tokens(9)
            .with_stop(["x"])
            .with_reasoning_effort("low")
            .with_response_format(ResponseFormat::json())
            .with_metadata(Object::new()),
    );
    reads(
        r#"{"type": "json_schema", "json_schema": {}}"#,
        &ResponseFormat::json_schema(Object::new()),
    );
    reads(r#""auto""#, &ToolChoice::from("auto"));
    reads(r#"{"content": []}"#, &ChatResponse::new([]));
    reads(
        r#"{"content": [{"type": "text", "text": "a"},
                {"type": "tool_call", "id": "1", "name": "add", "input": {"a": 2}}],
            "tool_calls": [{"id": "1", "name": "add", "arguments": {"a": 2}}],
            "usage": {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7},
            "finish_reason": "tool_use", "metadata": {}}"#,
        &ChatResponse::text("a")
            .with_tool_calls([ToolCall::new("1", "add", [("a", 2)])])
            .with_usage(Usage::new(3, 4))
            .with_finish_reason("tool_use")
            .with_metadata(Object::new()),
    );
    let usage = Usage::new(3, 4)
        .with_reasoning_tokens(1)
        .with_cache_tokens(2, 0);
    reads(
        r#"{"input_tokens": 3, "output_tokens": 4, "total_tokens": 7, "reasoning_tokens": 1,
            "cache_read_tokens": 2, "cache_write_tokens": 0}"#,
        &usage,
    );
    reads(
        r#"{"requested": "a", "actual": "b", "reason": "c"}"#,
        &Degradation::new("a", "b", "c"),
    );
}

#[test]
fn a_response_of_blocks_has_their_calls() {
    let add = ToolCall::new("1", "add", [("a", 2)]);
    let blocks = [ContentBlock::from("a"), add.clone().into()];
    let built = ChatResponse::new(blocks);
    assert_eq!(
        built,
        ChatResponse::text("a").with_tool_calls([add.clone()])
    );
    assert_eq!(
        ChatResponse::calls([add.clone()]).tool_calls,
        Some(vec![add])
    );
}

#[test]
fn answers_of_hooks_are_built_as_they_are_read() {
    reads("{}", &HookResult::proceed());
    reads(
        r#"{"action": "deny", "reason": "no"}"#,
        &HookResult::deny("no"),
    );
    reads(
        r#"{"action": "modify", "data": {}}"#,
        &HookResult::modify(Object::new()),
    );
    reads(
        r#"{"action": "inject_context", "context_injection": "a", "ephemeral": true}"#,
        &HookResult::inject("a").ephemeral(),
    );
    reads(
        r#"{"action": "ask_user", "approval_prompt": "a", "approval_timeout": 5.0}"#,
        &HookResult::ask("a").with_timeout(5.0),
    );
    reads(r#"{"content": "a"}"#, &ContextInjection::new("a"));
}

#[test]
fn descriptions_are_built_as_they_are_read() {
    reads(
        r#"{"id": "p", "display_name": "P", "capabilities": ["tools"],
            "config_fields": [{"id": "k", "display_name": "K", "field_type": "choice",
                "prompt": "?", "choices": ["a"], "required": false, "default": "a"}]}"#,
        &ProviderInfo::new("p", "P")
            .with_capabilities(["tools"])
            .with_config_fields([ConfigField::new("k", "K", "?")
                .with_choices(["a"])
                .with_default("a")
                .optional()]),
    );
    reads(
        r#"{"id": "m", "display_name": "M", "context_window": 9, "max_output_tokens": 4,
            "pricing": {"input_per_million": 1.0, "output_per_million": 2.0}}"#,
        &ModelInfo::new("m", "M", 9, 4).with_pricing(Pricing::new(1.0, 2.0)),
    );
    reads(
        r#"{"id": "tool-x", "name": "X", "version": "1", "type": "tool", "mount_point": "tools",
            "description": "d"}"#,
        &ModuleInfo::new("tool-x", "X", "1", ModuleType::Tool, "d"),
    );
    reads(
        r#"{"tool_name": "t", "action": "a", "risk_level": "medium"}"#,
        &ApprovalRequest::new("t", "a"),
    );
    reads(r#"{"approved": true}"#, &ApprovalResponse::approve());
    reads(
        r#"{"approved": false, "reason": "no"}"#,
        &ApprovalResponse::deny("no"),
    );
}

#[test]
fn results_of_tools_are_built_as_they_are_read() {
    reads(r#"{"output": 5}"#, &ToolResult::of(5));
    reads(r#"{"output": "a"}"#, &ToolResult::text("a"));
    reads(
        r#"{"success": false, "error": {"message": "no"}}"#,
        &ToolResult::failure("no"),
    );
}

#[test]
fn the_text_of_a_result_says_at_least_whether_it_succeeded() {
    let failed = |text: &str| ToolResult::parse(text.as_bytes()).unwrap().to_text();
    assert_eq!(ToolResult::default().to_text(), "Success");
    assert_eq!(failed(r#"{"success": false}"#), "Error: Failed");
    assert_eq!(ToolResult::text("a\u{1b}[31m\nb").to_text(), "a[31m\nb");
    assert_eq!(ToolResult::of(true).to_text(), "true");
}
