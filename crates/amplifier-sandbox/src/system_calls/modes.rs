//! Modes by which a file lends the rights of its owner or group: nobody sets them.
//!
//! What a command makes in the project belongs to the user, and could be run by others outside.

use seccompiler::{BackendError, SeccompCmpOp, SeccompRule};

use super::rule::{Rules, condition, flag_is_set};

const SPECIAL: [u32; 2] = [libc::S_ISUID, libc::S_ISGID];

/// Calls with a mode, and which argument it is.
const WITH_MODE: &[(i64, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (libc::SYS_fchmodat2, 2),
    (libc::SYS_mknodat, 2),
];

/// Calls with a mode that counts if a file is made, and which argument the flags are.
const WITH_FLAGS: &[(i64, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1),
    (libc::SYS_openat, 2),
];

/// Rules for calls that set such a mode.
pub(super) fn special() -> Result<Rules, BackendError> {
    let mut rules = Rules::new();
    for (call, mode) in WITH_MODE {
        let set = SPECIAL.iter().map(|bit| flag_is_set(*mode, (*bit).into()));
        rules.insert(*call, set.collect::<Result<_, _>>()?);
    }
    for (call, flags) in WITH_FLAGS {
        let mut set = Vec::new();
        for making in [libc::O_CREAT, libc::O_TMPFILE] {
            for bit in SPECIAL {
                set.push(both_are_set(
                    *flags,
                    making.unsigned_abs().into(),
                    bit.into(),
                )?);
            }
        }
        rules.insert(*call, set);
    }
    Ok(rules)
}

/// A rule that is met if a flag is set, and a bit of the mode that follows the flags.
fn both_are_set(flags: u8, flag: u64, bit: u64) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![
        condition(flags, SeccompCmpOp::MaskedEq(flag), flag)?,
        condition(flags + 1, SeccompCmpOp::MaskedEq(bit), bit)?,
    ])
}
