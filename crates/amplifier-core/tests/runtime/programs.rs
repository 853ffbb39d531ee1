//! Hooks decide and do the same in all engines: `tests/data/hook_programs.json` says what.
//!
//! Both engines of Python run the same programs in `tests/kernel/test_hook_programs.py`.

use std::sync::Arc;

use amplifier_core::coordinator::InjectionLimits;
use amplifier_core::error::HookError;
use amplifier_core::runtime::{Coordinator, HookOptions, HookRegistry, Module};
use amplifier_core::{FromJson, HookAction, HookResult, Json, MessageContent, Object};

use crate::fakes::{Display, Memory, Seen, object, without_time};

const EVENT: &str = "tool:pre";

/// The programs of a kind, of which there must be some.
fn programs(kind: &str) -> Vec<Json> {
    let text = include_bytes!("../../../../tests/data/hook_programs.json");
    let programs = Json::parse(text).unwrap();
    let programs = programs.get(kind).unwrap().as_array().unwrap().to_vec();
    assert!(!programs.is_empty());
    programs
}

fn claim(program: &Json) -> &str {
    program.get("claim").unwrap().as_str().unwrap()
}

fn result(json: &Json) -> HookResult {
    HookResult::from_json(json.clone()).unwrap()
}

fn is_set(spec: &Json, key: &str) -> bool {
    spec.get(key).and_then(Json::as_bool).unwrap_or_default()
}

#[tokio::test]
async fn an_emit_decides_what_the_program_says() {
    for program in programs("emits") {
        let (hooks, called) = (HookRegistry::default(), Seen::default());
        let defaults = program.get("defaults").and_then(Json::as_object);
        hooks.set_default_fields(defaults.cloned().unwrap_or_default());
        for spec in program.get("handlers").unwrap().as_array().unwrap() {
            let name = spec.get("name").unwrap().as_str().unwrap().to_owned();
            let mut options = HookOptions::named(&name);
            if let Some(priority) = spec.get("priority").and_then(Json::as_i64) {
                options = options.priority(i32::try_from(priority).unwrap());
            }
            if is_set(spec, "fail_closed") {
                options = options.fails_closed();
            }
            let (spec, called) = (spec.clone(), called.clone());
            let handler = move |_: &str, _: &Object| {
                called.push(Json::from(name.as_str()));
                if is_set(&spec, "fails") {
                    return Err(HookError::HandlerFailed("broken".to_owned()));
                }
                Ok(result(spec.get("answer").unwrap()))
            };
            hooks.register(EVENT, handler, options);
        }

        let data = program.get("data").unwrap().as_object().unwrap().clone();
        let mut decided = hooks.emit(EVENT, data).await;

        if decided.action == HookAction::Continue {
            decided = without_time(decided);
        }
        let expected = result(program.get("result").unwrap());
        assert_eq!(decided, expected, "{}", claim(&program));
        let expected = program.get("called").unwrap();
        assert_eq!(&Json::from(called.take()), expected, "{}", claim(&program));
    }
}

#[tokio::test]
async fn a_result_does_what_the_program_says() {
    for program in programs("effects") {
        let (memory, display) = (Memory::default(), Display::default());
        let limits = program.get("limits");
        let limit = |key: &str| limits?.get(key)?.as_i64();
        let coordinator = Coordinator::new(InjectionLimits {
            size: limit("injection_size_limit"),
            budget: limit("injection_budget_per_turn"),
            total: limit("injection_limit_per_turn"),
        });
        coordinator
            .mount(Module::context(memory.clone()), None)
            .unwrap();
        coordinator.set_display_service(Some(Arc::new(display.clone())));

        let given = result(program.get("result").unwrap());
        let left = coordinator
            .process_hook_result(given, EVENT, "caller")
            .await;

        match program.get("error").and_then(Json::as_str) {
            Some(error) => assert_eq!(left.unwrap_err().to_string(), error),
            None => assert_eq!(left, Ok(result(program.get("left").unwrap()))),
        }
        let messages = memory.messages.take().into_iter().map(|message| {
            let metadata = message.metadata.unwrap();
            let MessageContent::Text(content) = message.content else {
                panic!("an injection is a text");
            };
            Json::from(object([
                ("role", message.role.as_str().into()),
                ("content", content.into()),
                ("hook_name", metadata["hook_name"].clone()),
                ("event", metadata["event"].clone()),
            ]))
        });
        let shown = display
            .shown
            .take()
            .into_iter()
            .map(|(text, level, source)| {
                Json::from(vec![text.into(), level.as_str().into(), source.into()])
            });
        let expected = |key: &str| program.get(key).cloned().unwrap_or(Json::Array(Vec::new()));
        let claim = claim(&program);
        assert_eq!(
            Json::Array(messages.collect()),
            expected("messages"),
            "{claim}"
        );
        assert_eq!(Json::Array(shown.collect()), expected("shown"), "{claim}");
        let tokens = program
            .get("tokens")
            .and_then(Json::as_i64)
            .unwrap_or_default();
        assert_eq!(coordinator.turn_injections(), tokens, "{claim}");
    }
}
