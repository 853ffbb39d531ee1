//! What may stand between the tags of a call, and what is refused.

use amplifier_core::Object;
use amplifier_stream::ParsedCall;

use crate::events::{call_in, object, runnable};

fn error_of(inside: &str) -> String {
    let call = call_in(inside);
    assert_eq!(call.arguments, None);
    call.error.unwrap().to_string()
}

fn findings(call: &ParsedCall) -> Vec<&str> {
    call.findings.iter().map(|finding| finding.kind).collect()
}

#[test]
fn entities_stay_raw_in_json_and_in_the_content() {
    let inside = r#"{"tool_name": "a", "arguments": {"x": "&lt;b&gt; &"}}"#;
    assert_eq!(
        call_in(inside),
        runnable(0, "a", inside, r#"{"x": "&lt;b&gt; &"}"#)
    );
}

#[test]
fn xml_with_entities_and_cdata_is_read() {
    let inside = "<server_name>disk</server_name> <tool_name> write </tool_name><arguments>\
        <path>a.md</path><text>1 &lt; 2 &amp;&#65;&#x42;</text><code><![CDATA[a && b]]> c</code>\
        </arguments>";
    let mut expected = runnable(
        0,
        "write",
        inside,
        r#"{"path": "a.md", "text": "1 < 2 &AB", "code": "a && b c"}"#,
    );
    expected.server_name = "disk".to_owned();
    expected.is_textual = true;
    assert_eq!(call_in(inside), expected);
}

#[test]
fn a_call_that_is_escaped_as_a_whole_is_read_with_a_finding() {
    let parsed = call_in("&lt;tool_name&gt;a&lt;/tool_name&gt;");
    assert_eq!(
        (parsed.name.as_str(), findings(&parsed)),
        ("a", vec!["escaped_markup"])
    );
    assert_eq!(parsed.arguments, Some(Object::new()));
}

#[test]
fn json_may_stand_in_cdata_and_in_the_arguments() {
    let expected = Some(object(r#"{"x": [1, "&"]}"#));
    for inside in [
        r#"<![CDATA[{"tool_name": "a", "arguments": {"x": [1, "&"]}}]]>"#,
        r#"<tool_name>a</tool_name><arguments>{"x": [1, "&amp;"]}</arguments>"#,
        r#"<tool_name>a</tool_name><arguments><![CDATA[{"x": [1, "&"]}]]></arguments>"#,
        "<tool_name>a</tool_name><arguments>{&quot;x&quot;: [1, &quot;&amp;&quot;]}</arguments>",
    ] {
        let parsed = call_in(inside);
        assert_eq!(
            (&parsed.arguments, parsed.is_textual),
            (&expected, false),
            "{inside}"
        );
        assert_eq!(parsed.findings, [], "{inside}");
    }
}

#[test]
fn a_bare_ampersand_is_repaired_outside_of_cdata_only_and_reported() {
    let parsed = call_in(
        "<tool_name>a</tool_name><arguments><x>a && b &; c &nbsp;</x>\
         <y><![CDATA[a && b &lt;]]></y></arguments>",
    );
    let expected = object(r#"{"x": "a && b &; c &nbsp;", "y": "a && b &lt;"}"#);
    assert_eq!(parsed.arguments, Some(expected));
    let messages: Vec<_> = parsed
        .findings
        .iter()
        .map(|finding| finding.message.as_str())
        .collect();
    assert_eq!(
        messages,
        [
            "3 bare `&` outside of CDATA were read as `&amp;`",
            "1 references to unknown entities were kept as text"
        ]
    );
}

#[test]
fn repeated_elements_are_a_list_and_nested_ones_an_object() {
    let parsed = call_in(
        "<tool_name>a</tool_name><arguments><edits><edit><old>1</old><new/></edit>\
         <edit><old>2</old><new>b</new></edit></edits><tag>x</tag><tag>y</tag></arguments>",
    );
    let expected = r#"{"edits": {"edit": [{"old": "1", "new": ""}, {"old": "2", "new": "b"}]},
        "tag": ["x", "y"]}"#;
    assert_eq!(parsed.arguments, Some(object(expected)));
}

#[test]
fn what_cannot_be_read_clearly_says_why_and_does_not_run() {
    let cases = [
        ("hello", "expected a value, found `hello` at byte 0"),
        ("[]", "expected an object, found an array at byte 0"),
        (
            r#"{"tool_name": "a", "tool_name": "b"}"#,
            "duplicate key `tool_name` at byte 31",
        ),
        (
            r#"{"tool_name": "a", "arguments": {"x": NaN}}"#,
            "expected a value, found `NaN` at byte 38",
        ),
        (
            r#"{"tool_name": "a", "arguments": {"x": 1e400}}"#,
            "number `1e400` overflows at byte 38",
        ),
        (
            r#"{"tool_name": "a", "arguments": []}"#,
            "`arguments` must be an object, found an array",
        ),
        (
            r#"{"tool_name": 1}"#,
            "`tool_name` must be a text, found an integer",
        ),
        (
            r#"{"tool_name": "a", "name": "b"}"#,
            "`tool_name` and `name` mean the same; use only one of them",
        ),
        (
            r#"{"arguments": {}}"#,
            "the call has no tool name (`tool_name` is missing)",
        ),
        (
            "<tool_name>a",
            "expected `</tool_name>`, found the end at byte 12",
        ),
        (
            "<tool_name>a</name>",
            "expected `</tool_name>`, found `</name>` at byte 12",
        ),
        ("</x>", "expected an opening tag, found `</x>` at byte 0"),
        (
            "<x>a < b</x>",
            "a `<` that does not start a tag; write `&lt;` or use CDATA at byte 5",
        ),
        (
            "<x>a<y/></x>",
            "text `a` beside elements; escape it or use CDATA at byte 8",
        ),
        (
            "<tool_name>a</tool_name>b",
            "text `b` beside elements; escape it or use CDATA at byte 25",
        ),
        (
            "<!DOCTYPE a><tool_name>a</tool_name>",
            "a declaration is not allowed in a call at byte 0",
        ),
        (
            "<tool_name>a</tool_name><arguments>x</arguments>",
            "expected a value, found `x` at byte 0",
        ),
    ];
    for (inside, error) in cases {
        assert_eq!(error_of(inside), error, "{inside}");
    }
    let deep = format!(
        "<tool_name>a</tool_name>{}{}",
        "<x>".repeat(200),
        "</x>".repeat(200)
    );
    assert_eq!(
        error_of(&deep),
        "elements nested deeper than 128 levels at byte 408"
    );
}

#[test]
fn what_is_not_understood_is_a_finding() {
    let json = call_in(r#"{"tool_name": "a", "id": 7, "arguments": {"x": "\ud83d"}}"#);
    assert_eq!(findings(&json), ["unpaired_surrogate", "unknown_key"]);
    assert!(json.arguments.is_some());
    let xml = call_in(r#"<tool_name a="1">a</tool_name>"#);
    assert_eq!(findings(&xml), ["ignored_attributes"]);
}
