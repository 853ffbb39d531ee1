//! A schema is refused where it cannot be used, and none makes a comparison endless.

use amplifier_core::{Json, Object};
use amplifier_guard::ToolInputPolicy;

use super::{json, policy, refusal};

fn flaw(schema: &str) -> String {
    let mut policy = ToolInputPolicy::default();
    policy
        .set_schema("tool", &json(schema))
        .expect_err(schema)
        .to_string()
}

#[test]
fn a_schema_is_compiled_when_it_changes_and_tools_are_bounded() {
    let mut policy = ToolInputPolicy::new(128, 10, 1).expect("settings");
    assert_eq!(policy.set_schema("a", &json("{}")), Ok(true));
    assert_eq!(policy.set_schema("a", &json("{}")), Ok(false));
    assert_eq!(
        policy.set_schema("a", &json(r#"{"required":["x"]}"#)),
        Ok(true)
    );
    assert!(policy.check_json("a", b"{}").is_err());
    assert_eq!(
        policy
            .set_schema("b", &json("{}"))
            .expect_err("full")
            .to_string(),
        "the schema of tool `b` cannot be used: there are already 1 tools, no more are allowed at ``"
    );
    assert_eq!(
        policy
            .check_json("a", br#"{"x":"yyyy"}"#)
            .expect_err("long")
            .to_string(),
        "the arguments of `a` have 12 bytes, at most 10 are allowed"
    );
    assert!(ToolInputPolicy::new(0, 1, 1).is_err());
}

#[test]
fn a_schema_reads_nothing_but_itself() {
    for target in [
        "http://127.0.0.1:9/x",
        "file:///etc/passwd",
        "other.json",
        "#anchor",
        "//h/x",
    ] {
        let schema = format!(r#"{{"properties":{{"a":{{"$ref":"{target}"}}}}}}"#);
        assert_eq!(
            flaw(&schema),
            format!(
                "the schema of tool `tool` cannot be used: `{target}` refers to something outside \
                 this schema (only `#/…` is followed) at `/properties/a/$ref`"
            )
        );
    }
    assert!(flaw(r##"{"$ref":"#/$defs/none"}"##).contains("`#/$defs/none` refers to nothing"));
    assert!(flaw(r##"{"allOf":[{"$dynamicRef":"#x"}]}"##).contains("only `$ref` is followed"));
    assert!(
        flaw(r#"{"not":{"$id":"http://x/"}}"#).contains("only the whole schema may have an id")
    );
    assert!(flaw(r#"{"$schema":"http://evil.example/"}"#).contains("cannot be used"));
}

#[test]
fn a_schema_that_cannot_be_used_is_refused_by_its_place() {
    assert!(flaw("true").contains("it must be an object, found a boolean"));
    assert!(flaw(r#"{"properties":{"a":{"type":"text"}}}"#).ends_with("at `/properties/a/type`"));
    assert!(
        flaw(r#"{"properties":{"a":{"pattern":"(?=a)"}}}"#).ends_with("at `/properties/a/pattern`")
    );
    assert!(flaw(r#"{"properties":{"a":{"pattern":"(\\w{1,999}){999}"}}}"#).ends_with("/pattern`"));
    assert!(flaw(r#"{"const":99999999999999999999}"#).contains("beyond 64 bits"));
}

#[test]
fn names_and_data_are_no_keywords() {
    let schema = r##"{
        "properties": {
            "$ref": {"type": "string"}, "id": {"type": "string"}, "default": {"$ref": "#/$defs/n"},
            "enum": {"const": {"$ref": "file:///x", "$id": "y"}}
        },
        "examples": [{"id": "a", "$ref": "b"}],
        "$defs": {"n": {"type": "integer"}, "a b/c": true}
    }"##;
    let policy = policy(schema);
    let passes = |arguments: &str| policy.check_json("tool", arguments.as_bytes()).is_ok();
    assert!(passes(
        r#"{"$ref":"x","id":"y","default":1,"enum":{"$ref":"file:///x","$id":"y"}}"#
    ));
    assert!(!passes(r#"{"default":"x"}"#));

    let escaped = r##"{"$defs":{"a b/c":{"required":["x"]}},"$ref":"#/$defs/a%20b~1c"}"##;
    assert!(refusal(escaped, "{}").contains("must have `x`"));
}

#[test]
fn a_place_in_a_schema_is_right_behind_other_parts() {
    let schema =
        r#"{"properties":{"a":{"allOf":[{"type":"array"},{}]},"b":{"items":{"$ref":"x"}}}}"#;
    assert!(flaw(schema).ends_with("at `/properties/b/items/$ref`"));
    let schema = Json::from_iter([("enum", vec![Json::from(0.5), f64::NAN.into()])]);
    assert_eq!(
        ToolInputPolicy::default()
            .set_schema("tool", &schema)
            .expect_err("NaN")
            .to_string(),
        "the schema of tool `tool` cannot be used: a number has no finite value at `/enum/1`"
    );
}

fn nested(levels: usize, wrap: impl Fn(Json) -> Json, innermost: Json) -> Json {
    (0..levels).fold(innermost, |inner, _| wrap(inner))
}

fn not(inner: Json) -> Json {
    Json::from_iter([("not", inner)])
}

fn all(inner: Json) -> Json {
    Json::from_iter([("allOf", vec![inner])])
}

fn to_definition(name: &str) -> Json {
    Json::from_iter([("$ref", Json::from(format!("#/$defs/{name}")))])
}

#[test]
fn a_schema_is_at_most_256_levels_deep() {
    let empty = || Json::Object(Object::new());
    // Behind a reference to something that was looked at before, at a smaller depth.
    let referred = |levels: usize| {
        let deep = nested(levels, not, empty());
        let definitions = Json::from_iter([
            ("deep", deep),
            ("a", nested(100, not, to_definition("deep"))),
        ]);
        Json::from_iter([("$defs", definitions)])
    };
    for (schema, deeper) in [
        (nested(256, not, empty()), nested(257, not, empty())),
        (nested(128, all, empty()), nested(129, all, empty())),
        (referred(153), referred(154)),
    ] {
        let mut policy = ToolInputPolicy::default();
        assert_eq!(policy.set_schema("tool", &schema), Ok(true));
        let refused = policy.set_schema("tool", &deeper).expect_err("deep");
        assert_eq!(refused.reason, "it is deeper than 256 levels");
    }
}

#[test]
fn the_deeper_a_schema_is_the_less_deep_are_its_arguments() {
    // It refers back to itself at each level of the arguments.
    let schema = |levels| {
        let back = Json::from_iter([("$ref", Json::from("#"))]);
        let properties = Json::from_iter([("x", back)]);
        nested(levels, all, Json::from_iter([("properties", properties)]))
    };
    let arguments = |depth| {
        nested(
            depth,
            |inner| Json::from_iter([("x", inner)]),
            Json::from(1),
        )
    };
    for (wraps, levels, most) in [(0, 3, 128), (14, 31, 128), (15, 33, 124), (126, 255, 16)] {
        let mut policy = ToolInputPolicy::default();
        assert_eq!(policy.set_schema("tool", &schema(wraps)), Ok(true));
        assert_eq!(policy.check_value("tool", &arguments(most)), Ok(()));
        if most < 128 {
            let refused = policy
                .check_value("tool", &arguments(most + 1))
                .expect_err("deep");
            assert_eq!(
                refused.to_string(),
                format!(
                    "the arguments of `tool` must lie in at most {most} arrays and objects, as its \
                     schema has {levels} levels, found `x`"
                )
            );
        }
    }
}

#[test]
fn a_schema_holds_at_most_20000_objects() {
    let schema = |count| format!(r#"{{"allOf":[{}]}}"#, vec!["{}"; count].join(","));
    policy(&schema(20_000));
    assert_eq!(
        flaw(&schema(20_001)),
        "the schema of tool `tool` cannot be used: it expands to more than 20000 objects at `/allOf`"
    );
}

/// A definition that refers twice to the next one, `length` of them.
fn doubling(length: usize) -> String {
    let definitions: Vec<String> = (0..length)
        .map(|index| {
            let next = index + 1;
            format!(r##""d{index}":{{"anyOf":[{{"$ref":"#/$defs/d{next}"}},{{"$ref":"#/$defs/d{next}"}}]}}"##)
        })
        .collect();
    format!(
        r##"{{"$defs":{{{},"d{length}":{{"type":"string"}}}},"$ref":"#/$defs/d0"}}"##,
        definitions.join(",")
    )
}

#[test]
fn a_small_schema_that_stands_for_a_huge_one_is_refused() {
    assert!(flaw(&doubling(40)).contains("expands to more than 20000 objects"));
    assert!(refusal(&doubling(8), "{}").contains("must match one of the schemas in `anyOf`"));
}

#[test]
fn alternatives_that_multiply_with_the_depth_end() {
    let schema = r##"{"$defs":{"n":{"anyOf":[
        {"type":"object","properties":{"a":{"$ref":"#/$defs/n"},"k":{"const":1}}},
        {"type":"object","properties":{"a":{"$ref":"#/$defs/n"},"k":{"const":2}}}]}},
        "$ref":"#/$defs/n"}"##;
    let arguments = format!("{}1{}", r#"{"a":"#.repeat(120), "}".repeat(120));
    let refused = refusal(schema, &arguments);
    assert!(
        refused.starts_with("the arguments of `tool` must "),
        "{refused}"
    );
}

#[test]
fn a_schema_of_circles_ends() {
    for schema in [
        r##"{"$ref":"#"}"##,
        r##"{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}"##,
        r##"{"allOf":[{"$ref":"#"}],"properties":{"x":{"$ref":"#"}}}"##,
    ] {
        assert!(
            policy(schema)
                .check_json("tool", br#"{"x":{"x":{}}}"#)
                .is_ok()
        );
    }
    let chain: Vec<String> = (0..5_000)
        .map(|index| format!(r##""d{index}":{{"$ref":"#/$defs/d{}"}}"##, index + 1))
        .collect();
    let long = format!(
        r##"{{"$defs":{{{},"d5000":{{}}}},"$ref":"#/$defs/d0"}}"##,
        chain.join(",")
    );
    assert!(flaw(&long).contains("it is deeper than 256 levels"));
    let deep = format!("{}{{}}{}", r#"{"not":"#.repeat(190), "}".repeat(190));
    policy(&deep);
}

#[test]
fn a_comparison_that_takes_too_long_is_refused() {
    let branches = vec![r#"{"items":{"const":1}}"#; 2_000].join(",");
    let schema = format!(r#"{{"properties":{{"a":{{"anyOf":[{branches}]}}}}}}"#);
    // Each alternative reads as far as the last item.
    let list = |length| format!(r#"{{"a":[{}0]}}"#, "1,".repeat(length));
    assert_eq!(
        refusal(&schema, &list(200)),
        "the arguments of `tool` must hold to its schema, found `a`"
    );
    assert_eq!(
        refusal(&schema, &list(6_000)),
        "the arguments of `tool` take too long to check against its schema"
    );
}
