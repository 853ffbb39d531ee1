//! The coordinator's decisions: where a module is mounted, and what an injection may cost.

pub use crate::approval_decision::{Approval, clip_prompt, is_consent, read_approval};
use crate::error::MountError;
use crate::model::ContextInjection;
pub use crate::slot::{Slot, SlotKind};

impl Slot {
    /// The slot with this name.
    pub fn parse(point: &str) -> Result<Self, MountError> {
        Self::ALL
            .into_iter()
            .find(|slot| slot.as_str() == point)
            .ok_or_else(|| MountError::UnknownPoint(point.to_owned()))
    }
}

/// Where a mount writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MountTarget<N> {
    /// The slot itself.
    Slot,
    /// The entry of this name in the slot.
    Entry(N),
}

/// Decides where a module is mounted; in a named slot, under `name` or else its own name.
///
/// The module's own name is read only if it is needed.
pub fn mount_target<N, E: From<MountError>>(
    slot: Slot,
    name: Option<N>,
    own_name: impl FnOnce() -> Result<Option<N>, E>,
) -> Result<MountTarget<N>, E> {
    match slot.kind() {
        SlotKind::Single => Ok(MountTarget::Slot),
        SlotKind::Registry => Err(MountError::HooksAreRegistered.into()),
        SlotKind::Named => match name {
            Some(name) => Ok(MountTarget::Entry(name)),
            None => own_name()?
                .map(MountTarget::Entry)
                .ok_or_else(|| MountError::NameRequired(slot).into()),
        },
    }
}

/// Decides what an unmount removes; `None` for the hook registry, which stays.
pub fn unmount_target<N>(
    slot: Slot,
    name: Option<N>,
) -> Result<Option<MountTarget<N>>, MountError> {
    match slot.kind() {
        SlotKind::Single => Ok(Some(MountTarget::Slot)),
        SlotKind::Registry => Ok(None),
        SlotKind::Named => match name {
            Some(name) => Ok(Some(MountTarget::Entry(name))),
            None => Err(MountError::NameRequiredToUnmount(slot)),
        },
    }
}

/// The limits that a session sets on what hooks may inject; `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InjectionLimits {
    /// Most characters (code points) of one injection.
    pub size: Option<i64>,
    /// Most tokens of all injections of a turn, before a warning.
    pub budget: Option<i64>,
    /// Most tokens of all injections of a turn; more are refused.
    pub total: Option<i64>,
}

/// What a set of injections costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InjectionCharge {
    /// Estimated tokens of all items: four characters are one token, each item rounded down.
    pub tokens: i64,
    /// The items that exceed the turn's budget; they are injected nevertheless.
    pub excesses: Vec<Excess>,
}

/// An item that exceeds the turn's budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Excess {
    /// The index of the item.
    pub item: usize,
    /// The tokens of the turn before the item.
    pub used: i64,
    /// The tokens of the item.
    pub tokens: i64,
}

/// Checks all items before any is injected, and returns their cost.
pub fn charge_injections(
    items: &[ContextInjection],
    limits: InjectionLimits,
    used_tokens: i64,
) -> Result<InjectionCharge, MountError> {
    let (mut used, mut excesses) = (used_tokens, Vec::new());
    for (place, item) in items.iter().enumerate() {
        let characters = i64::try_from(item.content.chars().count()).unwrap_or(i64::MAX);
        if let Some(limit) = limits.size
            && characters > limit
        {
            return Err(MountError::InjectionTooLong { limit });
        }
        let tokens = characters / 4;
        let total = used.saturating_add(tokens);
        if limits.budget.is_some_and(|budget| total > budget) {
            excesses.push(Excess {
                item: place,
                used,
                tokens,
            });
        }
        used = total;
    }
    if let Some(limit) = limits.total
        && used > limit
        && used > used_tokens
    {
        return Err(MountError::InjectionsOverLimit { limit });
    }
    Ok(InjectionCharge {
        tokens: used.saturating_sub(used_tokens),
        excesses,
    })
}

/// The items with unsafe characters removed; items that end up empty are dropped.
#[must_use]
pub fn clean_injections(items: Vec<ContextInjection>) -> Vec<ContextInjection> {
    let cleaned = items.into_iter().map(|item| ContextInjection {
        content: sanitize_injection(&item.content),
        ..item
    });
    cleaned.filter(|item| !item.content.is_empty()).collect()
}

/// Removes control characters except tabs and line ends, which must not reach a model.
#[must_use]
pub fn sanitize_injection(text: &str) -> String {
    text.chars()
        .filter(|character| match *character {
            '\t' | '\n' | '\r' => true,
            other => !other.is_control(),
        })
        .collect()
}
