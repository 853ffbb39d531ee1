"""What Tab offers: commands, and the files of the folder."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from typing_extensions import override

_MAX_NAMES = 200
_LAST_WORD = re.compile(r"\S*\Z")


class LineCompleter(Completer):
    """Completes a command at the beginning of a line, and paths within the folder elsewhere.

    Args:
        commands: The commands, each with its slash.
        folder: The folder of the conversation.
    """

    def __init__(self, commands: Collection[str], folder: Path) -> None:
        self._commands = sorted(commands)
        self._more: list[str] = []
        self._folder = folder

    def offer_commands(self, names: Collection[str]) -> None:
        """Complete these commands besides, and not those of the last time."""
        self._more = sorted(names)

    @override
    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """Return what the word before the cursor can become."""
        before = document.text_before_cursor
        found = _LAST_WORD.search(before)
        word = found[0] if found else ""
        if before.startswith("/") and word == before:
            names = (each for each in (*self._commands, *self._more) if each.startswith(word))
            return [Completion(each, -len(word)) for each in names]
        return [Completion(each, -len(word)) for each in self._list_paths(word)]

    def _list_paths(self, word: str) -> Iterator[str]:
        """The paths that begin with a word; none outside the folder."""
        head, slash, start = word.rpartition("/")
        if word.startswith("/") or ".." in head.split("/"):
            return
        entries: list[tuple[str, bool]] = []
        try:
            with os.scandir(self._folder / head) as found:
                for entry in found:
                    # Hidden files are offered to those who ask for them; names with characters
                    # that control a terminal, to nobody.
                    is_wanted = entry.name.startswith(start) and entry.name.isprintable()
                    if is_wanted and (start or not entry.name.startswith(".")):
                        entries.append((entry.name, _is_folder(entry)))
                    if len(entries) == _MAX_NAMES:
                        break
        except (OSError, ValueError):
            return
        for name, is_folder in sorted(entries):
            yield f"{head}{slash}{name}{'/' if is_folder else ''}"


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
