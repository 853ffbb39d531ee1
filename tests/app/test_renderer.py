"""`ContentBlockRenderer`: content blocks on any console."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from amplifier_app import ContentBlockRenderer
from amplifier_core.content_models import (
    ContentBlock,
    TextContent,
    ThinkingContent,
    ToolCallContent,
    ToolResultContent,
)

KEY = "sk-ant-api03-" + "a1B2c3D4e5F6g7H8" * 3
HOSTILE = f"[red]x[/red] :smile: \x1b[2J\x9b2J {KEY} \u202eabc"


def console(*, is_terminal: bool = False, width: int = 60) -> Console:
    return Console(
        file=io.StringIO(), width=width, force_terminal=is_terminal, record=True, color_system=None
    )


def rendered(*blocks: ContentBlock, is_terminal: bool = False, width: int = 60) -> str:
    """What a console has recorded of the blocks, without styles."""
    target = console(is_terminal=is_terminal, width=width)
    renderer = ContentBlockRenderer(target)
    for block in blocks:
        match block:
            case ThinkingContent():
                renderer.render_thinking(block)
            case TextContent():
                renderer.render_text(block)
            case ToolCallContent():
                renderer.render_tool_call(block)
            case ToolResultContent():
                renderer.render_tool_result(block)
            case _:
                raise AssertionError(block)
    return target.export_text()


def test_a_turn_on_a_console_is_thinking_text_calls_and_results() -> None:
    table = "| a | b |\n| --- | --- |\n| 1 | 2 |"
    assert rendered(
        ThinkingContent(text="I look."),
        TextContent(text=f"Let me **look**.\n\n{table}"),
        ToolCallContent(id="t1", name="grep", arguments={"pattern": "TODO"}),
        ToolCallContent(id="t2", name="glob"),
        ToolResultContent(tool_call_id="t2", error="no such folder"),
        ToolResultContent(tool_call_id="t1", output="one\ntwo"),
        TextContent(text="Done."),
        is_terminal=True,
        width=30,
    ) == (
        """\
🤔 Thinking
│ I look.

Let me look.

a   b
─────
1   2

🔧 Calling
    grep(pattern="TODO")
🔧 Calling glob()
  ✗ glob: no such folder
  ✓ grep: one (+1 line)

Done.
"""
    )


def test_text_in_a_pipe_is_as_the_model_wrote_it() -> None:
    text = "# **All** is `well`.\n\n- [link](x)\n"
    assert rendered(TextContent(text=text)) == text


def test_thinking_is_never_cut() -> None:
    words = [f"thought{number}" for number in range(3_000)]
    for is_terminal in (False, True):
        shown = rendered(ThinkingContent(text=" ".join(words)), is_terminal=is_terminal)
        assert re.findall(r"thought\d+", shown) == words


def test_arguments_are_previewed_to_200_characters() -> None:
    shown = rendered(ToolCallContent(name="write", arguments={"content": "x" * 10_000}))
    assert shown == f'🔧 Calling write(content="{"x" * 190}…)\n'


# Holds: command-5
@pytest.mark.parametrize("is_terminal", [False, True], ids=["pipe", "terminal"])
@pytest.mark.parametrize(
    "block",
    [
        ThinkingContent(text=HOSTILE),
        TextContent(text=HOSTILE),
        ToolCallContent(name=HOSTILE, arguments={HOSTILE: HOSTILE}),
        ToolResultContent(output=HOSTILE),
        ToolResultContent(output={"text": HOSTILE}),
        ToolResultContent(error=HOSTILE),
    ],
    ids=lambda block: type(block).__name__,
)
def test_no_markup_is_interpreted_and_no_secret_or_escape_gets_through(
    block: ContentBlock, is_terminal: bool
) -> None:
    shown = rendered(block, is_terminal=is_terminal, width=400)
    assert "[red]x[/red] :smile:" in shown
    assert not {"\x1b", "\x9b", "\u202e"} & {*shown}
    assert KEY[12:] not in shown
    assert "[REDACTED:" in shown


def test_what_a_console_captures_is_everything() -> None:
    target = console()
    with target.capture() as capture:
        ContentBlockRenderer(target).render_text(TextContent(text="Hi."))
    assert capture.get() == "Hi.\n"


def test_without_a_console_it_draws_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    ContentBlockRenderer().render_text(TextContent(text="Hi."))
    assert capsys.readouterr().out == "Hi.\n"


def test_a_file_that_was_written_is_shown_by_its_lines() -> None:
    output = {
        "path": "a.txt",
        "kind": "modified",
        "lines_added": 2,
        "lines_removed": 1,
        "diff": "…",
    }
    assert "modified +2 -1 lines" in rendered(ToolResultContent(tool_call_id="t1", output=output))
