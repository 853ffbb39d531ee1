"""A command that the sandbox has stopped: the result names the edge, and nothing else does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_modules.sandbox.command import Ending, Tier
from amplifier_modules.tools.bash.edges import Edges

EDGES = Edges(Path("/home/a/project"), Path("/tmp/amplifier-1"), "off")
NETWORK = "it does not reach this part of the network"
OUTSIDE = "it does not reach what is outside of the project"
READ_ONLY = "it does not write there"
RIGHTS = "it has no rights of other users"
CONTAINERS = "it does not reach the services of containers"


# Holds: sandbox-49
@pytest.mark.parametrize(
    ("output", "edge"),
    [
        ("touch: cannot touch '/etc/x': Read-only file system", READ_ONLY),
        ("error: could not lock config file .git/config: Read-only file system", READ_ONLY),
        ("Error: EROFS: read-only file system, open '/home/a/.npmrc'", READ_ONLY),
        ("bash: line 1: /home/a/.ssh/x: Permission denied", OUTSIDE),
        ("PermissionError: [Errno 13] Permission denied: '/home/a/.aws/credentials'", OUTSIDE),
        ("strace: ptrace(PTRACE_TRACEME, ...): Operation not permitted\n/proc/1: EPERM", OUTSIDE),
        ("curl: (6) Could not resolve host: example.com", NETWORK),
        ("ssh: Could not resolve hostname github.com: Temporary failure in name resolution", NETWORK),
        ("npm error network request to https://x failed, reason: getaddrinfo EAI_AGAIN x", NETWORK),
        ("dial tcp: lookup proxy.golang.org: no such host", NETWORK),
        ("curl: (56) CONNECT tunnel failed, response 403", NETWORK),
        ("connect: Network is unreachable", NETWORK),
        ("Error: listen EPERM: operation not permitted 127.0.0.1:3000", NETWORK),
        ("curl: (7) Failed to connect to example.com port 443 after 9 ms: Couldn't con", NETWORK),
        ("error: could not write config file .git/config: Operation not permitted", READ_ONLY),
        ("touch: .git/hooks/pre-commit: Operation not permitted", READ_ONLY),
        ('sudo: The "no new privileges" flag is set, which prevents sudo', RIGHTS),
        (("sudo: /usr/bin/sudo must be owned by uid 0 and have the setuid bit set\n"
         "sudo: effective uid is not 0, is sudo installed setuid root?"), RIGHTS),
        ("Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is it", CONTAINERS),
        ("permission denied while trying to connect to the Docker daemon socket at", CONTAINERS),
    ],
)  # fmt: skip
def test_an_edge_is_named_by_what_a_command_has_written(output: str, edge: str) -> None:
    line = next(each for each in reversed(output.splitlines()))
    found = EDGES.find_edge(f"before\n{output}\nafter\n", Ending(1))
    assert found is not None
    assert found.startswith(f"the sandbox has probably stopped the command: {edge} (`")
    assert found.endswith(
        '`); repeat the call with `sandbox: "none"` and a `reason`, which asks a person, if it is'
        " needed"
    )
    assert line[:40] in found


# Holds: sandbox-49
@pytest.mark.parametrize(
    ("output", "exit_code", "signal"),
    [
        ("curl: (6) Could not resolve host: example.com", 0, None),
        ("bash: ./run: Permission denied", 126, None),
        ("cp: /home/a/project/locked: Permission denied", 1, None),
        ("rm: /tmp/amplifier-1/tmp/x: Permission denied", 1, None),
        ("AssertionError: 1 != 2", 1, None),
        ("", None, 9),
        ("Connection refused", 7, None),
        ("curl: (7) Failed to connect to localhost port 80 after 0 ms: Couldn't connect", 7, None),
        ("chmod: src/run: Operation not permitted", 1, None),
    ],
)
def test_other_failures_are_no_edge(output: str, exit_code: int | None, signal: int | None) -> None:
    assert EDGES.find_edge(output, Ending(exit_code, signal)) is None


@pytest.mark.parametrize(("exit_code", "signal"), [(None, 31), (159, None)])
def test_a_forbidden_system_call_is_an_edge(exit_code: int | None, signal: int | None) -> None:
    found = EDGES.find_edge("", Ending(exit_code, signal))
    assert found is not None
    assert "it may not make this system call;" in found


def test_with_the_whole_network_a_name_is_just_wrong() -> None:
    edges = Edges(EDGES.project, EDGES.temporary, "on")
    assert edges.find_edge("curl: (6) Could not resolve host: nope", Ending(6)) is None


# Holds: sandbox-54
async def test_a_result_names_the_hosts_that_were_refused_however_the_command_ended(
    mount: Any, scripted: Any
) -> None:
    out = 'repeat the call with `sandbox: "none"` and a `reason`, which asks a person, if it is needed'
    for refused, named in [
        (("the host `a` is not allowed",), "the host `a` is not allowed"),
        (("a", "b", "c", "d", "e"), "a; b; c; … and 2 more"),
    ]:
        for ending in (Ending(0, refused=refused), Ending(None, 31, refused=refused)):
            tools = await mount(scripted(ending, b"curl: (6) Could not resolve host: a\n"))
            result = await tools.run("curl a")
            assert result["edge"] == f"the sandbox has refused connections: {named}; or {out}"


async def test_a_result_has_the_edge_where_there_is_a_sandbox(
    mount: Any, scripted: Any, fake: Any
) -> None:
    said = b"touch: cannot touch '/etc/x': Read-only file system\n"
    tools = await mount(scripted(Ending(1), said))
    assert await tools.run("touch /etc/x") == {
        "output": said.decode(),
        "exit_code": 1,
        "sandbox": "namespaces",
        "edge": (
            "the sandbox has probably stopped the command: it does not write there (`touch: cannot"
            " touch '/etc/x': Read-only file system`); repeat the call with `sandbox: \"none\"` and a"
            " `reason`, which asks a person, if it is needed"
        ),
    }
    tools = await mount(fake(Tier.NONE), safety_profile="unrestricted")
    assert "edge" not in await tools.run("echo 'x: Read-only file system'; false")
