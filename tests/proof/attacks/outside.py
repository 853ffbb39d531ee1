"""The outside of a project, made for attacks: files, secrets, servers, a terminal, processes."""

from __future__ import annotations

import os
import random
import secrets
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from contents import FILES, SECRET_FILES
from look import (
    Facts,
    describe_files,
    describe_git,
    describe_host,
    describe_privileged,
    describe_process,
    describe_shared,
    describe_unasked,
    list_descendants,
    walk,
)
from processes import (
    end_descendants,
    end_program,
    read_answer,
    remove,
    set_subreaper,
    start_program,
    tell,
)
from repository import copy_repository, use_repository
from servers import Servers
from user_terminal import Terminal
from users import User

from amplifier_modules.sandbox.bubblewrap import find_bubblewrap

KEPT = ".amplifier-changes"
"""Where changes are kept, beside the project: those of the agent in a folder of its session."""
SESSION = "attacks"
PLACES = (Path("/srv"), Path("/opt"), Path.home())
"""Where worlds may be: folders that commands see, and that are no temporary ones."""
SETTLE_SECONDS = 0.1
ANSWER_SECONDS = 20.0
PULSE_SECONDS = 0.05
GIT_VARIABLES = ("PATH", "HOME", "LANG", "GIT_CEILING_DIRECTORIES")


def find_failure(runner: str, user: User) -> str | None:
    """Return why a runner starts no command here; none if it does."""
    if runner == "bubblewrap" and find_bubblewrap() is None:
        return "bubblewrap is not installed"
    world = World(runner, user)
    try:
        output = world.run("echo started > started && cat started", ANSWER_SECONDS)
        return world.failure or (None if output == "started\n" else output)
    finally:
        world.close()


def read_disk(base: Path) -> str:
    """Return the number of the file system of a folder, as its disk has it; random if it has none."""
    status = os.stat(base)
    for entry in list(os.scandir("/dev")):
        if entry.stat(follow_symlinks=False).st_rdev == status.st_dev:
            try:
                with open(entry.path, "rb") as disk:
                    return os.pread(disk.fileno(), 16, 1024 + 0x68).hex()
            except OSError:
                break
    return secrets.token_hex(16)


class World:
    """Everything outside of one project, and the agent that runs commands in it."""

    def __init__(self, runner: str, user: User) -> None:
        self.runner = runner
        self.user = user
        self.token = f"attack{secrets.token_hex(8)}"
        place = next(place for place in PLACES if os.access(place, os.W_OK))
        self.base = Path(tempfile.mkdtemp(prefix="world-", dir=place))
        self.project = self.base / "project"
        self.secrets = {name: secrets.token_hex(16) for name in SECRET_FILES}
        self._write_files()
        if os.geteuid() == 0:
            self.secrets["disk"] = read_disk(self.base)
        self.servers = Servers(
            self._folder("run"),
            self.project,
            self._folder("home/.gnupg"),
            self.token,
            self.base / "outside/canary",
            self._make_secret("socket name"),
        )
        self._give_to_user()
        self.terminal = Terminal(user.uid, user.gid, self.base / "outside/fifo")
        self.variables = self._make_variables()
        self._known = {os.getpid()}
        self.failure: str | None = None
        self.written = ""
        """What a person has written last."""
        set_subreaper(1)
        self.victim, ready = self._start_victim()
        self.variables |= {name: str(value) for name, value in ready.items()}
        self.agent, ready = self._start_agent(runner)
        self.tier = ready.pop("TIER")
        self.variables |= {name: str(value) for name, value in ready.items()}
        self._known |= {pid for pid, _ in list_descendants()}
        self.servers.selector.register(self.agent.stdout, selectors.EVENT_READ)  # type: ignore[arg-type]
        self.facts = self.look()
        self._fingerprint = self._describe_project()

    def _folder(self, name: str) -> Path:
        folder = self.base / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _write_file(self, name: str, text: str) -> None:
        path = self.base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def _write_files(self) -> None:
        copy_repository(self.project)
        secret_texts = {path: f"{self.secrets[name]}\n" for name, path in SECRET_FILES.items()}
        for name, text in (FILES | secret_texts).items():
            self._write_file(name, text)
        self.base.chmod(0o755)
        for name in ("outside/program", "home/.local/bin/tool", "home/.cargo/bin/cargo"):
            (self.base / name).chmod(0o755)
        self._folder("outside/empty")
        self._folder("temporary")
        # The changes of a project that is in this one are kept there.
        places = self.base / KEPT / "places"
        places.write_text(f"{self.project / 'inner-project/.amplifier-changes'}\n")
        self._folder(f"{KEPT}/{SESSION}")
        os.mkfifo(self.base / "outside/fifo")
        self._write_ssh()
        for folder in ("/tmp", "/dev/shm"):
            Path(folder, f"{self.token}-canary").write_text("canary\n")

    def _write_ssh(self) -> None:
        # Which of the files are there, their names and the key's time are secrets, too.
        folder = self.base / "home/.ssh"
        there = [random.randrange(2) for _ in range(48)]
        for number in range(48):
            if there[number]:
                (folder / f"key-{number}").touch()
        self.secrets["ssh existence"] = "".join(map(str, there))
        self.secrets["ssh name"] = f"id_{secrets.token_hex(8)}"
        (folder / self.secrets["ssh name"]).touch()
        changed = random.randrange(10**9, 17 * 10**8)
        os.utime(folder / "id_rsa", (changed, changed))
        self.secrets["ssh time"] = f"modified at {changed}"
        for path in folder.iterdir():
            path.chmod(0o600)
        folder.chmod(0o700)

    def _give_to_user(self) -> None:
        shared = [Path(folder, f"{self.token}-canary") for folder in ("/tmp", "/dev/shm")]
        for path in (self.base, *(entry.path for entry in walk(self.base)), *shared):
            os.lchown(path, self.user.uid, self.user.gid)

    def _make_variables(self) -> dict[str, str]:
        home, run = self.base / "home", self.base / "run"
        return {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "LANG": "C.UTF-8",
            "HOME": str(home),
            # Git must not find a repository around the world.
            "GIT_CEILING_DIRECTORIES": str(self.base),
            "RUN": str(run),
            "OUTSIDE": str(self.base / "outside"),
            "WORLD": str(self.base),
            "PROJECT": str(self.project),
            "TOKEN": self.token,
            "PYTHON": self.user.python,
            "TERMINAL": self.terminal.name,
            "HARNESS": str(os.getpid()),
            "SSH_AUTH_SOCK": str(run / "agent.sock"),
            "DOCKER_HOST": f"unix://{run}/docker.sock",
            "DBUS_SESSION_BUS_ADDRESS": f"unix:path={run}/bus.sock",
            "XDG_RUNTIME_DIR": str(run),
            **self.servers.variables,
        }

    def _make_secret(self, name: str) -> str:
        self.secrets[name] = secrets.token_hex(16)
        return self.secrets[name]

    def _start_victim(self) -> tuple[subprocess.Popen[bytes], dict[str, object]]:
        environment = {
            "OWN_SECRET": self._make_secret("victim environment"),
            "MEMORY_SECRET": self._make_secret("victim memory"),
            "HELD_SECRET": self._make_secret("victim file"),
            "KEY_SECRET": self._make_secret("kernel key"),
        }
        # The name is a secret that the command line of a process holds.
        name = self._make_secret("victim command line")
        process = self._start(environment, "victim.py", self.token, name)
        self.variables["VICTIM"] = str(process.pid)
        return process, read_answer(process)

    def _start_agent(self, runner: str) -> tuple[subprocess.Popen[bytes], dict[str, object]]:
        environment = self.variables | {
            "TEMPORARY": str(self.base / "temporary"),
            "CHANGES": str(self.base / KEPT),
            "OWN_SECRET": self._make_secret("agent environment"),
            "AGENT_MEMORY_SECRET": self._make_secret("agent memory"),
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        process = self._start(
            environment,
            "agent.py",
            runner,
            str(self.project),
            str(self.base / "outside/canary"),
            str(self.base / SECRET_FILES["sessions"]),
            self._make_secret("agent command line"),
        )
        self.variables["AGENT"] = str(process.pid)
        return process, read_answer(process)

    def _start(self, environment: dict[str, str], *program: str) -> subprocess.Popen[bytes]:
        return start_program(self.user, self.base / "outside", environment, *program)

    def _describe_victim(self) -> Facts:
        facts = describe_process("victim", self.victim.pid)
        if facts["victim/state"] == "runs":
            tell(self.victim, None)
            facts |= read_answer(self.victim) or {"victim/state": "ended"}
        return facts

    def look(self) -> Facts:
        """Return all facts of the world as they are now."""
        left = {pid for pid, state in list_descendants() if state not in "ZX"} - self._known
        if self._has_pulse():
            left.add(0)
        return {
            **describe_process("agent", self.agent.pid),
            **self._describe_victim(),
            **self.terminal.describe(),
            **self.servers.describe(),
            **describe_files(
                self.base,
                self.project,
                self.base / "temporary",
                self.base / KEPT / SESSION,
            ),
            **describe_shared(self.token),
            **describe_git(self.project),
            **describe_privileged(self.project),
            **describe_unasked(self.project),
            **describe_host(self.base, self.token),
            **{f"left/{pid}": pid for pid in left},
        }

    def _has_pulse(self) -> bool:
        """Whether something still writes that lives too short to be listed."""
        pulse = self.project / "attack-pulse"
        if not pulse.exists():
            return False
        length = pulse.stat().st_size
        time.sleep(PULSE_SECONDS)
        return pulse.stat().st_size > length

    def _describe_project(self) -> object:
        return [
            (entry.path, status.st_mode, status.st_size, status.st_mtime_ns)
            for entry in walk(self.project)
            if not entry.name.startswith("attack")
            for status in [entry.stat(follow_symlinks=False)]
        ]

    def run(self, command: str, timeout: float) -> str:
        """Let the agent run a command, and return its output; nothing if the agent was ended."""
        order = {
            "text": command,
            "directory": str(self.project),
            "environment": self.variables,
            "timeout": timeout,
        }
        tell(self.agent, order)
        answered, deadline = False, time.monotonic() + ANSWER_SECONDS
        while not answered and time.monotonic() < deadline:
            answered = self.servers.serve(0.2)
            if not answered and describe_process("agent", self.agent.pid)["agent/state"] != "runs":
                break
        answer = read_answer(self.agent) if answered else {}
        output = str(answer.get("output", ""))
        if not answer or answer["ending"] is None:
            self.failure = output or "the agent was ended"
        return output

    def undo(self) -> str:
        """Have the agent take its last command back; returns what that came to."""
        tell(self.agent, {"undo": True})
        return str(read_answer(self.agent).get("output", "the agent was ended"))

    @contextmanager
    def person(self, habit: str | None) -> Iterator[None]:
        """Let a person change the project meanwhile, in a way of `person.py`."""
        if habit is None:
            yield
            return
        folder = self.base / "outside/folder"
        process = self._start(
            self.variables, "person.py", habit, str(self.project), str(folder), self.token
        )
        read_answer(process)
        try:
            yield
        finally:
            tell(process, None)
            self.written = str(read_answer(process).get("written", ""))
            end_program(process, cleans_up=True)

    def is_lost(self) -> bool:
        """Whether what the person wrote last is nowhere."""
        places = (self.project, self.base / KEPT / SESSION)
        files = (Path(entry.path) for place in places for entry in walk(place))
        return not any(
            self.written in each.read_text(errors="replace")
            for each in files
            if each.name == "source.txt" and each.is_file() and not each.is_symlink()
        )

    def settle(self) -> None:
        """Give what is left behind the time to be seen."""
        end = time.monotonic() + SETTLE_SECONDS
        while (remaining := end - time.monotonic()) > 0:
            if self.servers.serve(remaining):
                time.sleep(max(0, end - time.monotonic()))

    def compare(self, output: str) -> list[str]:
        """Return the names of the facts that differ from before, and of the secrets in an output."""
        now = self.look()
        changed = {
            name for name in self.facts.keys() | now.keys() if self.facts.get(name) != now.get(name)
        }
        self.facts, failure, self.failure = now, self.failure, None
        found = {f"secret/{name}" for name, value in self.secrets.items() if value in output}
        claims = {"claim/success"} if f"succeeded {self.token}" in output else set[str]()
        failures = {"ending/not started"} if failure is not None else set[str]()
        return sorted(changed | found | claims | failures)

    def use_project(self) -> bool:
        """Use the repository as its user does; returns whether a planted program ran."""
        environment = {name: self.variables[name] for name in GIT_VARIABLES}
        use_repository(self.project, environment, self.user.switch)
        return (self.base / "outside" / f"planted-{self.token}").exists()

    def has_changed_project(self) -> bool:
        """Whether the project is not as it was, but for what attacks name so."""
        for path in self.project.glob("attack*"):
            remove(path)
        return self._describe_project() != self._fingerprint

    def restore_project(self) -> bool:
        """Put the project back as it was; returns whether that could be done."""
        if self.project.is_symlink() or not (self.project / "server.sock").exists():
            return False
        for path in (*self.project.iterdir(), self.base / "origin.git"):
            if path.name != "server.sock":
                remove(path)
        copy_repository(self.project)
        for name, path in SECRET_FILES.items():
            if path.startswith("project/"):
                self._write_file(path, f"{self.secrets[name]}\n")
        self._write_file("project/swapped/here", FILES["project/swapped/here"])
        (self.base / "outside" / f"planted-{self.token}").unlink(missing_ok=True)
        self._give_to_user()
        self._fingerprint = self._describe_project()
        # Whatever else has changed is still to be seen.
        others = {name: fact for name, fact in self.facts.items() if not is_restored(name)}
        self.facts = others | {
            name: fact for name, fact in self.look().items() if is_restored(name)
        }
        return True

    def close(self) -> None:
        """End what is left, and remove everything."""
        if self.project.is_dir():
            (self.project / "stop").touch()
        end_program(self.agent, cleans_up=False)
        end_program(self.victim, cleans_up=True)
        end_descendants(self._known)
        set_subreaper(0)
        for mount in self.facts["host/mounts"]:  # type: ignore[attr-defined]
            subprocess.run(("umount", "--lazy", mount), check=False)
        self.servers.close()
        self.terminal.close()
        if os.geteuid() == 0:
            subprocess.run(("chattr", "-R", "-f", "-i", "-a", str(self.base)), check=False)
        for name in describe_shared(self.token):
            kind, _, path = name.partition("/")
            if kind == "files":
                remove_shared(Path(path))
        remove(self.base)


def is_restored(name: str) -> bool:
    """Whether a fact is of what `World.restore_project` puts back."""
    return (
        name.partition("/")[0] in ("git", "suid", "unasked")
        or "/origin.git" in name
        or name == "metadata/outside"
    )


def remove_shared(path: Path) -> None:
    """Remove what is of a world in a folder of the machine."""
    try:
        path.rmdir()
    except NotADirectoryError:
        path.unlink()
