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
    // Looks at a thousand bytes: without known secrets, with long ones, and with a short one, too.
    for (what, most, text) in [
        (
            "prose",
            [2_212, 5_459, 5_212],
            long("The key to it, as monkeys know: a horse is correct. "),
        ),
        (
            "code",
            [2_268, 5_268, 5_268],
            long("fn main() {\n    let token_count = self.tokens[0] + 1;\n}\n"),
        ),
        (
            "JSON",
            [2_000, 5_055, 5_055],
            long("{\"id\": 12, \"text\": \"a\\nb \\\"c\\\" d\\t\", \"path\": \"C:\\\\a\"},\n"),
        ),
        (
            "JSON in JSON",
            [2_000, 5_209, 5_209],
            long("{\\\"id\\\": 12, \\\"text\\\": \\\"a\\\\nb \\\\\\\"c\\\\\\\" d\\\"},\\n"),
        ),
        (
            "HTML",
            [2_000, 8_033, 8_033],
            long("<p class=\"a\">one &amp; two &lt;three&gt; &quot;four&quot;</p>\n"),
        ),
        (
            "addresses",
            [2_596, 9_383, 5_681],
            long("GET https://a.b/c%20d%2Ee?f=g&h=i%3D1 HTTP/1.1\n"),
        ),
        (
            "digits",
            [2_924, 6_292, 6_676],
            long("9fceb02d0ae598e95dc970b74767f19372d61af8 550e8400-e29b-41d4-a716\n"),
        ),
        ("characters", [2_002, 5_319, 5_330], ascii),
        ("base64", [2_976, 5_977, 5_981], image.clone()),
        ("base64 in lines", [2_962, 6_290, 6_610], lines(76, "\n")),
        (
            "base64 in short lines",
            [2_002, 9_830, 9_830],
            lines(10, "\n"),
        ),
        (
            "base64 in escaped lines",
            [2_763, 5_947, 10_399],
            lines(76, "\\n"),
        ),
        (
            "base64 in short escaped lines",
            [2_035, 13_034, 13_035],
            lines(10, "\\r\\n"),
        ),
    ] {
        let short = Redactor::new([BODY, "hunter2"]).unwrap();
        let costs = [plain(), known(), short].map(|redactor| {
            let cost = steps::of(|| {
                black_box(redactor.redact(&text));
            });
            (1_000 * cost).div_ceil(text.len())
        });
        let is_in = costs.iter().zip(most).all(|(cost, most)| *cost <= most);
        assert!(is_in, "{what}: {costs:?} looks, at most {most:?}");
    }
}
