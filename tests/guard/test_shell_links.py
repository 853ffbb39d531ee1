"""Operands are the files that their links lead to."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_guard import ShellDenied, ShellPolicy
from amplifier_modules.hooks.guard.settings import ShellSettings, ToolSettings
from amplifier_modules.hooks.guard.tools import ToolSinks

PROGRAMS = ["cat", "git", "grep", "rg", "sort", "pytest", "tar", "fd", "find", "diff", "ls", "jq"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "beside").mkdir()
    root = tmp_path / "proj"
    (root / "sub/deep").mkdir(parents=True)
    (root / "sub/a").write_text("a")
    links = {
        "keys": "/etc/passwd",
        "up": "../secret",
        "far": "../beside",
        "again": "keys",
        "gone": "/no/such/file",
        "loop": "loop",
        "sub/out": "../../secret",
        "near": "sub/a",
        "here": root / "sub",
        "missing": "sub/nothing",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    return root


# Holds: sink-16
@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("cat keys", "keys"),
        ("cat sub/a up", "up"),
        ("cat far/new", "far/new"),
        ("cat again", "again"),
        ("cat gone", "gone"),
        ("cat loop", "loop"),
        ("cat here/out", "here/out"),
        ("cat ./sub/../keys", "./sub/../keys"),
        ("ls -l far", "far"),
        ("grep -f keys a", "keys"),
        ("grep -ra --file=keys .", "--file=keys"),
        ("sort -k1 sub/out", "sub/out"),
        ("pytest far::a", "far::a"),
        ("tar tf keys", "keys"),
        ("jq . keys", "keys"),
        ("git diff keys", "keys"),
        ("git -C sub diff a out", "out"),
        ("git -C here blame --contents out a", "out"),
        ("git -C far log", "far"),
        ("fd --base-directory sub x out", "out"),
        ("find far -name x", "far"),
    ],
)
def test_a_link_that_leads_out_of_the_root_asks(root: Path, line: str, word: str) -> None:
    with pytest.raises(ShellDenied) as raised:
        ShellPolicy(PROGRAMS, root=root).check(line)
    shown = word.partition("=")[2] or word
    assert str(raised.value) in {f"`{each}` lies outside the project" for each in (word, shown)}


@pytest.mark.parametrize(
    "line",
    [
        "cat near here/a missing nothing sub/a/x",
        "git -C sub diff a",
        "git -C sub/deep log HEAD~2 main..x HEAD:a",
        "grep keys near",
        "fd keys sub",
        "diff near sub/a",
    ],
)
def test_a_link_that_stays_in_the_root_passes(root: Path, line: str) -> None:
    assert ShellPolicy(PROGRAMS, root=root).check(line)


@pytest.mark.parametrize(
    "line",
    ["grep -R x .", "rg -L x", "fd --follow x", "find -L . -name x", "find . -follow", "diff -r a b", "ls -LR"],
)  # fmt: skip
def test_options_that_follow_every_link_on_the_way_ask(root: Path, line: str) -> None:
    with pytest.raises(ShellDenied, match="is not known to be harmless"):
        ShellPolicy(PROGRAMS, root=root).check(line)


async def test_the_guard_of_a_session_asks_about_a_link(root: Path) -> None:
    settings = ShellSettings(allow=("cat",), root=str(root))
    sinks = ToolSinks(ToolSettings(shell=settings))
    assert await sinks.judge("bash", {"command": "cat near"}) is None
    answer = await sinks.judge("bash", {"command": "cat keys"})
    assert answer is not None
    assert answer.action == "ask_user"
    assert "`keys` lies outside the project" in (answer.approval_prompt or "")
