"""What a hook reads: the event as Claude Code writes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from amplifier_core.session_capabilities import APPROVAL_POLICY

_MODES = {
    "plan": "plan",
    "read-only": "plan",
    "ask": "default",
    "review": "default",
    "auto": "acceptEdits",
}
"""Claude Code's modes that are nearest to ours."""


def describe_session(coordinator: Any, session_id: Any, project: Path) -> dict[str, Any]:
    """Return what is in the input of every hook.

    Args:
        coordinator: That of the session.
        session_id: The session that the event is of.
        project: Where hooks run.
    """
    mode = getattr(coordinator.get_capability(APPROVAL_POLICY), "mode", "auto")
    return {
        "session_id": str(session_id or ""),
        "transcript_path": "",
        "cwd": str(project),
        "permission_mode": _MODES.get(mode, "default"),
    }


def write_input(event: str, session: Mapping[str, Any], fields: Mapping[str, Any]) -> bytes:
    """Return the input of a hook, in ASCII.

    Args:
        event: The event, by its name there.
        session: What `describe_session` returned.
        fields: What else it has.
    """
    return json.dumps(
        {**session, "hook_event_name": event, **fields}, default=repr, separators=(",", ":")
    ).encode("ascii")
