//! What is invisible is shown where a script or a picture needs it, and nowhere else.

use super::show;

#[test]
fn what_is_invisible_stays_only_where_it_has_a_meaning() {
    for (text, shown) in [
        ("a\u{200d}b", "a\\u{200d}b"),
        ("ا\u{200c}ب", "ا\\u{200c}ب"), // alef joins to nothing after it
        ("ب\u{200c} ب\u{200c}", "ب\\u{200c} ب\\u{200c}"),
        ("ب\u{200c}\u{200c}ب", "ب\\u{200c}\\u{200c}ب"),
        ("👩\u{200d}a", "👩\\u{200d}a"),
        ("👩\u{200d}\u{200d}🚀", "👩\\u{200d}\\u{200d}🚀"),
        ("👩\u{301}\u{200d}🚀", "👩\u{301}\\u{200d}🚀"),
        ("1\u{fe0f}2", "1\\u{fe0f}2"),
        ("❤\u{fe0f}\u{fe0f}", "❤\u{fe0f}\\u{fe0f}"),
        ("❤\u{e0100}", "❤\\u{e0100}"),
        (
            "🏴\u{e0075}\u{e0073}\u{e007f}",
            "🏴\\u{e0075}\\u{e0073}\\u{e007f}",
        ),
        ("🏴\u{e0067}\u{e0062}x", "🏴\\u{e0067}\\u{e0062}x"),
        ("\\\u{301}", "\\\u{301}"),
        // Two letters that do not join, one that does not join to the next, no letter.
        ("ب\u{200c}\u{64b}a", "ب\\u{200c}\u{64b}a"),
        ("ب\u{200c}\u{200b}ب", "ب\\u{200c}\\u{200b}ب"),
        ("ب\u{94d}\u{200c}\u{200c}ب", "ب\u{94d}\u{200c}\\u{200c}ب"),
        // A joiner without a consonant before it, without a virama behind it, not right after it.
        ("a\u{200d}\u{94d}", "a\\u{200d}\u{94d}"),
        ("क\u{200d}क", "क\\u{200d}क"),
        ("क\u{901}\u{200d}\u{94d}", "क\u{901}\\u{200d}\u{94d}"),
        ("a\u{200d}🚀", "a\\u{200d}🚀"),
        // No ideograph, no sign of mathematics beyond ASCII.
        ("é\u{fe00}", "é\\u{fe00}"),
        ("+\u{fe00}\u{20e3}", "+\\u{fe00}\u{20e3}"),
    ] {
        assert_eq!(show(text), shown);
    }
}

#[test]
fn marks_over_one_character_end_at_thirty() {
    let flood = format!("z{}", "\u{489}".repeat(40));
    let shown = format!("z{}{}", "\u{489}".repeat(30), "\\u{489}".repeat(10));
    assert_eq!(show(&flood), shown);
    let joined = format!("क{}", "\u{94d}\u{200d}".repeat(40));
    let shown = format!(
        "क{}{}",
        "\u{94d}\u{200d}".repeat(15),
        "\\u{94d}\\u{200d}".repeat(25)
    );
    assert_eq!(show(&joined), shown);
}

#[test]
fn a_non_joiner_is_shown_between_letters_that_join_whatever_marks_are_there() {
    let marks = |count| "\u{64b}".repeat(count);
    for (before, after, is_shown) in [
        (0, 0, true),
        (1, 1, true),
        (0, 29, true),
        (0, 30, false),
        (10, 19, true),
        (10, 20, false),
        (29, 0, true),
        (30, 0, false),
    ] {
        let around = |joiner| format!("ب{}{joiner}{}ب", marks(before), marks(after));
        let shown = around(if is_shown { "\u{200c}" } else { "\\u{200c}" });
        assert_eq!(show(&around("\u{200c}")), shown, "{before} {after}");
    }
}

#[test]
fn tags_are_shown_right_behind_a_flag_alone() {
    let scotland = "\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}";
    let escaped = r"\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}";
    for (before, shown) in [
        ("🏴", scotland),
        ("a", escaped),
        ("", escaped),
        ("🏴\u{fe0f}", escaped),
        ("🏴\u{301}", escaped),
        ("🏳", escaped),
    ] {
        let text = format!("{before}{scotland}!");
        assert_eq!(show(&text), format!("{before}{shown}!"));
    }
}
