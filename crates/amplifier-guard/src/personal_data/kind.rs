//! The built-in types of personal data: what each looks like, and which checks it passes.

use super::iban;

/// Where personal data ends that a pattern found from one byte to another; None if it is none.
pub(super) type End = fn(&[u8], usize, usize) -> Option<usize>;

/// A built-in type.
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) pattern: &'static str,
    pub(super) end: End,
    pub(super) needs_digit: bool,
}

/// The names of the built-in types.
pub const TYPES: [&str; 6] = ["SSN", "CREDIT_CARD", "EMAIL", "PHONE", "IPV4", "IBAN"];

/// A blank or a hyphen, as people and models set them between digits.
macro_rules! gap {
    () => {
        r"[ \x{A0}\x{202F}\x{2010}-\x{2013}-]"
    };
}

/// The same, and what else stands between the digits of telephone numbers.
macro_rules! phone_gap {
    () => {
        r"[ \x{A0}\x{202F}\x{2010}-\x{2013}./()-]"
    };
}

/// A number of one byte.
macro_rules! octet {
    () => {
        "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
    };
}

/// The beginning and the end of a word of ASCII.
macro_rules! edge {
    () => {
        r"(?-u:\b)"
    };
}

pub(super) const KINDS: [Kind; TYPES.len()] = [
    Kind {
        name: TYPES[0],
        pattern: concat!(
            edge!(),
            "[0-9]{3}",
            gap!(),
            "[0-9]{2}",
            gap!(),
            "[0-9]{4}",
            edge!()
        ),
        end: ssn,
        needs_digit: true,
    },
    Kind {
        name: TYPES[1],
        pattern: concat!(edge!(), "[2-6](?:", gap!(), "?[0-9]){12,18}", edge!()),
        end: card,
        needs_digit: true,
    },
    Kind {
        name: TYPES[2],
        pattern: concat!(
            r"[0-9A-Z_a-z\x{C0}-\x{24F}][0-9A-Z_a-z\x{C0}-\x{24F}.%+'-]{0,63}@",
            r"(?:[0-9A-Za-z\x{C0}-\x{24F}-]+\.)+[A-Za-z\x{C0}-\x{24F}]{2,24}",
        ),
        end: whole,
        needs_digit: false,
    },
    Kind {
        name: TYPES[3],
        pattern: concat!(
            r"\+1(?:",
            phone_gap!(),
            "{0,2}[0-9]){10}",
            edge!(),
            r"|\+[1-9](?:",
            phone_gap!(),
            "{0,2}[0-9]){7,14}",
            edge!(),
            "|",
            edge!(),
            "00[1-9][0-9]{0,2}",
            phone_gap!(),
            "{1,2}[0-9](?:",
            phone_gap!(),
            "{0,2}[0-9]){5,11}",
            edge!(),
            "|(?:",
            edge!(),
            "1",
            phone_gap!(),
            r")?(?:\([0-9]{3}\)",
            gap!(),
            "?|",
            edge!(),
            "[0-9]{3}",
            phone_gap!(),
            ")[0-9]{3}",
            phone_gap!(),
            "[0-9]{4}",
            edge!(),
        ),
        end: phone,
        needs_digit: true,
    },
    Kind {
        name: TYPES[4],
        // A fifth number tells an address from the number of a version or an object.
        pattern: concat!(
            edge!(),
            "(?:",
            octet!(),
            r"\.){3}",
            octet!(),
            edge!(),
            r"(?:\.[0-9])?"
        ),
        end: ipv4,
        needs_digit: true,
    },
    Kind {
        name: TYPES[5],
        pattern: concat!(
            edge!(),
            "[A-Za-z]{2}[0-9]{2}(?:",
            gap!(),
            "?[0-9A-Za-z]){11,30}"
        ),
        end: iban::end,
        needs_digit: true,
    },
];

/// All that was found.
pub(super) fn whole(_text: &[u8], start: usize, end: usize) -> Option<usize> {
    (end > start).then_some(end)
}

/// Areas, groups and serial numbers that are never issued are no number of a person.
fn ssn(text: &[u8], start: usize, end: usize) -> Option<usize> {
    let digits: Vec<u8> = digits(&text[start..end]).collect();
    let is_issued = &digits[..3] != b"000"
        && &digits[..3] != b"666"
        && digits[0] != b'9'
        && &digits[3..5] != b"00"
        && &digits[5..] != b"0000";
    (is_issued && !is_fraction(text, start)).then_some(end)
}

/// The longest run of whole groups whose last digit is the right one.
fn card(text: &[u8], start: usize, end: usize) -> Option<usize> {
    if is_fraction(text, start) {
        return None;
    }
    let is_digit = |place: usize| text.get(place).is_some_and(u8::is_ascii_digit);
    let ends = (start + 1..=end).rev();
    let mut ends = ends.filter(|place| is_digit(place - 1) && !is_digit(*place));
    ends.find(|place| {
        let digits: Vec<u8> = digits(&text[start..*place]).collect();
        let fits = match digits.len() {
            13 => digits[0] == b'4',
            14 | 15 => digits[0] == b'3',
            16..=19 => true,
            _ => false,
        };
        fits && luhn(&digits)
    })
}

/// Whether the sum of the digits, every second one doubled, is a multiple of ten.
fn luhn(digits: &[u8]) -> bool {
    let values = digits.iter().rev().map(|digit| u32::from(digit - b'0'));
    let sum: u32 = values
        .enumerate()
        .map(|(place, digit)| match (place % 2, digit) {
            (0, digit) => digit,
            (_, digit @ 5..) => digit * 2 - 9,
            (_, digit) => digit * 2,
        })
        .sum();
    sum.is_multiple_of(10)
}

/// A plus sign behind a letter or a digit adds something up.
fn phone(text: &[u8], start: usize, end: usize) -> Option<usize> {
    let is_sum = start > 0 && text[start - 1].is_ascii_alphanumeric() && text[start] == b'+';
    (!is_sum && !is_fraction(text, start)).then_some(end)
}

fn ipv4(text: &[u8], start: usize, end: usize) -> Option<usize> {
    let points = text[start..end].iter().filter(|byte| **byte == b'.');
    (points.count() == 3 && !is_fraction(text, start)).then_some(end)
}

/// Whether what begins here goes on a number in front of it, behind its point.
fn is_fraction(text: &[u8], start: usize) -> bool {
    start > 1 && text[start - 1] == b'.' && text[start - 2].is_ascii_digit()
}

fn digits(text: &[u8]) -> impl Iterator<Item = u8> {
    text.iter().copied().filter(u8::is_ascii_digit)
}
