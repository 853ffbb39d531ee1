//! Server-sent events against a plain reading of the WHATWG rules.

use amplifier_stream::{LimitError, Limits, SseDecoder};
use proptest::prelude::*;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Event {
    name: String,
    data: String,
    id: Option<String>,
    retry: Option<u64>,
}

fn event(event: &str, data: &str) -> Event {
    Event {
        name: event.to_owned(),
        data: data.to_owned(),
        id: None,
        retry: None,
    }
}

/// The events of the chunks, and the limit that they broke.
fn decode(chunks: &[&[u8]], limits: Limits) -> (Vec<Event>, Option<LimitError>) {
    let mut decoder = SseDecoder::new(limits);
    let mut events = Vec::new();
    for chunk in chunks {
        let fed = decoder.feed(chunk, |event| {
            events.push(Event {
                name: event.event.into_owned(),
                data: event.data.into_owned(),
                id: event.id.map(str::to_owned),
                retry: event.retry,
            });
        });
        if let Err(error) = fed {
            return (events, Some(error));
        }
    }
    (events, None)
}

fn decode_whole(wire: &[u8]) -> Vec<Event> {
    decode(&[wire], Limits::DEFAULT).0
}

/// The rules, step by step, over the whole text at once.
fn specified(wire: &[u8]) -> Vec<Event> {
    let text = String::from_utf8_lossy(wire)
        .replace("\r\n", "\n")
        .replace('\r', "\n");
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(&text);
    let mut events = Vec::new();
    let (mut name, mut data, mut id, mut retry) = (String::new(), None::<String>, None, None);
    let Some((complete, _)) = text.rsplit_once('\n') else {
        return events;
    };
    for line in complete.split('\n') {
        if line.is_empty() {
            if let Some(data) = data.take() {
                let event = if name.is_empty() {
                    "message".to_owned()
                } else {
                    name.clone()
                };
                events.push(Event {
                    name: event,
                    data,
                    id: id.clone(),
                    retry: retry.take(),
                });
            }
            name.clear();
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut name),
            "data" => match &mut data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => data = Some(value.to_owned()),
            },
            "id" if !value.contains('\0') => id = Some(value.to_owned()),
            "retry" if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) => {
                retry = value.parse().ok();
            }
            _ => {}
        }
    }
    events
}

#[test]
fn fields_comments_and_line_ends_are_read_by_the_rules() {
    let wire = "\u{FEFF}: comment\nevent: a\ndata: 1\r\ndata:2\rdata\rretry: 10\nid: x\n\n\
                data:  two spaces\n\nevent: lost\n\nretry: 1x\nid: a\0b\ndata\n\ndata: cut";
    let last = |data: &str, retry| Event {
        id: Some("x".to_owned()),
        retry,
        ..event("message", data)
    };
    let first = Event {
        name: "a".to_owned(),
        ..last("1\n2\n", Some(10))
    };
    assert_eq!(
        decode_whole(wire.as_bytes()),
        [first, last(" two spaces", None), last("", None)]
    );
}

#[test]
fn bytes_that_are_no_utf8_become_replacement_characters() {
    assert_eq!(
        decode_whole(b"data: a\xFFb\xE2\x82\n\n"),
        [event("message", "a\u{FFFD}b\u{FFFD}")]
    );
}

#[test]
fn a_line_over_its_limit_fails_before_it_is_held() {
    let limits = Limits {
        max_line_bytes: 10,
        max_event_bytes: 100,
        ..Limits::DEFAULT
    };
    let kept = vec![event("message", "1")];
    let chunks: [&[u8]; 3] = [b"data: 1\n\n", b"data: 12", b"345"];
    assert_eq!(
        decode(&chunks, limits),
        (kept.clone(), Some(LimitError::Line(10)))
    );
    assert_eq!(
        decode(&[b"data: 1\n\ndata: 12345\n\n"], limits),
        (kept, Some(LimitError::Line(10)))
    );
    assert_eq!(
        decode(&[b"data: 1234\n\n"], limits),
        (vec![event("message", "1234")], None)
    );
}

#[test]
fn the_mark_does_not_count_as_part_of_the_first_line() {
    let limits = Limits {
        max_line_bytes: 7,
        ..Limits::DEFAULT
    };
    let wire = b"\xEF\xBB\xBFdata: 1\n\n";
    for cut in 0..=wire.len() {
        let found = decode(&[&wire[..cut], &wire[cut..]], limits);
        assert_eq!(found, (vec![event("message", "1")], None));
    }
    let longer = b"\xEF\xBB\xBFdata: 12";
    for cut in 0..=longer.len() {
        let found = decode(&[&longer[..cut], &longer[cut..]], limits);
        assert_eq!(found, (vec![], Some(LimitError::Line(7))));
    }
}

#[test]
fn an_event_over_its_limit_fails() {
    let limits = Limits {
        max_line_bytes: 100,
        max_event_bytes: 3,
        ..Limits::DEFAULT
    };
    let broken = Some(LimitError::Event(3));
    assert_eq!(
        decode(&[b"data: 1\ndata: 2\n\n"], limits),
        (vec![event("message", "1\n2")], None)
    );
    assert_eq!(
        decode(&[b"data: 1\ndata: 2\ndata\n\n"], limits),
        (vec![], broken)
    );
    assert_eq!(decode(&[b"data: 1234\n\n"], limits), (vec![], broken));
}

#[test]
fn a_stream_over_its_limit_fails_after_the_events_within_it() {
    let limits = Limits {
        max_total_bytes: 12,
        ..Limits::DEFAULT
    };
    let kept = vec![event("message", "1")];
    assert_eq!(
        decode(&[b"data: 1\n\nda", b"t"], limits),
        (kept.clone(), None)
    );
    assert_eq!(
        decode(&[b"data: 1\n\ndata: 2\n\n"], limits),
        (kept, Some(LimitError::Total(12)))
    );
}

#[test]
fn a_failed_decoder_stays_failed() {
    let limits = Limits {
        max_line_bytes: 1,
        max_event_bytes: 1,
        ..Limits::DEFAULT
    };
    let mut decoder = SseDecoder::new(limits);
    assert_eq!(decoder.feed(b"ab", |_| ()), Err(LimitError::Line(1)));
    assert_eq!(decoder.feed(b"\n", |_| ()), Err(LimitError::Line(1)));
    assert_eq!(decoder.finish(), Err(LimitError::Line(1)));
}

/// Bytes in which the meaningful ones are frequent.
fn wire() -> impl Strategy<Value = Vec<u8>> {
    let token = prop::sample::select(vec![
        &b"\n"[..],
        b"\n",
        b"\r",
        b"\r\n",
        b"data:",
        b"data: ",
        b"event: ",
        b"id: ",
        b"retry: ",
        b":",
        b" ",
        b"7",
        b"abc",
        b"\0",
        b"\xEF\xBB\xBF",
        "é".as_bytes(),
        "😀".as_bytes(),
        b"\xF0\x9F",
        b"\xFF",
    ]);
    prop::collection::vec(token, 0..60).prop_map(|tokens| tokens.concat())
}

/// Cuts at places that are given as fractions of the length.
fn cut<'a>(wire: &'a [u8], places: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut cuts: Vec<usize> = places
        .iter()
        .map(|place| place.index(wire.len() + 1))
        .collect();
    cuts.sort_unstable();
    cuts.push(wire.len());
    let mut start = 0;
    cuts.iter()
        .map(|&end| {
            let piece = &wire[start..end];
            start = end;
            piece
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_bytes_give_the_events_of_the_rules(wire in wire()) {
        prop_assert_eq!(decode_whole(&wire), specified(&wire));
    }

    #[test]
    fn chunk_boundaries_do_not_matter(
        wire in wire(),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        max_line_bytes in 0usize..40,
        max_event_bytes in 0usize..20,
        max_total_bytes in 0usize..200,
    ) {
        let limits = Limits { max_line_bytes, max_event_bytes, max_total_bytes, ..Limits::DEFAULT };
        prop_assert_eq!(decode(&cut(&wire, &places), Limits::DEFAULT), decode(&[&wire], Limits::DEFAULT));
        prop_assert_eq!(decode(&cut(&wire, &places), limits), decode(&[&wire], limits));
    }
}
