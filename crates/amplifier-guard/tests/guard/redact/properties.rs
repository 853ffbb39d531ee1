//! What holds for every text and for any bytes.

use amplifier_guard::Redactor;
use proptest::prelude::*;

use super::writing::{writing, written};
use super::{BODY, cut, plain, streamed};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn redaction_is_idempotent(
        text in "([a-z :=\"'-]{0,6}(password|token|Bearer |Basic |://a:|sk-ant-|--BEGIN |; )?[ -~\n]{0,12}){0,6}",
    ) {
        let once = plain().redact(&text).into_owned();
        prop_assert_eq!(plain().redact(&once), once.clone(), "{}", text);
    }

    #[test]
    fn redaction_of_known_secrets_is_idempotent(
        pieces in prop::collection::vec(("[ -~\n]{0,12}", writing()), 0..5),
    ) {
        let redactor = Redactor::new([BODY]).unwrap();
        let text: String = pieces
            .iter()
            .flat_map(|(before, writing)| [before.clone(), written(BODY, writing)])
            .collect();
        let once = redactor.redact(&text).into_owned();
        prop_assert_eq!(redactor.redact(&once), once.clone(), "{}", text);
    }

    #[test]
    fn no_bytes_are_too_strange(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        places in prop::collection::vec(any::<usize>(), 0..6),
    ) {
        let redactor = Redactor::new([BODY]).unwrap();
        let whole = redactor.redact_bytes(&bytes).into_owned();
        if std::str::from_utf8(&bytes).is_ok() {
            prop_assert!(String::from_utf8(whole).is_ok());
        }
        streamed(&[BODY.to_string()], &cut(&bytes, &places));
    }

    #[test]
    fn no_text_is_too_strange(text in any::<String>(), secret in "\\PC{4,20}") {
        for redactor in [Some(plain()), Redactor::new([&secret]).ok()].into_iter().flatten() {
            prop_assert!(redactor.redact(&text).len() <= 20 * text.len());
            for (key, value) in [(&text, &secret), (&secret, &text)] {
                let marked = redactor.redact_field(key, value);
                prop_assert!(marked.is_none_or(|mark| mark.starts_with("[REDACTED:")));
            }
        }
    }
}
