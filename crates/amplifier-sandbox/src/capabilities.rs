//! Capabilities: none are left.

use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};

use crate::SandboxError;

/// Gives up all capabilities of this process and of what it will run, for good.
///
/// # Errors
///
/// The kernel keeps one.
pub fn give_up_capabilities() -> Result<(), SandboxError> {
    let failed = SandboxError::step("give up capabilities");
    for number in 0..64 {
        match remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << number)) {
            Ok(()) => {}
            // The first number that this kernel does not know; or, without CAP_SETPCAP, nothing can be
            // removed, and `no_new_privs` alone keeps it from coming back.
            Err(Errno::INVAL | Errno::PERM) => break,
            Err(error) => return Err(failed(error)),
        }
    }
    clear_ambient_capability_set().map_err(&failed)?;
    let none = CapabilitySet::empty();
    let sets = CapabilitySets {
        effective: none,
        permitted: none,
        inheritable: none,
    };
    set_capabilities(None, sets).map_err(&failed)?;
    set_no_new_privs(true).map_err(&failed)
}
