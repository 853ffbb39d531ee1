"""A person who is asked about a call sees all of it, and agrees to nothing else."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from amplifier_core import ModuleCoordinator
from amplifier_guard.question import quote_value
from amplifier_modules.hooks.guard.settings import GuardSettings
from amplifier_modules.hooks.guard.tools import ToolSinks
from amplifier_providers.settings import read_settings


def judge(given: dict[str, Any], **shell: Any) -> Any:
    config = {"tools": {"bash": {"shell": {"allow": ["git", "make"], **shell}}}}
    settings = read_settings(GuardSettings, config, "hooks-guard")
    return anyio.run(ToolSinks(settings.tools["bash"]).judge, "bash", given)


def question(given: dict[str, Any], **shell: Any) -> str:
    answer = judge(given, **shell)
    assert answer is not None
    assert answer.action == "ask_user"
    assert (answer.approval_options, answer.approval_default) == (["Allow once", "Deny"], "deny")
    return answer.approval_prompt


NAMES = st.sampled_from(
    ["cwd", "env", "stdin", "shell", "timeout", "description", "user", "run_in_background", "Command"]
) | st.text(max_size=20)  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip
COMMANDS = st.sampled_from(["git status", "make test", "rm -rf ~"]) | st.text(max_size=40)
BESIDE = st.dictionaries(NAMES.filter(lambda name: name != "command"), VALUES, max_size=4)


# Holds: sink-22
@given(COMMANDS, BESIDE.filter(bool))
def test_any_argument_beside_the_command_asks_and_is_shown(
    command: str, beside: dict[str, Any]
) -> None:
    first, *rows = question({**beside, "command": command}).split("\n")

    assert first.startswith(f"run {quote_value(command)} with `bash`? (")
    assert rows == [
        f"| {quote_value(name)}: {quote_value(value)}" for name, value in beside.items()
    ]


# Holds: sink-22
@given(COMMANDS, COMMANDS, BESIDE, BESIDE)
def test_calls_that_differ_are_asked_about_differently(
    command: str, other: str, beside: dict[str, Any], others: dict[str, Any]
) -> None:
    first, second = {"command": f"x {command}", **beside}, {"command": f"x {other}", **others}
    assert (question(first) == question(second)) is (repr(first) == repr(second))


@example('\\"', {})
@given(st.text(st.sampled_from(list(' `\n\r\t|:?()\\"abc⟨⟩+*')), max_size=80), BESIDE)
def test_no_command_can_imitate_a_line_of_the_question(text: str, beside: dict[str, Any]) -> None:
    lines = question({"command": f"x{text}", **beside}).split("\n")

    assert len(lines) == 1 + len(beside)
    assert "  " not in lines[0]
    # Behind the quotation of the command nothing of it is left that could end a quotation.
    rest = lines[0].removeprefix(f"run {quote_value(f'x{text}')} with `bash`? (")
    assert re.fullmatch(r'[^"]*\)|"(?:[^"\\]|\\.)*"(?: \+ .*)?\)', rest)


@given(st.dictionaries(NAMES, VALUES, max_size=4))
def test_what_is_named_as_harmless_does_not_ask(beside: dict[str, Any]) -> None:
    folder = re.compile("cwd|dir|folder|pwd|path|work|root", re.IGNORECASE)
    harmless = {
        name: value for name, value in beside.items() if not folder.search(f"{name}{value!r}")
    }
    call = {**harmless, "command": "git status"}
    assert judge(call, harmless=list(harmless)) is None
    for name in set(harmless) - {"command"}:
        others = [each for each in harmless if each != name]
        assert judge(call, harmless=others).action == "ask_user"


WORDS = st.sampled_from(["cwd", "work_dir", "working-directory", "directoryPath", "exec folder"])
AFFIXES = st.sampled_from(["", "current_", "git", "the ", "Initial-", "process."])
INSIDE = st.recursive(
    st.sampled_from(["/", "..", "~", None, 5, ["/"]]),
    lambda inner: st.builds(lambda name, each: {name: each}, WORDS, inner) | st.lists(inner, min_size=1),
    max_leaves=4,
)  # fmt: skip


# Holds: sink-24
@given(AFFIXES, WORDS, st.sampled_from([str.lower, str.upper, str.title]), INSIDE, st.booleans())
def test_a_working_folder_outside_the_root_asks_by_any_name_and_at_any_depth(
    affix: str, word: str, case: Any, folder: Any, is_nested: bool
) -> None:
    name = case(affix + word)
    beside = {"options": [{"timeout": 5}, {name: folder}]} if is_nested else {name: folder}
    call = {"command": "git status", **beside}
    assert judge(call, root="/srv/project", harmless=list(beside)).action == "ask_user"


@pytest.mark.parametrize("depth", [33, 100, 200])
async def test_a_value_that_hooks_see_only_in_part_is_not_harmless(depth: int) -> None:
    deep: dict[str, Any] = {"cwd": "/"}
    for _ in range(depth):
        deep = {"a": deep}
    hooks = ModuleCoordinator().hooks
    seen: list[dict[str, Any]] = []
    hooks.register("tool:pre", lambda _, data: seen.append(data), name="seen")
    await hooks.emit("tool:pre", {"tool_input": {"command": "git status", "options": deep}})

    settings = GuardSettings.model_validate(
        {"tools": {"bash": {"shell": {"allow": ["git"], "root": "/srv", "harmless": ["options"]}}}}
    )
    answer = await ToolSinks(settings.tools["bash"]).judge("bash", seen[0]["tool_input"])
    assert answer is not None
    assert answer.action in ("ask_user", "deny")


# Holds: sink-24
@pytest.mark.parametrize("name", ["cwd", "workdir", "working_dir", "workingDirectory", "Dir"])
@pytest.mark.parametrize(
    ("folder", "runs"),
    [
        (".", True), ("src", True), ("src/../src", True), ("{root}/src", True), ("missing", True),
        ("/", False), ("..", False), ("src/../..", False), ("{root}/..", False), ("{root}x", False),
        ("out", False), ("out/x", False), ("~", False), ("~root", False), ("$HOME", False),
        (" /", False), ("a\0b", False), (None, False), (["."], False), ("%TEMP%", False),
        ("-", False), ("//", False), ("loop", False), ("C:\\x", False), ("`pwd`", False),
    ],
)  # fmt: skip
def test_a_working_folder_outside_the_root_asks_even_if_named_as_harmless(
    tmp_path: Path, name: str, folder: Any, runs: bool
) -> None:
    root = tmp_path / "root"
    (root / "src").mkdir(parents=True)
    os.symlink(tmp_path, root / "out")
    os.symlink("loop", root / "loop")
    given = folder.format(root=root) if isinstance(folder, str) else folder
    call = {"command": "git status", name: given}

    assert (judge(call, root=str(root), harmless=[name]) is None) is runs
    assert judge(call, root=str(root)).action == "ask_user"
    assert judge(call, harmless=[name]).action == "ask_user"


def test_a_question_looks_like_this() -> None:
    call = {
        "command": "git status",
        "cwd": "/",
        "env": {"LD_PRELOAD": "/tmp/x.so"},
        "stdin": "rm -rf ~\n",
    }
    assert question(call) == (
        "run `git status` with `bash`? (it has arguments beside `command` that are not named as "
        "harmless)\n"
        "| `cwd`: `/`\n"
        "| `env`: {`LD_PRELOAD`: `/tmp/x.so`}\n"
        '| `stdin`: "rm -rf ~\\n"'
    )


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"command": "git", "stdin": "x" * 4000}, "the call is too long to ask about (limit: 4,000"),
        ({"command": "git", **{f"a{n}": n for n in range(1000)}}, "the call is too long to ask about"),
        ({"command": "git", "n": float("nan")}, "nobody can be asked about the arguments of `bash`"),
        ({"command": "git", "n": b"x"}, "nobody can be asked about the arguments of `bash`"),
    ],
)  # fmt: skip
def test_nobody_is_asked_about_what_they_cannot_read(given: dict[str, Any], reason: str) -> None:
    answer = judge(given)
    assert answer.action == "deny"
    assert answer.reason.startswith(reason)


def test_arguments_beside_the_command_are_refused_where_that_is_set() -> None:
    answer = judge({"command": "git status", "env": {}}, otherwise="reject")
    assert (answer.action, answer.reason) == (
        "deny",
        "it has arguments beside `command` that are not named as harmless",
    )


# Holds: sink-14
def test_curl_asks_a_server_of_this_machine_if_the_settings_say_so() -> None:
    health = {"command": "curl -s http://localhost:8080/health"}
    assert "is not known to be harmless for `curl`" in question(health, allow=["curl"])
    assert judge(health, allow=["curl"], loopback=True) is None
    for command in ("curl -o x http://localhost:8080/", "curl http://10.0.0.1:8080/"):
        assert question({"command": command}, allow=["curl"], loopback=True)
