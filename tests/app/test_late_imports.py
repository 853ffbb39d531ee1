"""Modules of others run when a name of theirs is asked for, and behave as always then."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from wcwidth import wcwidth

from amplifier_app.late_imports.late_modules import import_late, is_late
from amplifier_app.late_imports.lazy_toolkit import measure_character

Write = Callable[..., list[str]]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write modules that note when they run, and return where they do."""
    notes: list[str] = []
    monkeypatch.setattr(sys, "notes", notes, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "modules", dict(sys.modules))

    def write_modules(**sources: str) -> list[str]:
        for name, source in sources.items():
            path = tmp_path / f"{name.replace('_of_', '/')}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"import sys\nsys.notes.append(__name__)\n{source}\n")
        return notes

    return write_modules


def run_program(text: str) -> tuple[str, str]:
    """What an interpreter of its own writes that runs a program."""
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, check=False, text=True, timeout=60
    )
    return done.stdout, done.stderr


def test_a_module_runs_at_the_first_use_of_a_name(write: Write) -> None:
    notes = write(late_one="value = 1\ndef __getattr__(name): return name")
    import_late("late_one")
    import late_one  # type: ignore[import-not-found]

    assert (notes, is_late("late_one")) == ([], True)
    assert (late_one.value, late_one.other) == (1, "other")
    assert (notes, is_late("late_one")) == (["late_one"], False)


def test_a_name_can_be_imported_from_it(write: Write) -> None:
    write(late_two="value = 2")
    import_late("late_two")
    from late_two import value  # type: ignore[import-not-found]

    assert value == 2
    assert "value" in dir(sys.modules["late_two"])


def test_all_names_are_listed(write: Write) -> None:
    write(late_three="value = 3")
    import_late("late_three")
    assert "value" in dir(sys.modules["late_three"])


def test_submodules_are_imported_without_their_package(write: Write) -> None:
    notes = write(house_of___init__="from house.room import value", house_of_room="value = 4")
    import_late("house")
    from house import room  # type: ignore[import-not-found]
    from house.room import value  # type: ignore[import-not-found]

    assert (value, room.value) == (4, 4)
    assert sorted(notes) == ["house", "house.room"]


def test_a_submodule_alone_does_not_run_its_package(write: Write) -> None:
    notes = write(home_of___init__="from home.room import value", home_of_room="value = 5")
    import_late("home")
    import home.room  # type: ignore[import-not-found]

    assert home.room.value == 5
    assert notes == ["home.room"]
    assert home.value == 5


def test_what_is_put_in_the_place_of_a_name_stays(write: Write) -> None:
    write(late_six="value = 6")
    import_late("late_six")
    import late_six  # type: ignore[import-not-found]

    late_six.value = 7
    assert late_six.value == 7


def test_a_failure_comes_at_each_use(write: Write) -> None:
    notes = write(late_seven="import not_there_at_all")
    import_late("late_seven")
    for _ in range(2):
        with pytest.raises(ModuleNotFoundError, match="not_there_at_all"):
            _ = sys.modules["late_seven"].value
    assert notes == ["late_seven"] * 2


def test_what_is_there_already_or_not_installed_stays_as_it_is(write: Write) -> None:
    notes = write(late_eight="value = 8")
    import late_eight  # type: ignore[import-not-found]

    import_late("late_eight", "late_and_not_installed", "not_installed.either")
    assert sys.modules["late_eight"] is late_eight
    assert notes == ["late_eight"]
    assert "late_and_not_installed" not in sys.modules
    assert "not_installed.either" not in sys.modules


def test_threads_wait_for_the_one_that_runs_it(write: Write, monkeypatch: Any) -> None:
    begun, go_on = threading.Event(), threading.Event()
    monkeypatch.setattr(sys, "late_events", (begun, go_on), raising=False)
    notes = write(
        late_nine="begun, go_on = sys.late_events\nbegun.set()\ngo_on.wait(60)\nvalue = 9"
    )
    import_late("late_nine")
    module: Any = sys.modules["late_nine"]
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(module.value)) for _ in range(3)]
    for each in threads:
        each.start()
    assert begun.wait(60)
    go_on.set()
    for each in threads:
        each.join(60)
    assert (found, notes) == ([9, 9, 9], ["late_nine"])


def test_characters_are_as_wide_as_wcwidth_says() -> None:
    characters = [chr(number) for number in range(32, 0x3100)]
    assert list(map(measure_character, characters)) == list(map(wcwidth, characters))
    assert measure_character("·", ambiguous_width=2) == wcwidth("·", ambiguous_width=2)


# Holds: command-141
def test_asyncio_speaks_tls_all_the_same() -> None:
    program = """
from amplifier_app.late_imports.lazy_asyncio import import_asyncio
from amplifier_app.late_imports.late_modules import is_late
import_asyncio()
import asyncio
assert is_late("ssl") and is_late("asyncio.sslproto")

async def speak_plainly(reader, writer):
    writer.write(b"no TLS here")
    await writer.drain()
    writer.close()

async def main():
    async with await asyncio.start_server(speak_plainly, "127.0.0.1", 0) as server:
        assert is_late("ssl")
        port = server.sockets[0].getsockname()[1]
        try:
            await asyncio.open_connection("127.0.0.1", port, ssl=True)
        except OSError as error:
            import ssl
            print(isinstance(error, ssl.SSLError), asyncio.sslproto.SSLProtocol.__name__)

asyncio.run(main())
"""
    assert run_program(program) == ("True SSLProtocol\n", "")


# Holds: command-141
def test_prompt_toolkit_has_all_of_its_names() -> None:
    program = """
from amplifier_app.late_imports.lazy_toolkit import import_toolkit, measure_character
from amplifier_app.late_imports.late_modules import is_late
import_toolkit()
import sys
late = [name for name in ("prompt_toolkit", "wcwidth", "xml.dom.minidom") if is_late(name)]
from prompt_toolkit.utils import get_cwidth
assert get_cwidth("a · b…") == 6 and is_late("wcwidth")
assert get_cwidth("\\u4e2d") == 2 and not is_late("wcwidth")
import wcwidth
assert wcwidth.wcwidth is not measure_character and wcwidth.wcswidth("\\u4e2d") == 2
from prompt_toolkit import HTML, PromptSession, print_formatted_text
from prompt_toolkit.widgets import Box, SearchToolbar
from prompt_toolkit.formatted_text import to_formatted_text
print(late, list(to_formatted_text(HTML("<b>x</b>"))))
"""
    shown = "['prompt_toolkit', 'wcwidth', 'xml.dom.minidom'] [('class:b', 'x')]\n"
    assert run_program(program) == (shown, "")
