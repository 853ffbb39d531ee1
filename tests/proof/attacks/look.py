"""What can be seen outside: files, processes, the terminal and the machine, as facts by name."""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import os
import stat
import struct
import time
from collections.abc import Iterator
from pathlib import Path

SHARED_FOLDERS = (
    "/",
    "/dev",
    "/dev/mqueue",
    "/dev/shm",
    "/etc",
    "/etc/cron.d",
    "/etc/profile.d",
    "/etc/sudoers.d",
    "/opt",
    "/run",
    "/run/user",
    "/sys/fs/bpf",
    "/sys/fs/cgroup",
    "/sys/fs/cgroup/pids",
    "/sys/fs/cgroup/unified",
    "/tmp",
    "/usr/local/bin",
    "/var/spool/cron/crontabs",
    "/var/tmp",
)
"""Folders of the machine in which names with the token are looked for."""

UNASKED = frozenset(
    (
        *(".gitmodules", ".husky", ".githooks", ".pre-commit-config.yaml", "lefthook.yml"),
        *("agents.md", "claude.md", ".claude", ".mcp.json", ".cursor"),
        *(".vscode", ".idea", ".exrc", ".vimrc", ".bashrc", ".direnv", ".envrc", ".tool-versions"),
        *("mise.toml", "flake.nix"),
    )
)
"""Some of the names that other programs run or follow; see `unasked.txt`."""
SETTINGS = ("core_pattern", "hostname", "domainname", "modprobe", "printk", "randomize_va_space")
GET_FLAGS = 0x80086601
IOPRIO_GET = 252
MAX_DRIFT_SECONDS = 2.0
"""By which the clock moves in the time of a proof without being set."""

MAX_PATH_BYTES = 4_000
MAX_READ_BYTES = 2**20
Facts = dict[str, object]

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def walk(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Every entry of a tree that a path leads to, links not followed."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if len(os.fsencode(entry.path)) > MAX_PATH_BYTES:
            continue
        yield entry
        if entry.is_dir(follow_symlinks=False):
            yield from walk(Path(entry.path))


def describe_content(path: str, status: os.stat_result) -> object:
    """Return what a file is and holds."""
    kind = stat.S_IFMT(status.st_mode)
    if kind == stat.S_IFLNK:
        return kind, os.readlink(path)
    if kind == stat.S_IFREG:
        with open(path, "rb") as file:
            content = hashlib.sha256(file.read(MAX_READ_BYTES)).hexdigest()[:16]
        return kind, status.st_nlink, status.st_size, content
    return kind, status.st_rdev


def read_flags(path: str) -> int:
    """Return the flags of a file such as that of `chattr +i`, or 0 where there are none."""
    flags = bytearray(8)
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        fcntl.ioctl(descriptor, GET_FLAGS, flags)
    except OSError:
        return 0
    finally:
        os.close(descriptor)
    return int(struct.unpack_from("I", flags)[0])


def describe_metadata(path: str, status: os.stat_result) -> object:
    """Return mode, owner, time, attributes and flags of a file."""
    attributes = {
        name: os.getxattr(path, name, follow_symlinks=False)
        for name in os.listxattr(path, follow_symlinks=False)
    }
    flags = read_flags(path) if stat.S_ISREG(status.st_mode) else 0
    owner = (status.st_uid, status.st_gid)
    return stat.S_IMODE(status.st_mode), owner, status.st_mtime_ns, attributes, flags


def describe_files(base: Path, *inside: Path) -> Facts:
    """Return every name below a folder except what is in folders inside, and what it is."""
    facts: Facts = {}
    prefixes = tuple(f"{each}/" for each in inside)
    places = {str(each) for each in inside}
    for entry in walk(base):
        if entry.path.startswith(prefixes):
            continue
        try:
            status = entry.stat(follow_symlinks=False)
            name = entry.path.removeprefix(f"{base}/")
            facts[f"files/{name}"] = describe_content(entry.path, status)
            # What is in the project may change, and with it the time of its folder.
            if entry.path not in places:
                facts[f"metadata/{name}"] = describe_metadata(entry.path, status)
        except FileNotFoundError:
            continue
    return facts


def describe_shared(token: str) -> Facts:
    """Return what has the token in its name in folders of the machine."""
    facts: Facts = {}
    for folder in SHARED_FOLDERS:
        try:
            names = [name for name in os.listdir(folder) if token in name]
        except OSError:
            continue
        for name in names:
            path = os.path.join(folder, name)
            status = os.lstat(path)
            facts[f"files/{path}"] = describe_content(path, status)
            facts[f"metadata/{path}"] = describe_metadata(path, status)
    return facts


def describe_git(project: Path) -> Facts:
    """Return the files of a repository that name programs which git runs later, or its folders."""
    git = project / ".git"
    facts: Facts = {}
    try:
        facts["git/.git"] = (stat.S_IFMT(os.lstat(git).st_mode), os.lstat(git).st_ino)
    except FileNotFoundError:
        facts["git/.git"] = "gone"
    patterns = (
        "config",
        "config.worktree",
        "hooks/*",
        "commondir",
        "objects/info/alternates",
        "info/attributes",
        "modules/*/config",
        "modules/*/hooks/*",
        "worktrees/*/hooks/*",
        "worktrees/*/gitdir",
        "worktrees/*/commondir",
        "worktrees/*/config.worktree",
    )
    for pattern in patterns:
        for path in git.glob(pattern):
            if path.suffix != ".sample" and (path.is_file() or path.is_symlink()):
                facts[f"git/{path.relative_to(git)}"] = (
                    describe_content(str(path), os.lstat(path)),
                    os.lstat(path).st_mode,
                )
    for name in ("sub/.git", "linked/.git"):
        path = project / name
        facts[f"git/{name}"] = path.read_text() if path.is_file() else "gone"
    return facts


def describe_privileged(project: Path) -> Facts:
    """Return what in a project has more rights than who uses it, or another owner."""
    facts: Facts = {}
    owner = os.lstat(project).st_uid if project.exists() else 0
    for entry in walk(project):
        if entry.name.startswith("attack"):
            continue
        try:
            status = entry.stat(follow_symlinks=False)
            names = os.listxattr(entry.path, follow_symlinks=False)
        except FileNotFoundError:
            continue
        is_device = stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode)
        if (
            is_device
            or (stat.S_ISREG(status.st_mode) and status.st_mode & 0o6000)
            or status.st_uid != owner
            or "security.capability" in names
        ):
            facts[f"suid/{entry.name}"] = status.st_mode
    return facts


def describe_unasked(project: Path) -> Facts:
    """Return what in a project other programs run or follow by themselves."""
    facts: Facts = {}
    for entry in walk(project):
        name = entry.path.removeprefix(f"{project}/")
        names = name.split("/")
        if ".git" in names or UNASKED.isdisjoint(each.lower() for each in names):
            continue
        if entry.is_symlink() or not entry.is_dir():
            facts[f"unasked/{name}"] = describe_content(
                entry.path, entry.stat(follow_symlinks=False)
            )
    return facts


def describe_process(name: str, pid: int) -> Facts:
    """Return what others may do to a process, as its parent sees it."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        if fields[0] in "ZX":
            return {f"{name}/state": "ended"}
        facts: Facts = {
            f"{name}/state": "stopped" if fields[0] in "Tt" else "runs",
            f"{name}/nice": os.getpriority(os.PRIO_PROCESS, pid),
            f"{name}/affinity": sorted(os.sched_getaffinity(pid)),
            f"{name}/policy": os.sched_getscheduler(pid),
            f"{name}/io": libc.syscall(IOPRIO_GET, 1, pid),
            f"{name}/group": os.getpgid(pid),
        }
        for file_name in ("oom_score_adj", "comm", "coredump_filter", "cgroup", "limits"):
            with open(f"/proc/{pid}/{file_name}") as file:
                facts[f"{name}/{file_name}"] = file.read()
    except (FileNotFoundError, ProcessLookupError):
        return {f"{name}/state": "ended"}
    return facts


def read_settings() -> Iterator[tuple[str, str]]:
    """Every setting of the kernel that is looked at."""
    for name in SETTINGS:
        path = Path("/proc/sys/kernel", name)
        if path.exists():
            yield name, path.read_text()
    yield "swaps", Path("/proc/swaps").read_text()
    status = Path("/proc/sys/fs/binfmt_misc")
    yield "binfmt", str(sorted(each.name for each in status.iterdir()) if status.exists() else [])


def describe_host(base: Path, token: str) -> Facts:
    """Return what an attack may change of the whole machine."""
    facts: Facts = {f"host/{name}": text for name, text in read_settings()}
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    facts["host/mounts"] = [line.split()[4] for line in mounts if str(base) in line]
    facts["host/clock is set"] = abs(read_boot_time() - BOOT_TIME) > MAX_DRIFT_SECONDS
    addresses = Path("/proc/net/fib_trie").read_text()
    facts["host/addresses"] = sorted({word for word in addresses.split() if word[:4] == "127."})
    if os.geteuid() == 0:
        facts["host/log"] = read_kernel_log().count(token)
    return facts


def read_boot_time() -> float:
    """Return the time at which the machine began, by its clock."""
    return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)


BOOT_TIME = read_boot_time()


def read_kernel_log() -> str:
    """Return what the kernel has logged."""
    size = libc.klogctl(10, None, 0)
    buffer = ctypes.create_string_buffer(size)
    length = libc.klogctl(3, buffer, size)
    return buffer.raw[: max(length, 0)].decode(errors="replace")


def list_processes() -> dict[int, tuple[int, str]]:
    """Return the parent and the state of every process."""
    found: dict[int, tuple[int, str]] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        found[int(name)] = (int(fields[1]), fields[0])
    return found


def list_descendants() -> list[tuple[int, str]]:
    """Return the processes that descend from this one, and their states, parents first."""
    children: dict[int, list[int]] = {}
    processes = list_processes()
    for pid, (parent, _) in processes.items():
        children.setdefault(parent, []).append(pid)
    waiting, found = [os.getpid()], list[tuple[int, str]]()
    while waiting:
        for child in children.get(waiting.pop(0), []):
            found.append((child, processes[child][1]))
            waiting.append(child)
    return found
