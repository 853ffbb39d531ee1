//! How often errors of each type came of late.

use std::time::Duration;

use amplifier_guard::ErrorFrequency;
use proptest::prelude::*;

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn errors_are_counted_by_type_and_forgotten_in_time() {
    let mut frequency = ErrorFrequency::new(2, at(300));
    frequency.record("a", at(0));
    frequency.record("b", at(10));
    frequency.record("a", at(20));
    let counts = |frequency: &mut ErrorFrequency, now| -> Vec<(String, u64)> {
        frequency
            .counts(at(now))
            .map(|(name, count)| (name.to_owned(), count))
            .collect()
    };
    let named = |counts: &[(&str, u64)]| -> Vec<(String, u64)> {
        counts
            .iter()
            .map(|(name, count)| ((*name).to_owned(), *count))
            .collect()
    };

    assert_eq!(counts(&mut frequency, 309), named(&[("b", 1), ("a", 2)]));
    frequency.record("c", at(309));
    assert_eq!(counts(&mut frequency, 309), named(&[("a", 2), ("c", 1)]));
    assert_eq!(counts(&mut frequency, 320), named(&[("c", 1)]));
}

#[test]
fn the_name_of_a_type_is_cut_between_characters() {
    let mut frequency = ErrorFrequency::new(2, at(300));
    frequency.record(&"é".repeat(101), at(0));

    let names: Vec<_> = frequency
        .counts(at(0))
        .map(|(name, _)| name.to_owned())
        .collect();
    assert_eq!(names, ["é".repeat(100)]);
}

proptest! {
    #[test]
    fn counts_are_those_of_a_list_of_all_errors(
        most_types in 0_usize..5,
        errors in proptest::collection::vec((0_u8..7, 0_u64..900), 0..60),
    ) {
        let mut frequency = ErrorFrequency::new(most_types, at(300));
        // Each type with the times at which it was seen, the one seen last at the end.
        let mut model: Vec<(u8, Vec<u64>)> = Vec::new();
        let mut clock = 0;
        for (name, now) in errors {
            clock = clock.max(now);
            frequency.record(&name.to_string(), at(now));
            model.retain(|(_, times)| clock - times[times.len() - 1] < 300);
            let place = model.iter().position(|(other, _)| *other == name);
            let (_, mut times) = place.map_or((name, vec![]), |place| model.remove(place));
            times.push(clock);
            model.push((name, times));
            let surplus = model.len().saturating_sub(most_types);
            model.drain(..surplus);

            let counts: Vec<_> = frequency.counts(at(now)).map(|(name, count)| (name.to_owned(), count)).collect();
            let expected: Vec<_> = model.iter().map(|(name, times)| (name.to_string(), times.len() as u64)).collect();
            prop_assert_eq!(counts, expected);
        }
    }
}
