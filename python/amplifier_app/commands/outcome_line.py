"""The last line of `--json`, which says how a run ended."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amplifier_app.outcome import Outcome


class OutcomeLine:
    """Writes `{"event": "outcome", "data": …}` to standard output.

    Args:
        wanted: Whether there are JSON lines at all.
    """

    def __init__(self, *, wanted: bool) -> None:
        self._wanted = wanted
        # Now: while modules run, the name stands for standard error.
        self._file = sys.stdout

    def write(self, outcome: Outcome) -> None:
        """Write the line, unless it is written already."""
        if not self._wanted:
            return
        self._wanted = False
        if self._file is None:  # pyright: ignore[reportUnnecessaryComparison]  # closed at start
            return
        from amplifier_app.json_lines import JsonLines
        from amplifier_app.known_secrets import SECRETS

        JsonLines(self._file.buffer).handle("outcome", SECRETS.redact_data(outcome.list_data()))
