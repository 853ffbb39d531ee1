"""Hosts that were refused while a command ran: its end names them, and that of no later one.

Holds: sandbox-54
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from sandbox_world import World, run

from amplifier_modules.sandbox.command import CommandRunner
from amplifier_modules.sandbox.network.rules import ListedHosts

ASK = (
    'exec 4<>"/dev/tcp/127.0.0.1/${http_proxy##*:}";'
    "printf 'CONNECT evil.example:443 HTTP/1.1\\r\\n\\r\\n' >&4; read -r line <&4; echo $line"
)
REFUSAL = (
    "the host `evil.example` is not among those that `network` names; to allow it, add"
    " `evil.example` to that setting"
)


def list_refused(runner: CommandRunner, project: Path, *texts: str) -> list[tuple[str, ...]]:
    return [run(runner, text, str(project)).ending.refused for text in texts]


def test_the_end_of_a_command_has_what_was_refused_while_it_ran(networked: World) -> None:
    with closing(networked.open(rules=ListedHosts(["shop.example"]))) as sandbox:
        refused = list_refused(sandbox, networked.project, ":", ASK, f"{ASK}; {ASK}", ":")
    assert refused == [(), (REFUSAL,), (REFUSAL,), ()]
    # Without hosts there is no proxy that could refuse one.
    assert networked.run(":").ending.refused == ()
