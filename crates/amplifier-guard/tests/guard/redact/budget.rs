//! Clean text is looked at a few times only: looking closer costs little where no secret may stand.

use std::hint::black_box;

use amplifier_guard::{Redactor, steps};

use super::writing::base64;
use super::{BODY, plain};

fn known() -> Redactor {
    Redactor::new([BODY, "correct horse battery", "hunter2~x"]).unwrap()
}

/// About 40,000 bytes of the part over and over.
fn long(part: &str) -> String {
    part.repeat(40_000 / part.len())
}

/// Numbers that look drawn at random, always the same ones.
fn random(count: usize) -> Vec<u8> {
    let mut state = 7_u32;
    let bytes = (0..count).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    });
    bytes.collect()
}

#[test]
fn clean_text_costs_a_few_looks_at_each_byte() {
    let bytes: Vec<u8> = random(30_000);
    let ascii: String = bytes.iter().map(|byte| char::from(byte & 0x7f)).collect();
    let image = base64(&bytes, false);
    let lines = |width: usize, end: &str| {
        let lines = image.as_bytes().chunks(width);
        lines
            .map(|line| String::from_utf8_lossy(line).into_owned() + end)
            .collect::<String>()
    };
    // Looks at a hundred bytes, without known secrets and with some.
    for (what, most, text) in [
        (
            "prose",
            [222, 546],
            long("The key to it, as monkeys know: a horse is correct. "),
        ),
        (
            "code",
            [227, 527],
            long("fn main() {\n    let token_count = self.tokens[0] + 1;\n}\n"),
        ),
        (
            "JSON",
            [200, 506],
            long("{\"id\": 12, \"text\": \"a\\nb \\\"c\\\" d\\t\", \"path\": \"C:\\\\a\"},\n"),
        ),
        (
            "JSON in JSON",
            [200, 521],
            long("{\\\"id\\\": 12, \\\"text\\\": \\\"a\\\\nb \\\\\\\"c\\\\\\\" d\\\"},\\n"),
        ),
        (
            "HTML",
            [200, 804],
            long("<p class=\"a\">one &amp; two &lt;three&gt; &quot;four&quot;</p>\n"),
        ),
        (
            "addresses",
            [260, 939],
            long("GET https://a.b/c%20d%2Ee?f=g&h=i%3D1 HTTP/1.1\n"),
        ),
        (
            "digits",
            [308, 645],
            long("9fceb02d0ae598e95dc970b74767f19372d61af8 550e8400-e29b-41d4-a716\n"),
        ),
        ("characters", [201, 532], ascii),
        ("base64", [398, 698], image.clone()),
        ("base64 in lines", [344, 676], lines(76, "\n")),
        ("base64 in short lines", [201, 983], lines(10, "\n")),
        ("base64 in escaped lines", [324, 642], lines(76, "\\n")),
        (
            "base64 in short escaped lines",
            [201, 1301],
            lines(10, "\\r\\n"),
        ),
    ] {
        let costs = [plain(), known()].map(|redactor| {
            let cost = steps::of(|| {
                black_box(redactor.redact(&text));
            });
            (100 * cost).div_ceil(text.len())
        });
        let is_in = costs
            .iter()
            .zip(most)
            .all(|(cost, most)| *cost <= most + most / 50);
        assert!(is_in, "{what}: {costs:?} looks, at most {most:?}");
    }
}
