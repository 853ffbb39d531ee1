//! The circuit breaker: stops calling a service for a while after repeated failures.

use std::time::Duration;

use amplifier_core::words;

use crate::setting::{SettingError, in_seconds};

words! {
    /// What a breaker does with the next call.
    pub enum BreakerState {
        /// It lets every call through.
        Closed = "closed",
        /// It refuses every call.
        Open = "open",
        /// It lets one trial call through, and refuses all others until the trial has ended.
        HalfOpen = "half_open",
    }
}

/// Permission to make one call, to be returned with the result of the call.
///
/// Calls that began before the breaker last changed its state say nothing about the current state of
/// the service, so their results do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permit(u64);

impl Permit {
    /// The permit of this number.
    #[must_use]
    pub fn from_number(number: u64) -> Self {
        Self(number)
    }

    /// The number that distinguishes it from the permits of other states.
    #[must_use]
    pub fn number(self) -> u64 {
        self.0
    }
}

/// A call that the breaker refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("circuit open after repeated failures; retry in {}", in_seconds(*.wait))]
pub struct CircuitOpen {
    /// Time until the next trial, unless a running one ends earlier.
    pub wait: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Closed { failures: u32 },
    Open { until: Duration },
    Trial { until: Duration },
}

/// Refuses calls to a service that failed several times in a row.
///
/// Times are those of the caller's clock, since any moment; a time before the latest one counts as the latest.
#[doc = include_str!("../../docs/breaker.md")]
#[derive(Clone, Debug)]
pub struct CircuitBreaker {
    most_failures: u32,
    recovery: Duration,
    phase: Phase,
    permit: Permit,
    latest: Duration,
}

impl CircuitBreaker {
    /// A breaker that opens for the time `recovery` after `most_failures` failures in a row.
    pub fn new(most_failures: u32, recovery: Duration) -> Result<Self, SettingError> {
        SettingError::unless_positive("failures", most_failures.into())?;
        Ok(Self {
            most_failures,
            recovery,
            phase: Phase::Closed { failures: 0 },
            permit: Permit(0),
            latest: Duration::ZERO,
        })
    }

    /// What it would do with the next call.
    pub fn state(&mut self, now: Duration) -> BreakerState {
        self.reach(now);
        match self.phase {
            Phase::Closed { .. } => BreakerState::Closed,
            Phase::Open { until } if self.latest < until => BreakerState::Open,
            Phase::Open { .. } | Phase::Trial { .. } => BreakerState::HalfOpen,
        }
    }

    /// Time until a call is allowed, unless a running call changes that.
    pub fn wait(&mut self, now: Duration) -> Duration {
        self.reach(now);
        match self.phase {
            Phase::Open { until } | Phase::Trial { until } if self.latest < until => {
                until.saturating_sub(now)
            }
            Phase::Closed { .. } | Phase::Open { .. } | Phase::Trial { .. } => Duration::ZERO,
        }
    }

    /// Ask for permission to make a call.
    ///
    /// A trial without a result is given up after as long as the breaker stays open.
    pub fn admit(&mut self, now: Duration) -> Result<Permit, CircuitOpen> {
        let wait = self.wait(now);
        if wait > Duration::ZERO {
            return Err(CircuitOpen { wait });
        }
        if !matches!(self.phase, Phase::Closed { .. }) {
            let until = self.latest.saturating_add(self.recovery);
            self.turn(Phase::Trial { until });
        }
        Ok(self.permit)
    }

    /// Report that a call succeeded, which closes the breaker.
    pub fn succeeded(&mut self, permit: Permit) {
        if permit != self.permit {
            return;
        }
        match self.phase {
            Phase::Closed { .. } => self.phase = Phase::Closed { failures: 0 },
            Phase::Trial { .. } => self.turn(Phase::Closed { failures: 0 }),
            Phase::Open { .. } => {}
        }
    }

    /// Report that a call failed, which counts or, in a trial, opens the breaker again.
    pub fn failed(&mut self, permit: Permit, now: Duration) {
        self.reach(now);
        if permit != self.permit {
            return;
        }
        let until = self.latest.saturating_add(self.recovery);
        match self.phase {
            Phase::Closed { failures } if failures + 1 < self.most_failures => {
                self.phase = Phase::Closed {
                    failures: failures + 1,
                };
            }
            Phase::Closed { .. } | Phase::Trial { .. } => self.turn(Phase::Open { until }),
            Phase::Open { .. } => {}
        }
    }

    /// Report that a call ended in a way that says nothing about the service, such as a cancellation.
    pub fn abandoned(&mut self, permit: Permit) {
        if permit == self.permit && matches!(self.phase, Phase::Trial { .. }) {
            self.turn(Phase::Open { until: self.latest });
        }
    }

    fn reach(&mut self, now: Duration) {
        self.latest = self.latest.max(now);
    }

    /// Take another state, for which the permits given so far do not count.
    fn turn(&mut self, phase: Phase) {
        let state = match phase {
            Phase::Closed { .. } => BreakerState::Closed,
            Phase::Open { .. } => BreakerState::Open,
            Phase::Trial { .. } => BreakerState::HalfOpen,
        };
        tracing::info!(target: "amplifier_guard::breaker", state = state.as_str(), "turned");
        self.phase = phase;
        self.permit = Permit(self.permit.0.wrapping_add(1));
    }
}
