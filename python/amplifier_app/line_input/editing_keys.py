"""The keys of the prompt that are not those of every line editor."""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING, Any, Protocol

from prompt_toolkit.application import Application, get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.filters import Condition, has_completions
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.key_binding.bindings.completion import generate_completions
from prompt_toolkit.keys import Keys
from prompt_toolkit.utils import suspend_to_background_supported

from amplifier_app.line_input.attachments import bind_attaching
from amplifier_app.line_input.text_editor import is_there

if TYPE_CHECKING:
    from amplifier_app.attached.pasted_images import PastedImages
    from amplifier_app.line_input.completion import LineCompleter
    from amplifier_app.line_input.lines import Typing
    from amplifier_app.line_input.pastes import Pastes

_SECONDS_OF_PAIR = 1.0
"""Esc is pressed twice within that."""


class Editor(Protocol):
    """What the keys need of the prompt."""

    typing: Typing
    pastes: Pastes
    buffer: Buffer

    @property
    def has_queued(self) -> bool:
        """Whether lines wait."""
        ...

    def take_line(self) -> str:
        """Return what is typed, whole, and begin with an empty line."""
        ...

    def put_back(self, text: str) -> None:
        """Put a line that was taken before what is typed."""
        ...

    def start_editor(self) -> None:
        """Open what is typed in the editor of the user."""
        ...

    def end(self) -> None:
        """Read no more lines."""
        ...


class EditingKeys:
    """What the keys do to the line that is typed, and whom they call."""

    def __init__(
        self, editor: Editor, completer: LineCompleter, images: PastedImages | None
    ) -> None:
        self._editor = editor
        self._completer = completer
        self._images = images
        self._escaped = -math.inf

    def bind(self) -> KeyBindings:
        """Return the bindings."""
        editor, keys = self._editor, KeyBindings()
        is_typing = Condition(lambda: get_app().current_buffer is editor.buffer)
        is_empty = Condition(lambda: not editor.buffer.text)
        is_waiting = Condition(lambda: editor.has_queued)
        keys.add("enter", filter=is_typing)(self._enter)
        keys.add("escape", "enter", filter=is_typing)(self._begin_line)
        keys.add("c-j", filter=is_typing)(self._begin_line)
        keys.add("escape", filter=is_typing)(self._escape)
        keys.add("c-c", filter=is_typing)(self._interrupt)
        keys.add("tab", filter=is_typing & ~has_completions)(self._complete)
        keys.add("s-tab", filter=is_typing & ~has_completions)(self._change_mode)
        keys.add("c-d", filter=is_typing & is_empty)(self._end)
        keys.add("up", filter=is_typing & is_empty & is_waiting)(self._take_back)
        keys.add("escape", "up", filter=is_typing & is_waiting)(self._take_back)
        if self._images is None:
            keys.add(Keys.BracketedPaste, filter=is_typing)(self._paste)
        else:
            bind_attaching(keys, self._images, is_typing, self._paste)
        keys.add("c-g", filter=is_typing & Condition(is_there))(self._start_editor)
        can_suspend = Condition(suspend_to_background_supported)
        keys.add("c-z", filter=can_suspend)(self._suspend)
        return keys

    def _enter(self, event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state is not None and buffer.complete_state.current_completion:
            buffer.complete_state = None
        elif buffer.document.text_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            self._editor.typing.take(self._editor.take_line())

    def _interrupt(self, _: KeyPressEvent) -> None:
        self._editor.typing.interrupt()

    def _end(self, _: KeyPressEvent) -> None:
        self._editor.end()

    def _start_editor(self, _: KeyPressEvent) -> None:
        self._editor.start_editor()

    def _suspend(self, event: KeyPressEvent) -> None:
        app: Application[Any] = event.app
        app.suspend_to_background()

    def _begin_line(self, event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    def _escape(self, event: KeyPressEvent) -> None:
        buffer, typing = event.current_buffer, self._editor.typing
        before, self._escaped = self._escaped, -math.inf
        if buffer.complete_state is not None:
            buffer.cancel_completion()
        elif not typing.stop() and not buffer.text:
            now = asyncio.get_running_loop().time()
            if now - before <= _SECONDS_OF_PAIR:
                typing.rewind()
            else:
                self._escaped = now

    def _complete(self, event: KeyPressEvent) -> None:
        """Complete, or take the line for later where there is nothing to complete."""
        editor, document = self._editor, event.current_buffer.document
        before = document.text_before_cursor
        is_command = before.startswith("/")
        if (name := self._completer.find_name(before)) is not None:
            # At once: the next key may be Enter.
            event.current_buffer.insert_text(name[len(before) :])
            return
        if not is_command and document.text.strip():
            found = self._completer.get_completions(document, CompleteEvent())
            if all(before[len(before) + each.start_position :] == each.text for each in found):
                whole = editor.pastes.unfold(document.text)
                if editor.typing.queue(whole):
                    editor.take_line()
                    return
        self._completer.asked_for = before
        generate_completions(event)

    def _change_mode(self, event: KeyPressEvent) -> None:
        self._editor.typing.change_mode()
        event.app.invalidate()

    def _take_back(self, _: KeyPressEvent) -> None:
        text = self._editor.typing.take_back()
        if text is not None:
            self._editor.put_back(text)

    def _paste(self, event: KeyPressEvent) -> None:
        text = event.data.replace("\r\n", "\n").replace("\r", "\n")
        event.current_buffer.insert_text(self._editor.pastes.fold(text))
