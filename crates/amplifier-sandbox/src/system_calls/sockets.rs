//! Sockets that lead to others.

use seccompiler::{BackendError, SeccompCmpOp, SeccompRule};

use super::Sockets;
use super::rule::{Rules, condition, rule};

/// The bits of a socket's type that are no flags.
const TYPE: u64 = 0xf;

/// Rules for sockets of other kinds than a command may make.
pub(super) fn foreign(sockets: Sockets) -> Result<Rules, BackendError> {
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
    let single = vec![
        SeccompRule::new(other_family)?,
        SeccompRule::new(other_netlink)?,
    ];
    let mut pairs = vec![rule(
        0,
        SeccompCmpOp::Ne,
        libc::AF_UNIX.unsigned_abs().into(),
    )?];
    if sockets == Sockets::Pairs {
        // One of a pair of datagrams could be sent from to anybody.
        let datagrams = libc::SOCK_DGRAM.unsigned_abs().into();
        pairs.push(rule(1, SeccompCmpOp::MaskedEq(TYPE), datagrams)?);
    }
    Ok(Rules::from([
        (libc::SYS_socket, single),
        (libc::SYS_socketpair, pairs),
    ]))
}
