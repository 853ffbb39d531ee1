"""The edge of the sandbox at which a command was probably stopped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from amplifier_modules.sandbox.command import Ending
from amplifier_modules.sandbox.network_setting import Network

_MAX_CHARS = 8000
"""Characters of the end of an output that are looked at."""

_OFFER = (
    'repeat the call with `sandbox: "none"` and a `reason`, which asks a person, if it is needed'
)


@dataclass(frozen=True)
class _Edge:
    pattern: re.Pattern[str]
    """What programs write at this edge."""
    name: str
    is_network: bool = False


def _compile(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_EDGES = (
    _Edge(
        _compile(
            r"cannot connect to the (docker|podman) (daemon|socket)",
            r"trying to connect to the docker (daemon|API)",
            r"failed to connect to the docker API",
            r"dial unix \S*(docker|podman|containerd)\S*",
        ),
        "it does not reach the services of containers",
    ),
    _Edge(
        _compile(
            r"no new privileges",
            r"sudo: .*(effective uid|setuid root|setresuid|a terminal is required)",
            r"su: .*(must be run from a terminal|authentication failure|cannot set)",
            r"pkexec must be setuid",
        ),
        "it has no rights of other users",
    ),
    _Edge(
        _compile(
            r"could not resolve (host|hostname|proxy)",
            r"temporary failure in name resolution",
            r"temporary failure resolving",
            r"name or service not known",
            r"nodename nor servname provided",
            r"no such host",
            r"network is unreachable",
            r"\b(EAI_AGAIN|ENOTFOUND|ENETUNREACH)\b",
            r"dns error",
            r"failed to lookup address",
            r"\b(listen|bind|connect) EPERM\b",
            r"failed to connect to (?!localhost|127\.|\[?::1)\S+ port \d+",
            r"response 40[37] from proxy|HTTP code 40[37] from proxy|CONNECT tunnel failed",
        ),
        "it does not reach this part of the network",
        is_network=True,
    ),
)
_READ_ONLY = _compile(
    r"read-only file system",
    r"\bEROFS\b",
    # Seatbelt, of what stays in the project.
    r"\.git/(config|hooks|info/attributes)\S* *operation not permitted",
)
_DENIED = _compile(r"permission denied", r"operation not permitted", r"\b(EACCES|EPERM)\b")
_PATH = re.compile(r"""(?<![\w.~])/[^\s'"`:;,()\[\]\u2018\u2019]+""")
_SIGSYS = 31
_MAX_REFUSED = 3
"""Hosts that an edge names."""


@dataclass(frozen=True)
class Edges:
    """Where the commands of a session are stopped."""

    project: Path
    temporary: Path
    network: Network

    def find_edge(self, output: str, ending: Ending) -> str | None:
        """Return a sentence about the edge at which a command was stopped; None for none."""
        if ending.refused:
            return _describe_refused(ending.refused)
        exit_code, signal = ending.exit_code, ending.signal
        if signal == _SIGSYS or exit_code == 128 + _SIGSYS:
            return _describe("it may not make this system call", "")
        if exit_code in (0, None):
            return None
        for line in reversed(output[-_MAX_CHARS:].splitlines()):
            if (name := self._find_in_line(line)) is not None:
                return _describe(name, line.strip()[:200])
        return None

    def _find_in_line(self, line: str) -> str | None:
        for edge in _EDGES:
            if edge.pattern.search(line) and not (edge.is_network and self.network == "on"):
                return edge.name
        if _READ_ONLY.search(line):
            return "it does not write there"
        if _DENIED.search(line) and self._names_outside(line):
            return "it does not reach what is outside of the project"
        return None

    def _names_outside(self, line: str) -> bool:
        """Whether a line names a path that is outside; what is inside has rights of its own."""
        paths = [Path(each) for each in _PATH.findall(line)]
        inside = (self.project, self.temporary)
        return any(not any(path.is_relative_to(each) for each in inside) for path in paths)


def _describe_refused(refused: Sequence[str]) -> str:
    listed = [*refused[:_MAX_REFUSED]]
    if len(refused) > _MAX_REFUSED:
        listed.append(f"… and {len(refused) - _MAX_REFUSED} more")
    return f"the sandbox has refused connections: {'; '.join(listed)}; or {_OFFER}"


def _describe(name: str, line: str) -> str:
    said = f" (`{line}`)" if line else ""
    return f"the sandbox has probably stopped the command: {name}{said}; {_OFFER}"
