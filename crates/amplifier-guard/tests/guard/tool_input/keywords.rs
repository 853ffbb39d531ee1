//! Each keyword asks of arguments what it asks of JSON as the validator itself reads it.

use serde_json::Value;

use super::{json, policy};

/// Schemas of one value, each for one rule.
const SCHEMAS: &[&str] = &[
    r#"{"type":"null"}"#,
    r#"{"type":"boolean"}"#,
    r#"{"type":"integer"}"#,
    r#"{"type":"number"}"#,
    r#"{"type":"string"}"#,
    r#"{"type":"array"}"#,
    r#"{"type":"object"}"#,
    r#"{"type":["null","boolean","string"]}"#,
    r#"{"type":["integer","array"]}"#,
    r#"{"items":{"type":"boolean"}}"#,
    r#"{"items":{"type":"null"}}"#,
    r#"{"const":null}"#,
    r#"{"const":true}"#,
    r#"{"const":false}"#,
    r#"{"const":1}"#,
    r#"{"const":1.5}"#,
    r#"{"const":1e15}"#,
    r#"{"const":"a"}"#,
    r#"{"const":[1,2]}"#,
    r#"{"const":[true,null]}"#,
    r#"{"const":{"a":1,"b":[2]}}"#,
    r#"{"enum":[1,2,null]}"#,
    r#"{"enum":[-1,9007199254740993]}"#,
    r#"{"enum":["a","bb"]}"#,
    r#"{"enum":["a",null]}"#,
    r#"{"enum":["a","b","c","d","e","f","g","h","i","j","k","l","m","n","o","p","q",null]}"#,
    r#"{"enum":[true,1.5,[1,2],{"a":1}]}"#,
    r#"{"minimum":1}"#,
    r#"{"maximum":1}"#,
    r#"{"exclusiveMinimum":1}"#,
    r#"{"exclusiveMaximum":1}"#,
    r#"{"minimum":-9007199254740993}"#,
    r#"{"maximum":-9007199254740993}"#,
    r#"{"minimum":1.5}"#,
    r#"{"maximum":1.5}"#,
    r#"{"multipleOf":2}"#,
    r#"{"multipleOf":0.5}"#,
    r#"{"multipleOf":3}"#,
    r#"{"minLength":2}"#,
    r#"{"maxLength":1}"#,
    r#"{"pattern":"^a"}"#,
    r#"{"minItems":2}"#,
    r#"{"maxItems":1}"#,
    r#"{"uniqueItems":true}"#,
    r#"{"contains":{"const":1}}"#,
    r#"{"prefixItems":[{"const":1}],"items":{"type":"integer"}}"#,
    r#"{"unevaluatedItems":false}"#,
    r#"{"minProperties":2}"#,
    r#"{"maxProperties":1}"#,
    r#"{"required":["a"]}"#,
    r#"{"required":["a","b"]}"#,
    r#"{"required":["a","b","c"]}"#,
    r#"{"required":["a","b","c","d"]}"#,
    r#"{"properties":{"a":{"const":1}}}"#,
    r#"{"properties":{"a":{"const":1},"b":{"type":"array"}}}"#,
    r#"{"properties":{"a":{"const":1}},"required":["a"]}"#,
    r#"{"properties":{"a":{"const":1}},"additionalProperties":false}"#,
    r#"{"properties":{"a":true},"additionalProperties":{"type":"array"}}"#,
    r#"{"patternProperties":{"^a":{"const":1}}}"#,
    r#"{"propertyNames":{"maxLength":1}}"#,
    r#"{"propertyNames":{"enum":["a","b"]}}"#,
    r#"{"dependentRequired":{"a":["b"]}}"#,
    r#"{"dependentSchemas":{"a":{"required":["b"]}}}"#,
    r#"{"unevaluatedProperties":false}"#,
    r#"{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"maxProperties":0}}"#,
    r#"{"allOf":[{"minimum":0},{"maximum":1}]}"#,
    r#"{"anyOf":[{"type":"null"},{"const":1}]}"#,
    r#"{"oneOf":[{"type":"integer"},{"minimum":1}]}"#,
    r#"{"not":{"type":"object"}}"#,
    r#"{"$schema":"http://json-schema.org/draft-04/schema#","type":"integer"}"#,
    "{}",
];

const VALUES: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "-0.0",
    "1",
    "1.0",
    "-1",
    "2",
    "1.5",
    "0.5",
    "0.25",
    "1e15",
    "-9007199254740992",
    "-9007199254740993",
    "-9007199254740994",
    "9007199254740993",
    "9007199254740993.0",
    "9223372036854775807",
    "\"\"",
    "\"a\"",
    "\"bb\"",
    "\"é\"",
    "\"😀\"",
    "\"q\"",
    "[]",
    "[1]",
    "[1,2]",
    "[1,3]",
    "[2,1]",
    "[1,1.0]",
    "[1,true]",
    "[true,null]",
    "[null,null]",
    "[\"a\",\"a\"]",
    "[[1],[2]]",
    "[[1],[1.0]]",
    "[{\"a\":1,\"b\":2},{\"b\":2,\"a\":1}]",
    "[{\"a\":1},{\"b\":1}]",
    "{}",
    r#"{"a":1}"#,
    r#"{"a":2}"#,
    r#"{"b":1}"#,
    r#"{"a":1,"b":[2]}"#,
    r#"{"b":[2.0],"a":1.0}"#,
    r#"{"a":1,"b":[3]}"#,
    r#"{"a":1,"b":[2],"c":null}"#,
    r#"{"a":1,"b":[2],"c":null,"d":""}"#,
    r#"{"aa":1}"#,
    r#"{"aa":2,"c":{}}"#,
];

#[test]
fn arguments_pass_that_the_validator_lets_pass_as_plain_json() {
    for text in SCHEMAS {
        let schema: Value = serde_json::from_str(text).unwrap();
        let plain = jsonschema::validator_for(&schema).unwrap();
        let whole = policy(text);
        let draft = schema.get("$schema").unwrap_or(&Value::Null);
        let mut under_a = serde_json::json!({"properties": {"v": schema}});
        if let (Some(draft), Some(inner)) =
            (draft.as_str(), under_a["properties"]["v"].as_object_mut())
        {
            inner.remove("$schema");
            under_a["$schema"] = draft.into();
        }
        let inside = policy(&under_a.to_string());
        for value in VALUES {
            let expected = plain.is_valid(&serde_json::from_str(value).unwrap());
            let arguments = format!(r#"{{"v":{value}}}"#);
            let passes = inside.check_json("tool", arguments.as_bytes()).is_ok();
            assert_eq!(passes, expected, "{text}: {value}");
            if value.starts_with('{') {
                let passes = whole.check_value("tool", &json(value)).is_ok();
                assert_eq!(passes, expected, "{text}: {value}");
            }
        }
    }
}
