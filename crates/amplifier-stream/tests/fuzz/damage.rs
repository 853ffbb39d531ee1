//! What may happen to a valid stream on its way.

use crate::random::Random;

const BYTES: &[u8] = b"\n\r\0\"\\{}[]:, \xFF\xC3\xED\xF0\xEF09-e.";

/// Parts of every format.
const WORDS: [&str; 24] = [
    "\n\n",
    "\r\n\r\n",
    "data: ",
    "event: error\n",
    "event: ping\ndata: {}\n\n",
    "data: [DONE]\n\n",
    ": comment\n",
    "id: 7\n",
    "retry: 5\n",
    "\u{FEFF}",
    "null",
    "{}",
    "[]",
    "\"\"",
    "\\ud83d",
    "\\ude00",
    "\"index\":1,",
    "\"type\":",
    "{\"error\":{\"message\":\"x\",\"type\":\"overloaded_error\"}}\n",
    "1e400",
    "-1",
    "[[[[[[[[",
    "\"id\":\"other\",",
    "18446744073709551616",
];

/// What one server says and another, or the same one when it corrects itself.
const CORRECTIONS: [(&str, &str); 20] = [
    ("\"msg_1\"", "\"msg_2\""),
    ("\"resp_1\"", "\"resp_2\""),
    ("\"index\":0", "\"index\":1"),
    ("\"index\":1", "\"index\":0"),
    ("\"output_index\":0", "\"output_index\":2"),
    ("\"output_index\":1", "\"output_index\":0"),
    ("\"output_index\":1,", ""),
    ("\"n\"", "\"other\""),
    ("\"c\"", "\"d\""),
    ("\"id\":\"t\"", "\"id\":\"u\""),
    ("\"id\":\"t\"", "\"id\":7"),
    ("\"name\":\"n\"", "\"name\":null"),
    ("\"name\":\"look\"", "\"name\":\"see\",\"id\":\"inner\""),
    (
        "\"function\":{",
        "\"id\":\"call_9\",\"function\":{\"name\":\"late\",",
    ),
    ("\"id\":\"call_0\"", "\"id\":\"call_1\""),
    ("\"function_call\"", "\"message\""),
    ("\"message\",\"role\"", "\"reasoning\",\"role\""),
    ("\"text\":\"", "\"text\":\"more "),
    ("\"arguments\":\"{", "\"arguments\":\"{\\\"new\\\":1,"),
    ("\"content\":\"", "\"refusal\":\"no\",\"content\":\""),
];

/// Damages a stream in up to four places; `other` is a stream of the same kind.
pub(crate) fn damage(random: &mut Random, mut wire: Vec<u8>, other: &[u8]) -> Vec<u8> {
    for _ in 0..random.below(5) {
        let start = random.below(wire.len() + 1);
        let longest = if random.once_in(3) { 400 } else { 8 };
        let end = (start + random.below(longest)).min(wire.len());
        match random.below(13) {
            0 => wire.truncate(start),
            1 => drop(wire.drain(start..end)),
            2 => {
                let repeated = wire[start..end].to_vec();
                insert(&mut wire, end, &repeated);
            }
            3 => insert(&mut wire, start, random.pick(&WORDS).as_bytes()),
            4 => insert(&mut wire, start, &[BYTES[random.below(BYTES.len())]]),
            5 => wire[start..end].fill(BYTES[random.below(BYTES.len())]),
            6 => {
                let from = random.below(other.len() + 1);
                wire.truncate(start);
                wire.extend_from_slice(&other[from..]);
            }
            7 | 8 => correct(random, &mut wire),
            9 => restart(random, &mut wire, other),
            _ => change_events(random, &mut wire),
        }
    }
    wire
}

fn insert(wire: &mut Vec<u8>, place: usize, bytes: &[u8]) {
    wire.splice(place..place, bytes.iter().copied());
}

/// Says something else in one place.
fn correct(random: &mut Random, wire: &mut Vec<u8>) {
    let (from, to) = CORRECTIONS[random.below(CORRECTIONS.len())];
    let places: Vec<usize> = memchr::memmem::find_iter(wire, from).collect();
    if !places.is_empty() {
        let start = places[random.below(places.len())];
        wire.splice(start..start + from.len(), to.bytes());
    }
}

/// Starts again with another stream, of another answer or the same one, where an event ends.
fn restart(random: &mut Random, wire: &mut Vec<u8>, other: &[u8]) {
    let ends: Vec<usize> = memchr::memchr_iter(b'\n', wire).collect();
    if ends.is_empty() {
        return;
    }
    wire.truncate(ends[random.below(ends.len())] + 1);
    wire.push(b'\n');
    let mut other = other.to_vec();
    if random.once_in(2) {
        other = String::from_utf8_lossy(&other)
            .replace("msg_1", "msg_2")
            .replace("resp_1", "resp_2")
            .replace("\"c\"", "\"d\"")
            .replace("call_0", "call_5")
            .into_bytes();
    }
    wire.extend_from_slice(&other);
}

/// Drops, repeats or swaps whole lines, in which events begin and end.
fn change_events(random: &mut Random, wire: &mut Vec<u8>) {
    let mut events: Vec<Vec<u8>> = wire
        .split_inclusive(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    if events.is_empty() {
        return;
    }
    let (one, other) = (random.below(events.len()), random.below(events.len()));
    match random.below(3) {
        0 => drop(events.remove(one)),
        1 => events.insert(one, events[other].clone()),
        _ => events.swap(one, other),
    }
    *wire = events.concat();
}
