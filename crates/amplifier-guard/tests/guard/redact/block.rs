//! Private keys in PEM blocks: where they begin and end.

use super::{BODY, assert_becomes, assert_hidden, assert_stays, plain};

/// So that no scanner takes the tests for a key.
const BEGIN: &str = "-----BEGIN";

fn line() -> String {
    format!("{BODY}{}", &BODY[..30])
}

#[test]
fn a_block_ends_at_its_end_or_where_its_lines_do() {
    let line = line();
    for begin in [
        format!("{BEGIN} PRIVATE KEY-----"),
        format!("{BEGIN} RSA PRIVATE KEY-----\n"),
        format!("{BEGIN} OPENSSH PRIVATE KEY-----\r\n"),
        format!("{BEGIN} ENCRYPTED PRIVATE KEY-----\\n"),
        format!("{BEGIN} PGP PRIVATE KEY BLOCK-----\n\n"),
    ] {
        for rest in [
            format!("{line}\n{line}\nab=\n-----END PRIVATE KEY-----»\nafter"),
            format!("{line}\n-----END RSA PRIVATE KEY-----»-after"),
            format!("{line}\\n{line}\\n-----END PRIVATE KEY-----»\\n after"),
            format!("{line} {line} -----END PRIVATE KEY-----»"),
            format!("{line}\n\t{line}\n-----END PRIVATE KEY-----»."),
            format!("{line}\n{line}»\nAfter the key."),
            format!("{line}\n{line}»\", after"),
            format!("{line}»', after"),
            format!("{line}»<after>"),
            format!("{line}\n{}» after, and this is how it goes on", &line[..32]),
            format!("{line}»\n{} after and much more of it", &line[..31]),
            format!("{line}\n{}»\nAfter, there is more text", &line[..31]),
            format!("{line}\n{}»\"After, there is more text", &line[..20]),
            format!("{line}\n-----END RSA PRIVATE »after the end of it"),
        ] {
            assert_hidden("private key", &[&format!("before «{begin}{rest}")]);
        }
    }
}

#[test]
fn headers_of_a_block_belong_to_it() {
    let line = line();
    for header in [
        "Proc-Type: 4,ENCRYPTED\n",
        "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n",
        "Comment: a (b) c, ö\n",
        "Version: 1\r\n\r\n",
        &format!("Comment: {}\n", "c (d) ".repeat(40)),
    ] {
        assert_hidden(
            "private key",
            &[&format!(
                "«{BEGIN} PRIVATE KEY-----\n{header}{line}\n-----END PRIVATE KEY-----» a"
            )],
        );
    }
    // All ends of lines escaped, once or twice.
    for end in ["\\n", "\\\\n", "\\r\\n"] {
        let lines = [
            "Proc-Type: 4,ENCRYPTED",
            "DEK-Info: AES,00",
            "",
            &line,
            "-----END PRIVATE KEY-----»\" a",
        ];
        assert_hidden(
            "private key",
            &[&format!(
                "\"«{BEGIN} PRIVATE KEY-----{end}{}",
                lines.join(end)
            )],
        );
    }
    for other in [": a", "a b: c", "-a:b"] {
        assert_hidden(
            "private key",
            &[&format!(
                "«{BEGIN} PRIVATE KEY-----»\n{other}, and so much more of it\n{line}"
            )],
        );
    }
    // A header's name has at most 32 characters.
    let name = "n".repeat(32);
    let shorter = &name[1..];
    assert_hidden(
        "private key",
        &[
            &format!("«{BEGIN} PRIVATE KEY-----\n{shorter}: a, b\n{line}»\nThis is after the key."),
            &format!("«{BEGIN} PRIVATE KEY-----\n{name}: a, b\n{line}»\nThis is after the key."),
            &format!("«{BEGIN} PRIVATE KEY-----\nn{name}»: a, b\n{line}\nThis is after the key."),
        ],
    );
}

#[test]
fn the_label_of_an_end_has_at_most_64_characters() {
    let line = line();
    let label = " A".repeat(40);
    assert_hidden(
        "private key",
        &[
            &format!(
                "«{BEGIN} PRIVATE KEY-----\n{line}\n-----END{}»{}-----",
                &label[..64],
                &label[64..]
            ),
            &format!("«{BEGIN} PRIVATE KEY-----\n{line}»\nsee:the-notes-of-the-key-and-more-of-it"),
        ],
    );
}

#[test]
fn other_blocks_and_labels_that_never_end_stay() {
    let line = line();
    for label in [
        " CERTIFICATE",
        " PUBLIC KEY",
        " PRIVATE",
        " KEY",
        " private key",
        &format!(" PRIVATE KEY{}", "-A".repeat(30)),
    ] {
        assert_stays(&[
            &format!("{BEGIN}{label}-----\n{line}\n-----END{label}-----"),
            &format!("a {BEGIN}{label}----- b"),
        ]);
    }
    let label = format!("{} PRIVATE KEY", "A".repeat(47));
    assert_hidden(
        "private key",
        &[&format!(
            "«{BEGIN}{label}-----\n{line}\n-----END PRIVATE KEY-----» a"
        )],
    );
    assert_stays(&[&format!(
        "{BEGIN}A{label}-----\n{line}\n-----END PRIVATE KEY-----"
    )]);
    assert_stays(&[&format!(
        "{BEGIN} PRIVATE KEY and nothing that ends the label, which has gone on too long"
    )]);
}

#[test]
fn several_blocks_are_several_secrets() {
    let block = format!(
        "{BEGIN} PRIVATE KEY-----\n{0}\n-----END PRIVATE KEY-----",
        line()
    );
    let mark = "[REDACTED:private key]";
    assert_becomes(&[
        (&format!("{block}\n{block}\n"), &format!("{mark}\n{mark}\n")),
        (
            &format!("a {block} b {block} c"),
            &format!("a {mark} b {mark} c"),
        ),
        (
            &format!("{BEGIN} CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n{block}"),
            &format!("{BEGIN} CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n{mark}"),
        ),
    ]);
    let inner = format!(
        "{BEGIN} PRIVATE KEY-----\n{BEGIN} PRIVATE KEY-----\n{}\n",
        line()
    );
    assert_eq!(plain().redact(&inner), format!("{mark}\n{mark}\n"));
}
