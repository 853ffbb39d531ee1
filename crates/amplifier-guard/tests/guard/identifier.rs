//! A tool's name has one spelling, which everyone sees alike.

use amplifier_guard::{LONGEST_NAME, NameError, check_call_id, check_tool_name};
use proptest::prelude::*;

fn refusal(name: &str) -> String {
    check_tool_name(name, LONGEST_NAME)
        .expect_err(name)
        .to_string()
}

#[test]
fn the_names_of_tools_and_their_servers_pass() {
    for name in [
        "read_file",
        "mcp__server-1__get.item",
        "getUser",
        "user-profile/update",
        "DATA_EXPORT_v2",
        "admin.tools.list",
        "server:tool",
        "_private",
        "2fa",
        "x",
    ] {
        assert_eq!(check_tool_name(name, LONGEST_NAME), Ok(()), "{name}");
    }
    assert_eq!(check_tool_name(&"a".repeat(100), LONGEST_NAME), Ok(()));
}

#[test]
fn a_name_that_could_be_taken_for_another_one_is_refused_by_its_character() {
    let behind = "only ASCII letters, digits and `_-./:` are allowed";
    for (name, shown, code, place) in [
        ("r\u{435}ad_file", r"r\u{435}ad_file", "U+0435", 1),
        ("read\u{200b}file", r"read\u{200b}file", "U+200B", 4),
        ("read_file\u{301}", r"read_file\u{301}", "U+0301", 9),
        ("\u{ff52}ead", r"\u{ff52}ead", "U+FF52", 0),
        ("read file", "read file", "U+0020", 4),
        ("read\nfile", "read file", "U+000A", 4),
        ("read\u{1b}[2J", r"read\x1b[2J", "U+001B", 4),
        ("read;file", "read;file", "U+003B", 4),
    ] {
        let allowed = if place == 0 {
            "it must begin with an ASCII letter, a digit or `_`"
        } else {
            behind
        };
        assert_eq!(
            refusal(name),
            format!("tool name `{shown}` contains {code} at character {place}: {allowed}")
        );
    }
    for name in ["../x", "/etc", "-rf", ":x", ".x"] {
        assert!(
            refusal(name).contains("at character 0: it must begin with an ASCII letter"),
            "{name}"
        );
    }
}

#[test]
fn names_are_bounded_and_not_empty() {
    assert_eq!(refusal(""), "the tool name is empty");
    assert_eq!(
        check_tool_name("abcdef", 5).expect_err("long").to_string(),
        "tool name `abcdef` has 6 characters, at most 5 are allowed"
    );
    assert!(refusal(&"a".repeat(1_000_000)).len() < 300);
}

#[test]
fn ids_are_visible_ascii() {
    for id in [
        "toolu_01A09q90qw90lq917835lq9",
        "call_1|fc_2",
        "functions.read:0",
        "x",
    ] {
        assert_eq!(check_call_id(id), Ok(()));
    }
    assert!(matches!(check_call_id(""), Err(NameError::Empty { .. })));
    assert!(matches!(
        check_call_id("a b"),
        Err(NameError::Character { .. })
    ));
    assert!(matches!(
        check_call_id(&"a".repeat(257)),
        Err(NameError::TooLong { .. })
    ));
}

proptest! {
    #[test]
    fn what_passes_is_plain_and_no_text_panics(name in "\\PC{0,12}", any in any::<String>()) {
        for name in [&name, &any] {
            let passes = check_tool_name(name, 10).is_ok();
            let is_plain = (1..=10).contains(&name.chars().count())
                && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-./:".contains(c))
                && !name.starts_with(['-', '.', '/', ':']);
            prop_assert_eq!(passes, is_plain);
            if let Err(error) = check_call_id(name) {
                prop_assert!(!error.to_string().contains(|c: char| c.is_control()));
            }
        }
    }
}
