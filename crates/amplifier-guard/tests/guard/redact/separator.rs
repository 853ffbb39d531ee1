//! What may stand between a name that says secret and its value, and before such a name.

use super::{assert_becomes, assert_hidden, assert_stays};

#[test]
fn quotation_marks_brackets_and_blanks_may_stand_before_the_separator() {
    for between in [
        "=",
        ":",
        " = ",
        " : ",
        "\t=\t",
        "\" = ",
        "': ",
        "`: ",
        "\\\": ",
        "\"]= ",
        "**: ",
        "\\\\\\\": ",
        "*]\"'= ",
        "&quot;: ",
        "\"&quot; = ",
        "=> ",
        " => ",
        ":= ",
        " := ",
    ] {
        assert_hidden(
            "password",
            &[&format!("password{between}\"«swordfish»\" b")],
        );
    }
    for between in [
        "==", " == ", "::", " :: ", "-", " ", "\n= ", " \n: ", ") = ", "#=", "=\n", "===", ": : ",
    ] {
        assert_stays(&[&format!("(password{between}swordfish")]);
    }
    // At most eight marks, and eighty bytes with the name.
    let marks = "*".repeat(8);
    assert_hidden(
        "password",
        &[
            &format!("password{marks}=«swordfish»"),
            &format!("password{marks} =«swordfish»"),
        ],
    );
    assert_stays(&[
        &format!("password*{marks}=swordfish"),
        &format!("password*{marks} =swordfish"),
    ]);
    assert_hidden(
        "password",
        &[
            &format!("password{}=«swordfish»", " ".repeat(72)),
            &format!("a pwd{}: «swordfish»", "\t".repeat(77)),
        ],
    );
    assert_stays(&[
        &format!("password{}=swordfish", " ".repeat(73)),
        &format!("a pwd{}: swordfish", "\t".repeat(78)),
    ]);
}

#[test]
fn escapes_before_a_name_are_no_part_of_it() {
    assert_hidden(
        "token",
        &[
            "\\ntoken=«swordfish»",
            "\\ttoken=«swordfish»",
            "\\rtoken=«swordfish»",
            "\\xtoken=«swordfish»",
        ],
    );
    assert_stays(&["next_token=swordfish", "\\npage_token=swordfish"]);
    assert_becomes(&[("\\nsession=Q7wE9rT2yU4iO6pA", "\\nsession=[REDACTED:token]")]);
}

#[test]
fn a_mark_names_nothing() {
    assert_stays(&[
        "[REDACTED:password]: swordfish",
        "[REDACTED:api key]=swordfish",
        "[REDACTED:aws secret] = swordfish",
    ]);
    assert_hidden(
        "password",
        &[
            "[a:password]: «swordfish»",
            "[password]=«swordfish»",
            "[[password]]: «swordfish»",
        ],
    );
}

#[test]
fn the_working_directory_is_no_password() {
    assert_stays(&[
        "PWD=/home/ada/project",
        "OLDPWD=~/project",
        "PWD=$HOME",
        "pwd: /srv",
        "pwd: \"/srv a\"",
        "PWD=/a/pwd=/b/PWD=~c",
        "PWD=/a;pwd=/b",
    ]);
    assert_hidden(
        "password",
        &[
            "password=«/swordfish»",
            "PWD=«swordfish»",
            "DB_PWD=«/swordfish»",
            "PWD=«a/b»",
        ],
    );
    assert_hidden(
        "password",
        &[
            "PWD=/a/pwd=«swordfish»",
            "PWD=/a pwd=«swordfish»",
            "PWD=/a/password=«swordfish»",
        ],
    );
}
