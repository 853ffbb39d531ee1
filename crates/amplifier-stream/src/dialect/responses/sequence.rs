//! The numbers of the events, which go up by one.

use crate::answer::Answer;

/// Follows the numbers; a server that sends none is not reported.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    last: Option<u64>,
    /// The first two numbers in a row that do not go up by one.
    first_break: Option<(u64, u64)>,
    breaks: usize,
}

impl Sequence {
    pub(super) fn take(&mut self, number: Option<u64>) {
        let Some(number) = number else { return };
        if let Some(last) = self.last.replace(number)
            && number != last + 1
        {
            self.first_break.get_or_insert((last, number));
            self.breaks += 1;
        }
    }

    /// Notes, once for all, that events are missing, came twice or changed places.
    pub(super) fn report(&self, answer: &mut Answer) {
        if let Some((last, number)) = self.first_break {
            let problem = if number > last {
                "events are missing"
            } else {
                "events came again"
            };
            let message = format!(
                "{problem}: `sequence_number` {number} follows {last} (number of breaks: {})",
                self.breaks
            );
            answer.find("broken_sequence", None, &message, None);
        }
    }
}
