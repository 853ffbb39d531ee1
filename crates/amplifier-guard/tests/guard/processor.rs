//! A message is checked once, as a whole, and none of its text is changed.

mod finding;
mod properties;
mod reference;
mod refusal;
mod sign;

use std::collections::HashSet;

use amplifier_core::{FromJson as _, Json, Message, Object};
use amplifier_guard::claude::{ClaudeMessage, ToolUseBlock};
use amplifier_guard::{
    CanBeEmpty, Limits, MessageProcessor, OnFinding, ToolInputPolicy, ToolUseError,
};

fn claude(text: &str) -> ClaudeMessage {
    ClaudeMessage::parse(text.as_bytes()).expect(text)
}

fn kernel(text: &str) -> Message {
    Message::parse(text.as_bytes()).expect(text)
}

fn with_limits(change: impl FnOnce(&mut Limits)) -> MessageProcessor {
    let mut limits = Limits::default();
    change(&mut limits);
    MessageProcessor::new(limits, OnFinding::Report)
}

const WHOLE: &str = r#"{"role":"assistant","content":[
    {"type":"thinking","content":"","signature":"c2lnbmF0dXJl"},
    {"type":"text","text":"h\u00e9llo"},
    {"type":"tool_use","id":"toolu_1","name":"read_file","input":{"path":"x","n":[1,"yz"]}},
    {"type":"tool_result","tool_use_id":"toolu_1","content":"","is_error":null,"metadata":{"k":"v"}},
    {"type":"image","source":{"type":"base64","data":"AAAA"}},
    {"type":"code","language":"py","text":"pass"},
    {"type":"table","columns":["a"],"rows":[["b",1]]},
    {"type":"chart","kind":"bar","data":{"x":[1]}},
    {"type":"video","url":"u"},{"type":"text","text":"!"}]}"#;

#[test]
fn a_message_of_every_type_of_block_passes_unchanged_and_is_counted() {
    let message = claude(WHOLE);
    let processed = MessageProcessor::default()
        .process(message.clone(), None)
        .expect("whole");
    assert_eq!(processed.message(), &message);
    let statistics = processed.statistics();
    let counts: Vec<(&str, u64)> = statistics
        .blocks
        .iter()
        .map(|(name, count)| (name.as_str(), *count))
        .collect();
    assert_eq!(
        counts,
        [
            ("thinking", 1),
            ("text", 2),
            ("tool_use", 1),
            ("tool_result", 1),
            ("image", 1),
            ("code", 1),
            ("table", 1),
            ("chart", 1),
            ("video", 1),
        ]
    );
    // héllo, path x n yz, metadata k v, pass, a, b, bar x, video url u, !
    let texts = 5 + (4 + 1 + 1 + 2) + (8 + 1 + 1) + 4 + 2 + 4 + (5 + 3 + 1) + 1;
    assert_eq!(
        (statistics.characters, statistics.bytes),
        (texts, texts + 1)
    );
    assert_eq!(processed.findings(), []);
    assert_eq!(processed.degradations(), []);
    assert!(!processed.needs_approval());
    assert_eq!(processed.message(), &message);
}

#[test]
fn the_kernel_s_messages_are_held_to_the_same_rules() {
    let message = kernel(
        r#"{"role":"assistant","content":[
        {"type":"thinking","thinking":"hm"},{"type":"text","text":"hello"},
        {"type":"tool_call","id":"c1","name":"grep","input":{"q":"x"}},
        {"type":"tool_result","tool_call_id":"c1","output":{"lines":["y"]}},
        {"type":"redacted_thinking","data":"opaque"},{"type":"reasoning","content":["a"],"summary":[]}]}"#,
    );
    let processed = MessageProcessor::default()
        .process_kernel(message.clone(), None)
        .expect("whole");
    assert_eq!(processed.message(), &message);
    assert_eq!(processed.statistics().characters, 2 + 5 + 2 + 6 + 1);
    assert_eq!(processed.statistics().blocks.len(), 6);

    let tool = kernel(r#"{"role":"tool","content":"done","tool_call_id":"c1"}"#);
    let processor = MessageProcessor::default();
    let open = HashSet::from(["c1".to_owned()]);
    assert!(processor.process_kernel(tool.clone(), Some(&open)).is_ok());
    assert_eq!(
        processor
            .process_kernel(tool, Some(&HashSet::new()))
            .expect_err("unknown")
            .to_string(),
        "message has a result at `/tool_call_id` for `c1`, which is not an open call"
    );
    let empty = kernel(r#"{"role":"user","content":""}"#);
    assert_eq!(
        processor
            .process_kernel(empty, None)
            .expect_err("empty")
            .to_string(),
        "message has an empty text at `/content`"
    );
}

#[test]
fn thoughts_are_left_out_and_named_where_thinking_is_off() {
    let processor = with_limits(|limits| limits.thinking_mode_enabled = false);
    let message = claude(
        r#"{"role":"assistant","content":[{"type":"thinking","content":"a"},{"type":"text","text":"b"},
        {"type":"redacted_thinking","data":"c"}],"thinking":"d"}"#,
    );
    let processed = processor.process(message, None).expect("text stays");
    assert_eq!(
        processed.message(),
        &claude(r#"{"role":"assistant","content":"b"}"#)
    );
    let named: Vec<&str> = processed
        .degradations()
        .iter()
        .map(|lost| lost.requested.as_str())
        .collect();
    assert_eq!(
        named,
        [
            "`content[0]`: a thinking block",
            "`content[2]`: a thinking block",
            "`thinking[0]`: a thinking block",
        ]
    );
    assert_eq!(processed.statistics().characters, 1);

    let message = kernel(
        r#"{"role":"assistant","content":[{"type":"thinking","thinking":"a"},{"type":"text","text":"b"},
        {"type":"redacted_thinking","data":"c"},{"type":"reasoning","content":[],"summary":[]}]}"#,
    );
    let processed = processor.process_kernel(message, None).expect("text stays");
    assert_eq!(processed.degradations().len(), 3);
    assert_eq!(processed.statistics().blocks.len(), 1);
}

#[test]
fn messages_are_the_same_if_they_are_what_was_left_out_is_and_whether_a_person_must_agree() {
    let process = |text: &str, thinking, on_finding| {
        let limits = Limits {
            thinking_mode_enabled: thinking,
            ..Limits::default()
        };
        let processor = MessageProcessor::new(limits, on_finding);
        processor.process(claude(text), None).expect(text)
    };
    let plain = r#"{"role":"user","content":"| sh"}"#;
    let thought = r#"{"role":"user","content":"| sh","thinking":"x"}"#;
    let other = r#"{"role":"user","content":"| zsh"}"#;
    let all = [
        process(plain, false, OnFinding::Report),
        process(plain, false, OnFinding::Ask),
        process(thought, false, OnFinding::Report),
        process(other, false, OnFinding::Report),
    ];
    for (index, one) in all.iter().enumerate() {
        for (place, another) in all.iter().enumerate() {
            assert_eq!(one == another, index == place, "{one:?} {another:?}");
        }
    }
    // When something is counted makes no difference.
    let _ = all[0].statistics();
    assert_eq!(all[0], process(plain, false, OnFinding::Report));
}

#[test]
fn a_tool_call_is_held_to_the_schema_of_its_tool() {
    let mut tools = ToolInputPolicy::default();
    tools
        .set_schema(
            "grep",
            &Json::parse(br#"{"required":["q"]}"#).expect("schema"),
        )
        .expect("set");
    let processor = MessageProcessor::default();
    let check = |id: &str, name: &str, input: &str| {
        let call = ToolUseBlock::parse(
            format!(r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}"#)
                .as_bytes(),
        );
        processor.validate_tool_use(&call.expect("call"), &tools)
    };
    assert_eq!(check("x", "grep", r#"{"q":1}"#), Ok(()));
    assert!(matches!(
        check("x", "grep", "{}"),
        Err(ToolUseError::Input(_))
    ));
    assert!(matches!(
        check("x", "grep", "[]"),
        Err(ToolUseError::Input(_))
    ));
    assert!(matches!(
        check("x", "sed", "{}"),
        Err(ToolUseError::Input(_))
    ));
    assert!(matches!(
        check("x", "gr\u{435}p", "{}"),
        Err(ToolUseError::Name(_))
    ));
    assert!(matches!(
        check("", "grep", "{}"),
        Err(ToolUseError::Name(_))
    ));
}

#[test]
fn each_call_of_a_message_is_held_to_the_schema_of_its_tool() {
    let mut tools = ToolInputPolicy::default();
    for tool in ["grep", "sed"] {
        let schema = Json::parse(br#"{"required":["q"]}"#).expect("schema");
        tools.set_schema(tool, &schema).expect("set");
    }
    let calls = |second: &str, call: &str| {
        let rest = r#"{"type":"text","text":"x"}"#;
        let first = format!(r#"{{"type":"{call}","id":"a","name":"grep","input":{{"q":1}}}}"#);
        let second = format!(r#"{{"type":"{call}","id":"b","name":"sed","input":{second}}}"#);
        format!(r#"{{"role":"assistant","content":[{rest},{first},{second}]}}"#)
    };
    let processor = MessageProcessor::default();
    let refused = "the arguments of `sed` must have `q`, found none";
    for (input, expected) in [(r#"{"q":2}"#, Ok(())), ("{}", Err(refused.to_owned()))] {
        let processed = processor.process(claude(&calls(input, "tool_use")), None);
        let checked = processed.expect("claude").validate_tool_uses(&tools);
        assert_eq!(checked.map_err(|error| error.to_string()), expected);
        let processed = processor.process_kernel(kernel(&calls(input, "tool_call")), None);
        let checked = processed.expect("kernel").validate_tool_uses(&tools);
        assert_eq!(checked.map_err(|error| error.to_string()), expected);
    }
    let text = kernel(r#"{"role":"user","content":"x"}"#);
    let processed = processor.process_kernel(text, None).expect("text");
    assert_eq!(processed.validate_tool_uses(&tools), Ok(()));
}

#[test]
fn a_call_without_id_is_let_through_where_ids_may_be_empty() {
    let mut tools = ToolInputPolicy::default();
    tools
        .set_schema("t", &Json::Object(Object::new()))
        .expect("set");
    let call = |id: &str, name: &str| ToolUseBlock {
        id: id.to_owned(),
        name: name.to_owned(),
        input: Json::Object(Object::new()),
        extra: Object::new(),
    };
    let allowing = |what| MessageProcessor::default().allow_empty(what);
    tools
        .set_schema("tt", &Json::Object(Object::new()))
        .expect("set");
    let passes = |processor: &MessageProcessor, id, name| {
        processor.validate_tool_use(&call(id, name), &tools).is_ok()
    };
    assert!(passes(&allowing(vec![CanBeEmpty::Id]), "", "t"));
    assert!(!passes(&allowing(vec![CanBeEmpty::Id]), "a b", "t"));
    assert!(!passes(&allowing(vec![CanBeEmpty::Name]), "", "t"));
    assert!(!passes(&allowing(CanBeEmpty::ALL.into()), "x", ""));
    let short = with_limits(|limits| limits.name_max_chars = 1);
    assert!(passes(&short, "x", "t"));
    assert!(!passes(&short, "x", "tt"));
}
