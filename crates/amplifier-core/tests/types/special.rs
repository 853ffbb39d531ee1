//! Fields of which more is held than their type says.
//!
//! Holds: field-1, field-2, field-3, field-4, field-5, field-6, field-7
//! Holds: field-8, field-9, field-10, field-11, field-12, field-13

use crate::strategies::timestamp;
use amplifier_core::{
    ApprovalRequest, ConfigField, Cost, Form, FromJson, Json, ModuleInfo, ModuleType, Pricing,
    SHARED_TYPES, SessionStatus, Shape, Timestamp, Usage,
};
use proptest::option;
use proptest::prelude::*;

fn rewritten<T: FromJson + serde::Serialize>(text: &str) -> String {
    let value = T::parse(text.as_bytes()).expect("a value");
    serde_json::to_string(&value).expect("JSON")
}

fn refusal<T: FromJson + std::fmt::Debug>(text: &str) -> String {
    T::parse(text.as_bytes()).expect_err("refused").to_string()
}

#[test]
fn a_timestamp_has_the_form_that_pydantic_writes() {
    for text in [
        "2026-01-02T03:04:05",
        "2026-01-02T03:04:05Z",
        "2026-01-02T03:04:05.000001Z",
        "2026-01-02T03:04:05.600000",
        "2024-02-29T23:59:59.999999+05:45",
        "2000-02-29T00:00:00-23:59",
        "0001-01-01T00:00:00",
        "9999-12-31T23:59:59Z",
    ] {
        let timestamp = Timestamp::from_text(text).map(|timestamp| timestamp.to_string());
        assert_eq!(timestamp.as_deref(), Some(text));
    }
    for text in [
        "",
        "2026-01-02",
        "2026-01-02T03:04Z",
        "2026-01-02 03:04:05",
        "2026-01-02t03:04:05",
        "2026-01-02T03:04:05z",
        "2026-01-02T03:04:05 Z",
        "2026-01-02T03:04:05.Z",
        "2026-01-02T03:04:05.5",
        "2026-01-02T03:04:05.1234567",
        "2026-01-02T03:04:05.000000",
        "2026-01-02T03:04:05+0200",
        "2026-01-02T03:04:05+24:00",
        "2026-01-02T03:04:05+02:60",
        "2026-01-02T03:04:05 02:00",
        "2026-01-02T24:00:00",
        "2026-01-02T03:60:00",
        "2026-01-02T03:04:60",
        "2026-00-02T03:04:05",
        "2026-13-02T03:04:05",
        "2026-01-00T03:04:05",
        "2026-04-31T03:04:05",
        "2026-02-29T03:04:05",
        "1900-02-29T03:04:05",
        "0000-01-01T00:00:00",
        "+026-01-02T03:04:05",
        "2026-01-02T03:04:0é",
        "2026-01-02T03:04:05.00é01",
        "1767323045",
    ] {
        assert_eq!(Timestamp::from_text(text), None, "{text}");
    }
}

proptest! {
    #[test]
    fn a_status_keeps_its_times(started_at in timestamp(), ended_at in option::of(timestamp())) {
        let ended_at = ended_at.map_or("null".to_owned(), |text| format!("{text:?}"));
        let text = format!(
            r#"{{"session_id":"s","started_at":"{started_at}","ended_at":{ended_at}}}"#
        );
        let status = SessionStatus::parse(text.as_bytes()).expect("a status");
        let written = serde_json::to_string(&status).expect("JSON");
        prop_assert!(written.starts_with(text.trim_end_matches('}')), "{}", written);
    }

    #[test]
    fn a_timestamp_never_panics(text in any::<String>(), shape in "[0-9T:+.Zé-]{0,30}") {
        for text in [text, shape] {
            if let Some(timestamp) = Timestamp::from_text(&text) {
                prop_assert_eq!(timestamp.as_str(), text);
            }
        }
    }

    #[test]
    fn a_cost_stays_as_it_was_first_written(text in "[+-]?[0-9]{0,9}[.]?[0-9]{0,9}(e[+-]?[0-9]{1,3})?") {
        if let Some(cost) = Cost::from_text(&text) {
            prop_assert_eq!(Cost::from_text(cost.as_str()), Some(cost));
        }
    }
}

#[test]
fn a_status_says_which_time_is_wrong() {
    assert_eq!(
        refusal::<SessionStatus>(r#"{"session_id":"s","started_at":"2026-02-30T00:00:00"}"#),
        "`SessionStatus.started_at` must be a date and time such as `2026-01-02T03:04:05Z`, \
         found `\"2026-02-30T00:00:00\"`",
    );
    assert_eq!(
        refusal::<SessionStatus>(r#"{"session_id":"s"}"#),
        "`SessionStatus.started_at` is missing",
    );
}

#[test]
fn a_cost_is_written_as_a_decimal_of_python_prints() {
    for (text, printed) in [
        ("0", "0"),
        ("-0", "-0"),
        ("0.00", "0.00"),
        ("00.10", "0.10"),
        ("-1.50", "-1.50"),
        ("+2", "2"),
        (".5", "0.5"),
        ("5.", "5"),
        ("123.45", "123.45"),
        ("0.000001", "0.000001"),
        ("0.0000001", "1E-7"),
        ("1e-6", "0.000001"),
        ("12e-8", "1.2E-7"),
        ("1e+3", "1E+3"),
        ("123e2", "1.23E+4"),
        ("0e5", "0E+5"),
        ("0E-7", "0E-7"),
        ("1e999999999999999999", "1E+999999999999999999"),
    ] {
        let cost = Cost::from_text(text).map(|cost| cost.to_string());
        assert_eq!(cost.as_deref(), Some(printed), "{text}");
    }
    for text in [
        "",
        ".",
        "-",
        "e5",
        "1e",
        "1e5.0",
        "NaN",
        "Infinity",
        "1 ",
        "0x1",
        "1_0",
        "--1",
        "1..2",
        "1e1000000000000000000",
        "1e-9223372036854775808",
        "1e9223372036854775808",
    ] {
        assert_eq!(Cost::from_text(text), None, "{text}");
    }
    let usage = |cost: &str| {
        let tokens = r#""input_tokens":1,"output_tokens":1,"total_tokens":2"#;
        format!(r#"{{{tokens},"cost_usd":{cost}}}"#)
    };
    assert!(rewritten::<Usage>(&usage("3")).ends_with(r#""cost_usd":"3"}"#));
    assert!(rewritten::<Usage>(&usage("\"1e3\"")).ends_with(r#""cost_usd":"1E+3"}"#));
    assert_eq!(
        refusal::<Usage>(&usage("0.5")),
        "`Usage.cost_usd` must be a decimal number as a string, found `0.5`",
    );
}

#[test]
fn a_currency_has_three_capital_letters() {
    let pricing = |currency: &str| {
        format!(r#"{{"input_per_million":1,"output_per_million":2,"currency":{currency}}}"#)
    };
    assert!(rewritten::<Pricing>(&pricing("\"EUR\"")).ends_with(r#""currency":"EUR"}"#));
    for currency in ["usd", "US", "USDT", "ÄÖÜ", "U D", ""] {
        assert_eq!(
            refusal::<Pricing>(&pricing(&format!("{currency:?}"))),
            format!(
                "`Pricing.currency` must be three capital letters of ISO 4217, found `{currency:?}`"
            ),
        );
    }
}

#[test]
fn an_approval_is_waited_for_some_time_or_for_ever() {
    let request = |timeout: &str| {
        format!(
            r#"{{"tool_name":"rm","action":"delete","details":{{}},"risk_level":"high","timeout":{timeout}}}"#
        )
    };
    for timeout in ["null", "0.5", "1e+300"] {
        assert_eq!(
            rewritten::<ApprovalRequest>(&request(timeout)),
            request(timeout)
        );
    }
    for (timeout, found) in [("0", "0.0"), ("-0.0", "-0.0"), ("-1.5", "-1.5")] {
        assert_eq!(
            refusal::<ApprovalRequest>(&request(timeout)),
            format!("`ApprovalRequest.timeout` must be a positive number or null, found `{found}`"),
        );
    }
}

#[test]
fn two_fields_have_another_name_in_rust() {
    let module = r#"{"id":"m","name":"M","version":"1","type":"tool","mount_point":"tools","description":"d","config_schema":null}"#;
    let parsed = ModuleInfo::parse(module.as_bytes()).expect("a module");
    assert_eq!(parsed.module_type, ModuleType::Tool);
    assert_eq!(rewritten::<ModuleInfo>(module), module);
    assert_eq!(
        refusal::<ModuleInfo>(&module.replace("\"type\"", "\"module_type\"")),
        "`ModuleInfo.type` is missing",
    );

    let field = r#"{"id":"k","display_name":"K","prompt":"?","default":"d"}"#;
    let parsed = ConfigField::parse(field.as_bytes()).expect("a field");
    assert_eq!(parsed.default_value.as_deref(), Some("d"));
    assert!(rewritten::<ConfigField>(field).contains(r#""default":"d""#));
}

#[test]
fn the_schema_of_a_record_has_its_keys_in_their_order() {
    for shared in SHARED_TYPES {
        let Shape::Record(keys) = shared.shape else {
            continue;
        };
        for form in [Form::Read, Form::Written] {
            let schema = shared.schema(form);
            let properties = schema.get("properties").and_then(Json::as_object);
            let properties: Vec<_> = properties.expect("properties").keys().collect();
            assert_eq!(properties, keys, "{}", shared.name);
        }
    }
}
