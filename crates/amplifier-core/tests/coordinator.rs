//! Mounts go where they should, and injections cost what they should.

use amplifier_core::coordinator::{
    Approval, Excess, InjectionCharge, InjectionLimits, MountTarget, Slot, charge_injections,
    clean_injections, clip_prompt, is_consent, mount_target, read_approval, sanitize_injection,
    unmount_target,
};
use amplifier_core::error::MountError;
use amplifier_core::{ContextInjection, ContextInjectionRole};
use proptest::prelude::*;

fn item(content: &str) -> ContextInjection {
    ContextInjection {
        content: content.to_owned(),
        role: ContextInjectionRole::System,
        ephemeral: false,
        append_to_last_tool_result: false,
        hook_name: "h".to_owned(),
        event: "e".to_owned(),
    }
}

#[test]
fn slots_are_found_by_their_names_alone() {
    for slot in Slot::ALL {
        assert_eq!(Slot::parse(slot.as_str()), Ok(slot));
    }
    assert_eq!(
        Slot::parse("tool").unwrap_err().to_string(),
        "Unknown mount point: tool (there are `orchestrator`, `providers`, `tools`, `context`, \
         `hooks`, `module-source-resolver`)"
    );
}

#[test]
fn a_named_slot_takes_the_given_name_before_the_modules_own() {
    let own = || Ok::<_, MountError>(Some("own"));
    let none = || Ok::<Option<&str>, MountError>(None);
    let never = || -> Result<Option<&str>, MountError> { panic!("the name does not count here") };
    assert_eq!(
        mount_target(Slot::Tools, Some("given"), never),
        Ok(MountTarget::Entry("given"))
    );
    assert_eq!(
        mount_target(Slot::Tools, None, own),
        Ok(MountTarget::Entry("own"))
    );
    assert_eq!(
        mount_target(Slot::Context, Some("x"), never),
        Ok(MountTarget::Slot)
    );
    assert_eq!(
        mount_target(Slot::Providers, None, none),
        Err(MountError::NameRequired(Slot::Providers))
    );
    assert_eq!(
        mount_target(Slot::Hooks, Some("x"), never),
        Err(MountError::HooksAreRegistered)
    );
}

#[test]
fn an_unmount_needs_a_name_where_a_mount_has_one() {
    assert_eq!(
        unmount_target(Slot::Tools, Some("x")),
        Ok(Some(MountTarget::Entry("x")))
    );
    assert_eq!(
        unmount_target(Slot::Context, Some("x")),
        Ok(Some(MountTarget::Slot))
    );
    assert_eq!(unmount_target(Slot::Hooks, Some("x")), Ok(None));
    assert_eq!(
        unmount_target::<&str>(Slot::Tools, None),
        Err(MountError::NameRequiredToUnmount(Slot::Tools))
    );
}

proptest! {
    #[test]
    fn what_passes_a_limit_refuses_all_and_each_item_costs_a_quarter_of_its_characters(
        contents in prop::collection::vec("[aé𝄞]{0,12}", 0..5),
        size in prop::option::of(0..12i64),
        budget in prop::option::of(0..12i64),
        total in prop::option::of(0..24i64),
        used in 0..12i64,
    ) {
        let items: Vec<ContextInjection> = contents.iter().map(|text| item(text)).collect();
        let lengths: Vec<i64> =
            contents.iter().map(|text| i64::try_from(text.chars().count()).unwrap()).collect();
        let charged = charge_injections(&items, InjectionLimits { size, budget, total }, used);
        let costs = || lengths.iter().map(|length| length / 4);
        let cost: i64 = costs().sum();
        let expected = match size {
            Some(limit) if lengths.iter().any(|length| *length > limit) => {
                Err(MountError::InjectionTooLong { limit })
            }
            _ if cost > 0 && total.is_some_and(|limit| used + cost > limit) => {
                Err(MountError::InjectionsOverLimit { limit: total.unwrap() })
            }
            _ => {
                let before = |item: usize| used + costs().take(item).sum::<i64>();
                let excesses = costs()
                    .enumerate()
                    .map(|(item, tokens)| Excess { item, used: before(item), tokens })
                    .filter(|one| budget.is_some_and(|budget| one.used + one.tokens > budget))
                    .collect();
                Ok(InjectionCharge { tokens: cost, excesses })
            }
        };
        prop_assert_eq!(charged, expected);
    }

    #[test]
    fn what_is_empty_once_it_is_clean_is_no_injection(
        contents in prop::collection::vec("[a\u{0}\u{9f}]{0,3}", 0..5),
    ) {
        let clean = clean_injections(contents.iter().map(|text| item(text)).collect());
        let expected: Vec<ContextInjection> = contents
            .iter()
            .map(|text| item(&sanitize_injection(text)))
            .filter(|item| !item.content.is_empty())
            .collect();
        prop_assert_eq!(clean, expected);
    }

    #[test]
    fn sanitizing_removes_control_characters_and_nothing_else(text in any::<String>()) {
        let clean = sanitize_injection(&text);
        prop_assert_eq!(sanitize_injection(&clean), clean.clone());
        let kept = |c: &char| "\t\n\r".contains(*c) || !c.is_control();
        prop_assert_eq!(clean, text.chars().filter(kept).collect::<String>());
    }

    #[test]
    fn a_decision_that_was_not_offered_never_grants(
        decision in "[a-z ]{0,12}",
        options in prop::collection::vec("[A-Z]{1,6}!", 0..4),
    ) {
        prop_assume!(!["allow", "allow once", "allow always"].contains(&decision.as_str()));
        prop_assert_ne!(read_approval(&decision, &options), Approval::Granted);
    }

    #[test]
    fn an_offered_option_grants_exactly_if_it_is_consent(
        options in prop::collection::vec(
            "[(\\[✅❌1.! ]{0,3}(allow|Yes|not yes|allow nothing|deny|Nein|аllow)[)\\] ]{0,2}",
            1..4,
        ),
        place in any::<prop::sample::Index>(),
    ) {
        let picked = place.get(&options);
        prop_assert_eq!(read_approval(picked, &options) == Approval::Granted, is_consent(picked));
        let word = picked.trim_matches(|c: char| !c.is_alphabetic()).to_lowercase();
        let negated = picked.contains(['❌', '!']);
        prop_assert_eq!(is_consent(picked), !negated && ["allow", "yes"].contains(&word.as_str()));
    }

    #[test]
    fn a_clipped_prompt_is_a_prefix(prompt in "[aé𝄞]{0,300}") {
        let clipped = clip_prompt(&prompt);
        if let Some(start) = clipped.strip_suffix("...[truncated]") {
            prop_assert!(prompt.starts_with(start));
            prop_assert_eq!(start.chars().count(), 200);
        } else {
            prop_assert_eq!(clipped, prompt);
        }
    }
}
