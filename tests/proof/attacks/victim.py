"""A process outside that plays the agent: what it holds, and what was done to it.

It prints one line of JSON when it is ready, and one with its state for each line that it reads.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import struct
import sys
from pathlib import Path

TOKEN = sys.argv[1]
NUMBER = int(TOKEN.removeprefix("attack"), 16) & 0x3FFFFFFF
ALL_RIGHTS = 0x3F3F0000
USER_KEYRING = -4

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
libc.shmat.restype = ctypes.c_void_p

received: list[int] = []
for number in (signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM, signal.SIGINT):
    signal.signal(number, lambda number, _: received.append(number))
for number in (signal.SIGWINCH, signal.SIGURG, signal.SIGIO):
    signal.signal(number, lambda number, _: received.append(number))

memory = ctypes.create_string_buffer(os.environ["MEMORY_SECRET"].encode(), 64)
holder = os.memfd_create("held")
os.write(holder, os.environ["HELD_SECRET"].encode())
del os.environ["MEMORY_SECRET"], os.environ["HELD_SECRET"]

shared = libc.shmget(NUMBER, 4096, 0o1600)
attached = libc.shmat(shared, None, 0)
ctypes.memmove(attached, b"shared", 7)
semaphore = libc.semget(NUMBER, 1, 0o1600)
queue = libc.msgget(NUMBER, 0o1600)
libc.msgsnd(queue, struct.pack("l8s", 1, b"message"), 8, 0)
posix_queue = libc.syscall(240, TOKEN.encode(), os.O_CREAT | os.O_RDWR, 0o600, None)
libc.syscall(242, posix_queue, b"message", 7, 1, None)
key = libc.syscall(
    248, b"user", f"key-{TOKEN}".encode(), os.environ["KEY_SECRET"].encode(), 32, USER_KEYRING
)
libc.syscall(250, 5, key, ALL_RIGHTS)  # KEYCTL_SETPERM


def read_line(file: str, identity: int) -> str:
    """Return what the kernel says of an object of System V, without memory that may be swapped."""
    for line in Path("/proc/sysvipc", file).read_text().splitlines()[1:]:
        fields = line.split()
        if int(fields[1]) == identity:
            return " ".join(fields[:14])
    return "gone"


def read_key() -> str:
    """Return the key's text, or that it is gone."""
    buffer = ctypes.create_string_buffer(64)
    length = libc.syscall(250, 11, key, buffer, 64)  # KEYCTL_READ
    return buffer.raw[:length].decode() if length > 0 else "gone"


def read_queue() -> str:
    """Return the attributes of the POSIX queue."""
    attributes = (ctypes.c_long * 8)()
    libc.syscall(245, posix_queue, None, attributes)
    return f"{list(attributes)[:4]}"


def search_keys() -> int:
    """Return the key that an attack has put beside ours."""
    return int(libc.syscall(250, 10, USER_KEYRING, b"user", f"new-{TOKEN}".encode(), 0))


def describe() -> dict[str, object]:
    """Return all that others may have changed."""
    return {
        "victim/signals": sorted(received),
        "victim/memory": memory.value.decode(errors="replace"),
        "victim/held": os.pread(holder, 100, 0).decode(errors="replace"),
        "victim/environment": sorted(os.environ.values()),
        "victim/directory": os.getcwd(),
        "ipc/shared": [read_line("shm", shared), ctypes.string_at(attached, 16).hex()],
        "ipc/semaphore": read_line("sem", semaphore) + f" {libc.semctl(semaphore, 0, 12)}",
        "ipc/queue": read_line("msg", queue),
        "ipc/posix": read_queue(),
        "keys/key": read_key(),
        "keys/new": search_keys() > 0,
    }


def clean() -> None:
    """Remove what outlives a process."""
    libc.shmctl(shared, 0, None)
    libc.semctl(semaphore, 0, 0)
    libc.msgctl(queue, 0, None)
    libc.syscall(241, TOKEN.encode())
    for each in (key, search_keys()):
        libc.syscall(250, 9, each, USER_KEYRING)  # KEYCTL_UNLINK


print(
    json.dumps(
        {
            "VICTIM_ADDRESS": ctypes.addressof(memory),
            "VICTIM_FD": holder,
            "SHARED": shared,
            "SEMAPHORE": semaphore,
            "QUEUE": queue,
            "KEY": key,
            "IPC_KEY": NUMBER,
        }
    ),
    flush=True,
)
for _ in sys.stdin:
    print(json.dumps(describe()), flush=True)
clean()
os.close(1)
