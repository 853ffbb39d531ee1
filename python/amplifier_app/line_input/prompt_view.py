"""What the prompt consists of: rows above it, the line that is typed, and the status line."""

from __future__ import annotations

from collections.abc import Callable

from prompt_toolkit.application import get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition, has_focus, is_done
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.layout import (
    ConditionalContainer,
    Dimension,
    Float,
    FloatContainer,
    HSplit,
    Layout,
    Window,
)
from prompt_toolkit.layout.controls import BufferControl, FormattedTextControl
from prompt_toolkit.layout.menus import CompletionsMenu
from prompt_toolkit.layout.processors import (
    HighlightIncrementalSearchProcessor,
    HighlightSelectionProcessor,
    Processor,
)
from prompt_toolkit.styles import Style
from prompt_toolkit.widgets.toolbars import SearchToolbar

PROMPT, INDENT = "> ", "  "
STYLE = Style.from_dict({"status": "dim", "queued": "dim"})
_MENU_ROWS = 8
_MIN_ROWS = 5
"""A lower terminal has no status line."""


def make_layout(
    buffer: Buffer,
    marks: Processor,
    make_above: Callable[[], StyleAndTextTuples],
    find_mode: Callable[[], str],
    write_status: Callable[[int], str],
) -> Layout:
    """Return the layout.

    Args:
        buffer: What is typed.
        marks: Shows what is folded in it.
        make_above: Returns what is above the prompt.
        find_mode: Returns what the prompt begins with.
        write_status: Returns the status line for a number of cells; empty for none.
    """
    search = SearchToolbar()
    typed = BufferControl(
        buffer,
        input_processors=[
            HighlightIncrementalSearchProcessor(),
            HighlightSelectionProcessor(),
            marks,
        ],
        include_default_input_processors=False,
        search_buffer_control=search.control,
        preview_search=True,
    )

    def begin_row(row: int, wraps: int) -> str:
        mode = find_mode()
        return (f"{mode} {PROMPT}" if mode else PROMPT) if row == wraps == 0 else INDENT

    def measure_typed() -> Dimension:
        is_completing = buffer.complete_state is not None
        return Dimension(min=_MENU_ROWS) if is_completing else Dimension()

    def make_status() -> str:
        # The last column stays free: some terminals wrap as soon as it is filled.
        return write_status(get_app().output.get_size().columns - 1)

    def has_status() -> bool:
        return get_app().output.get_size().rows >= _MIN_ROWS and bool(make_status())

    window = Window(typed, height=measure_typed, get_line_prefix=begin_row, wrap_lines=True)
    menu = CompletionsMenu(max_height=16, scroll_offset=1, extra_filter=has_focus(buffer))
    above = Window(FormattedTextControl(make_above), wrap_lines=True, dont_extend_height=True)
    status = Window(FormattedTextControl(make_status), height=1, style="class:status")
    root = HSplit(
        [
            ConditionalContainer(above, Condition(lambda: bool(make_above()))),
            FloatContainer(window, [Float(menu, xcursor=True, ycursor=True, transparent=True)]),
            search,
            ConditionalContainer(status, Condition(has_status) & ~is_done),
        ]
    )
    return Layout(root, window)
