//! Secrets that are known by their shape: vendors' keys, credentials behind a scheme, private keys.

use super::{BODY, assert_redacted, assert_unchanged, plain};
use amplifier_guard::Redactor;

#[test]
fn the_mark_names_the_kind_and_nothing_else() {
    let key = format!("sk-{}-api03-{BODY}", "ant");
    assert_eq!(
        plain().redact(&format!("key {key}, and again {key}.")),
        "key [REDACTED:anthropic key], and again [REDACTED:anthropic key]."
    );
    let known = Redactor::new(["correct horse"]).unwrap();
    assert_eq!(
        known.redact("a correct horse ran"),
        "a [REDACTED:secret] ran"
    );
}

#[test]
fn keys_of_vendors_are_known_by_their_shape() {
    for prefix in [
        "sk-ant-api03-",
        "sk-proj-",
        "sk-",
        "sk-or-v1-",
        "gsk_",
        "xai-",
        "hf_",
        "AIza",
        "ya29.a0",
        "GOCSPX-",
        "ghp_",
        "gho_",
        "ghs_",
        "github_pat_11AAAA_",
        "glpat-",
        "xoxb-123456789012-",
        "xapp-1-A0-",
        "sk_live_",
        "rk_test_",
        "whsec_",
        "npm_",
        "pypi-AgEIcHlwaS5vcmc",
        "dckr_pat_",
        "dop_v1_",
        "shpat_",
        "hvs.",
        "pplx-",
        "r8_",
        "nvapi-",
        "https://hooks.slack.com/services/T00/B00/",
    ] {
        let key = format!("{prefix}{BODY}");
        for text in [
            key.clone(),
            format!("a {key} b"),
            format!("\"{key}\""),
            format!("line\\n{key}\\nline"),
            format!("k%3D{key}%20"),
            format!("\x1b[1;31m{key}\x1b[0m"),
            format!("({key})."),
            format!("ключ:{key}…"),
        ] {
            assert_redacted(&text, BODY);
        }
    }
    assert_redacted(&format!("SG.{}.{BODY}", &BODY[..22]), BODY);
    assert_redacted(
        &format!("id {}{}", "AKIA", "Q7WE9RT2YU4IO6PA"),
        "Q7WE9RT2YU4IO6PA",
    );
    assert_redacted(
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJmYWtlIn0.Q7wE9rT2yU4i",
        "Q7wE9rT2yU4i",
    );
    let digits = "0f9e8d7c6b5a49382716f5e4d3c2b1a0";
    assert_redacted(&format!("key-{digits}"), digits);
    assert_redacted(&format!("EAAA{BODY}{BODY}"), BODY);
    assert_redacted("cut off: eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJm", "eyJzdWIiOiJm");
}

#[test]
fn the_secret_of_an_aws_key_is_known_by_the_id_before_it() {
    let id = format!("{}{}", "AKIA", "Q7WE9RT2YU4IO6PA");
    let secret = "Q7wE9rT2yU4iO6pA/8sD1fG3hJ5kL0zXcVb+nM2q";
    assert_redacted(&format!("{id}:{secret}"), secret);
    assert_redacted(&format!("{id}\n{secret}\n"), secret);
    assert_unchanged(&format!("digest {secret}"));
}

#[test]
fn credentials_are_known_by_their_scheme() {
    let basic = "ZmFrZTpmYWtlcGFzc3dvcmQ=";
    for text in [
        format!("Authorization: Basic {basic}"),
        format!("authorization: basic {basic}"),
        format!("sent Basic {basic} to"),
        format!("curl -H 'Authorization: Basic {basic}' https://a.b/c"),
        format!("{{\"Authorization\": \"Basic {basic}\"}}"),
        format!("{{\\\"authorization\\\": \\\"Basic {basic}\\\"}}"),
        format!("[(b'authorization', b'Basic {basic}')]"),
        format!("Proxy-Authorization: Basic {basic}\r\nHost: a"),
    ] {
        assert_redacted(&text, basic);
    }
    for text in [
        format!("Authorization: Bearer {BODY}"),
        format!("used bearer {BODY} there"),
        format!("Authorization: token {BODY}"),
        format!("Authorization: {BODY}"),
        format!("Authorization: Digest username=\"a\", response=\"{BODY}\""),
        format!("Authorization: AWS4-HMAC-SHA256 Credential=a/b, Signature={BODY}"),
        format!("Authorization=Bearer+{BODY}"),
    ] {
        assert_redacted(&text, BODY);
    }
}

#[test]
fn private_keys_are_found_whole_escaped_and_cut_off() {
    let lines = format!("{BODY}{}\n{BODY}+/\n{BODY}=", &BODY[..30]);
    let (begin, end) = ("-----BEGIN RSA PRIVATE", "-----END RSA PRIVATE");
    let block = format!("{begin} KEY-----\n{lines}\n{end} KEY-----");
    assert_eq!(
        plain().redact(&format!("a\n{block}\nb")),
        "a\n[REDACTED:private key]\nb"
    );
    for text in [
        block.clone(),
        block.replace('\n', "\\n"),
        block.replace('\n', "\\\\n"),
        block.replace('\n', "\r\n"),
        block.replace('\n', "\n    "),
        block.replace('\n', " "),
        format!("{begin} KEY-----\n{lines}"),
        format!(
            "{begin} KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES,00\n\n{lines}\n{end} KEY-----"
        ),
        format!(
            "key = \"{begin} KEY-----\\n{}\"",
            lines.replace('\n', "\\n")
        ),
        format!("{begin} KEY-----\n{lines}\n{end}"),
    ] {
        assert_redacted(&text, &format!("{BODY}{}", &BODY[..30]));
        assert_redacted(&text, BODY);
    }
    assert_eq!(
        plain().redact(&format!(
            "{begin} KEY-----\n{BODY}{BODY}\nThat was the key."
        )),
        "[REDACTED:private key]\nThat was the key."
    );
    for label in ["CERTIFICATE", "PUBLIC KEY", "RSA PUBLIC KEY"] {
        assert_unchanged(&format!(
            "-----BEGIN {label}-----\nMIIB\n-----END {label}-----"
        ));
    }
}
