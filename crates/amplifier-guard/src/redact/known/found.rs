//! Where parts of secrets were found.

/// Places of a text, neighbours joined as they come.
#[derive(Default)]
pub(super) struct Found {
    pub(super) places: Vec<(usize, usize)>,
}

impl Found {
    pub(super) fn add(&mut self, start: usize, end: usize) {
        match self.places.last_mut() {
            Some(last) if start >= last.0 && start <= last.1 => last.1 = last.1.max(end),
            _ => self.places.push((start, end)),
        }
    }

    /// Drops the places with too few characters to be worth hiding.
    pub(super) fn drop_shorter(&mut self, text: &[u8], characters: usize) {
        self.places.retain(|(start, end)| {
            let place = &text[*start..*end];
            place.is_ascii()
                || place.iter().filter(|byte| **byte & 0xc0 != 0x80).count() >= characters
        });
    }

    pub(super) fn joined(mut self) -> Vec<(usize, usize)> {
        self.places.sort_unstable();
        let mut joined = Self::default();
        for (start, end) in self.places {
            joined.add(start, end);
        }
        joined.places
    }
}

/// Whether a byte ends a line, which interrupts base64 but does not end it.
pub(super) fn is_break(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}
