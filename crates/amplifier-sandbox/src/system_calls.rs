//! System calls that a command has no use for, and by which others were broken into.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};

use crate::SandboxError;

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

/// Calls that are refused where others can be reached that are outside.
const REFUSED_WITHOUT_NAMESPACES: &[i64] = &[
    libc::SYS_kcmp,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
];

/// Calls that do not seem to exist (`ENOSYS`): programs have another way, which can be judged.
const UNKNOWN: &[i64] = &[
    libc::SYS_clone3,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
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

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Filters the system calls of this process and of what it will run, for good.
///
/// # Errors
///
/// There is no filter for this processor, or the kernel takes none.
pub fn filter_system_calls(sockets: Sockets) -> Result<(), SandboxError> {
    let failed = |error: &dyn std::fmt::Display| SandboxError::Filter(error.to_string());
    let processor = TargetArch::try_from(std::env::consts::ARCH).map_err(|error| failed(&error))?;
    for (rules, code) in [
        (
            refused(sockets).map_err(|error| failed(&error))?,
            libc::EPERM,
        ),
        (
            foreign_sockets(sockets).map_err(|error| failed(&error))?,
            libc::EAFNOSUPPORT,
        ),
        (always(UNKNOWN), libc::ENOSYS),
    ] {
        let code = SeccompAction::Errno(code.unsigned_abs());
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, code, processor)
            .map_err(|error| failed(&error))?;
        let program: BpfProgram = filter
            .try_into()
            .map_err(|error: seccompiler::BackendError| failed(&error))?;
        apply_filter(&program).map_err(|error| failed(&error))?;
    }
    Ok(())
}

/// Rules for calls that are met whatever their arguments are.
fn always(calls: &[i64]) -> Rules {
    calls.iter().map(|call| (*call, Vec::new())).collect()
}

fn refused(sockets: Sockets) -> Result<Rules, seccompiler::BackendError> {
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
    if sockets == Sockets::Pairs {
        rules.extend(always(REFUSED_WITHOUT_NAMESPACES));
        // Limits, priority and processors of others.
        for (call, process) in [
            (libc::SYS_prlimit64, 0),
            (libc::SYS_setpriority, 1),
            (libc::SYS_ioprio_set, 1),
            (libc::SYS_sched_setaffinity, 0),
            (libc::SYS_sched_setattr, 0),
            (libc::SYS_sched_setparam, 0),
            (libc::SYS_sched_setscheduler, 0),
        ] {
            rules.insert(call, vec![rule(process, SeccompCmpOp::Ne, 0)?]);
        }
    }
    #[cfg(target_arch = "x86_64")]
    {
        let calls: Vec<_> = rules.keys().map(|call| call | X32).chain(OF_X32).collect();
        rules.extend(always(&calls));
        rules.extend(always(
            &UNKNOWN.iter().map(|call| call | X32).collect::<Vec<_>>(),
        ));
        rules.extend(always(&[libc::SYS_socket | X32]));
    }
    Ok(rules)
}

/// Rules for sockets that lead to others.
fn foreign_sockets(sockets: Sockets) -> Result<Rules, seccompiler::BackendError> {
    let families: &[i32] = match sockets {
        Sockets::OfItsNetwork => &[
            libc::AF_UNIX,
            libc::AF_INET,
            libc::AF_INET6,
            libc::AF_NETLINK,
        ],
        Sockets::Pairs => &[libc::AF_NETLINK],
    };
    let other_family = families
        .iter()
        .map(|family| condition(0, SeccompCmpOp::Ne, family.unsigned_abs().into()))
        .collect::<Result<_, _>>()?;
    let other_netlink = vec![
        condition(0, SeccompCmpOp::Eq, libc::AF_NETLINK.unsigned_abs().into())?,
        condition(
            2,
            SeccompCmpOp::Ne,
            libc::NETLINK_ROUTE.unsigned_abs().into(),
        )?,
    ];
    let not_unix = rule(0, SeccompCmpOp::Ne, libc::AF_UNIX.unsigned_abs().into())?;
    Ok(Rules::from([
        (
            libc::SYS_socket,
            vec![
                SeccompRule::new(other_family)?,
                SeccompRule::new(other_netlink)?,
            ],
        ),
        (libc::SYS_socketpair, vec![not_unix]),
    ]))
}

fn rule(
    argument: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(vec![condition(argument, operator, value)?])
}

fn flag_is_set(argument: u8, flag: u64) -> Result<SeccompRule, seccompiler::BackendError> {
    rule(argument, SeccompCmpOp::MaskedEq(flag), flag)
}

fn condition(
    argument: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    // The kernel looks at 32 bits of all of these.
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_program_for_each_set_of_rules() {
        for sockets in [Sockets::OfItsNetwork, Sockets::Pairs] {
            for rules in [
                refused(sockets),
                foreign_sockets(sockets),
                Ok(always(UNKNOWN)),
            ] {
                let processor = TargetArch::try_from(std::env::consts::ARCH).unwrap();
                let (pass, refuse) = (SeccompAction::Allow, SeccompAction::Errno(1));
                let filter = SeccompFilter::new(rules.unwrap(), pass, refuse, processor).unwrap();
                let program: BpfProgram = filter.try_into().unwrap();
                assert!(program.len() > 10);
            }
        }
    }
}
