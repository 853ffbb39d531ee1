//! A mount plan is read as Python reads it, or refused with the place that is wrong.

use amplifier_core::coordinator::InjectionLimits;
use amplifier_core::error::SessionError;
use amplifier_core::{Json, ModuleSpec, Object, SessionConfig};

fn spec(module: &str) -> ModuleSpec {
    ModuleSpec {
        module: module.to_owned(),
        ..ModuleSpec::default()
    }
}

#[test]
fn a_whole_plan_has_types() {
    let plan = br#"{
        "session": {
            "orchestrator": {"module": "loop", "source": "git", "config": {"limit": 3}},
            "context": "memory",
            "context_source": {"path": "."},
            "injection_size_limit": 10,
            "injection_budget_per_turn": null,
            "injection_limit_per_turn": 20,
            "metadata": {"user": "u"},
            "raw": 1
        },
        "context": {"config": {"size": 5}},
        "providers": [{"module": "p", "instance_id": "p2"}, {"config": {}}, "q", ""],
        "own": [1]
    }"#;
    let config = SessionConfig::parse(plan).unwrap();

    let object = |key: &str, value: Json| Object::from_iter([(key.to_owned(), value)]);
    let expected = SessionConfig {
        orchestrator: ModuleSpec {
            source: Some("git".into()),
            config: object("limit", 3.into()),
            ..spec("loop")
        },
        context: ModuleSpec {
            source: Some(Json::from_iter([("path", ".")])),
            config: object("size", 5.into()),
            ..spec("memory")
        },
        providers: vec![
            ModuleSpec {
                instance_id: Some("p2".to_owned()),
                ..spec("p")
            },
            spec("q"),
        ],
        tools: Vec::new(),
        hooks: Vec::new(),
        limits: InjectionLimits {
            size: Some(10),
            budget: None,
            total: Some(20),
        },
        metadata: Some(object("user", "u".into())),
        is_disclosed: true,
        plan: config.plan.clone(),
    };
    assert_eq!(config, expected);
    assert_eq!(config.plan["own"].as_array(), Some(&[Json::from(1)][..]));
}

#[test]
fn the_plan_of_two_names_is_the_one_that_json_gives() {
    let plan = br#"{"session": {"orchestrator": "o", "context": "c"}}"#;
    assert_eq!(Ok(SessionConfig::new("o", "c")), SessionConfig::parse(plan));
}

#[test]
fn a_wrong_plan_says_what_is_wrong() {
    let cases = [
        ("{}", "Configuration is required"),
        (
            r#"{"session": {}}"#,
            "Configuration must specify session.orchestrator",
        ),
        (
            r#"{"session": null}"#,
            "Configuration must specify session.orchestrator",
        ),
        (
            r#"{"session": {"orchestrator": ""}}"#,
            "Configuration must specify session.orchestrator",
        ),
        (
            r#"{"session": {"orchestrator": "x"}}"#,
            "Configuration must specify session.context",
        ),
        (
            "[]",
            "invalid session configuration: the mount plan must be an object with a section \
             `session`, found an array",
        ),
        (
            r#"{"session": {"orchestrator": 5}}"#,
            "invalid session configuration: `session.orchestrator` must be a module's id or an \
             object, found an integer",
        ),
        (
            r#"{"session": {"orchestrator": {"config": {}}}}"#,
            "invalid session configuration: `session.orchestrator.module` is missing",
        ),
        (
            r#"{"session": {"orchestrator": "o", "context": "c"}, "tools": {}}"#,
            "invalid session configuration: `tools` must be an array of modules, found an object",
        ),
        (
            r#"{"session": {"orchestrator": "o", "context": "c"}, "tools": [{"module": 5}]}"#,
            "invalid session configuration: `tools[0].module` must be a string, found `5`",
        ),
        (
            r#"{"session": {"orchestrator": "o", "context": "c", "injection_size_limit": "x"}}"#,
            "invalid session configuration: `session.injection_size_limit` must be an integer of \
             64 bits, found `\"x\"`",
        ),
    ];
    for (plan, text) in cases {
        let error = SessionConfig::parse(plan.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), text);
    }
    let broken = SessionConfig::parse(b"{").unwrap_err();
    assert!(matches!(broken, SessionError::ConfigInvalid(_)));
}
