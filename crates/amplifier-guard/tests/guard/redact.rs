//! Secrets are taken out of text whole, in any encoding and any chunks; other text stays as it is.

mod address;
mod around;
mod benign;
mod block;
#[cfg(feature = "steps")]
mod budget;
mod clean;
mod escape;
mod field;
mod forms;
#[cfg(feature = "steps")]
mod growth;
mod header;
mod held;
mod known;
mod log;
mod long;
mod name;
mod named;
mod part;
mod place;
mod properties;
mod reference;
mod scheme;
mod separator;
mod shape;
mod stream;
mod value;
mod vendor;
mod writing;

use amplifier_guard::{Redactor, RedactorStream};

/// A made-up secret of random-looking characters, in pieces, so that no scanner takes it for real.
const BODY: &str = "Q7wE9rT2yU4iO6pA8sD1fG3hJ5kL0zXcVb";

/// What stands in the place of a known secret.
const MARK: &str = "[REDACTED:secret]";

/// Fails unless the redactor takes just this middle out of the text.
fn assert_taken(redactor: &Redactor, [before, middle, after]: [&str; 3]) {
    let redacted = redactor
        .redact(&[before, middle, after].concat())
        .into_owned();
    assert_eq!(
        redacted,
        [before, MARK, after].concat(),
        "{before}{middle}{after}"
    );
}

fn plain() -> Redactor {
    Redactor::new::<&str>([]).unwrap()
}

/// The redactor of a stream, which owns it.
struct Owned(Redactor);

impl AsRef<Redactor> for Owned {
    fn as_ref(&self) -> &Redactor {
        &self.0
    }
}

fn streamed(secrets: &[String], chunks: &[&[u8]]) -> Vec<u8> {
    let mut stream = RedactorStream::new(Owned(Redactor::new(secrets).unwrap()));
    let mut out: Vec<u8> = chunks.iter().flat_map(|chunk| stream.feed(chunk)).collect();
    out.extend(stream.flush());
    out
}

/// The text cut at the places, each anywhere in it.
fn cut<'text>(text: &'text [u8], places: &[usize]) -> Vec<&'text [u8]> {
    let mut places: Vec<usize> = places
        .iter()
        .map(|place| place % (text.len() + 1))
        .collect();
    places.sort_unstable();
    let starts = [0].into_iter().chain(places.clone());
    let ends = places.clone().into_iter().chain([text.len()]);
    starts
        .zip(ends)
        .map(|(start, end)| &text[start..end])
        .collect()
}

/// A part of eight characters of the secret that stands in the text.
fn part_of(secret: &str, text: &str) -> Option<String> {
    let characters: Vec<char> = secret.chars().collect();
    let length = characters.len().min(8);
    characters
        .windows(length)
        .map(|part| part.iter().collect::<String>())
        .find(|part| text.contains(part))
}

fn assert_redacted(text: &str, secret: &str) {
    let redacted = plain().redact(text).into_owned();
    assert_eq!(part_of(secret, &redacted), None, "{text} became {redacted}");
    assert!(redacted.contains("[REDACTED:"), "{text} became {redacted}");
    assert_eq!(plain().redact(&redacted), redacted, "redacted twice");
    for place in 0..=text.len() {
        let chunks = cut(text.as_bytes(), &[place]);
        let out = String::from_utf8(streamed(&[], &chunks)).unwrap();
        assert_eq!(out, redacted, "{text} cut at {place}");
    }
}

/// What is wrong where a text should become another one: whole, twice, cut anywhere, byte by byte.
fn fault(text: &str, redacted: &str) -> Option<String> {
    let found = plain().redact(text).into_owned();
    if found != redacted {
        return Some(format!("{text:?} became {found:?}"));
    }
    let twice = plain().redact(redacted).into_owned();
    if twice != redacted {
        return Some(format!("{redacted:?} became {twice:?}"));
    }
    let single: Vec<usize> = (0..text.len()).collect();
    let mut cuts = (0..=text.len()).map(|place| vec![place]).chain([single]);
    cuts.find_map(|places| {
        let out = streamed(&[], &cut(text.as_bytes(), &places));
        let out = String::from_utf8_lossy(&out).into_owned();
        (out != redacted).then(|| format!("{text:?} cut at {places:?} became {out:?}"))
    })
}

fn assert_becomes(rows: &[(&str, &str)]) {
    let faults = rows.iter().filter_map(|(text, to)| fault(text, to));
    assert_eq!(faults.collect::<Vec<_>>(), <[String; 0]>::default());
}

fn assert_stays(rows: &[&str]) {
    let rows: Vec<(&str, &str)> = rows.iter().map(|row| (*row, *row)).collect();
    assert_becomes(&rows);
}

/// `«…»` around a secret in a row stands for the mark of this kind in the result.
fn assert_hidden(kind: &str, rows: &[&str]) {
    let faults = rows.iter().filter_map(|row| {
        let parts = row.split(['«', '»']).enumerate();
        let marked = parts.map(|(place, part)| match place % 2 {
            0 => part.to_string(),
            _ => format!("[REDACTED:{kind}]"),
        });
        fault(&row.replace(['«', '»'], ""), &marked.collect::<String>())
    });
    assert_eq!(faults.collect::<Vec<_>>(), <[String; 0]>::default());
}

fn assert_unchanged(text: &str) {
    assert_eq!(plain().redact(text), text);
    for place in 0..=text.len() {
        let out = streamed(&[], &cut(text.as_bytes(), &[place]));
        assert_eq!(String::from_utf8_lossy(&out), text, "cut at {place}");
    }
}
