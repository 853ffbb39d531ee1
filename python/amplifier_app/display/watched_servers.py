"""The MCP servers of a session, as its display and its secrets see them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amplifier_app.display.server_lines import SERVER_STATE
from amplifier_app.known_secrets import SECRETS
from amplifier_app.output import Output
from amplifier_core import world
from amplifier_core.session_capabilities import GUARD_REDACTOR, MCP_SERVERS


def watch_servers(coordinator: Any, output: Output) -> None:
    """Have the states of the servers shown, and the tokens of their logins not.

    Args:
        coordinator: That of a session whose modules are mounted.
        output: What shows it.
    """
    servers = coordinator.get_capability(MCP_SERVERS)
    if servers is None:
        return

    def learn(secrets: Sequence[str]) -> None:
        for each in secrets:
            SECRETS.learn({"access_token": each})
        coordinator.register_capability(GUARD_REDACTOR, SECRETS.redactor)

    servers.watch_secrets(learn)
    # What went wrong while the modules were mounted, when nobody heard of it.
    shared = {"session_id": coordinator.session_id, "parent_id": coordinator.parent_id}
    for state in servers.report_states():
        if state["problem"]:
            output.handle(SERVER_STATE, {**shared, **state, "timestamp": world.timestamp()})
