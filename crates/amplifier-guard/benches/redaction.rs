//! What redaction of clean text costs as a multiple of a bare walk over the newlines of the same bytes.
//!
//! Clean text holds no secret and comes back as it is: prose, code, logs, data, with and without
//! known secrets to look for. Both sides of a ratio run in turns, and the median of the ratios counts:
//! what else the machine does falls on both.

#![expect(clippy::print_stdout, reason = "a table is what it is for")]

use std::borrow::Cow;
use std::hint::black_box;
use std::time::Instant;

use amplifier_guard::{Redactor, RedactorStream};

const TURNS: usize = 301;
/// The bytes of each text: more than a core's first cache holds.
const SIZE: usize = 256 * 1024;
const SECRETS: [usize; 4] = [0, 1, 20, 100];
const MOST: f64 = 20.0;
/// What one delta of a model's answer brings.
const DELTA: usize = 16;

fn main() {
    let texts = [
        ("prose", prose()),
        (
            "Python",
            repeated(include_str!("../../../python/amplifier_core/session.py")),
        ),
        ("Rust", repeated(include_str!("../src/path.rs"))),
        ("Markdown", repeated(include_str!("../../../docs/sinks.md"))),
        ("JSON", repeated(&data())),
        ("log", repeated(&log())),
        ("event log in JSON", repeated(&events())),
    ];
    println!("redaction of clean text against `memchr_iter` over the newlines, at most {MOST}");
    println!("{:20}{:>9}{:>9}{:>9}{:>9} known secrets", "", 0, 1, 20, 100);
    for (what, text) in &texts {
        let ratios = SECRETS.map(|count| ratio(text, &redactor(count)));
        let cells = ratios.map(|ratio| format!("{ratio:9.1}")).concat();
        let is_reached = ratios.iter().all(|ratio| *ratio <= MOST);
        println!(
            "{what:20}{cells}  {}",
            if is_reached { "reached" } else { "MISSED" }
        );
    }
    println!("\nthe same in deltas of {DELTA} bytes, in nanoseconds each");
    for (what, text) in &texts {
        let costs = SECRETS.map(|count| delta(text, redactor(count)));
        println!(
            "{what:20}{}",
            costs.map(|cost| format!("{cost:9.0}")).concat()
        );
    }
    println!();
}

fn ratio(text: &str, redactor: &Redactor) -> f64 {
    let seconds = |work: &dyn Fn()| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    let turns = (0..TURNS).map(|_| {
        let walk = seconds(&|| walk(black_box(text.as_bytes())));
        let redaction = seconds(&|| {
            let redacted = redactor.redact(black_box(text));
            assert!(
                matches!(black_box(redacted), Cow::Borrowed(_)),
                "the text is not clean"
            );
        });
        redaction / walk
    });
    let mut ratios: Vec<f64> = turns.collect();
    ratios.sort_by(f64::total_cmp);
    ratios[TURNS / 2]
}

fn walk(bytes: &[u8]) {
    black_box(memchr::memchr_iter(b'\n', bytes).fold(0, |last, place| last ^ place));
}

/// Nanoseconds of one delta.
fn delta(text: &str, redactor: Redactor) -> f64 {
    let mut stream = RedactorStream::new(Owned(redactor));
    let start = Instant::now();
    for chunk in text.as_bytes().chunks(DELTA) {
        black_box(stream.feed(black_box(chunk)));
    }
    black_box(stream.flush());
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    let deltas = text.len().div_ceil(DELTA) as f64;
    start.elapsed().as_secs_f64() * 1e9 / deltas
}

struct Owned(Redactor);

impl AsRef<Redactor> for Owned {
    fn as_ref(&self) -> &Redactor {
        &self.0
    }
}

/// Takes made-up keys of forty letters and digits.
fn redactor(count: usize) -> Redactor {
    let mut numbers = Numbers(7);
    let secrets: Vec<String> = (0..count)
        .map(|_| {
            (0..40)
                .map(|_| {
                    char::from(
                        b"abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNOPQRSTUVWXYZ23456789-_+/"
                            [numbers.below(62)],
                    )
                })
                .collect()
        })
        .collect();
    Redactor::new(secrets).unwrap_or_else(|error| panic!("{error}"))
}

/// The text over and over.
fn repeated(text: &str) -> String {
    text.repeat(SIZE.div_ceil(text.len()))
}

/// Numbers that look random and are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % 1_000_003).unwrap_or_default() % limit
    }
}

const WORDS: &[&str] = &[
    "the",
    "of",
    "and",
    "a",
    "to",
    "in",
    "is",
    "you",
    "that",
    "it",
    "he",
    "was",
    "for",
    "on",
    "are",
    "as",
    "with",
    "his",
    "they",
    "at",
    "be",
    "this",
    "have",
    "from",
    "or",
    "one",
    "had",
    "by",
    "word",
    "but",
    "not",
    "what",
    "all",
    "were",
    "we",
    "when",
    "your",
    "can",
    "said",
    "there",
    "use",
    "an",
    "each",
    "which",
    "she",
    "do",
    "how",
    "their",
    "if",
    "will",
    "up",
    "other",
    "about",
    "out",
    "many",
    "then",
    "them",
    "these",
    "so",
    "some",
    "her",
    "would",
    "make",
    "like",
    "him",
    "into",
    "time",
    "has",
    "look",
    "two",
    "more",
    "write",
    "go",
    "see",
    "number",
    "no",
    "way",
    "could",
    "people",
    "than",
    "first",
    "water",
    "been",
    "called",
    "who",
    "oil",
    "sit",
    "now",
    "find",
    "long",
    "down",
    "day",
    "did",
    "get",
    "come",
    "made",
    "may",
    "part",
    "government",
    "understanding",
    "nevertheless",
    "don't",
    "it's",
    "well-known",
    "“quoted”",
    "café",
];

/// A word, mostly a short one.
fn sentence(numbers: &mut Numbers) -> String {
    let count = 4 + numbers.below(16);
    let mut words: Vec<&str> = (0..count)
        .map(|_| WORDS[numbers.below(WORDS.len())])
        .collect();
    words.insert(
        count / 2,
        ["and", "so,", "however,", "that is:", "— perhaps —"][numbers.below(5)],
    );
    format!("{}.", words.join(" "))
}

/// Paragraphs, with lines of at most a hundred characters.
fn prose() -> String {
    let mut numbers = Numbers(1);
    let mut text = String::new();
    let mut line = 0;
    while text.len() < SIZE {
        for word in sentence(&mut numbers).split(' ') {
            if line + word.len() > 99 {
                text.push('\n');
                line = 0;
            }
            text.extend([word, " "]);
            line += word.len() + 1;
        }
        if numbers.below(6) == 0 {
            text.push_str("\n\n");
            line = 0;
        }
    }
    text
}

/// Indented data with names, numbers, identifiers and texts.
fn data() -> String {
    let mut numbers = Numbers(2);
    let rows = (0..200).map(|row| {
        format!(
            "  {{\n    \"id\": \"550e8400-e29b-41d4-a716-{:012}\",\n    \"name\": \"{}\",\n    \
             \"total_tokens\": {},\n    \"tags\": [\"alpha\", \"beta-{row}\"],\n    \"active\": true,\n    \
             \"parent\": null,\n    \"path\": \"src/amplifier/modules/part_{row}.py\",\n    \
             \"note\": \"{}\"\n  }}",
            numbers.below(1_000_000),
            WORDS[numbers.below(WORDS.len())],
            numbers.below(5000),
            sentence(&mut numbers),
        )
    });
    format!("[\n{}\n]\n", rows.collect::<Vec<_>>().join(",\n"))
}

/// Lines of a server.
fn log() -> String {
    let mut numbers = Numbers(3);
    let lines = (0..500).map(|line| {
        format!(
            "2026-03-0{} 12:{:02}:{:02}.{:03} INFO amplifier.session[{}]: request_id=req_{line:08} \
             method=POST path=/v1/messages status=200 duration_ms={} input_tokens={} — {}\n",
            1 + line % 9,
            line / 60 % 60,
            line % 60,
            numbers.below(1000),
            numbers.below(30000),
            numbers.below(9000),
            numbers.below(5000),
            sentence(&mut numbers),
        )
    });
    lines.collect()
}

/// Events of a session, one to a line: texts of a model and source code, escaped.
fn events() -> String {
    let mut numbers = Numbers(4);
    let code = include_str!("../src/path/log_path.rs");
    let lines: Vec<&str> = code.lines().collect();
    let events = (0..400).map(|event| {
        let text = if event % 3 == 0 {
            let start = numbers.below(lines.len() - 8);
            lines[start..start + 8].join("\n")
        } else {
            format!("{}\n\n{}", sentence(&mut numbers), sentence(&mut numbers))
        };
        let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        format!(
            "{{\"event\": \"content_block:delta\", \"timestamp\": \"2026-03-01T12:00:{:02}.{:06}Z\", \
             \"data\": {{\"session_id\": \"0198c5b2-7b4e-7d3a-9f10-{event:012}\", \"block_type\": \"text\", \
             \"block_index\": {}, \"delta\": \"{text}\", \"usage\": {{\"input_tokens\": {}}}}}}}\n",
            event % 60,
            numbers.below(1_000_000),
            event % 4,
            numbers.below(9000),
        )
    });
    events.collect()
}
