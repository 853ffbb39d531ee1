//! Keys of vendors: their prefixes, lengths and characters.

use super::{BODY, assert_hidden, assert_stays};

/// What a key may hold besides letters and digits, and whether one stretch of twelve must look random.
type Body = (&'static str, bool);

const LETTERS: Body = ("", false);
const WORD: Body = ("_", false);
const DASHED: Body = ("_-", true);
const DOTTED: Body = ("_-.", true);
const PATH: Body = ("_-./", true);

/// Prefixes, the kind of their keys, what follows and how much of it at least.
const KEYS: &[(&[&str], &str, Body, usize)] = &[
    (&["sk-ant-"], "anthropic key", DASHED, 16),
    (
        &["sk-proj-", "sk-svcacct-", "sk-admin-"],
        "openai key",
        DASHED,
        16,
    ),
    (&["sk-or-"], "openrouter key", DASHED, 16),
    (&["sk-"], "api key", DASHED, 16),
    (&["csk-"], "cerebras key", DASHED, 16),
    (&["gsk_"], "groq key", WORD, 20),
    (&["xai-"], "xai key", DASHED, 20),
    (&["pplx-"], "perplexity key", DASHED, 20),
    (&["fw_"], "fireworks key", LETTERS, 20),
    (&["tgp_v1_"], "together key", DASHED, 20),
    (&["nvapi-"], "nvidia key", DASHED, 20),
    (&["tvly-"], "tavily key", DASHED, 16),
    (&["lsv2_"], "langsmith key", WORD, 20),
    (&["hf_", "api_org_"], "hugging face token", LETTERS, 20),
    (&["r8_"], "replicate token", LETTERS, 20),
    (&["AIza"], "google key", DASHED, 30),
    (&["ya29."], "google token", DOTTED, 16),
    (&["GOCSPX-"], "google secret", DASHED, 20),
    (
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        "github token",
        LETTERS,
        20,
    ),
    (&["github_pat_"], "github token", WORD, 20),
    (&["glpat-", "glrt-"], "gitlab token", DOTTED, 16),
    (
        &["glptt-", "gldt-", "glcbt-", "gloas-"],
        "gitlab token",
        DASHED,
        16,
    ),
    (
        &[
            "xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxp-", "xoxr-", "xoxs-", "xapp-",
        ],
        "slack token",
        DASHED,
        16,
    ),
    (&["xoxe."], "slack token", DOTTED, 16),
    (&["hooks.slack.com/services/"], "slack webhook", PATH, 20),
    (&["discord.com/api/webhooks/"], "discord webhook", PATH, 20),
    (
        &["sk_live_", "sk_test_", "rk_live_", "rk_test_"],
        "stripe key",
        LETTERS,
        16,
    ),
    (&["whsec_"], "stripe secret", LETTERS, 16),
    (&["SG."], "sendgrid key", DOTTED, 40),
    (&["xkeysib-"], "brevo key", DASHED, 20),
    (&["npm_"], "npm token", LETTERS, 20),
    (&["pypi-"], "pypi token", DASHED, 16),
    (&["rubygems_"], "rubygems key", LETTERS, 20),
    (&["dckr_pat_"], "docker token", DASHED, 20),
    (&["dop_v1_", "doo_v1_"], "digitalocean token", LETTERS, 20),
    (
        &["shpat_", "shpca_", "shppa_"],
        "shopify token",
        LETTERS,
        20,
    ),
    (&["shpss_"], "shopify secret", LETTERS, 20),
    (&["hvs.", "hvb."], "vault token", DASHED, 20),
    (&["dapi"], "databricks token", LETTERS, 32),
    (&["PMAK-"], "postman key", DASHED, 20),
    (&["lin_api_"], "linear key", LETTERS, 20),
    (&["ntn_"], "notion token", LETTERS, 20),
    (&["sntrys_", "sntryu_"], "sentry token", WORD, 20),
    (&["glsa_"], "grafana token", WORD, 20),
    (&["figd_"], "figma token", DASHED, 20),
    (&["NRAK-"], "new relic key", LETTERS, 20),
    (&["ATATT3"], "atlassian token", DASHED, 20),
    (&["tskey-"], "tailscale key", DASHED, 16),
    (&["sq0atp-"], "square token", DASHED, 20),
    (&["sq0csp-"], "square secret", DASHED, 20),
    (&["AGE-SECRET-KEY-1"], "age key", LETTERS, 20),
    (&["EAAA"], "square token", DASHED, 60),
];

#[test]
fn a_key_has_its_vendors_least_length_and_characters() {
    let body = BODY.repeat(2);
    for (prefixes, kind, (others, has_stretch), least) in KEYS {
        for prefix in *prefixes {
            // The end of a sentence is no part of a key.
            assert_hidden(
                kind,
                &[
                    &format!("«{prefix}{}»", &body[..*least]),
                    &format!("a «{prefix}{}» b", &body[..*least]),
                    &format!("\"«{prefix}{}».", &body[..least + 3]),
                    &format!("\"«{prefix}{}»...", &body[..least + 3]),
                    &format!("x/«{prefix}{}»,", &body[..least + 8]),
                ],
            );
            assert_stays(&[
                &format!("a {prefix}{} b", "a".repeat(*least)),
                &format!("a {prefix}{} b", "1".repeat(*least)),
            ]);
            // `sk-ant-` and the like are `sk-`, too, which has the same length.
            if *kind == "api key" || !prefix.starts_with("sk-") {
                assert_stays(&[&format!("a {prefix}{} b", &body[..least - 1])]);
            }
            for other in ['_', '-', '.', '/', '+', '='] {
                let text = format!("{prefix}{}{other}{}", &body[..*least], &body[..5]);
                if others.contains(other) {
                    assert_hidden(kind, &[&format!("«{text}»")]);
                } else {
                    assert_hidden(
                        kind,
                        &[&format!(
                            "«{prefix}{}»{other}{}",
                            &body[..*least],
                            &body[..5]
                        )],
                    );
                }
            }
            if *has_stretch {
                // Words with dashes between them are no key, nor are short parts.
                let words = [
                    "river", "basin", "cloud", "three", "seven", "paths", "mount", "lakes",
                    "fires", "woods", "trees",
                ];
                let words = words.join("-") + "-2";
                let parts: Vec<&str> = (0..70)
                    .step_by(11)
                    .map(|place| &body[place % 50..place % 50 + 11])
                    .collect();
                assert_stays(&[
                    &format!("{prefix}{words}"),
                    &format!("{prefix}{}", parts.join("-")),
                ]);
                assert_hidden(
                    kind,
                    &[&format!("«{prefix}{}-{}»", parts.join("-"), &body[..12])],
                );
            }
        }
    }
}

#[test]
fn a_key_of_exact_length_has_no_more() {
    let id = "Q7WE9RT2YU4IO6PA";
    for prefix in ["AKIA", "ASIA", "ABIA", "ACCA"] {
        assert_hidden(
            "aws key id",
            &[
                &format!("a «{prefix}{id}» b"),
                &format!("«{prefix}{id}»."),
                &format!("«{prefix}{id}»_b"),
            ],
        );
        assert_stays(&[
            &format!("{prefix}{}", &id[1..]),
            &format!("{prefix}{id}8"),
            &format!("{prefix}{id}b"),
            &format!("{prefix}{}b", &id[1..]),
        ]);
    }
    let digits = "0f9e8d7c6b5a49382716f5e4d3c2b1a0";
    assert_hidden(
        "mailgun key",
        &[
            &format!("a «key-{digits}» b"),
            &format!("(«key-{digits}»)"),
            &format!("a:«key-{digits}»."),
        ],
    );
    assert_stays(&[
        &format!("key-{}", &digits[1..]),
        &format!("key-{digits}0"),
        &format!("key-{}", digits.to_uppercase()),
        &format!("key-g{}", &digits[1..]),
        &format!("key-{}", "0".repeat(32)),
        &format!("key-{}", "a".repeat(32)),
        &format!("my-key-{digits}"),
        &format!("my_key-{digits}"),
        &format!("my.key-{digits}"),
        &format!("my/key-{digits}"),
        &format!("mykey-{digits}"),
    ]);
}
