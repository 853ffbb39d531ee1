"""Lines that are typed: what is drawn above them, their history, and what Tab offers."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from amplifier_app.commands.chat.command_table import CommandTable
from amplifier_app.commands.chat.slash_commands import SlashCommand, slash_command
from amplifier_app.line_input.completion import LineCompleter
from amplifier_app.line_input.history_file import HistoryFile, history_path
from amplifier_app.line_input.line_stream import LineStream

LINES = st.lists(st.text(st.characters(exclude_characters="\n\r\x1b")), min_size=1)


@given(LINES, st.data())
def test_pieces_of_what_is_written_do_not_matter(lines: list[str], data: st.DataObject) -> None:
    text = "\n".join(f"waiting\r\x1b[K{line}" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)))))
    whole: list[str] = []
    stream = LineStream(whole.append, lambda: None, "utf-8")
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        stream.write(text[start:end])
    assert [*whole, stream.live] == [*(f"{line}\n" for line in lines[:-1]), lines[-1]]


@given(st.lists(st.text(min_size=1).filter(str.strip)))
def test_the_history_is_what_was_typed(tmp_path_factory: object, lines: list[str]) -> None:
    path = Path(str(tmp_path_factory.mktemp("state"))) / "new" / "history"  # type: ignore[attr-defined]
    first = HistoryFile(path, lambda line: line, lambda reason: None)
    for line in lines:
        first.store_string(line)
    second = HistoryFile(path, lambda line: line, lambda reason: None)
    assert list(second.load_history_strings()) == lines[::-1]


def test_what_is_no_line_of_the_history_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_bytes(b'"one"\nnot json\n[1]\n\xff\n"two"\n"cut')
    history = HistoryFile(path, lambda line: line, lambda reason: None)
    assert list(history.load_history_strings()) == ["two", "one"]


def test_a_link_is_not_followed_and_that_is_told_once(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.touch(mode=0o644)
    (tmp_path / "history").symlink_to(other)
    reasons: list[str] = []
    history = HistoryFile(tmp_path / "history", lambda line: line, reasons.append)
    history.store_string("one")
    history.store_string("two")
    assert len(reasons) == 1
    assert other.read_text() == ""


def test_the_history_is_where_the_user_keeps_state(tmp_path: Path) -> None:
    assert history_path({"XDG_STATE_HOME": str(tmp_path)}) == tmp_path / "amplifier-core/history"
    default = Path.home() / ".local/state/amplifier-core/history"
    assert history_path({}) == history_path({"XDG_STATE_HOME": "relative"}) == default


def offered(folder: Path, typed: str) -> list[str]:
    completer = LineCompleter(CommandTable(None).complete, folder)

    async def complete() -> list[str]:
        found = completer.get_completions_async(Document(typed), CompleteEvent())
        return [typed[: len(typed) + each.start_position] + each.text async for each in found]

    return asyncio.run(complete())


def test_commands_and_paths_of_the_folder_are_offered(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "main.py").touch()
    (folder / "setup.py").touch()
    (folder / ".hidden").touch()
    (folder / "se\x1b[31m").touch()
    (tmp_path / "secret").touch()
    os.symlink(folder / "gone", folder / "sx")

    assert offered(folder, "/mo") == ["/mode", "/model"]
    assert offered(folder, "see s") == ["see setup.py", "see src/", "see sx"]
    assert offered(folder, "see src/m") == ["see src/main.py"]
    assert offered(folder, "see .") == ["see .hidden"]
    for outside in ("see ../s", "see src/../../s", f"see {tmp_path}/s", "see missing/s", "see \0"):
        assert offered(folder, outside) == []


# Holds: typing-7
def test_files_are_offered_after_an_at_sign_with_quotes_where_there_is_space(
    tmp_path: Path,
) -> None:
    (tmp_path / "my notes").mkdir()
    (tmp_path / "my notes" / "one.md").touch()
    (tmp_path / "main.py").touch()
    assert offered(tmp_path, "see @m") == ["see @main.py", 'see @"my notes/']
    assert offered(tmp_path, 'see @"my notes/o') == ['see @"my notes/one.md"']
    assert offered(tmp_path, "see a@m") == []
    assert offered(tmp_path, "see @../") == []


def test_a_path_is_no_command() -> None:
    assert slash_command(" /model  claude x ") == SlashCommand("/model", "claude x")
    assert slash_command("/HELP") == SlashCommand("/help")
    for prompt in ("/etc/hosts", "/etc/hosts is what?", "/", "// no", "what is /help", "/usr/"):
        assert slash_command(prompt) is None
