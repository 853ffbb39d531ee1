//! Whatever the bytes, the schema and the arguments are, there is an answer.

use amplifier_core::Json;
use amplifier_guard::{ToolInputError, ToolInputPolicy};
use proptest::prelude::*;

use super::{FILE, policy};

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        "[-+.0-9eE]{1,30}".prop_filter_map("a number", |digits| Json::integer(&digits)),
        "\\PC{0,12}".prop_map(Json::from),
        prop::sample::select(vec![
            "#",
            "#/properties/a",
            "object",
            "integer",
            "^a*$",
            "(",
            "a|b"
        ])
        .prop_map(Json::from),
    ];
    let key = prop_oneof![
        prop::sample::select(vec![
            "$ref",
            "$id",
            "$schema",
            "$defs",
            "type",
            "properties",
            "items",
            "anyOf",
            "oneOf",
            "allOf",
            "not",
            "if",
            "then",
            "else",
            "const",
            "enum",
            "minimum",
            "maximum",
            "multipleOf",
            "pattern",
            "required",
            "additionalProperties",
            "patternProperties",
            "uniqueItems",
            "minLength",
            "a",
            "b",
            "propertyNames",
            "contains",
            "unevaluatedProperties",
            "dependentSchemas",
            "format",
        ])
        .prop_map(str::to_owned),
        "\\PC{0,6}",
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Json::from),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(Json::from_iter),
        ]
    })
}

proptest! {
    // Each case compiles a schema, which takes milliseconds.
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "\\PC{0,60}") {
        let policy = policy(FILE);
        let _ = policy.check_json("tool", &bytes);
        let _ = policy.check_json("tool", text.as_bytes());
        let _ = policy.check_json("tool", format!("{{\"path\":{text:?}}}").as_bytes());
    }

    #[test]
    fn no_schema_panics(schema in any_json(), arguments in any_json()) {
        let mut policy = ToolInputPolicy::default();
        if policy.set_schema("tool", &schema).is_ok() {
            let _ = policy.check_value("tool", &arguments);
        }
    }

    #[test]
    fn a_value_is_the_one_that_a_schema_names(value in any_json(), other in any_json()) {
        let mut policy = ToolInputPolicy::default();
        let schema = Json::from_iter([("properties", Json::from_iter([
            ("a", Json::from_iter([("const", value.clone())])),
            ("b", Json::from_iter([("uniqueItems", Json::Bool(true))])),
        ]))]);
        prop_assume!(policy.set_schema("tool", &schema).is_ok());
        let passes = |name: &str, value: Json| {
            let checked = policy.check_value("tool", &Json::from_iter([(name, value)]));
            match checked {
                Ok(()) => true,
                Err(ToolInputError::Mismatch { .. }) => false,
                Err(error) => panic!("{error}"),
            }
        };
        prop_assert!(passes("a", value.clone()));
        let pair = vec![value.clone(), other.clone()];
        // The two notions of equality agree.
        if passes("b", vec![other.clone()].into()) {
            prop_assert_eq!(passes("a", other), !passes("b", pair.into()));
        }
    }
}
