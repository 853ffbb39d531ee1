"""The servers that a project brings along: none is connected before the user agrees to exactly it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from typing_extensions import override

from amplifier_guard import PathPolicy, TerminalText
from amplifier_modules.sandbox import tiers
from amplifier_modules.sandbox.command import Tier
from amplifier_modules.sandbox.named_files import (
    NamedFileError,
    find_named_paths,
    hash_named_files,
)
from amplifier_modules.sandbox.network_setting import Network
from amplifier_modules.tools.mcp.server_entry import (
    EntryError,
    Launch,
    Place,
    ServerEntry,
    replace_known,
)
from amplifier_modules.tools.mcp.server_files import ServerFileError, find_servers, read_server

from .confined_server import ConfinedLaunch, ServerSandbox

PROJECT_FILE = ".mcp.json"
"""The file of a project, counted from the folder that a session works in."""
_ANSWERS = "project-servers.json"
_MAX_BYTES = 1024 * 1024
_MAX_SERVERS = 64
_MAX_NAME_CHARS = 64
_MAX_ENTRY_CHARS = 16 * 1024
"""A person reads all of an entry."""
_MAX_PROBLEM_CHARS = 400
_ROOT = "CLAUDE_PROJECT_DIR"


@dataclass(frozen=True)
class ProjectEntry(ServerEntry):
    """A server as a project has written it."""

    root: Path
    """The project, links followed."""
    written: Mapping[str, Any] = field(repr=False)
    """All of its entry."""
    digest: str
    """The hash of that, and of the files of the project among its words."""
    sandbox: ServerSandbox | None = None
    """What keeps it to the project; None for one that runs elsewhere, or where there is no sandbox."""

    @property
    @override
    def hash(self) -> str:
        """The hash that the user agrees to."""
        return self.digest

    @property
    @override
    def variables(self) -> list[str]:
        """The names of the variables that it gets by `${VAR}`, in their order."""
        return [name for name in super().variables if name != _ROOT]

    @override
    def check(self) -> None:
        """Look whether it is what the user agreed to; reads files.

        Raises:
            EntryError: A file that it names is another one.
        """
        try:
            digest = _hash_entry(self, self.root, self.written, is_confined=self.is_confined)
        except NamedFileError as error:
            raise EntryError(str(error)) from error
        if digest != self.digest:
            raise EntryError(
                "a file of the project that it names has changed since the user agreed to it: it is"
                " connected after another yes, at the next start"
            )

    @property
    def is_confined(self) -> bool:
        """Whether it runs in a sandbox."""
        return self.sandbox is not None

    @override
    def resolve(self, variables: Mapping[str, str], folder: Path) -> Place:
        """Return where the server is, as `ServerEntry` says."""
        del folder  # the same, by a path that may lead over links
        place = super().resolve({**variables, _ROOT: str(self.root)}, self.root)
        if not isinstance(place, Launch):
            return place
        if place.command.startswith("-"):
            raise EntryError(f"`{place.command}` is no command")
        own = {_ROOT: str(self.root), **place.own}
        if self.sandbox is None:
            return replace(place, own=own)
        return ConfinedLaunch(place.command, place.arguments, own, place.directory, self.sandbox)

    @override
    def close(self) -> None:
        """Remove its sandbox, as `ServerEntry` says."""
        if self.sandbox is not None:
            self.sandbox.close()

    def list_files(self) -> list[str]:
        """Return the files of the project among its words, counted from its root."""
        return [
            str(Path(path).relative_to(self.root))
            for path in find_named_paths(_list_words(self), self.root)
            if Path(path).is_file()
        ]


@dataclass
class ProjectServers:
    """What a project says of servers."""

    entries: list[ProjectEntry] = field(default_factory=list[ProjectEntry])
    problems: list[str] = field(default_factory=list[str])
    """What of it cannot be used, a line each."""

    def add_problem(self, problem: str) -> None:
        """Add one, which may have words of the project."""
        self.problems.append(TerminalText.line(problem, _MAX_PROBLEM_CHARS))


def read_project_servers(project: Path, network: Network = ()) -> ProjectServers:
    """Return the servers of a project that are not disabled; starts none.

    It reads files, and looks once in each process which sandbox the machine has.

    Args:
        project: The folder that a session works in, links followed.
        network: What those reach that run in a sandbox.
    """
    found = ProjectServers()
    try:
        servers = find_servers(_read_file(project))
        if len(servers) > _MAX_SERVERS:
            raise ServerFileError(f"it has more than {_MAX_SERVERS} servers")
    except FileNotFoundError:
        return found
    except (OSError, ValueError, RecursionError) as error:
        found.add_problem(f"`{PROJECT_FILE}` of the project is not used: {error}")
        return found
    for name, written in servers.items():
        try:
            entry = _read_entry(name, written, project, network)
        except (ValueError, RecursionError) as error:
            found.add_problem(
                f"the server `{name}` of `{PROJECT_FILE}` is never connected: {error}"
            )
        else:
            found.entries += [] if entry.settings.disabled else [entry]
    return found


def find_answers(state: Path) -> Path:
    """Return the file of what the user said about the servers of projects."""
    return state / _ANSWERS


def _read_file(project: Path) -> dict[str, Any]:
    """Read the file, which does not lead out of the project.

    Raises:
        OSError: It cannot be read.
        ValueError: It is no object of JSON.
    """
    content = PathPolicy(project).read(PROJECT_FILE, _MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise ServerFileError(f"it has more than {_MAX_BYTES:,} bytes")
    read: Any = json.loads(content)
    if not isinstance(read, dict):
        raise ServerFileError("it is no object")
    return cast("dict[str, Any]", read)


def _read_entry(name: str, written: Any, project: Path, network: Network) -> ProjectEntry:
    if not name.isprintable() or "`" in name or len(name) > _MAX_NAME_CHARS:
        raise ServerFileError(f"a name is plain text of at most {_MAX_NAME_CHARS} characters")
    if len(json.dumps(written)) > _MAX_ENTRY_CHARS:
        raise ServerFileError(f"it has more than {_MAX_ENTRY_CHARS:,} characters")
    settings = read_server(written)
    plain = ServerEntry(name, settings)
    is_confined = settings.command is not None and tiers.find_tier().tier is not Tier.NONE
    return ProjectEntry(
        name,
        settings,
        project,
        written,
        _hash_entry(plain, project, written, is_confined=is_confined),
        ServerSandbox(project, network) if is_confined else None,
    )


def _hash_entry(
    entry: ServerEntry, project: Path, written: Mapping[str, Any], *, is_confined: bool
) -> str:
    """Return the hash of an entry as it is written, where it would run, and its files.

    Raises:
        NamedFileError: It names too much, or a file that cannot be read.
    """
    words = _list_words(entry)
    files = hash_named_files(words, project)
    # What a variable stands for may be a part of a path; else its value changes nothing.
    variables = {**os.environ, _ROOT: "."}
    replaced = [each for text in words if (each := replace_known(text, variables)) != text]
    files += [each for each in hash_named_files(replaced, project) if each[1] and each not in files]
    described = [str(project), entry.name, written, is_confined, files]
    canonical = json.dumps(described, sort_keys=True)
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def _list_words(entry: ServerEntry) -> list[str]:
    """Return what may name files: nothing of a server that runs elsewhere."""
    settings = entry.settings
    if settings.command is None:
        return []
    return [settings.command, settings.cwd or ".", *settings.args, *settings.env.values()]
