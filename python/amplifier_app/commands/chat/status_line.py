"""The line below the prompt: who answers, where, with how many tokens, for what, and how."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from amplifier_app.commands.model_choice import model_name
from amplifier_app.printable import printable_line
from amplifier_core import events
from amplifier_core.session_capabilities import BASH_JOBS

if TYPE_CHECKING:
    from decimal import Decimal

    from amplifier_app.commands.chat.turns import Turns
    from amplifier_app.commands.conversation import Conversation

_BETWEEN = " · "
_MAX_FOLDER = 40
_DROPPED = ("sandbox", "folder", "cost", "mode", "tokens", "model")
"""What is left out where there is no space for all, one after the other."""


class StatusLine:
    """Knows what the line says, and how much of it has space.

    Args:
        turns: The turns of the conversation.
        folder: Where it works.
        find_mode: Returns the mode that counts, or will; empty where that is not known.
    """

    def __init__(self, turns: Turns, folder: Path, find_mode: Callable[[], str]) -> None:
        self._turns = turns
        self._folder = printable_line(shorten_folder(folder))
        self._find_mode = find_mode
        self._tokens: int | None = None
        self._window: int | None = None
        self._cost: Decimal | Literal[0] | None = 0
        self._tier = ""
        self._finding: asyncio.Task[None] | None = None

    def watch(self, conversation: Conversation) -> None:
        """Follow the calls of a conversation that begins."""
        from amplifier_modules.spawn.task import TASK_END
        from amplifier_providers.prices.amounts import read_count, read_dollars

        self._tokens = None

        def add_cost(cost: object) -> None:
            added = read_dollars(cost)
            self._cost = None if self._cost is None or added is None else self._cost + added

        def note_call(_: str, data: Mapping[str, Any]) -> None:
            usage: Any = data.get("usage")
            if not isinstance(usage, dict):
                return
            usage = cast("dict[str, object]", usage)
            counts = [read_count(usage.get(name)) for name in ("input_tokens", "output_tokens")]
            self._tokens = sum(count or 0 for count in counts)
            add_cost(usage.get("cost_usd"))
            if self._finding is None and conversation.find_capability(BASH_JOBS) is not None:
                self._finding = asyncio.create_task(self._find_tier())
            self._window = conversation.find_window()

        def note_task(_: str, data: Mapping[str, Any]) -> None:
            if data.get("model_calls") or data.get("unpriced_calls"):
                add_cost(None if data.get("unpriced_calls") else data.get("cost_usd"))

        conversation.listen(events.LLM_POST, note_call)
        conversation.listen(TASK_END, note_task)

    def write(self, cells: int) -> str:
        """Return the line, in at most so many cells; empty if nothing has space."""
        pieces = self._list_pieces()
        for dropped in (None, *_DROPPED):
            pieces.pop(dropped or "", None)
            line = _BETWEEN.join(pieces.values())
            if _count_cells(line) <= cells:
                return line
        return ""

    def _list_pieces(self) -> dict[str, str]:
        turns = self._turns
        pieces = {
            "model": printable_line(model_name(turns.order, turns.answering)),
            "folder": self._folder,
            "tokens": self._write_tokens(),
            "cost": self._write_cost(),
            "sandbox": self._tier,
            "mode": self._find_mode(),
        }
        return {name: piece for name, piece in pieces.items() if piece}

    def _write_tokens(self) -> str:
        if self._tokens is None:
            return ""
        share = f" ({self._tokens / self._window:.0%})" if self._window else ""
        return f"{self._tokens:,} tokens{share}"

    def _write_cost(self) -> str:
        if not self._cost:
            return ""
        from amplifier_app.usage import write_dollars

        return write_dollars(self._cost)

    async def _find_tier(self) -> None:
        from amplifier_modules.sandbox.command import Tier
        from amplifier_modules.sandbox.tiers import find_tier

        tier = (await asyncio.to_thread(find_tier)).tier
        self._tier = "no sandbox" if tier is Tier.NONE else tier.value


def shorten_folder(folder: Path) -> str:
    """`~/project`; what is long begins with an ellipsis and has its last parts."""
    shown = str(folder.absolute())
    try:
        home = str(Path.home())
    except RuntimeError:
        home = ""
    if home and (shown == home or shown.startswith(f"{home}/")):
        shown = f"~{shown[len(home) :]}"
    while len(shown) > _MAX_FOLDER and "/" in shown.removeprefix("…/"):
        shown = f"…/{shown.removeprefix('…/').partition('/')[2]}"
    return shown


def _count_cells(line: str) -> int:
    if line.isascii():
        return len(line)
    from prompt_toolkit.utils import get_cwidth

    return get_cwidth(line)
