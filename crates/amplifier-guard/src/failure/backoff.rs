//! How long to wait before a retry.

use crate::setting::SettingError;

/// The longest wait that a server may ask for, in seconds: a day.
const MAX_ASKED_SECONDS: f64 = 86_400.0;

/// How the waits between attempts grow; the rule of the kernel's `compute_delay`, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backoff {
    initial: f64,
    factor: f64,
    longest: f64,
}

impl Backoff {
    /// Waits of `initial` seconds, then each `factor` times the one before, up to `longest`.
    pub fn new(initial: f64, factor: f64, longest: f64) -> Result<Self, SettingError> {
        SettingError::unless_finite("initial_delay", initial)?;
        SettingError::unless_finite("backoff_factor", factor)?;
        SettingError::unless_finite("max_delay", longest)?;
        Ok(Self {
            initial,
            factor,
            longest,
        })
    }

    /// The seconds to wait after a failed call.
    ///
    /// `attempt` counts the calls before the failed one, `multiplier` is a factor of the error, which
    /// may exceed the limit (ignored unless finite and positive), `jitter` a random factor. The wait
    /// is at least what the server `asked` for.
    #[must_use]
    pub fn delay(
        &self,
        attempt: u32,
        multiplier: Option<f64>,
        jitter: f64,
        asked: Option<f64>,
    ) -> f64 {
        let mut delay = self.grown(attempt).min(self.longest);
        if let Some(multiplier) = multiplier
            && multiplier.is_finite()
            && multiplier > 0.0
        {
            delay *= multiplier;
        }
        delay *= jitter;
        // Last, so that nothing above undercuts what the server demands.
        match asked.and_then(asked_wait) {
            Some(asked) if asked > delay => asked,
            _ => delay,
        }
    }

    /// The wait before any limit; infinite where floats end.
    fn grown(&self, attempt: u32) -> f64 {
        if self.initial == 0.0 {
            return 0.0;
        }
        self.initial * self.factor.powf(f64::from(attempt))
    }
}

/// The seconds that a server asked to wait, if they are from 0 to a day.
#[must_use]
pub fn asked_wait(seconds: f64) -> Option<f64> {
    (0.0..=MAX_ASKED_SECONDS)
        .contains(&seconds)
        .then_some(seconds)
}

/// The same, from the text of a `retry-after` header.
#[must_use]
pub fn asked_wait_of_text(text: &str) -> Option<f64> {
    text.trim().parse().ok().and_then(asked_wait)
}
