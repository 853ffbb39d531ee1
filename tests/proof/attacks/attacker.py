"""What Python programs of attacks begin with: the places of the world, and any system call.

The harness puts this text before each of them; it runs by itself, without the packages.
"""

# ruff: noqa: F401 -- the programs that follow use them

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import signal
import socket
import struct
import subprocess
import sys
import time

OUTSIDE, HOME, PROJECT, TOKEN, RUN, PYTHON = (
    os.environ[name] for name in ("OUTSIDE", "HOME", "PROJECT", "TOKEN", "RUN", "PYTHON")
)
VICTIM, AGENT = int(os.environ["VICTIM"]), int(os.environ["AGENT"])
CANARY = f"{OUTSIDE}/canary"
KEY_FILE = f"{HOME}/.ssh/id_rsa"
AT_FDCWD = -100

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long

NUMBERS = {
    "acct": 163,
    "add_key": 248,
    "adjtimex": 159,
    "bpf": 321,
    "chroot": 161,
    "clone3": 435,
    "copy_file_range": 326,
    "delete_module": 176,
    "execveat": 322,
    "fchmodat2": 452,
    "fallocate": 285,
    "finit_module": 313,
    "fsconfig": 431,
    "fsmount": 432,
    "fsopen": 430,
    "init_module": 175,
    "io_setup": 206,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "io_uring_setup": 425,
    "ioperm": 173,
    "iopl": 172,
    "ioprio_set": 251,
    "kcmp": 312,
    "kexec_file_load": 320,
    "kexec_load": 246,
    "keyctl": 250,
    "linkat": 265,
    "mbind": 237,
    "memfd_create": 319,
    "memfd_secret": 447,
    "migrate_pages": 256,
    "mount": 165,
    "mount_setattr": 442,
    "move_mount": 429,
    "move_pages": 279,
    "mq_open": 240,
    "mq_timedsend": 242,
    "mq_timedreceive": 243,
    "mq_unlink": 241,
    "msgctl": 71,
    "msgget": 68,
    "msgrcv": 70,
    "msgsnd": 69,
    "name_to_handle_at": 303,
    "open_by_handle_at": 304,
    "open_tree": 428,
    "openat2": 437,
    "perf_event_open": 298,
    "pidfd_getfd": 438,
    "pidfd_open": 434,
    "pidfd_send_signal": 424,
    "pivot_root": 155,
    "prctl": 157,
    "prlimit64": 302,
    "process_madvise": 440,
    "process_mrelease": 448,
    "process_vm_readv": 310,
    "process_vm_writev": 311,
    "ptrace": 101,
    "quotactl": 179,
    "reboot": 169,
    "renameat2": 316,
    "request_key": 249,
    "rt_sigqueueinfo": 129,
    "rt_tgsigqueueinfo": 297,
    "sched_setaffinity": 203,
    "sched_setattr": 314,
    "sched_setscheduler": 144,
    "semctl": 66,
    "semget": 64,
    "semop": 65,
    "setdomainname": 171,
    "sethostname": 170,
    "setns": 308,
    "setpriority": 141,
    "settimeofday": 164,
    "setxattrat": 463,
    "shmat": 30,
    "shmctl": 31,
    "shmget": 29,
    "splice": 275,
    "swapoff": 168,
    "swapon": 167,
    "syslog": 103,
    "tgkill": 234,
    "tkill": 200,
    "umount2": 166,
    "unshare": 272,
    "userfaultfd": 323,
    "vhangup": 153,
}
"""Of x86-64."""

NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = (
    0x20000,
    0x2000000,
    0x4000000,
    0x8000000,
    0x10000000,
    0x20000000,
    0x40000000,
)


def call(name: str | int, *arguments: object) -> int:
    """Make a system call; a failure is an `OSError`."""
    number = NUMBERS[name] if isinstance(name, str) else name
    passed = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    result = libc.syscall(ctypes.c_long(number), *passed)
    if result == -1:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")
    return result


def claim() -> None:
    """Say that it succeeded, where nobody outside can see it."""
    print(f"succeeded {TOKEN}", flush=True)


def enter_user_namespace(flags: int = NEWNS) -> None:
    """Become root of a user namespace of its own, with more namespaces."""
    user, group = os.geteuid(), os.getegid()
    call("unshare", NEWUSER | flags)
    for file, text in (
        ("setgroups", "deny"),
        ("uid_map", f"0 {user} 1"),
        ("gid_map", f"0 {group} 1"),
    ):
        with open(f"/proc/self/{file}", "w") as opened:
            opened.write(text)


def become_mounter() -> None:
    """Get a mount namespace of its own that nothing propagates from, as root or by a user namespace."""
    if os.geteuid() == 0:
        call("unshare", NEWNS)
    else:
        enter_user_namespace()
    call("mount", b"none", b"/", None, 0x4000 | 0x40000, None)  # MS_REC | MS_PRIVATE


def overwrite(path: str) -> None:
    """Write into a file that is there."""
    with open(path, "r+") as file:
        file.write(f"overwritten {TOKEN}\n")


def show(path: str) -> None:
    """Print a file."""
    with open(path, "rb") as file:
        print(file.read().decode(errors="replace"), flush=True)


def send(family: int, kind: int, address: object, protocol: int = 0) -> None:
    """Send the token to a server."""
    with socket.socket(family, kind, protocol) as opened:
        opened.settimeout(1)
        opened.connect(address)
        opened.send(TOKEN.encode())


def fork_daemon() -> bool:
    """Fork twice with a session of its own; true in the grandchild."""
    if os.fork():
        return False
    os.setsid()
    if os.fork():
        os._exit(0)
    return True
