//! The hook registry orders as promised, and a dispatch judges as promised.

use amplifier_core::hook::{
    Answer, Decision, Dispatch, Flow, HookRegistry, Injection, Notice, Outcome, Projection,
};
use amplifier_core::{ContextInjection, ContextInjectionRole, UserMessageLevel};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Change {
    Register { event: u8, priority: i32, name: u8 },
    UnregisterSerial { pick: usize },
    UnregisterName { name: u8 },
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        3 => (0..3u8, -2..3i32, 0..4u8)
            .prop_map(|(event, priority, name)| Change::Register { event, priority, name }),
        1 => any::<usize>().prop_map(|pick| Change::UnregisterSerial { pick }),
        1 => (0..4u8).prop_map(|name| Change::UnregisterName { name }),
    ]
}

proptest! {
    /// The reference is a flat list, sorted when asked.
    #[test]
    fn a_registry_behaves_like_a_list_sorted_by_priority_and_time(
        changes in prop::collection::vec(change(), 0..40),
    ) {
        let mut registry = HookRegistry::default();
        let mut list: Vec<(String, i32, u64, String)> = Vec::new();
        for change in changes {
            match change {
                Change::Register { event, priority, name } => {
                    let (event, name) = (format!("e{event}"), format!("n{name}"));
                    let serial = registry.register(&event, (), priority, name.clone());
                    list.push((event, priority, serial, name));
                }
                Change::UnregisterSerial { pick } if !list.is_empty() => {
                    let (event, _, serial, _) = list.remove(pick % list.len());
                    prop_assert!(registry.unregister(&event, serial).is_some());
                    prop_assert!(registry.unregister(&event, serial).is_none());
                }
                Change::UnregisterSerial { .. } => {}
                Change::UnregisterName { name } => {
                    let name = format!("n{name}");
                    let before = list.len();
                    list.retain(|entry| entry.3 != name);
                    let removed = registry.unregister_name(&name);
                    prop_assert_eq!(removed.len(), before - list.len());
                }
            }
            for event in ["e0", "e1", "e2"] {
                let mut expected: Vec<_> = list.iter().filter(|entry| entry.0 == event).collect();
                expected.sort_by_key(|entry| (entry.1, entry.2));
                let found: Vec<u64> =
                    registry.handlers(event).iter().map(|entry| entry.serial).collect();
                let expected: Vec<u64> = expected.iter().map(|entry| entry.2).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }
}

/// What handler number `number` answers.
fn answer(kind: u8, number: usize) -> Answer<usize, usize> {
    match kind {
        0 => Answer::Continue,
        1 => Answer::Modify(Some(number)),
        2 => Answer::Modify(None),
        3 => Answer::Inject(number, vec![item(number)]),
        4 => Answer::Ask(number),
        _ => Answer::Deny(number),
    }
}

fn item(number: usize) -> ContextInjection {
    ContextInjection {
        content: number.to_string(),
        role: ContextInjectionRole::User,
        ephemeral: number % 2 == 1,
        append_to_last_tool_result: number % 3 == 1,
        hook_name: "forged".to_owned(),
        event: "forged".to_owned(),
    }
}

proptest! {
    #[test]
    fn deny_beats_ask_beats_inject_beats_continue(kinds in prop::collection::vec(0..6u8, 0..12)) {
        let mut dispatch = Dispatch::new(usize::MAX);
        let mut called = 0;
        for (number, kind) in kinds.iter().enumerate() {
            called += 1;
            let flow = dispatch.accept("e", &format!("h{number}"), answer(*kind, number));
            prop_assert_eq!(flow, if *kind == 5 { Flow::Stop } else { Flow::Next });
            if flow == Flow::Stop {
                break;
            }
        }
        let heard = &kinds[..called];
        let first = |kind: u8| heard.iter().position(|other| *other == kind);
        let injecting: Vec<usize> = (0..called).filter(|number| heard[*number] == 3).collect();
        let expected = if let Some(number) = first(5) {
            Decision::Deny(number)
        } else if let Some(number) = first(4) {
            Decision::Ask(number)
        } else if injecting.is_empty() {
            Decision::Continue
        } else {
            let items: Vec<ContextInjection> = injecting
                .iter()
                .map(|number| ContextInjection {
                    hook_name: format!("h{number}"),
                    event: "e".to_owned(),
                    ..item(*number)
                })
                .collect();
            let contents: Vec<&str> = items.iter().map(|item| item.content.as_str()).collect();
            Decision::Inject(Injection {
                first: injecting[0],
                is_single: injecting.len() == 1,
                projection: Projection {
                    content: contents.join("\n\n"),
                    role: ContextInjectionRole::User,
                    ephemeral: items.iter().any(|item| item.ephemeral),
                    append_to_last_tool_result: items
                        .iter()
                        .any(|item| item.append_to_last_tool_result),
                },
                items,
            })
        };
        let last_modified = (0..called).rev().find(|number| heard[*number] == 1);
        let outcome = Outcome {
            decision: expected,
            data: last_modified.unwrap_or(usize::MAX),
            is_modified: last_modified.is_some(),
            notice: Notice::default(),
        };
        prop_assert_eq!(dispatch.finish(), outcome);
    }
}

fn notice(message: &str, level: UserMessageLevel, source: &str) -> Notice {
    Notice {
        message: Some(message.to_owned()),
        level,
        sources: vec![source.to_owned()],
        suppresses_output: false,
    }
}

#[test]
fn what_handlers_say_is_one_message_that_loses_nothing() {
    let mut dispatch: Dispatch<(), ()> = Dispatch::new(());
    let silent = Notice {
        suppresses_output: true,
        level: UserMessageLevel::Error,
        sources: vec!["silent".to_owned()],
        ..Notice::default()
    };
    for said in [
        notice("a", UserMessageLevel::Info, "one"),
        silent,
        notice("b", UserMessageLevel::Warning, ""),
        notice("", UserMessageLevel::Error, "empty"),
        notice("c", UserMessageLevel::Info, "two"),
        notice("d", UserMessageLevel::Info, "one"),
        notice("e", UserMessageLevel::Info, "one, two"),
    ] {
        dispatch.tell(said);
    }

    let said = dispatch.finish().notice;
    let expected = Notice {
        message: Some("a\nb\nc\nd\ne".to_owned()),
        level: UserMessageLevel::Warning,
        sources: ["one", "two", "one, two"].map(str::to_owned).to_vec(),
        suppresses_output: true,
    };
    assert_eq!(said, expected);
    assert_eq!(said.source().as_deref(), Some("one, two, one, two"));
    assert_eq!(Notice::default().source(), None);
}
