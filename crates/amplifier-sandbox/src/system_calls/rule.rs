//! Rules about the arguments of system calls.

use std::collections::BTreeMap;

use seccompiler::{BackendError, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompRule};

/// What of each call is met; a call without rules is always.
pub(super) type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Rules for calls that are met whatever their arguments are.
pub(super) fn always(calls: &[i64]) -> Rules {
    calls.iter().map(|call| (*call, Vec::new())).collect()
}

/// A rule about one argument, counted from zero.
pub(super) fn rule(
    argument: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![condition(argument, operator, value)?])
}

/// A rule that is met if all bits of `flag` are set.
pub(super) fn flag_is_set(argument: u8, flag: u64) -> Result<SeccompRule, BackendError> {
    rule(argument, SeccompCmpOp::MaskedEq(flag), flag)
}

/// A condition of a rule; the kernel looks at 32 bits of all arguments that are judged here.
pub(super) fn condition(
    argument: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
}
