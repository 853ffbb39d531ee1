//! Token counts: what a service reports, as buckets that do not overlap.

use amplifier_core::Json;

/// Token counts that do not overlap; `None` is unknown, which is not zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Input that no cache knew.
    pub input_tokens: Option<i64>,
    /// Input read from a cache.
    pub cache_read_tokens: Option<i64>,
    /// Input written to a cache.
    pub cache_write_tokens: Option<i64>,
    /// Output without reasoning, where reasoning is known.
    pub output_tokens: Option<i64>,
    /// Output spent on reasoning.
    pub reasoning_tokens: Option<i64>,
}

/// Counts as most services report them: the whole input and output, and parts that they include.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ReportedUsage {
    pub(crate) input: Option<i64>,
    pub(crate) cache_read: Option<i64>,
    pub(crate) cache_write: Option<i64>,
    pub(crate) output: Option<i64>,
    pub(crate) reasoning: Option<i64>,
    pub(crate) total: Option<i64>,
}

impl ReportedUsage {
    /// Splits the wholes into buckets that add up to them.
    ///
    /// A part is at most its whole, and the wholes together at most the total, of which the output
    /// has what the input leaves: some services report parts of what they do not count. A total of 0
    /// beside other counts is one that the service does not know.
    pub(crate) fn split(self) -> Usage {
        let total = self.total.filter(|total| *total > 0);
        let within = |count: Option<i64>, most: Option<i64>| match (count, most) {
            (Some(count), Some(most)) => Some(count.min(most)),
            (count, _) => count,
        };
        let less = |whole: Option<i64>, part: Option<i64>| {
            whole.map(|whole| whole.saturating_sub(part.unwrap_or(0)))
        };
        let input = within(self.input, total);
        let output = within(self.output, less(total, input));
        let cache_read = within(self.cache_read, input);
        let uncached = less(input, cache_read);
        let cache_write = within(self.cache_write, uncached);
        let reasoning = within(self.reasoning, output);
        Usage {
            input_tokens: less(uncached, cache_write),
            cache_read_tokens: cache_read,
            cache_write_tokens: cache_write,
            output_tokens: less(output, reasoning),
            reasoning_tokens: reasoning,
        }
    }
}

/// Returns a count that a service reports; what is no whole number from 0 on is not known.
pub(crate) fn read_count(reported: &Json) -> Option<i64> {
    reported.as_i64().filter(|count| *count >= 0)
}

#[cfg(test)]
mod tests {
    use proptest::option::of;
    use proptest::prelude::*;

    use super::{ReportedUsage, Usage};

    fn counts() -> impl Strategy<Value = Option<i64>> {
        of(prop_oneof![0..40_i64, Just(i64::MAX)])
    }

    fn sum(counts: &[Option<i64>]) -> i128 {
        counts
            .iter()
            .flatten()
            .map(|count| i128::from(*count))
            .sum()
    }

    proptest! {
        #[test]
        fn no_part_is_above_its_whole_and_no_sum_above_the_total(
            input in counts(),
            cache_read in counts(),
            cache_write in counts(),
            output in counts(),
            reasoning in counts(),
            total in counts(),
        ) {
            let reported = ReportedUsage { input, cache_read, cache_write, output, reasoning, total };
            let Usage { input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens } =
                reported.split();
            let entered = [input_tokens, cache_read_tokens, cache_write_tokens];
            let produced = [output_tokens, reasoning_tokens];
            prop_assert!(entered.iter().chain(&produced).flatten().all(|count| *count >= 0));
            if let Some(input) = input {
                prop_assert!(sum(&entered) <= i128::from(input));
            }
            if let Some(output) = output {
                prop_assert!(sum(&produced) <= i128::from(output));
            }
            if let (Some(_), Some(_), Some(total @ 1..)) = (input, output, total) {
                prop_assert!(sum(&entered) + sum(&produced) <= i128::from(total));
            }
            let fits = sum(&[cache_read, cache_write]) <= sum(&[input])
                && sum(&[reasoning]) <= sum(&[output])
                && total.is_none_or(|total| sum(&[input, output]) <= i128::from(total));
            if input.is_some() && output.is_some() && fits {
                prop_assert_eq!(
                    (cache_read_tokens, cache_write_tokens, reasoning_tokens),
                    (cache_read, cache_write, reasoning)
                );
                prop_assert_eq!(sum(&entered) + sum(&produced), sum(&[input, output]));
            }
        }
    }
}
