//! Which values behind secret names are none: empty ones, placeholders, words of prose, types, code.

use super::{assert_hidden, assert_stays};

#[test]
fn words_for_no_value_and_types_stay_whole_and_in_any_case() {
    for word in [
        "none",
        "Null",
        "nil",
        "true",
        "FALSE",
        "yes",
        "no",
        "undefined",
        "unset",
        "missing",
        "required",
        "optional",
        "Option",
        "invalid",
        "expired",
        "empty",
        "default",
        "todo",
        "unknown",
        "wrong",
        "incorrect",
        "changed",
        "hidden",
        "redacted",
        "masked",
        "removed",
        "str",
        "string",
        "text",
        "bytes",
        "int",
        "integer",
        "number",
        "bool",
        "boolean",
        "object",
        "array",
        "any",
        "SecretStr",
        "password",
        "secret",
        "token",
        "bearer",
        "basic",
    ] {
        assert_stays(&[
            &format!("token={word}"),
            &format!("token=\"{word}\""),
            &format!("token: {word}, a"),
        ]);
        assert_hidden(
            "token",
            &[&format!("token=«{word}1»"), &format!("token=«x{word}»")],
        );
    }
}

#[test]
fn numbers_are_secret_behind_a_password_or_when_they_are_long() {
    assert_stays(&[
        "token=1",
        "token=1234567",
        "secret: \"1234567\"",
        "api_key=0000000",
    ]);
    assert_hidden("token", &["token=«12345678»", "token: «1234567a»"]);
    assert_hidden(
        "password",
        &["password=«1»", "password: «1234567»", "pwd: \"«0000»\""],
    );
}

#[test]
fn placeholders_stay() {
    assert_stays(&[
        "token=<>",
        "token=<token>",
        "token=${TOKEN}",
        "token=${}",
        "token=$(cat)",
        "token={{token}}",
        "token={token}",
        "token=\"{token}\"",
        "token=\"{{token}}\"",
        "token=%TOKEN%",
        "token=%s",
        "token=%sb1",
        "token=%(token)s1",
        "token=%%",
        "token=$",
        "token=$TOKEN_2",
        "token=x",
        "token=xxxxxxxx",
        "token=XXXX",
        "token=xx-xx_xx",
        "token=****",
        "token=**-**",
        "token=-",
        "token=....",
        "token=…",
        "token=[REDACTED]",
        "token=[REDACTED:token]",
        "token=\"[REDACTED:key] b\"",
        "token=\"[REDACTED]\"",
        "token=\"sk-...\"",
        "token=\"$(cat file)\"",
        "token=\"abcdefghijklmn12...\"",
        "token=a1b2…",
        "token=your-key-1",
        "token=YOUR_KEY_1",
        "token=Your-Key1",
        "token=\"your-token1\"",
        "token=\"abcdefghijklmno1…\"",
    ]);
}

#[test]
fn what_is_nearly_a_placeholder_is_hidden() {
    assert_hidden(
        "token",
        &[
            "token=«<token»",
            "token=«token1>»",
            "token=«${TOKEN»",
            "token=«$TOKEn»",
            "token=«$TOKEN-2»",
            "token=\"«{token»\"",
            "token=\"«$(token»\"",
            "token=«$1(token)»",
            "token=«%TOKEN»",
            "token=«TOKEN%»",
            "token=«%t(oken»",
            "token=«yyyyyyyy»",
            "token=«xxxxxxxy»",
            "token=«xxXxxx»",
            "token=«****x»",
            "token=«1*1*»",
            "token=\"«[REDACTED] b1»\"",
            "token=«your.key1»",
            "token=«my-your-key»",
            "token=\"«abcdefghijklmnop1…»\"",
            "token=\"«abcdefghijklmno12...»\"",
            "token=\"«a1b2..»\"",
            "token=«a1b2»...",
            "token=«...a1b2»",
            "token=«…a1b2»",
        ],
    );
}

#[test]
fn code_stays_where_it_is_not_quoted() {
    for start in [
        "self.",
        "cls.",
        "os.",
        "env.",
        "process.",
        "settings.",
        "config.",
        "cfg.",
        "args.",
        "request.",
        "req.",
        "ctx.",
        "options.",
        "opts.",
        "this.",
        "params.",
        "data.",
        "response.",
        "secrets.",
        "st.",
        "getpass.",
        "import.",
        "std::",
        "Optional[",
        "Union[",
        "list[",
        "dict[",
    ] {
        assert_stays(&[&format!("token={start}t1")]);
        assert_hidden("token", &[&format!("token=\"«{start}t1»\"")]);
    }
    assert_stays(&[
        "token=get(1)",
        "token=a.b_c2(x)",
        "token={1:2}x",
        "token=[1,2]x",
        "token=(1,2)x",
        "token=(1)",
        "token: Option<str>",
        "token: &str",
    ]);
    assert_hidden(
        "token",
        &[
            "token=\"«get(1)»\"",
            "token=«2get(1)»",
            "token=«a-b(1)»",
            "token=«a.b[1]»",
            "token=\"«(1)x»\"",
            "token=«selfish.t1»",
        ],
    );
}

#[test]
fn a_word_with_more_words_behind_it_is_prose_after_a_colon() {
    assert_stays(&[
        "password: must be long",
        "password: must-be 8",
        "password: must  be",
        "password: must \tbe",
        "password= must be",
        "password := must be",
    ]);
    assert_hidden(
        "password",
        &[
            "password: «must»",
            "password: «must» ",
            "password: «must»\tbe",
            "password: «must»\nbe",
            "password: «must» (be",
            "password: «must» — be",
            "password: «must1» be",
            "password: «must.x» be",
            "password=«must» be",
            "password: «mustBeLong» be",
            "password: \"«must»\" be",
        ],
    );
}
