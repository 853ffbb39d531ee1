//! Where the value behind a secret name begins and ends.

use super::{BODY, assert_hidden, assert_stays, plain};

#[test]
fn an_unquoted_value_is_one_word() {
    assert_hidden(
        "password",
        &[
            "password=«swordfish» b",
            "password=\t «swordfish»\tb",
            "password=«swordfish»\nb",
            "password=«swordfish»&b=c",
            "password=«swordfish»\"b",
            "password=«swordfish»'b",
            "password=«swordfish»`b",
            "password=«swordfish»<b>",
            "password=«sword\u{e9}fish»",
            "password=«sword\\fish»",
            "password=«sword>fish»",
            "password=«sword%20fish»",
        ],
    );
}

#[test]
fn a_separator_ends_a_value_only_before_the_name_of_another() {
    assert_hidden(
        "password",
        &[
            "password=«sword»;user=b",
            "password=«sword»,user:b",
            "password=«sword», user name=b",
            "password=«sword»;user_name-2=b",
            "password=«sword»;Initial Catalog=b",
            "password=«sword»,\"user\": 1",
            "password=«sword»,'user': 1",
            "password=«sword;fish»",
            "password=«sword,fish» b",
            "password=«sword;=fish»",
            "password=«sword;:fish»",
            "password=«sword,a»\"b\"",
            "password=«sword;a.b=c»",
            "password=«sword;;a(=c»",
            "password=«;user=b»",
            "password=«,user=b»",
        ],
    );
    // A name has at most 46 characters; what may still become one is held back.
    let name = "n".repeat(46);
    assert_hidden(
        "password",
        &[
            &format!("password=«sword»;{name}=b"),
            &format!("password=«sword;{name}n=b»"),
            &format!("password=«sword;{name}»"),
            &format!("password=«sword;{name}nnn»"),
        ],
    );
}

#[test]
fn what_closes_a_bracket_around_a_value_is_no_part_of_it() {
    assert_hidden(
        "password",
        &[
            "{password: «swordfish»}",
            "(password=«swordfish»)",
            "[password=«swordfish»]",
            "{{password: «swordfish»}}",
            "[{password: «swordfish»}, 2]",
            "{(password=«swordfish»),b}",
            "password=«sword}fish»",
            "password=«sword)fish»",
            "password=«1swor(d)fish)»",
            "password=«swor[dfish]»",
            "password=«swor{dfish}»",
            "password=«swordfish».",
            "password=«swordfish»,",
            "password=«swordfish»;",
            "password=«swordfish»:",
            "password=«swordfish»\\",
            "(password=«swordfish».).",
            "password=«]swordfish»",
            "password=«},swordfish»",
            "password=«swordfish»})]",
            "password=«swordfish»]}b",
            "password=«swordfish»),b",
        ],
    );
    assert_stays(&["(password=)", "password=,;."]);
}

#[test]
fn a_quoted_value_ends_at_its_own_quotation_mark() {
    assert_hidden(
        "password",
        &[
            "password=\"«sword fish»\" b",
            "password='«sword \"fish»' b",
            "password=`«sword 'fish»` b",
            "password=\"«sword fish»\nb",
            "password=\"«sword fish»",
            "password=\"«sword\\\"fish»\" b",
            "password=\"«sword\\\\»\" b",
            "password=\"«sword\\\\\\\"fish»\" b",
            "password=\"«sword \\n fish»\" b",
            "password=b'«sword fish»' b",
            "password=r\"«sword fish»\" b",
            "password=u'«sword fish»' b",
            "password=F'«sword fish»' b",
            "password=b\\\"«sword fish»\\\" b",
            "password=\\\"«sword fish»\\\" b",
            "password=\\\"«sword \\\\\\\"fish»\\\" b",
            "password=\\\\\\\"«sword \\\\\\\\\\\\\\\"fish»\\\\\\\" b",
            "password=\\\"«swordfish»\" b",
            "password=\\\"«swordfish»\nb",
            "password=\\\"«sword\\fish»\nb",
            "password=&quot;«sword fish»&quot; b",
            "password=&quot;«sword fish»\nb",
            "password=&quot;«sword fish»",
            "password=\\\\\\\\\\\\\"«sword fish»\\\\\\\\\\\\\" b",
        ],
    );
    // Three layers of JSON take seven backslashes; more are no quotation.
    let slashes = "\\".repeat(7);
    assert_hidden(
        "password",
        &[&format!("password={slashes}\"«sword fish»{slashes}\" b")],
    );
    assert_stays(&[&format!("password=\\{slashes}\"sword fish\\{slashes}\"")]);
    assert_hidden("password", &["password=«sword»\"fish\"", "password=«k»\"c"]);
}

#[test]
fn a_letter_before_a_quotation_mark_counts_only_there() {
    assert_hidden(
        "password",
        &[
            "password=«bass» b",
            "password=«rope» 'b'",
            "password=«k»'sword fish'",
        ],
    );
}

#[test]
fn a_placeholder_in_angle_brackets_ends_at_the_closing_one() {
    assert_stays(&[
        "password=<your key> b",
        "password=<a>b",
        "password: <your \"secret\" key>",
    ]);
    // The bracket is looked for in the line and in 256 bytes of it.
    let long = "a".repeat(254);
    let placeholder = format!("password=<{long}>");
    assert_stays(&[&placeholder]);
    assert_hidden(
        "password",
        &["password=«<sword»\nfish>", &format!("password=«<{long}a>»")],
    );
}

#[test]
fn values_of_any_length_are_hidden_whole() {
    for length in [255_usize, 256, 257, 1_000, 5_000] {
        let value = BODY.repeat(length.div_ceil(BODY.len()));
        let value = &value[..length];
        for name in ["password", "session", "authorization"] {
            for (before, after) in [("", " b"), ("\"", "\" b"), ("'", "'"), ("", "")] {
                let redacted = plain()
                    .redact(&format!("{name}={before}{value}{after}"))
                    .into_owned();
                let end = redacted.strip_prefix(&format!("{name}={before}[REDACTED:"));
                let kind = end.and_then(|end| end.strip_suffix(&format!("]{after}")));
                assert!(kind.is_some_and(|kind| kind.len() < 12), "{redacted}");
            }
        }
    }
}
