//! Personal data is found by its shape and its checksum, in texts and in streams of them.

use amplifier_guard::{PERSONAL_DATA_TYPES, PersonalData, PersonalDataError, PersonalDataStream};
use proptest::prelude::*;

struct Shared<'a>(&'a PersonalData);

impl AsRef<PersonalData> for Shared<'_> {
    fn as_ref(&self) -> &PersonalData {
        self.0
    }
}

fn all() -> PersonalData {
    PersonalData::new(PERSONAL_DATA_TYPES, []).unwrap()
}

fn with(pattern: &str) -> Result<PersonalData, PersonalDataError> {
    PersonalData::new(["EMAIL"], [("STAFF", pattern)])
}

fn redacted(data: &PersonalData, text: &str) -> String {
    String::from_utf8(data.redact(text.as_bytes()).into_owned()).unwrap()
}

fn streamed(data: &PersonalData, chunks: &[&[u8]]) -> String {
    let mut stream = PersonalDataStream::new(Shared(data));
    let mut out: Vec<u8> = chunks.iter().flat_map(|chunk| stream.feed(chunk)).collect();
    out.extend(stream.flush());
    String::from_utf8(out).unwrap()
}

#[test]
fn each_type_is_found_in_the_forms_that_people_write() {
    let data = all();
    for (text, expected) in [
        ("123-45-6789", "[PII:SSN]"),
        ("123 45 6789", "[PII:SSN]"),
        ("123\u{2011}45\u{2011}6789", "[PII:SSN]"),
        ("pay 4111111111111111.", "pay [PII:CREDIT_CARD]."),
        ("4111 1111 1111 1111 12/27", "[PII:CREDIT_CARD] 12/27"),
        ("3782-822463-10005", "[PII:CREDIT_CARD]"),
        ("ada@example.com,", "[PII:EMAIL],"),
        ("<jörg.o'neil+x@büro.example.de>", "<[PII:EMAIL]>"),
        ("(555) 123-4567", "[PII:PHONE]"),
        ("555-123-4567 or 555.123.4567", "[PII:PHONE] or [PII:PHONE]"),
        ("+1 (415) 555-2671 2024", "[PII:PHONE] 2024"),
        ("+49 30 901820", "[PII:PHONE]"),
        ("0049 30 901820", "[PII:PHONE]"),
        ("at 192.168.1.20:80", "at [PII:IPV4]:80"),
        ("DE89 3704 0044 0532 0130 00 thanks", "[PII:IBAN] thanks"),
        ("gb82west12345698765432", "[PII:IBAN]"),
    ] {
        assert_eq!(redacted(&data, text), expected);
    }
}

#[test]
fn numbers_that_fail_their_checks_stay() {
    let data = all();
    for text in [
        "4111111111111112",
        "0.4111111111111111",
        "000-12-3456 666-12-3456 900-12-3456 123-00-4567 123-45-0000",
        "1.2.3.4.5 and 256.1.1.1 and 1.3.6.1.4.1",
        "DE88370400440532013000",
        "XX89370400440532013000",
        "2026-11-23T15:16:17.123456 1700000000123 1234567890",
        "a@b and @example.com and x = 5+123456789",
        "",
    ] {
        assert_eq!(redacted(&data, text), text);
    }
}

#[test]
fn of_finds_that_overlap_all_goes_under_the_type_of_the_longest() {
    let data = with(r"ID-\d{3}-ada").unwrap();

    assert_eq!(redacted(&data, "ID-123-ada@example.com!"), "[PII:EMAIL]!");
    assert_eq!(redacted(&data, "ID-123-ada"), "[PII:STAFF]");
    assert_eq!(
        data.types(b"ID-123-ada, b@example.com, c@example.com"),
        ["STAFF", "EMAIL"]
    );
}

#[test]
fn a_pattern_that_cannot_be_used_says_why() {
    let reasons = [
        (r"(a", "pattern `STAFF` cannot be used: unclosed group"),
        (
            r"a*",
            "pattern `STAFF` cannot be used: it matches the empty text",
        ),
        (
            r"\b",
            "pattern `STAFF` cannot be used: it matches the empty text",
        ),
        (
            r"[a&&b]",
            "pattern `STAFF` cannot be used: it matches no text",
        ),
        (
            r"\w{200}{200}x",
            "pattern `STAFF` cannot be used: it is too large when compiled (repeat less)",
        ),
    ];
    for (pattern, reason) in reasons {
        assert_eq!(with(pattern).err().unwrap().to_string(), reason);
    }
    let long = "x".repeat(1001);
    assert_eq!(
        with(&long).err().unwrap().to_string(),
        "pattern `STAFF` cannot be used: it has 1001 bytes, at most 1000 are allowed"
    );
    let refused = PersonalData::new(["NAME"], []).err().unwrap().to_string();
    assert_eq!(
        refused,
        "`NAME` is not a type of personal data; there are SSN, CREDIT_CARD, EMAIL, PHONE, IPV4, IBAN"
    );
    let refused = PersonalData::new([], [("a b", "x")])
        .err()
        .unwrap()
        .to_string();
    assert_eq!(
        refused,
        "type `a b` of a pattern must be at most 32 capital letters, digits and `_`, the first one a \
         letter"
    );
}

#[test]
fn only_what_could_become_personal_data_is_held_back() {
    let data = all();
    let mut stream = PersonalDataStream::new(Shared(&data));

    assert_eq!(
        stream.feed(b"Hello, write to ada@exam"),
        b"Hello, write to "
    );
    assert_eq!(stream.feed(b"ple.com "), b"[PII:EMAIL] ");
    assert_eq!(stream.feed("日本語、".as_bytes()), "日本語、".as_bytes());
    assert_eq!(stream.feed(b"call 555-12"), b"call ");
    assert_eq!(stream.feed(b" ,"), b"555-12 ,");
    assert_eq!(stream.feed(b"ada"), b"");
    assert_eq!(stream.flush(), b"ada");
    assert_eq!(stream.types(), [Box::from("EMAIL")]);
}

#[test]
fn an_endless_beginning_is_released_in_the_end() {
    let data = with(r"BEGIN(?s:.)*END").unwrap();
    let mut stream = PersonalDataStream::new(Shared(&data));
    let mut released = stream.feed(b"BEGIN").len();
    for _ in 0..3000 {
        released += stream.feed(b"xxxx").len();
    }

    assert!(released > 3000);
    assert_eq!(released + stream.flush().len(), 12_005);
}

#[test]
fn a_pattern_that_looks_far_ahead_for_each_match_ends() {
    let data = with(r"a(?s:.)*b|a").unwrap();
    let text = "a".repeat(20_000);

    assert_eq!(redacted(&data, &text), "[PII:STAFF]".repeat(20_000));
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("123-45-6789".to_string()),
        Just("4111 1111 1111 1111".to_string()),
        Just("ada@example.com".to_string()),
        Just("+1 415 555 2671".to_string()),
        Just("(555) 123-4567".to_string()),
        Just("10.0.0.1".to_string()),
        Just("DE89 3704 0044 0532 0130 00".to_string()),
        Just("STAFF-12é".to_string()),
        "[0-9 .@+-]{0,6}",
        "[a-zé日 .@]{0,6}",
    ]
}

proptest! {
    #[test]
    fn chunks_do_not_matter(
        pieces in prop::collection::vec(piece(), 0..8),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let pattern = [("STAFF", r"\bSTAFF-\d+\w")];
        let data = PersonalData::new(PERSONAL_DATA_TYPES, pattern).unwrap();
        let text = pieces.concat();
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        places.extend([0, text.len()]);
        places.sort_unstable();
        let bytes = text.as_bytes();
        let chunks: Vec<&[u8]> = places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();

        prop_assert_eq!(streamed(&data, &chunks), redacted(&data, &text));
    }

    #[test]
    fn what_was_redacted_holds_nothing_more(pieces in prop::collection::vec(piece(), 0..8)) {
        let data = all();
        let text = pieces.join(" ; ");
        let once = redacted(&data, &text);

        prop_assert_eq!(redacted(&data, &once), once);
    }
}
