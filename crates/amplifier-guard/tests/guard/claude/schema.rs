//! The schema of a message allows what is read and what is written, and nothing else.

use amplifier_core::{Form, FromJson, Json, Schema};
use amplifier_guard::ToolInputPolicy;
use amplifier_guard::claude::ClaudeMessage;

use super::{message, written};

#[test]
fn the_schema_allows_what_is_read_and_what_is_written() {
    let mut schemas = ToolInputPolicy::default();
    for (name, form) in [("read", Form::Read), ("written", Form::Written)] {
        let schema = ClaudeMessage::schema(form);
        assert_eq!(schemas.set_schema(name, &schema), Ok(true));
    }
    let allows = |name, json: &Json| schemas.check_value(name, json).is_ok();
    for (text, is_read) in [
        (r#"{"role":"user","content":"hi"}"#, true),
        (
            r#"{"role":"human","content":[],"thinking":"hm","id":[1]}"#,
            true,
        ),
        (
            r#"{"role":"user","content":[{"type":"text","text":"x","y":1}]}"#,
            true,
        ),
        (
            r#"{"role":"user","content":[{"type":"tool_use","id":"t","name":"ls","input":7}]}"#,
            true,
        ),
        (
            r#"{"role":"user","content":[{"type":"table","columns":["a"],"rows":[[1],[]]}]}"#,
            true,
        ),
        (
            r#"{"role":"user","content":[{"type":"code","text":"x"}]}"#,
            true,
        ),
        (
            r#"{"role":"user","content":[{"type":"audio","data":[1]}],"thinking":null}"#,
            true,
        ),
        (r#"{"role":1,"content":[]}"#, false),
        (r#"{"content":[]}"#, false),
        (r#"{"role":"user"}"#, false),
        (r#"{"role":"user","content":{}}"#, false),
        (r#"{"role":"user","content":[],"thinking":7}"#, false),
        (r#"{"role":"user","content":["x"]}"#, false),
        (r#"{"role":"user","content":[{"type":7}]}"#, false),
        ("[]", false),
    ] {
        let json = Json::parse(text.as_bytes()).expect(text);
        assert_eq!(
            ClaudeMessage::from_json(json.clone()).is_ok(),
            is_read,
            "{text}"
        );
        assert_eq!(allows("read", &json), is_read, "{text}");
        if is_read {
            let rewritten = written(&message(text));
            let rewritten = Json::parse(rewritten.as_bytes()).expect("JSON");
            assert!(
                allows("read", &rewritten) && allows("written", &rewritten),
                "{text}"
            );
            let has_text = ["content", "thinking"]
                .iter()
                .any(|key| matches!(json.get(key), Some(Json::Str(_))));
            assert_eq!(allows("written", &json), !has_text, "{text}");
        } else {
            assert!(!allows("written", &json), "{text}");
        }
    }
}
