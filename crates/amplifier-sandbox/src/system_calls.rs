//! System calls that a command has no use for, and by which others were broken into.

mod modes;
mod outside;
mod rule;
mod sockets;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpOp, SeccompFilter, TargetArch, apply_filter,
};

use crate::SandboxError;
use rule::{Rules, always, flag_is_set, rule};

/// Which sockets a command may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sockets {
    /// Of its own network namespace: Internet, Unix, and questions about the network.
    OfItsNetwork,
    /// Only pairs that are connected to each other, and questions about the network.
    Pairs,
}

/// Calls that are refused (`EPERM`).
const REFUSED: &[i64] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_adjtimex,
    libc::SYS_bpf,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];

/// Calls that do not seem to exist (`ENOSYS`): programs have another way, which can be judged.
const UNKNOWN: &[i64] = &[
    libc::SYS_clone3,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    // Its mode is where no filter can look.
    libc::SYS_openat2,
];

/// Of clone(2): any new namespace.
const NEW_NAMESPACES: &[i32] = &[
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// Requests of ioctl(2) that put text where a person types, or reach the console.
const TYPING: &[u64] = &[libc::TIOCSTI, libc::TIOCLINUX];

/// On x86-64, this bit asks for the numbers of x32, which nothing uses.
#[cfg(target_arch = "x86_64")]
const X32: i64 = 0x4000_0000;

/// Numbers that only x32 has, from 512 on: its own forms of ioctl, ptrace, exec and others.
#[cfg(target_arch = "x86_64")]
const OF_X32: std::ops::RangeInclusive<i64> = X32 + 512..=X32 + 547;

/// Filters the system calls of this process and of what it will run, for good.
///
/// # Errors
///
/// There is no filter for this processor, or the kernel takes none.
pub fn filter_system_calls(sockets: Sockets) -> Result<(), SandboxError> {
    let failed = |error: &dyn std::fmt::Display| SandboxError::Filter(error.to_string());
    for program in programs(sockets).map_err(|error| failed(&error))? {
        apply_filter(&program).map_err(|error| failed(&error))?;
    }
    Ok(())
}

/// A program for each error number.
fn programs(sockets: Sockets) -> Result<Vec<BpfProgram>, BackendError> {
    let processor = TargetArch::try_from(std::env::consts::ARCH)?;
    [
        (refused(sockets)?, libc::EPERM),
        (sockets::foreign(sockets)?, libc::EAFNOSUPPORT),
        (always(UNKNOWN), libc::ENOSYS),
    ]
    .into_iter()
    .map(|(rules, code)| {
        let code = SeccompAction::Errno(code.unsigned_abs());
        SeccompFilter::new(rules, SeccompAction::Allow, code, processor)?.try_into()
    })
    .collect()
}

fn refused(sockets: Sockets) -> Result<Rules, BackendError> {
    let mut rules = always(REFUSED);
    let new_namespaces = NEW_NAMESPACES
        .iter()
        .map(|flag| flag_is_set(0, flag.unsigned_abs().into()))
        .collect::<Result<_, _>>()?;
    rules.insert(libc::SYS_clone, new_namespaces);
    let typing = TYPING
        .iter()
        .map(|request| rule(1, SeccompCmpOp::Eq, *request))
        .collect::<Result<_, _>>()?;
    rules.insert(libc::SYS_ioctl, typing);
    rules.extend(modes::special()?);
    if sockets == Sockets::Pairs {
        rules.extend(outside::refused()?);
    }
    #[cfg(target_arch = "x86_64")]
    {
        let known = rules.keys().chain(UNKNOWN).chain(&[libc::SYS_socket]);
        let calls: Vec<_> = known.map(|call| call | X32).chain(OF_X32).collect();
        rules.extend(always(&calls));
    }
    Ok(rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_program_for_each_error_number() {
        for sockets in [Sockets::OfItsNetwork, Sockets::Pairs] {
            let programs = programs(sockets).unwrap();
            assert_eq!(programs.len(), 3);
            assert!(programs.iter().all(|program| program.len() > 10));
        }
    }
}
