//! Limits come from the code, else from the configuration, else from the environment.

use amplifier_core::{Json, Object};
use amplifier_guard::Limits;
use proptest::prelude::*;

fn object(text: &str) -> Object {
    match Json::parse(text.as_bytes()) {
        Ok(Json::Object(object)) => object,
        other => panic!("{other:?}"),
    }
}

fn resolve(
    code: &str,
    configuration: &str,
    environment: &[(&str, &str)],
) -> Result<Limits, String> {
    let look_up = |name: &str| {
        let found = environment.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    Limits::resolve(&object(code), &object(configuration), look_up)
        .map_err(|error| error.to_string())
}

#[test]
fn the_defaults_are_those_of_the_seed() {
    let limits = Limits {
        message_max_chars: 50_000,
        tool_timeout: 120.0,
        max_content_blocks: 1_000,
        thinking_mode_enabled: true,
        name_max_chars: 100,
    };
    assert_eq!(resolve("{}", "{}", &[]), Ok(limits));
    assert_eq!(Limits::default(), limits);
}

#[test]
fn the_code_is_over_the_configuration_and_that_over_the_environment() {
    let environment = [
        ("MESSAGE_MAX_CHARS", "1"),
        ("TOOL_TIMEOUT", "1.5"),
        ("MAX_CONTENT_BLOCKS", " 1 "),
        ("THINKING_MODE_ENABLED", "Off"),
        ("message_max_chars", "9"),
    ];
    let configuration = r#"{"tool_timeout": 2, "MAX_CONTENT_BLOCKS": 2, "name_max_chars": null}"#;
    assert_eq!(
        resolve(r#"{"max_content_blocks": 3}"#, configuration, &environment),
        Ok(Limits {
            message_max_chars: 1,
            tool_timeout: 2.0,
            max_content_blocks: 3,
            thinking_mode_enabled: false,
            name_max_chars: 100,
        })
    );
}

#[test]
fn a_value_that_is_no_limit_is_named_with_its_place() {
    let whole = "a whole number from 1 to 1000000000";
    for (code, configuration, environment, said) in [
        (r#"{"message_max_chars": 0}"#, "{}", None, format!("limit `message_max_chars` in the code must be {whole}, found `0`")),
        ("{}", r#"{"MAX_CONTENT_BLOCKS": true}"#, None, format!("limit `max_content_blocks` in the configuration must be {whole}, found `true`")),
        ("{}", r#"{"name_max_chars": "10"}"#, None, format!("limit `name_max_chars` in the configuration must be {whole}, found \"10\"")),
        ("{}", "{}", Some(("MESSAGE_MAX_CHARS", "many")), format!("limit `message_max_chars` in the environment must be {whole}, found \"many\"")),
        ("{}", "{}", Some(("MESSAGE_MAX_CHARS", "")), format!("limit `message_max_chars` in the environment must be {whole}, found \"\"")),
        ("{}", "{}", Some(("TOOL_TIMEOUT", "-1")), "limit `tool_timeout` in the environment must be seconds above 0, at most 604800, found `-1`".to_owned()),
        (r#"{"tool_timeout": 0}"#, "{}", None, "limit `tool_timeout` in the code must be seconds above 0, at most 604800, found `0`".to_owned()),
        ("{}", r#"{"tool_timeout": 604801}"#, None, "limit `tool_timeout` in the configuration must be seconds above 0, at most 604800, found `604801`".to_owned()),
        ("{}", "{}", Some(("TOOL_TIMEOUT", "NaN")), "limit `tool_timeout` in the environment must be seconds above 0, at most 604800, found \"NaN\"".to_owned()),
        ("{}", "{}", Some(("THINKING_MODE_ENABLED", "1")), "limit `thinking_mode_enabled` in the environment must be true or false, found `1`".to_owned()),
        ("{}", r#"{"thinking_mode_enabled": []}"#, None, "limit `thinking_mode_enabled` in the configuration must be true or false, found an array".to_owned()),
        (
            "{}",
            r#"{"message_max_char": 1}"#,
            None,
            "unknown limit `message_max_char` in the configuration (known: message_max_chars, \
             tool_timeout, max_content_blocks, thinking_mode_enabled, name_max_chars)".to_owned(),
        ),
        (
            r#"{"tool_timeout": 1, "TOOL_TIMEOUT": 1}"#,
            "{}",
            None,
            "limit `tool_timeout` is set twice in the code, in lower case and in capitals".to_owned(),
        ),
    ] {
        let environment: Vec<_> = environment.into_iter().collect();
        assert_eq!(resolve(code, configuration, &environment), Err(said));
    }
}

proptest! {
    #[test]
    fn limits_come_back_from_what_they_are_written_as(
        message_max_chars in 1_u64..=1_000_000_000, tool_timeout in 1e-9..604_800.0_f64,
        max_content_blocks in 1_u64..=1_000_000_000, thinking_mode_enabled: bool,
    ) {
        let limits = Limits {
            message_max_chars, tool_timeout, max_content_blocks, thinking_mode_enabled, name_max_chars: 7,
        };
        let code = limits.to_object();
        prop_assert_eq!(Limits::resolve(&code, &Object::new(), |_| None), Ok(limits));
        let environment = |name: &str| Some(code[&name.to_ascii_lowercase()].to_string());
        prop_assert_eq!(Limits::resolve(&Object::new(), &Object::new(), environment), Ok(limits));
    }

    #[test]
    fn no_value_panics(text in any::<String>(), place in 0_usize..5) {
        let name = Limits::NAMES[place];
        let configuration = Object::from([(name.to_owned(), Json::from(text.clone()))]);
        prop_assert!(Limits::resolve(&Object::new(), &configuration, |_| None).is_err());
        let _ = Limits::resolve(&Object::new(), &Object::new(), |_| Some(text.clone()));
    }
}
