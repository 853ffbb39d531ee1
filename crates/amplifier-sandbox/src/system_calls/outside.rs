//! System calls that are refused where a command runs among the processes of the machine.

use seccompiler::{BackendError, SeccompCmpOp};

use super::rule::{Rules, always, rule};

const REFUSED: &[i64] = &[
    libc::SYS_kcmp,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    // What is shared by its number or name with all programs of the user.
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_msgctl,
    libc::SYS_msgget,
    libc::SYS_msgrcv,
    libc::SYS_msgsnd,
    libc::SYS_semctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_shmget,
];

/// Calls that change limits, priority or processors, and which argument is the process: only the
/// caller itself, which is zero.
const OF_A_PROCESS: &[(i64, u8)] = &[
    (libc::SYS_prlimit64, 0),
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setattr, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setscheduler, 0),
];

/// Calls whose first argument says what the second one is, and the value for a process.
const OF_A_KIND: &[(i64, u64)] = &[
    (libc::SYS_ioprio_set, 1),  // IOPRIO_WHO_PROCESS
    (libc::SYS_setpriority, 0), // PRIO_PROCESS
];

/// Rules for what reaches others.
pub(super) fn refused() -> Result<Rules, BackendError> {
    let mut rules = always(REFUSED);
    for (call, process) in OF_A_PROCESS {
        rules.insert(*call, vec![rule(*process, SeccompCmpOp::Ne, 0)?]);
    }
    for (call, kind) in OF_A_KIND {
        let others = vec![
            rule(0, SeccompCmpOp::Ne, *kind)?,
            rule(1, SeccompCmpOp::Ne, 0)?,
        ];
        rules.insert(*call, others);
    }
    Ok(rules)
}
