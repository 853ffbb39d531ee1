"""The ports of a command that listens, as they are known outside of its sandbox."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from echo_server import ECHO, echoing, serving
from sandbox_world import World

from amplifier_modules.sandbox.network.rules import ListedHosts
from amplifier_modules.sandbox.unconfined import UnconfinedRunner


# Holds: sandbox-85
@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_a_command_has_its_own_ports_and_no_others(networked: World, address: str) -> None:
    project = networked.project
    with (
        closing(networked.open(rules=ListedHosts(["example.com"]))) as sandbox,
        echoing(sandbox, project, address) as (server, port),
        echoing(sandbox, project) as (other, other_port),
        closing(sandbox.forward_port(port)),
    ):
        # Neither that of the other, nor those of the proxy and of the forward.
        assert (server.list_ports(), other.list_ports()) == ([port], [other_port])
        server.kill()
        server.wait()
        assert server.list_ports() == []


# Holds: sandbox-85
def test_without_a_sandbox_they_are_those_of_all_that_the_command_began(tmp_path: Path) -> None:
    (tmp_path / "echo.py").write_text(ECHO)
    (tmp_path / "begin.py").write_text(
        "import subprocess, sys\n"
        "subprocess.run([sys.executable, 'echo.py', '127.0.0.1', '0'], check=True)\n"
    )
    with serving(UnconfinedRunner(), tmp_path, "begin.py") as (server, port):
        assert server.list_ports() == [port]
        server.kill()
        server.wait()
        assert server.list_ports() == []
