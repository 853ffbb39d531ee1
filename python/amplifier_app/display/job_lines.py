"""What runs in the background: a row for each command while it runs, and a line at its end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from amplifier_app.printable import printable_line
from amplifier_app.time_of_day import write_time
from amplifier_core import world
from amplifier_providers.running.count_noun import count_noun

if TYPE_CHECKING:
    from amplifier_app.display.notices import Notice
    from amplifier_app.display.screen import Screen

JOB_START = "job:start"
"""An event of `tool-bash`, named here because importing it takes a while."""
JOB_END = "job:end"
"""The other one."""

_MAX_ROWS = 4
_MAX_COMMAND_CHARS = 200


class JobLines:
    """Knows which commands of a session run in the background."""

    def __init__(self, screen: Screen) -> None:
        """Know none yet."""
        self._screen = screen
        self._rows: dict[str, str] = {}

    def begin(self, data: Mapping[str, Any]) -> None:
        """Show the row of a job that begins."""
        since = write_time(world.time())
        row = f"{_read_id(data)} since {since}: {_read_command(data)}"
        self._rows[_read_id(data)] = row
        self._show()

    def end(self, data: Mapping[str, Any]) -> Notice:
        """Remove the row of a job that has ended, and return the notice about that."""
        self._rows.pop(_read_id(data), None)
        self._show()
        status, code = data.get("status"), data.get("exit_code")
        is_good = status == "exited" and code == 0
        how = _ENDS.get(str(status), "has ended")
        if status == "exited" and not is_good:
            how = f"has ended with exit code {code}"
        return f"{_read_id(data)} {how}: {_read_command(data)}", "note" if is_good else "warning"

    def _show(self) -> None:
        rows = list(self._rows.values())
        surplus = len(rows) - _MAX_ROWS
        if surplus > 0:
            rows[_MAX_ROWS:] = [f"and {count_noun(surplus, 'other job')}"]
        self._screen.show_rows(f"{self._screen.glyphs.bullet} {row}" for row in rows)


_ENDS = {
    "killed": "was ended",
    "timed_out": "was ended when its time was up",
    "failed": "could not be run",
}


def _read_id(data: Mapping[str, Any]) -> str:
    return printable_line(str(data.get("job_id")), 80)


def _read_command(data: Mapping[str, Any]) -> str:
    return printable_line(str(data.get("command") or ""), _MAX_COMMAND_CHARS)
