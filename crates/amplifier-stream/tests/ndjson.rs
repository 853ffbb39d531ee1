//! Lines of JSON, however they are written and cut.

mod cut;

use amplifier_core::Json;
use amplifier_stream::{LimitError, Limits, LineError, NdjsonDecoder, NdjsonLine};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use cut::cut;

type Line = (u64, Result<String, String>);

/// The lines of the chunks with their values, and the limit that they broke.
fn decode(chunks: &[&[u8]], limits: Limits) -> (Vec<Line>, Option<LimitError>) {
    let mut decoder = NdjsonDecoder::new(limits);
    let mut lines = Vec::new();
    let mut note = |line: NdjsonLine<'_>| {
        let value = line.value();
        let text = |json: Json| json.to_string();
        lines.push((
            line.number,
            value.map(text).map_err(|error| error.to_string()),
        ));
    };
    let fed = chunks
        .iter()
        .try_for_each(|chunk| decoder.feed(chunk, &mut note));
    let failure = fed.and_then(|()| decoder.finish(&mut note)).err();
    (lines, failure)
}

fn values(wire: &[u8]) -> Vec<Line> {
    decode(&[wire], Limits::DEFAULT).0
}

fn line(number: u64, value: &str) -> Line {
    (number, Ok(value.to_owned()))
}

/// The lines of the whole text at once, without their values.
fn specified(wire: &[u8]) -> Vec<(u64, String)> {
    let text = wire.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(wire);
    let lines = (1..).zip(text.split(|byte| *byte == b'\n'));
    lines
        .map(|(number, line)| (number, String::from_utf8_lossy(line)))
        .filter(|(_, line)| !line.trim_matches([' ', '\t', '\r']).is_empty())
        .map(|(number, line)| (number, line.strip_suffix('\r').unwrap_or(&line).to_owned()))
        .collect()
}

#[test]
fn blank_lines_and_the_mark_are_skipped_and_the_last_line_needs_no_end() {
    let wire = "\u{FEFF}{\"a\": 1}\n\n \t\r\n[2]\r\n\r\n\"three\"";
    assert_eq!(
        values(wire.as_bytes()),
        [line(1, r#"{"a":1}"#), line(4, "[2]"), line(6, r#""three""#)]
    );
    assert_eq!(values(b""), []);
    assert_eq!(values(b"\xEF\xBB\xBF\n"), []);
}

#[test]
fn a_line_is_one_whole_json_value_or_says_why_not() {
    let wire = b"{\"a\"\n{} {}\nNaN\n\"\xFF\"\n\"\\ud83d\"\n{\"a\":1,\"a\":2}\n1\r2";
    let refused = |number, problem: &str| {
        let problem = format!("line {number} of the stream is not JSON: {problem}");
        (number, Err(problem))
    };
    assert_eq!(
        values(wire),
        [
            refused(1, "expected `:`, found the end at byte 4"),
            refused(2, "trailing characters at byte 3"),
            refused(3, "expected a value, found `NaN` at byte 0"),
            refused(4, "bytes that are not UTF-8"),
            refused(5, "an unpaired surrogate half"),
            line(6, r#"{"a":2}"#),
            refused(7, "trailing characters at byte 2"),
        ]
    );
}

#[test]
fn big_numbers_are_kept_exactly() {
    let number = "1234567890123456789012345678901234567890";
    assert_eq!(values(number.as_bytes()), [line(1, number)]);
}

#[test]
fn a_limit_fails_after_the_lines_within_it() {
    let limits = Limits {
        max_line_bytes: 3,
        max_total_bytes: 13,
        ..Limits::DEFAULT
    };
    let kept = vec![line(1, "100"), line(2, "200")];
    let of_line = Some(LimitError::Line(3));
    let of_total = Some(LimitError::Total(13));
    assert_eq!(
        decode(&[b"100\r\n200\n4000"], limits),
        (kept.clone(), of_line)
    );
    assert_eq!(
        decode(&[b"100\r\n200", b"\r\n", b"300", b"0"], limits),
        (kept.clone(), of_total)
    );
    assert_eq!(decode(&[b"100\n200\r"], limits), (kept, None));
}

#[test]
fn the_mark_and_the_line_end_do_not_count() {
    let limits = Limits {
        max_line_bytes: 3,
        ..Limits::DEFAULT
    };
    let wire = b"\xEF\xBB\xBF100\r\n200\r\n";
    for cut in 0..=wire.len() {
        let found = decode(&[&wire[..cut], &wire[cut..]], limits);
        assert_eq!(found, (vec![line(1, "100"), line(2, "200")], None));
    }
    let longer = b"\xEF\xBB\xBF1000";
    for cut in 0..=longer.len() {
        let found = decode(&[&longer[..cut], &longer[cut..]], limits);
        assert_eq!(found, (vec![], Some(LimitError::Line(3))));
    }
}

#[test]
fn a_failed_decoder_stays_failed() {
    let limits = Limits {
        max_line_bytes: 1,
        ..Limits::DEFAULT
    };
    let mut decoder = NdjsonDecoder::new(limits);
    assert_eq!(decoder.feed(b"12", |_| ()), Err(LimitError::Line(1)));
    assert_eq!(decoder.feed(b"\n1\n", |_| ()), Err(LimitError::Line(1)));
    assert_eq!(decoder.finish(|_| ()), Err(LimitError::Line(1)));
}

#[test]
fn a_refused_line_is_named_by_its_number() {
    let error = LineError {
        number: 7,
        problem: "an unpaired surrogate half".to_owned(),
    };
    assert_eq!(
        error.to_string(),
        "line 7 of the stream is not JSON: an unpaired surrogate half"
    );
}

/// Bytes in which the meaningful ones are frequent.
fn wire() -> impl Strategy<Value = Vec<u8>> {
    let token = select(vec![
        &b"\n"[..],
        b"\n",
        b"\r",
        b"\r\n",
        b" ",
        b"{",
        b"}",
        b"\"a\":",
        b"1",
        b"[]",
        b"\"x\"",
        b"\xEF\xBB\xBF",
        "é".as_bytes(),
        b"\xF0\x9F",
        b"\xFF",
    ]);
    prop::collection::vec(token, 0..60).prop_map(|tokens| tokens.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_bytes_give_their_lines(wire in wire()) {
        let mut decoder = NdjsonDecoder::new(Limits::DEFAULT);
        let mut lines = Vec::new();
        let mut note = |line: NdjsonLine<'_>| lines.push((line.number, line.text.into_owned()));
        decoder.feed(&wire, &mut note).unwrap();
        decoder.finish(&mut note).unwrap();
        prop_assert_eq!(lines, specified(&wire));
    }

    #[test]
    fn chunk_boundaries_do_not_matter(
        wire in wire(),
        places in prop::collection::vec(any::<Index>(), 0..12),
        max_line_bytes in 0usize..20,
        max_total_bytes in 0usize..200,
    ) {
        let limits = Limits { max_line_bytes, max_total_bytes, ..Limits::DEFAULT };
        let whole = decode(&[&wire], Limits::DEFAULT);
        prop_assert_eq!(decode(&cut(&wire, &places), Limits::DEFAULT), whole);
        prop_assert_eq!(decode(&cut(&wire, &places), limits), decode(&[&wire], limits));
    }
}
