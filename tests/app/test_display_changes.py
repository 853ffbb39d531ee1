"""What the display shows of files that are written and of commands: whole screens."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from drawn_events import Event, Pipe, Terminal, call, drawn, environment, result, styled

from amplifier_app import ContentBlockRenderer
from amplifier_core.content_models import ToolCallContent, ToolResultContent
from amplifier_modules.changes.line_diff import compare_lines

__all__ = ["environment"]

OLD = b"import os\n\n\ndef add(a, b):\n    return a - b\n\n\ndef f():\n\tpass\n"
NEW = b"import os\n\n\ndef add(a, b):\n    # sums\n    return a + b\n\n\ndef f():\n\tpass\n"
KEY = "\n".join(
    ["-----BEGIN PRIVATE KEY-----", *["MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"] * 20, "-----END PRIVATE KEY-----"]
)  # fmt: skip
HOSTILE, SAFE = "a\x1b[2J\u202eb\x07", "a\\x1b[2J\\u{202e}b\\x07"

Change = tuple[str, bytes | None, bytes | None]
"""A file with its content before and after."""


def write(name: str, arguments: dict[str, Any], *changes: Change) -> list[Event]:
    """A call of a tool that writes, as the tools of this project describe it."""
    files: list[dict[str, Any]] = []
    told: list[Event] = []
    for path, before, after in changes:
        diff = compare_lines(path, before, after)
        kind = "created" if before is None else "deleted" if after is None else "modified"
        file: dict[str, Any] = {"path": path, "kind": kind, "bytes": len(after or b"")}
        file |= {"lines_added": diff.added, "lines_removed": diff.removed}
        told.append(("artifact:write", {**file, "diff": diff.text}))
        has_diff = kind == "modified" and name != "apply_patch"
        files.append({**file, "diff": diff.text} if has_diff else file)
    output = {"files": files} if name == "apply_patch" else files[0]
    return [call("a", name, arguments), *told, result("a", name, output)]


def run(arguments: dict[str, Any], output: dict[str, Any]) -> list[Event]:
    """A call of `bash`."""
    usual = {"exit_code": 0, "seconds": 0.1, "sandbox": "namespaces"}
    return [call("a", "bash", arguments), result("a", "bash", usual | output)]


def test_an_edit_is_its_path_and_then_the_diff_with_its_indentation() -> None:
    edits = [{"old": "return a - b", "new": "# sums\n    return a + b"}]
    events = write("edit_file", {"path": "calc.py", "edits": edits}, ("calc.py", OLD, NEW))
    assert drawn(events, Terminal()) == (
        """\
● 1 edit_file(path="calc.py")
  ✓ 1 edit_file: modified +2 -1 lines
    @@ -2,7 +2,8 @@


     def add(a, b):
    -    return a - b
    +    # sums
    +    return a + b


     def f():
"""
    )


def test_added_and_removed_lines_have_colours_in_a_terminal_alone() -> None:
    events = write("edit_file", {"path": "a"}, ("a", b"one\n", b"two\n"))
    shown = styled(events, Terminal())
    assert "\x1b[31m-one\x1b[0m\n" in shown
    assert "\x1b[32m+two\x1b[0m\n" in shown
    plain = styled(events, Pipe())
    assert "\x1b" not in plain
    assert "    -one\n    +two\n" in plain


def test_a_new_file_is_its_first_lines_and_how_many_more_there_are() -> None:
    content = "".join(f"    line {number}\n" for number in range(1, 31))
    events = write("write_file", {"path": "n", "content": content}, ("n", None, content.encode()))
    shown = "".join(f"    +    line {number}\n" for number in range(1, 21))
    assert drawn(events, Pipe()) == (
        f'● 1 write_file(path="n")\n  ✓ 1 write_file: created, 30 lines\n{shown}    … 10 more lines; `/diff` or `amplifier-core diff` shows all\n'
    )


def test_a_session_that_keeps_nothing_does_not_say_how_to_see_all_of_a_change() -> None:
    content = "".join(f"line {number}\n" for number in range(1, 31)).encode()
    for changes in ([("n", None, content)], [("n", None, content), ("m", None, content)]):
        name = "apply_patch" if len(changes) > 1 else "write_file"
        shown = drawn(write(name, {}, *changes), Pipe(), keeps_changes=False)
        assert "more lines\n" in shown
        assert "diff" not in shown


def test_a_file_that_stays_as_it_was_has_no_lines_also_after_a_change() -> None:
    same = {"path": "n", "kind": "unchanged", "lines_added": 0, "lines_removed": 0}
    events = [
        *write("write_file", {"path": "n"}, ("n", None, b"x\n")),
        call("b", "write_file", {"path": "n", "content": "x\n"}),
        result("b", "write_file", same),
    ]
    assert drawn(events, Pipe()).splitlines()[-2:] == [
        '● 2 write_file(path="n")',
        "  ✓ 2 write_file: unchanged",
    ]


def test_a_patch_over_several_files_is_each_with_what_was_added_and_removed() -> None:
    patch = (
        "*** Begin Patch\n*** Add File: new.py\n+x\n*** Update File: calc.py\n@@\n-    return a - b\n"
        "+    return a + b\n*** Delete File: old.py\n*** End Patch"
    )
    changes: list[Change] = [("new.py", None, b"x\n  y\n"), ("calc.py", OLD, NEW), ("old.py", b"y\n", None)]  # fmt: skip
    assert drawn(write("apply_patch", {"patch": patch}, *changes), Terminal()) == (
        """\
● 1 apply_patch("new.py", "calc.py", "old.py")
  ✓ 1 apply_patch: 3 files, +4 -2 lines
    new.py: created, 2 lines
      +x
      +  y
    calc.py: modified +2 -1 lines
      -    return a - b
      +    # sums
      +    return a + b
    old.py: deleted, 1 line
      -y
"""
    )


def test_a_patch_over_many_files_stays_short() -> None:
    many: list[Change] = [(f"{number}.py", None, b"x\ny\nz\n") for number in range(30)]
    lines = drawn(write("apply_patch", {"patch": "?"}, *many), Pipe()).splitlines()
    assert lines[:3] == [
        "● 1 apply_patch(a patch of 1 line)",
        "  ✓ 1 apply_patch: 30 files, +90 -0 lines",
        "    0.py: created, 3 lines",
    ]
    assert (len(lines), lines[-1]) == (23, "    … 10 more files")


# Holds: command-14
def test_a_secret_of_several_lines_is_removed_from_a_diff() -> None:
    before = KEY.encode() + b"\n"
    changes: list[tuple[bytes | None, bytes | None]] = [
        (before, b"\n"),
        (b"\n", before),
        (None, before),
        (before, None),
    ]
    for old, new in changes:
        events = write("edit_file", {"path": "key"}, ("key", old, new))
        shown = drawn(events, Pipe())
        assert "MIIEvQ" not in shown
        assert "[REDACTED:" in shown


# Holds: command-14
@pytest.mark.parametrize("file", [Pipe, Terminal])
def test_nothing_in_files_and_commands_controls_the_terminal(file: Any) -> None:
    hostile = HOSTILE.encode() + b"\n"
    events = [
        *write("write_file", {"path": HOSTILE}, (HOSTILE, None, hostile)),
        *write("edit_file", {"path": HOSTILE}, (HOSTILE, b"x\n", hostile)),
        *write("apply_patch", {"patch": HOSTILE}, (HOSTILE, None, hostile), ("b", None, hostile)),
        *run(
            {"command": f"{HOSTILE}\n{HOSTILE}", "sandbox": "none", "reason": HOSTILE, HOSTILE: 1},
            {"output": hostile.decode(), "signal": HOSTILE, "directory": HOSTILE, "note": HOSTILE,
             "edge": HOSTILE, "output_file": HOSTILE, "output_file_problem": HOSTILE},
        ),
        *run({"command": HOSTILE}, {"id": HOSTILE, "status": "running"}),
    ]  # fmt: skip
    shown = drawn(events, file(), width=200)
    assert not {"\x1b", "\u202e", "\x07"} & {*shown}
    assert shown.count(SAFE) == 18


def test_a_command_is_shown_as_it_is_with_its_output() -> None:
    shown = drawn(run({"command": "ls -la"}, {"output": "one\n  two\n"}), Terminal())
    assert shown == "● 1 bash $ ls -la\n  ✓ 1 bash\n    one\n      two\n"


def test_a_command_of_several_lines_that_leaves_the_sandbox_and_fails() -> None:
    arguments = {
        "command": "for x in a b; do\n  echo $x\ndone\n",
        "timeout": 5,
        "sandbox": "none",
        "reason": "needs docker",
    }
    output = {
        "output": "".join(f"{number}\n" for number in range(1, 51)),
        "exit_code": 3,
        "seconds": 4.23,
        "directory": "sub",
        "sandbox": "none",
        "output_file": "/tmp/out",
        "edge": "it stopped",
        "note": "a note",
    }
    assert drawn(run(arguments, output), Terminal()) == (
        """\
● 1 bash $
    for x in a b; do
      echo $x
    done
    outside of the sandbox: needs docker
    at most 5 s
  ✗ 1 bash
    1
    2
    3
    4
    5
    … more than 38 more lines
    44
    45
    46
    47
    48
    49
    50
    exit code 3, 4.2 s, now in `sub`, without a sandbox
    it stopped
    a note
    all of it is in `/tmp/out`
"""
    )


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ({}, "✓ 1 bash: no output"),
        ({"exit_code": 1}, "✗ 1 bash: no output, exit code 1"),
        ({"exit_code": None, "signal": "SIGKILL"}, "✗ 1 bash: no output, ended by SIGKILL"),
        ({"exit_code": None, "timed_out": True, "seconds": 9}, "✗ 1 bash: no output, timed out, 9.0 s"),
        ({"seconds": 1.0}, "✓ 1 bash: no output, 1.0 s"),
    ],
)  # fmt: skip
def test_how_a_command_without_output_ended_is_on_its_line(
    output: dict[str, Any], shown: str
) -> None:
    lines = drawn(run({"command": "true"}, {"output": ""} | output), Pipe()).splitlines()
    assert lines == ["● 1 bash $ true", f"  {shown}"]


def test_a_long_command_says_how_many_lines_more_it_has() -> None:
    command = "\n".join(f"echo {number}" for number in range(20))
    lines = drawn(run({"command": command}, {"output": ""}), Pipe()).splitlines()
    assert lines[-3:] == ["    echo 7", "    … 12 more lines", "  ✓ 1 bash: no output"]


def test_a_renderer_shows_what_a_call_has_written(capsys: pytest.CaptureFixture[str]) -> None:
    renderer = ContentBlockRenderer()
    arguments = {"path": "n.py", "content": "def f():\n    pass\n"}
    output = {"path": "n.py", "kind": "created", "lines_added": 2, "lines_removed": 0}
    renderer.render_tool_call(ToolCallContent(id="t", name="write_file", arguments=arguments))
    renderer.render_tool_result(ToolResultContent(tool_call_id="t", output=output))
    assert capsys.readouterr().out == (
        '🔧 Calling write_file(path="n.py")\n'
        "  ✓ write_file: created, 2 lines\n    +def f():\n    +    pass\n"
    )


# Holds: todo-4
def test_a_to_do_list_has_a_line_for_each_item() -> None:
    todos = [
        {"content": "Dig", "status": "completed"},
        {"content": "Plant", "status": "in_progress", "active_form": f"Planting {HOSTILE}"},
        {"content": "Water", "status": "pending"},
    ]
    counts = {"pending": 1, "in_progress": 1, "completed": 1}
    events = [call("a", "todo", {"todos": todos}), result("a", "todo", counts)]
    assert drawn(events, Terminal()) == (
        f"● 1 todo (1 of 3 done)\n    [x] Dig\n    [>] Planting {SAFE}\n    [ ] Water\n"
        "  ✓ 1 todo: pending=1, in_progress=1, completed=1\n"
    )


# Holds: todo-4
def test_a_long_to_do_list_shows_what_is_open() -> None:
    todos = [
        {"content": str(each), "status": "completed" if each < 30 else "pending"}
        for each in range(40)
    ]
    shown = [f"    [{'x' if each < 30 else ' '}] {each}" for each in range(28, 40)]
    lines = drawn([call("a", "todo", {"todos": todos})], Pipe()).splitlines()[:-1]
    assert lines == ["● 1 todo (30 of 40 done)", *shown, "    … 28 more lines"]


@pytest.mark.parametrize("todos", [None, [], "dig", [1], [{"status": []}]])
def test_what_is_no_to_do_list_is_drawn_all_the_same(todos: Any) -> None:
    assert drawn([call("a", "todo", {"todos": todos})], Pipe()).startswith("● 1 todo")


def test_a_web_page_is_its_title_and_its_length() -> None:
    page = {"url": "https://a/", "title": "News", "from": "the web", "total_chars": 1234}
    events = [call("a", "web_fetch", {"url": "https://a/"}), result("a", "web_fetch", page)]
    assert drawn(events, Pipe()).splitlines()[-1] == '  ✓ 1 web_fetch: "News", 1,234 characters'
