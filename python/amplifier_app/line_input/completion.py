"""What Tab offers: commands, and the files of the folder."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable, Iterator, Sequence
from pathlib import Path

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from typing_extensions import override

from amplifier_app.line_input.candidate import Candidate

_MAX_NAMES = 200
_LAST_WORD = re.compile(r"\S*\Z")
_MENTION = re.compile(r"""(?:(?<=[\s(\[{,;:'])|\A)@(?:"([^"\n]*)|([^\s"]*))\Z""")
"""The beginning of a path that is attached."""


class LineCompleter(Completer):
    """Completes commands and their arguments, and paths within the folder elsewhere.

    Args:
        complete_command: Gives what a line that begins with a slash can become, each as a whole line.
        folder: The folder of the conversation.
        find_names: Gives the names of commands that begin with a text.
    """

    def __init__(
        self,
        complete_command: Callable[[str], AsyncIterable[Candidate]],
        folder: Path,
        find_names: Callable[[str], Sequence[str]] = lambda _: (),
    ) -> None:
        self._complete_command = complete_command
        self._folder = folder
        self._find_names = find_names
        self.asked_for = ""
        """The text that is to be completed; a line that does not begin with it is another one."""

    def find_name(self, begun: str) -> str | None:
        """Return the only name of a command that a text can become."""
        names = self._find_names(begun) if begun.startswith("/") and " " not in begun else ()
        return names[0] if len(names) == 1 else None

    @override
    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        """Yield what the text before the cursor can become, as it is found."""
        before = document.text_before_cursor
        if not before.startswith(self.asked_for):
            return
        is_command, is_found = before.startswith("/"), False
        if is_command:
            async for each in self._complete_command(before):
                is_found = True
                shown = each.text.partition(" ")[2] or each.text
                yield Completion(each.text, -len(before), shown, display_meta=each.about)
        if not is_found and not (is_command and " " not in before):
            for completion in self.get_completions(document, complete_event):
                yield completion

    @override
    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """Return the paths that the word before the cursor can become."""
        if mention := _MENTION.search(document.text_before_cursor):
            begin = len(mention[0]) - mention[0].index("@") - 1
            path = mention[1] if mention[1] is not None else mention[2]
            return [Completion(_quote(each), -begin, each) for each in self._list_paths(path)]
        found = _LAST_WORD.search(document.text_before_cursor)
        word = found[0] if found else ""
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


def _quote(path: str) -> str:
    """Return a path as it is written after `@`; a folder with a space stays open."""
    if not re.search(r"\s", path):
        return path
    return f'"{path}' + ("" if path.endswith("/") else '"')


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
