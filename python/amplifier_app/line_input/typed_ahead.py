"""What was typed before the prompt could read keys."""

from __future__ import annotations

from prompt_toolkit.input import Input
from prompt_toolkit.input.typeahead import store_typeahead
from prompt_toolkit.input.vt100_parser import Vt100Parser
from prompt_toolkit.key_binding.key_processor import KeyPress

from amplifier_app.line_input.typed_line import read_typed


def keep_typed_ahead(terminal: Input) -> None:
    """Have the prompt that is shown next take what was typed while the terminal still edited lines.

    Such a terminal gives a line break for Enter, which is another key at the prompt.
    """
    typed = read_typed(terminal.fileno())
    if typed:
        keys: list[KeyPress] = []
        parser = Vt100Parser(keys.append)
        parser.feed(typed.decode("utf-8", "replace").replace("\n", "\r"))
        parser.flush()
        store_typeahead(terminal, keys)
