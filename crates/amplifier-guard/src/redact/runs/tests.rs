//! Long runs of key characters, beside a look at each byte; part of the crate, where they are private.

use proptest::prelude::*;

use super::{MIN_KEY_BYTES, Runs, is_key};

fn any_text() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        "[A-Za-z0-9_./+=-]{0,40}",
        "[A-Za-z0-9_./+=-]{230,300}",
        "[ :,;*@\u{e9}\n]{1,3}",
        any::<String>(),
    ];
    prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat().into_bytes())
}

proptest! {
    #[test]
    fn each_long_run_is_found_whole_and_once(text in any_text()) {
        let mut expected = Vec::new();
        let mut start = 0;
        for run in text.split(|byte| !is_key(*byte)) {
            let end = start + run.len();
            if run.len() >= MIN_KEY_BYTES {
                expected.push((start, end));
            }
            start = end + 1;
        }
        let found: Vec<_> = Runs::new(&text).collect();
        prop_assert_eq!(found, expected);
    }
}
