"""Starts one command under Seatbelt: `python -I -S -B seatbelt_launch.py`, with a socket as its input.

A process of its own, which has nothing of the agent. It is sent a plan, restricts itself for good by
the extension of `nono-py`, which the plan names, says `started`, and becomes the shell; or it says
`failed` and why. Each record ends with a NUL.

Only modules written in C are imported: others take longer than the whole launch.
"""

import _imp
import _socket
import marshal
import posix
from _frozen_importlib import ModuleSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
    from collections.abc import Callable, Iterable
    from typing import Any
else:
    import _signal

_LENGTH_BYTES = 8
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
_SERVICES = (
    # Users and groups, temporary folders of users, logs, changes of files, certificates.
    "com.apple.system.opendirectoryd.libinfo",
    "com.apple.system.opendirectoryd.membership",
    "com.apple.bsd.dirhelper",
    "com.apple.logd",
    "com.apple.system.logger",
    "com.apple.system.notification_center",
    "com.apple.FSEvents",
    "com.apple.trustd.agent",
)
"""Services of macOS that commands ask; others would start programs, or hold keys."""


def write_rules(plan: "dict[str, Any]", resolve: "Callable[[str], str]") -> "list[str]":
    """Return the rules of Seatbelt that take back what the folders of a plan would allow.

    The last rule that matches decides, and these come after those of the folders.

    Args:
        plan: What is hidden, and what of the project stays.
        resolve: Returns a path as the file system spells it, which is what Seatbelt compares.
    """
    services = " ".join(f"(global-name {_quote(name)})" for name in _SERVICES)
    devices = " ".join(f"(literal {_quote(name)})" for name in (*_DEVICES, "/dev/dtracehelper"))
    rules = [
        # Where everything may be read, `nono-py` leaves the services of the keychain open, too.
        "(deny mach-lookup)",
        f"(allow mach-lookup {services})",
        "(allow ipc-posix-sem*)",
        "(deny file-write-setugid)",
        # Among them are the terminals of the user.
        '(deny file-read-data file-write* file-ioctl (subpath "/dev"))',
        f'(allow file-read-data file-write-data file-ioctl {devices} (subpath "/dev/fd"))',
    ]
    hidden = _list_spellings(plan["hidden"], resolve)
    kept = _list_spellings((*plan["read_only"], *plan["kept"]), resolve)
    # What lies beneath would have another path, and so other rules, after a move.
    writable = _list_spellings(plan["writable"], resolve)
    parents = {each for path in (*hidden, *kept) for each in _list_parents(path, writable)}
    rules += [f"(deny file-write-unlink (literal {_quote(each)}))" for each in sorted(parents)]
    for path in _list_spellings(plan["kept"], resolve):
        rules.append(f"(deny file-write-unlink (literal {_quote(path)}))")
    for path in _list_spellings(plan["read_only"], resolve):
        rules.append(f"(deny file-write* (subpath {_quote(path)}))")
    for path in hidden:
        rules.append(f"(deny file-read* file-write* (subpath {_quote(path)}))")
    return rules


def _list_spellings(paths: "Iterable[str]", resolve: "Callable[[str], str]") -> "list[str]":
    return list(dict.fromkeys(each for path in paths for each in (path, resolve(path))))


def _list_parents(path: str, writable: "Iterable[str]") -> "list[str]":
    """Return the folders above a path that a command could move away."""
    parts = path.split("/")
    parents = ["/".join(parts[:end]) for end in range(2, len(parts))]
    return [each for each in parents if any(f"{each}/".startswith(f"{top}/") for top in writable)]


def _quote(path: str) -> str:
    """Return a path as a string of the language of rules.

    Raises:
        ValueError: It cannot be written there.
    """
    if any(each < " " or "\x7f" <= each <= "\x9f" for each in path):
        raise ValueError(f"{path!r} cannot be written as a rule of Seatbelt")
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _restrict_process(plan: "dict[str, Any]") -> None:
    """Keep this process, and all that it becomes and begins, to the plan."""
    nono = _load_extension(plan["extension"])
    read, change = nono.AccessMode.READ, nono.AccessMode.READ_WRITE

    def resolve(path: str) -> str:
        probe = nono.CapabilitySet()
        for allow in (probe.allow_path, probe.allow_file):
            try:
                allow(path, read)
            except (OSError, RuntimeError, ValueError):
                continue
            return probe.fs_capabilities()[0].resolved
        # Nothing is there yet.
        parent, _, name = path.rpartition("/")
        return f"{resolve(parent) if parent else ''}/{name}"

    allowed = nono.CapabilitySet()
    allowed.allow_path("/", read)
    for path in plan["writable"]:
        allowed.allow_path(path, change)
    for path in _DEVICES:
        allowed.allow_file(path, change)
    allowed.block_network()
    if plan["port"] is not None:
        allowed.allow_localhost_port(plan["port"])
    for rule in write_rules(plan, resolve):
        allowed.platform_rule(rule)
    nono.apply(allowed)


def _load_extension(path: str) -> "Any":
    """Load the module from its file; its package would import much more."""
    module = _imp.create_dynamic(ModuleSpec("_nono_py", None, origin=path))
    _imp.exec_dynamic(module)
    return module


def _become_shell() -> None:
    """Receive the plan, and become the shell."""
    control = _socket.socket(fileno=posix.dup(0))
    try:
        plan = marshal.loads(
            _read_bytes(control, int.from_bytes(_read_bytes(control, _LENGTH_BYTES), "little"))
        )
        for number in (_signal.SIGINT, _signal.SIGPIPE, _signal.SIGXFSZ):
            _signal.signal(number, _signal.SIG_DFL)
        posix.dup2(posix.open("/dev/null", posix.O_RDONLY), 0)
        posix.chdir(plan["directory"])
        _restrict_process(plan)
        control.sendall(b"started\0")
        posix.execve(plan["arguments"][0], plan["arguments"], dict(plan["environment"]))
    except Exception as error:  # noqa: BLE001 -- it is told to the agent
        control.sendall(f"failed {error}\0".encode("utf-8", "replace"))


def _read_bytes(control: _socket.socket, length: int) -> bytes:
    content = b""
    while len(content) < length and (piece := control.recv(length - len(content))):
        content += piece
    return content


if __name__ == "__main__":
    _become_shell()
    posix._exit(127)  # pyright: ignore[reportPrivateUsage] -- without taking the interpreter down
