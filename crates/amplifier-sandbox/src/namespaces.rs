//! Namespaces: new ones, or those of an earlier command of the session.

use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::path::Path;

use nix::sched::{CloneFlags, setns, unshare};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

use crate::SandboxError;

/// What every command has for itself. The caller stays where it is until its next child, which is
/// the first process of a namespace of its own.
const OF_A_COMMAND: CloneFlags = CloneFlags::CLONE_NEWNS
    .union(CloneFlags::CLONE_NEWPID)
    .union(CloneFlags::CLONE_NEWIPC);

const SET_GROUPS: &str = "/proc/self/setgroups";

/// Moves this process into new namespaces of users, mounts, processes, IPC and network, in which
/// `settle_in` makes it somebody.
///
/// # Errors
///
/// The kernel makes none.
pub fn enter_namespaces() -> Result<(), SandboxError> {
    unshare(OF_A_COMMAND | CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET)
        .map_err(SandboxError::step("make namespaces"))?;
    fs::write(SET_GROUPS, "deny").map_err(SandboxError::path("write", SET_GROUPS))
}

/// Has this process keep the user and group that it had before its new namespaces, and brings up
/// loopback there.
///
/// A process outside may have said before what ids mean there, which takes rights that this one has
/// no more.
///
/// # Errors
///
/// Some rule takes away what can be done in the namespaces.
pub fn settle_in(user: u32, group: u32) -> Result<(), SandboxError> {
    for (path, id) in [("/proc/self/uid_map", user), ("/proc/self/gid_map", group)] {
        let map = fs::read(path).map_err(SandboxError::path("read", path))?;
        if map.is_empty() {
            fs::write(path, format!("{id} {id} 1")).map_err(SandboxError::path("write", path))?;
        }
    }
    bring_up_loopback()
}

/// Moves this process into the user and network namespaces of an earlier command, and into new ones
/// of mounts, processes and IPC.
///
/// # Errors
///
/// A file is no namespace, or the kernel lets nobody in.
pub fn join_namespaces(user: &Path, network: &Path) -> Result<(), SandboxError> {
    for (path, kind) in [
        (user, CloneFlags::CLONE_NEWUSER),
        (network, CloneFlags::CLONE_NEWNET),
    ] {
        let namespace = File::open(path).map_err(SandboxError::path("open", path))?;
        setns(namespace, kind).map_err(SandboxError::path("enter the namespace", path))?;
    }
    unshare(OF_A_COMMAND).map_err(SandboxError::step("make namespaces"))
}

/// Sets the flag `IFF_UP` of the first interface by one message (rtnetlink(7)).
fn bring_up_loopback() -> Result<(), SandboxError> {
    const REQUEST_AND_ACKNOWLEDGE: u16 = 0x1 | 0x4;
    const UP: u32 = 1;
    let up = SandboxError::step("bring up loopback");

    let socket: OwnedFd = rustix::net::socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        None, // the protocol of zero: routes and interfaces
    )
    .map_err(&up)?;
    let mut message = Vec::new();
    message.extend(32_u32.to_ne_bytes()); // bytes of the message
    message.extend(libc::RTM_NEWLINK.to_ne_bytes());
    message.extend(REQUEST_AND_ACKNOWLEDGE.to_ne_bytes());
    message.extend([0; 8]); // sequence and sender
    message.extend([0; 4]); // family and type: any
    message.extend(1_i32.to_ne_bytes()); // loopback
    message.extend(UP.to_ne_bytes());
    message.extend(UP.to_ne_bytes()); // the flag that changes
    rustix::net::send(&socket, &message, SendFlags::empty()).map_err(&up)?;

    let mut answer = [0; 256];
    let (length, _) =
        rustix::net::recv(&socket, &mut answer[..], RecvFlags::empty()).map_err(&up)?;
    // A header of 16 bytes, then an error number below zero, or zero.
    let code = answer[..length]
        .get(16..20)
        .and_then(|code| code.try_into().ok());
    match code.map(i32::from_ne_bytes) {
        Some(0) => Ok(()),
        Some(code) => Err(up(rustix::io::Errno::from_raw_os_error(
            code.wrapping_neg(),
        ))),
        None => Err(up(rustix::io::Errno::BADMSG)),
    }
}
