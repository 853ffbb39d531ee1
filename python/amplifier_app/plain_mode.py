"""Whether a terminal gets plain lines alone: for screen readers, and where it can show nothing else."""

from __future__ import annotations

import os
from collections.abc import Mapping

PLAIN_VARIABLE = "AMPLIFIER_PLAIN"
"""The variable that asks for it, as `--plain` and `plain` in `config.toml` do."""
_NO = ("", "0", "false", "no")
_DUMB = ("", "dumb", "unknown")


def is_plain(environment: Mapping[str, str]) -> bool:
    """Whether nothing that is drawn may change: no colours, no spinner, no movement of the cursor."""
    if environment.get(PLAIN_VARIABLE, "").strip().lower() not in _NO:
        return True
    return os.name == "posix" and environment.get("TERM", "").lower() in _DUMB
