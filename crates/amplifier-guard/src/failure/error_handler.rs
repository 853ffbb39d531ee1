//! Whether and when a failed operation is retried.

use std::time::Duration;

use amplifier_core::error::AmplifierError;
use amplifier_core::words;

use super::backoff::Backoff;
use super::error_frequency::ErrorFrequency;
use super::error_kind::ErrorKind;
use crate::setting::SettingError;

/// The longest wait before a retry, whatever the factors of an error.
const MAX_DELAY_SECONDS: f64 = 86_400.0;

/// What is known about a failed call.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The type of the error, by which it is counted.
    pub name: String,
    /// What kind of failure it is.
    pub kind: ErrorKind,
    /// Whether a retry is useful, if the error says so itself.
    pub retryable: Option<bool>,
    /// The seconds that the server asked to wait; ignored if negative or more than a day.
    pub retry_after: Option<f64>,
    /// A factor of the error by which the wait is multiplied.
    pub delay_multiplier: Option<f64>,
}

impl Failure {
    /// Whether the same call may succeed later: what the error says, else what its kind does.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.retryable.unwrap_or(self.kind.is_retryable())
    }
}

impl From<&AmplifierError> for Failure {
    fn from(error: &AmplifierError) -> Self {
        let kind = ErrorKind::from(error);
        let name = error.contract_name().unwrap_or(kind.as_str()).to_owned();
        let provider = match error {
            AmplifierError::Provider(error) => Some(error.failure()),
            _ => None,
        };
        Self {
            name,
            kind,
            retryable: provider.and_then(|failure| failure.retryable),
            retry_after: provider.and_then(|failure| failure.retry_after),
            delay_multiplier: provider.map(|failure| failure.delay_multiplier),
        }
    }
}

/// The time and the random number for one decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// The time of the caller's clock, since any moment.
    pub now: Duration,
    /// Seconds since the first call of the operation.
    pub elapsed: f64,
    /// From 0 to 1, a new number for each failure.
    pub random: f64,
}

/// How often and for how long to retry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetrySettings {
    /// The most calls after the first one.
    pub max_retries: u32,
    /// How the waits grow.
    pub backoff: Backoff,
    /// The share of a wait, from 0 to 1, by which it is randomly longer or shorter.
    pub jitter: f64,
    /// The seconds after the first call beyond which no retry is started.
    pub budget: Option<f64>,
}

/// What to do after a failure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decision {
    /// Call again.
    Retry {
        /// The seconds to wait before.
        delay: f64,
        /// The number of the retry, from 1.
        attempt: u32,
    },
    /// Do not call again.
    GiveUp {
        /// Why.
        reason: GiveUpReason,
    },
}

/// Where decisions are traced.
const TARGET: &str = "amplifier_guard::failures";

words! {
    /// Why no retry follows.
    pub enum GiveUpReason {
        /// The same call would fail again.
        NotRetryable = "not_retryable",
        /// The maximum number of retries was reached.
        RetriesExhausted = "retries_exhausted",
        /// The next retry would begin beyond the budget.
        BudgetSpent = "budget_spent",
    }
}

/// Judges failures, and counts them by type.
#[derive(Clone, Debug)]
pub struct ErrorHandler {
    settings: RetrySettings,
    frequency: ErrorFrequency,
}

impl ErrorHandler {
    /// A handler with these settings, which counts with `frequency`.
    pub fn new(settings: RetrySettings, frequency: ErrorFrequency) -> Result<Self, SettingError> {
        if !(0.0..=1.0).contains(&settings.jitter) {
            let expected = "from 0 to 1";
            return Err(SettingError::new("jitter", expected, settings.jitter));
        }
        if let Some(budget) = settings.budget {
            SettingError::unless_finite("budget", budget)?;
        }
        Ok(Self {
            settings,
            frequency,
        })
    }

    /// Judge a failure after `retries` retries of the operation.
    pub fn handle(&mut self, failure: &Failure, retries: u32, moment: Moment) -> Decision {
        self.frequency.record(&failure.name, moment.now);
        let reason = if !failure.is_retryable() {
            GiveUpReason::NotRetryable
        } else if retries >= self.settings.max_retries {
            GiveUpReason::RetriesExhausted
        } else {
            let delay = self.delay(failure, retries, moment.random);
            let begin = moment.elapsed.max(0.0) + delay;
            if self.settings.budget.is_none_or(|budget| begin <= budget) {
                let attempt = retries + 1;
                tracing::debug!(target: TARGET, error = failure.name, attempt, delay, "retries");
                return Decision::Retry { delay, attempt };
            }
            GiveUpReason::BudgetSpent
        };
        let why = reason.as_str();
        tracing::debug!(target: TARGET, error = failure.name, retries, why, "gives up");
        Decision::GiveUp { reason }
    }

    /// How often each type of error came lately.
    pub fn frequency(&mut self) -> &mut ErrorFrequency {
        &mut self.frequency
    }

    fn delay(&self, failure: &Failure, retries: u32, random: f64) -> f64 {
        let jitter = self.settings.jitter;
        let factor = (1.0 - jitter) + 2.0 * jitter * random.clamp(0.0, 1.0);
        let delay = self.settings.backoff.delay(
            retries,
            failure.delay_multiplier,
            factor,
            failure.retry_after,
        );
        delay.min(MAX_DELAY_SECONDS)
    }
}
