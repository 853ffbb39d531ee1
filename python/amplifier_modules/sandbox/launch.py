"""Starts one command in a sandbox, in a Python of its own that has a socket as its input.

It has nothing of the agent, which sends it this program, compiled, and a plan. It answers in records
that end with a NUL: `namespaces` with their files and a listening socket, where it made them; `started`, or
`failed` and why; `directory` and where the shell was at its end; `removed` and a file; last `exit` or
`signal` and a number, or `timeout`. From a `+` of the agent to its `-` no time passes for the command. If the
other end closes, or the agent is gone, the command ends; one that is only stopped lets it end in time.
A plan with a `connector` is no command: what would become the shell hands sockets out instead.

Only modules written in C are imported: others take longer than the whole launch.
"""

import _imp
import _socket
import marshal
import posix
import select
from _frozen_importlib import ModuleSpec
from sys import byteorder, executable
from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn
else:
    import _signal

_START_INSIDE = (
    "import marshal, posix; from sys import argv; "
    "plan = marshal.loads(posix.read(int(argv[1]), posix.fstat(int(argv[1])).st_size)); "
    "posix.close(int(argv[1])); "
    "exec(marshal.loads(plan['program'])); start_inside(plan, int(argv[2]))"
)
"""Starts this program anew, with the numbers of a file that holds the plan, and of a pipe."""
_FILE_BYTES = 4
_MAX_FILES = 65_536
_TOLD_BYTES = 1024
_MAX_DIRECTORY_BYTES = 16_384
_REPLACED = ("/dev", "/proc", "/tmp", "/var/tmp")
"""Folders in whose place a command of bubblewrap has others."""
_NAMESPACES = ("/proc/self/ns/user", "/proc/self/ns/net")
_leave = posix._exit  # pyright: ignore[reportPrivateUsage] -- the way for a child to end


class Launch:
    """The launch of one command, and what this process knows of it."""

    def __init__(self, plan: "dict[str, Any]") -> None:
        """Take a plan; a socket that the agent listens at is the input."""
        self._plan = plan
        self._control = _socket.socket(fileno=posix.dup(0))
        self._agent = posix.pidfd_open(posix.getppid())
        self._sandbox = _load_stages(plan["engine"])
        self._directory, self._shell_directory = posix.pipe()

    def run(self) -> None:
        """Start the command, and report how it ended."""
        if self._plan["tier"] == "landlock":
            run = self._run_alone
        elif self._plan["wrapper"]:
            run = self._run_wrapped
        else:
            run = self._run_in_namespaces
        try:
            ending = run()
        except OSError as error:
            ending = f"failed {error}"
        self._send_directory()
        self._remove_files()
        self._send(ending)

    def run_inside(self, shell_directory: int) -> None:
        """Become the shell in the namespaces that bubblewrap made."""
        self._shell_directory = shell_directory
        try:
            self._run_shell(self._restrict_inside)
        except OSError as error:
            self._send(f"failed {error}")

    def _run_wrapped(self) -> str:
        """Run it by bubblewrap, which starts this program anew in the namespaces that it makes."""
        plan = self._plan
        self._sandbox.adopt_orphans()
        covers: list[str] = []
        for path in filter(None, map(_resolve, self._sandbox.find_sockets())):
            if _is_seen(path, plan):
                # What is bound there is no device, and so cannot be opened.
                covers += ["--ro-bind", "/dev/null", path]
        memory = posix.memfd_create("plan", 0)
        posix.write(memory, marshal.dumps(plan))
        posix.lseek(memory, 0, 0)
        posix.set_inheritable(self._shell_directory, True)
        again = [executable, "-I", "-S", "-B", "-c", _START_INSIDE]
        files = [f"{memory}", f"{self._shell_directory}"]
        arguments = [*plan["wrapper"], *covers, "--", *again, *files]
        wrapper = self._fork(lambda: posix.execv(arguments[0], arguments))
        is_late = self._wait(wrapper)
        _, status = posix.waitpid(wrapper, 0)
        # It does not wait for the first process of the namespace, with which all others end.
        _end_children()
        return "timeout" if is_late else _describe(status)

    def _run_in_namespaces(self) -> str:
        """Run it as a child of the first process of a namespace, with which all others end."""
        # Those that programs of the machine listen at, before there is another network.
        self._plan["hidden"] += self._sandbox.find_sockets()
        joined = self._plan["joined"]
        if joined:
            self._sandbox.join_namespaces(*(f"/proc/self/fd/{each}" for each in joined))
            for each in joined:
                posix.close(each)
        else:
            self._enter_namespaces()
            self._send_namespaces()
        told, tell = posix.pipe()
        first = self._fork(lambda: self._be_first(tell))
        posix.close(tell)
        is_late = self._wait(first)
        posix.waitpid(first, 0)
        # What ended the first process ended the shell, too.
        return "timeout" if is_late else posix.read(told, 100).decode() or "signal 9"

    def _enter_namespaces(self) -> None:
        user, group = posix.getuid(), posix.getgid()
        awaited, made = posix.pipe()
        # Only somebody outside with all rights may say that the ids of others mean the same there:
        # without one, their files cannot be copied into a layer.
        mapper = self._fork(lambda: _map_ids(awaited, made)) if user == 0 else None
        self._sandbox.enter_namespaces()
        posix.close(made)
        if mapper is not None:
            posix.waitpid(mapper, 0)
        posix.close(awaited)
        self._sandbox.settle_in(user, group)

    def _be_first(self, tell: int) -> "NoReturn":
        """Mount what the command sees, start the shell, bury whoever dies, and end with the shell."""
        plan = self._plan
        self._sandbox.end_with_parent()
        self._sandbox.hide_memory()
        # The first process ignores what others send it, unless it has a handler.
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
        names = ("writable", "overlay", "shown", "temporary", "read_only", "kept", "hidden")
        self._sandbox.mount_view(**{name: plan[name] for name in names})
        shell = self._fork(lambda: self._run_shell(self._restrict_inside))
        while True:
            process, status = posix.waitpid(-1, 0)
            if process == shell:
                posix.write(tell, _describe(status).encode())
                _leave(0)

    def _run_alone(self) -> str:
        """Run it as a child that cannot reach this process, and end all that it leaves behind."""
        plan = self._plan
        self._sandbox.adopt_orphans()
        writable = [*plan["writable"], plan["temporary"]]
        shell = self._fork(
            lambda: self._run_shell(
                lambda: self._sandbox.restrict_outside(writable, plan["hidden"])
            )
        )
        is_late = self._wait(shell)
        _, status = posix.waitpid(shell, 0)
        _end_children()
        return "timeout" if is_late else _describe(status)

    def _restrict_inside(self) -> None:
        temporary = ("/tmp", "/var/tmp", "/dev/shm")
        self._sandbox.restrict_inside([*self._plan["writable"], *temporary])

    def _run_shell(self, restrict: "Callable[[], None]") -> "NoReturn":
        """Become the shell, with nothing but its output and the pipe for its folder."""
        posix.setsid()
        for number in (_signal.SIGINT, _signal.SIGPIPE, _signal.SIGXFSZ):
            _signal.signal(number, _signal.SIG_DFL)
        posix.dup2(posix.open("/dev/null", posix.O_RDONLY), 0)
        posix.dup2(self._shell_directory, self._plan["directory_file"])
        posix.close(self._shell_directory)
        restrict()
        plan = self._plan
        self._send("started")
        if plan["connector"] is not None:
            _hand_out_sockets(plan["connector"])
        self._sandbox.execute(plan["arguments"], plan["directory"], plan["environment"])
        raise AssertionError

    def _fork(self, work: "Callable[[], NoReturn]") -> int:
        """Do work in a child, and tell the agent if it fails."""
        child = posix.fork()
        if child == 0:
            try:
                work()
            except OSError as error:
                self._send(f"failed {error}")
            finally:
                _leave(127)
        return child

    def _wait(self, child: int) -> bool:
        """Wait until a child has ended, or end it; return whether it was too late."""
        ended, control = posix.pidfd_open(child), self._control.fileno()
        poll = select.poll()
        for each in (ended, self._agent, control):
            poll.register(each, select.POLLIN)
        is_limited, holds = self._plan["timeout"] is not None, 0
        left: float = self._plan["timeout"] or 0
        while True:
            begun = monotonic()
            counts = is_limited and not holds
            events = dict(poll.poll(max(0, left) * 1000 if counts else None))
            if counts:
                left -= monotonic() - begun
            if ended in events:
                return False
            told = self._read_told() if control in events and self._agent not in events else b""
            if not told:
                posix.kill(child, _signal.SIGKILL)
                return not events
            holds += told.count(b"+") - told.count(b"-")

    def _read_told(self) -> bytes:
        """Return what the agent says of the time; nothing once it has closed."""
        try:
            return self._control.recv(_TOLD_BYTES)
        except OSError:  # it was closed with something unread
            return b""

    def _send_namespaces(self) -> None:
        """Send the files of the namespaces, for later commands, and a socket that listens in them."""
        listener = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        files = [*(posix.open(path, posix.O_RDONLY) for path in _NAMESPACES), listener.fileno()]
        sent = b"".join(each.to_bytes(_FILE_BYTES, byteorder) for each in files)
        rights = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, sent)
        self._control.sendmsg([b"namespaces\0"], [rights])
        for each in files[:-1]:
            posix.close(each)
        listener.close()

    def _send_directory(self) -> None:
        posix.set_blocking(self._directory, False)
        try:
            told = posix.read(self._directory, _MAX_DIRECTORY_BYTES)
        except BlockingIOError:
            return
        if b"\0" in told:
            # A shell that ends by its last line has said it twice.
            last = told.split(b"\0")[-2].removesuffix(b"\n")
            self._control.sendall(b"directory " + last + b"\0")

    def _remove_files(self) -> None:
        """Remove what the command must not leave."""
        for path in self._plan["removed"]:
            try:
                posix.unlink(path)
            except OSError:  # nothing is there, or a folder, which does nothing
                continue
            self._send(f"removed {path}")

    def _send(self, record: str) -> None:
        self._control.sendall(record.encode("utf-8", "surrogateescape") + b"\0")


def start(plan: "dict[str, Any]") -> "NoReturn":
    """Carry out a plan."""
    Launch(plan).run()
    # Without taking the interpreter down, which takes milliseconds.
    _leave(0)


def start_inside(plan: "dict[str, Any]", shell_directory: int) -> None:
    """Carry out the rest of a plan inside of what bubblewrap made."""
    Launch(plan).run_inside(shell_directory)


def _map_ids(awaited: int, made: int) -> "NoReturn":
    """Have all ids mean the same in the namespaces of the parent, once it has closed a pipe."""
    posix.close(made)
    posix.read(awaited, 1)
    for name in ("uid_map", "gid_map"):
        file = posix.open(f"/proc/{posix.getppid()}/{name}", posix.O_WRONLY)
        try:
            posix.write(file, b"0 0 4294967295")
        except OSError:  # it has not these rights after all
            break
    _leave(0)


def _hand_out_sockets(number: int) -> "NoReturn":
    """Answer each byte, the number of a family, by a new socket, until the agent closes."""
    # Nothing else is left, above all no way to say something as the launcher.
    posix.closerange(0, number)
    posix.closerange(number + 1, _MAX_FILES)
    agent = _socket.socket(fileno=number)
    while family := agent.recv(1):
        try:
            made = _socket.socket(family[0], _socket.SOCK_STREAM)
        except OSError as error:
            agent.send(f"{error}".encode())
            continue
        file = made.fileno().to_bytes(_FILE_BYTES, byteorder)
        agent.sendmsg([b"\0"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, file)])
        made.close()
    _leave(0)


def _load_stages(engine: str) -> "Any":
    """Load the module `_sandbox`, which is in the file of the engine."""
    module = _imp.create_dynamic(ModuleSpec("_sandbox", None, origin=engine))
    _imp.exec_dynamic(module)
    return module


def _describe(status: int) -> str:
    code = posix.waitstatus_to_exitcode(status)
    return f"exit {code}" if code >= 0 else f"signal {-code}"


def _end_children() -> None:
    """Kill all children, and theirs, which become ours, until there are none."""
    while True:
        listed = posix.open("/proc/thread-self/children", posix.O_RDONLY)
        children = posix.read(listed, 1_000_000).split()
        posix.close(listed)
        for child in children:
            posix.kill(int(child), _signal.SIGKILL)
        try:
            posix.waitpid(-1, 0)
        except ChildProcessError:
            return


def _resolve(path: str) -> "str | None":
    """Return the path of a file with the links above it followed; None if nothing is there."""
    folder, _, name = path.rpartition("/")
    try:
        opened = posix.open(folder or "/", posix.O_PATH | posix.O_DIRECTORY)
    except OSError:
        return None
    try:
        posix.stat(name, dir_fd=opened, follow_symlinks=False)
        return posix.readlink(f"/proc/self/fd/{opened}").rstrip("/") + "/" + name
    except OSError:
        return None
    finally:
        posix.close(opened)


def _is_seen(path: str, plan: "dict[str, Any]") -> bool:
    """Whether a command would see a file: nothing can be put over what lies beneath a cover."""
    if _is_beneath(path, plan["hidden"]):
        return False
    is_replaced = _is_beneath(path, _REPLACED)
    return not is_replaced or _is_beneath(path, [*plan["shown"], *plan["writable"]])


def _is_beneath(path: str, folders: "Sequence[str]") -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)
