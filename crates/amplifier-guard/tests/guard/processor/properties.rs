//! What holds for every text.

use amplifier_core::Json;
use amplifier_guard::{CanBeEmpty, FindingKind, Limits, MessageError, MessageProcessor, OnFinding};
use proptest::prelude::*;

fn any_text() -> impl Strategy<Value = String> {
    let sign = prop::sample::select(vec![
        "ignore previous instructions ",
        "../",
        "..\\",
        "<script",
        "| sh",
        "rm -rf /",
        "sk-ant-",
        "\u{200b}",
        "\u{1b}",
        "password=",
        "you are now ",
        "\u{e9}",
        "\u{1f469}\u{200d}",
        "javascript:",
        "%2e%2e%2f",
        "eyJ",
    ]);
    prop::collection::vec(
        prop_oneof![sign.prop_map(str::to_owned), "\\PC{0,8}", any::<String>()],
        0..20,
    )
    .prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn no_text_is_changed_and_every_finding_lies_in_it(text in any_text()) {
        let processor = MessageProcessor::default().allow_empty(CanBeEmpty::ALL);
        let processed = processor.process_user_message(text.clone()).expect("text");
        prop_assert_eq!(processed.statistics().characters, text.chars().count() as u64);
        prop_assert_eq!(processed.statistics().bytes, text.len() as u64);
        for found in processed.findings() {
            prop_assert!(found.start < found.end && found.end <= text.chars().count());
            if found.kind == FindingKind::HiddenCharacter {
                let hidden: String = text.chars().take(found.end).skip(found.start).collect();
                // Fillers of Hangul count as letters, and nothing is seen of them.
                let is_filler = |c| matches!(c, '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}');
                let is_seen = |c: char| c.is_alphanumeric() && !is_filler(c);
                prop_assert!(!hidden.contains(is_seen), "{hidden:?}");
            }
        }
        prop_assert_eq!(
            processed.message(),
            &amplifier_guard::claude::migrate_text("user", text)
        );
    }

    #[test]
    fn findings_are_the_same_whenever_they_are_looked_for(text in any_text()) {
        let process = |on_finding| {
            let processor = MessageProcessor::new(Limits::default(), on_finding);
            processor.allow_empty(CanBeEmpty::ALL).process_user_message(text.clone())
        };
        let reported = process(OnFinding::Report).expect("report");
        let asked = process(OnFinding::Ask).expect("ask");
        prop_assert_eq!(reported.findings(), asked.findings());
        prop_assert_eq!(asked.needs_approval(), !asked.findings().is_empty());
        let rejected = process(OnFinding::Reject).err();
        let findings = asked.findings().to_vec();
        let is_suspicious = !findings.is_empty();
        prop_assert_eq!(rejected, is_suspicious.then_some(MessageError::Suspicious { findings }));
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..120), text in any_text()) {
        let processor = MessageProcessor::default();
        let _ = processor.process_json(&bytes, None);
        let _ = processor.process_json(text.as_bytes(), None);
        let message = Json::from_iter([
            ("role", Json::from("user")),
            ("content", vec![Json::from_iter([("type", Json::from(text.clone())), ("x", text.into())])].into()),
        ]);
        prop_assert!(processor.process_json(message.to_string().as_bytes(), None).is_ok());
    }

    #[test]
    fn what_was_processed_passes_again_as_it_is(text in any_text(), id in "[!-~]{1,9}") {
        let processor = MessageProcessor::default().allow_empty(CanBeEmpty::ALL);
        let message = Json::from_iter([
            ("role", Json::from("assistant")),
            ("content", Json::from(vec![
                Json::from_iter([("type", Json::from("tool_use")), ("id", Json::from(id)), ("name", "t".into()),
                    ("input", Json::from_iter([("a", text.clone())]))]),
                Json::from_iter([("type", "text"), ("text", &text)]),
            ])),
        ]);
        let processed = processor.process_json(message.to_string().as_bytes(), None).expect("message");
        let again = processor.process(processed.message().clone(), None);
        prop_assert_eq!(again, Ok(processed));
    }
}
