"""What passes is run for real, and changes nothing."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_shell_tables import commands

from amplifier_guard import ShellDenied, ShellPolicy

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the options of GNU programs")

LOCAL = """awk ls cat head tail wc stat file du df basename dirname realpath md5sum sha256sum xxd hexdump od tree
tar sort uniq cut tr nl diff sed jq grep rg fd find date uname pwd which test git readlink cmp comm paste tac rev
fold column base64 id""".split()  # noqa: SIM905
INSTALLED = [name for name in LOCAL if shutil.which(name)]
LETTERS = "abdefghilnpqrstwxy"
PIECES = [*"eswyrpdabnx;/[]{}#:!$,1 \\|", "s/", "[:alpha:]", "[^", "w a", "e b", "/g", "s/a/b/"]


AWKS = [name for name in ("mawk", "gawk", "original-awk", "busybox") if shutil.which(name)]
AWK_PIECES = [
    *'"|>[]\\/#(){};,!~=a1 \n', "||", ">=", "[^", "[]", "[[:alpha:]", "\\/", '\\"', '/"/', '"/"', '"|"', "/a|b/",
    "x = ", "x /= ", "if (x) ", "print ", "NR/2", '| "a"', '| "a" # "', '"a" | getline', 'system("a")',
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository, beside it programs that leave a mark, named by a letter each."""
    base = tmp_path_factory.mktemp("effects")
    root = base / "root"
    (root / "src").mkdir(parents=True)
    for name in ("a", "src/a.py", "b.json"):
        (root / name).write_text("a\nb/e\n")
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        identity = ["-c", "user.name=x", "-c", "user.email=x@example.com"]
        subprocess.run(["git", *identity, *arguments], cwd=root, check=True)
    (base / "bin").mkdir()
    for letter in LETTERS:
        program = base / "bin" / letter
        program.write_text(f"#!/bin/sh\n: > {base}/mark\n")
        program.chmod(0o755)
    return base


def snapshot(base: Path) -> dict[str, bytes]:
    """Every file but the index of git, which is only its memory of the work tree."""
    files = (path for path in base.rglob("*") if path.is_file() and path.name != "index")
    return {str(path.relative_to(base)): path.read_bytes() for path in files}


def run(argv: list[str], base: Path) -> None:
    subprocess.run(
        argv,
        cwd=base / "root",
        env={"PATH": f"{base}/bin:{os.environ['PATH']}", "HOME": str(base)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=2,
    )


# Holds: sink-11
@settings(max_examples=3 * settings().max_examples, deadline=None)
@given(commands(INSTALLED))
def test_a_command_that_passes_changes_no_file(folder: Path, argv: list[str]) -> None:
    try:
        ShellPolicy(INSTALLED, root=folder / "root").check(shlex.join(argv))
    except ShellDenied:
        return
    before = snapshot(folder)
    run(argv, folder)
    assert snapshot(folder) == before


@settings(max_examples=3 * settings().max_examples, deadline=None)
@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=9).map("".join), min_size=1, max_size=3))
def test_a_sed_script_that_passes_runs_and_writes_nothing(folder: Path, scripts: list[str]) -> None:
    argv = ["sed", *(word for script in scripts for word in ("-e", script)), "a"]
    try:
        ShellPolicy(["sed"], root=folder / "root").check(shlex.join(argv))
    except ShellDenied:
        return
    before = snapshot(folder)
    try:
        run(argv, folder)
    except subprocess.TimeoutExpired:
        # A loop of labels may have no end.
        return
    assert snapshot(folder) == before


# Holds: sink-13
@settings(max_examples=3 * settings().max_examples, deadline=None)
@given(st.lists(st.sampled_from(AWK_PIECES), max_size=9).map("".join), st.sampled_from(AWK_PIECES))
@example('print "id" ~ /[]/ ~ "]/ ', '| "a" # "')
@example('print /"/ ', '| "a" # "')
def test_an_awk_script_that_passes_runs_and_writes_nothing(
    folder: Path, start: str, end: str
) -> None:
    script = f"BEGIN {{ print {start}{end}\n}}"
    try:
        ShellPolicy(["awk"]).check(shlex.join(["awk", script]))
    except ShellDenied:
        return
    before = snapshot(folder)
    for name in AWKS:
        argv = [name, *(["awk"] if name == "busybox" else []), script]
        try:
            run(argv, folder)
        except subprocess.TimeoutExpired:
            continue
    assert snapshot(folder) == before
