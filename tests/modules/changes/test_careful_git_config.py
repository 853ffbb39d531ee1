"""Git's settings are read as git reads them."""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from amplifier_modules.changes.careful.git_config import (
    GitConfigError,
    Setting,
    parse_git_config,
)
from amplifier_modules.changes.tracked import find_git

PIECES = [
    *'[]"=#;\\.- \t\n',
    *("\r\n", "\r", "\v", "\x00", "é", "\ufeff", "\udcff", "a", "Key", "1x", "core"),
    *("\\n", "\\t", "\\b", '\\"', "\\\\", "\\\n", "[a]\n", '[Sec "Sub\\"."]', "\nkey = a  b\n"),
    *("[a.B]x=", '[a  "b"] y\n', '[include]\npath = "x ; y" # z\n', "on", '"q\tq"'),
]
STARTS = st.sampled_from(["", "[s]", "[s]\nk=", "[a]k = "])
TEXTS = st.tuples(STARTS, st.lists(st.sampled_from(PIECES), max_size=9).map("".join)).map("".join)


def list_by_git(content: bytes) -> list[Setting] | None:
    """Return the settings that git reads; None if it refuses them."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "config")
        path.write_bytes(content)
        ended = subprocess.run(
            ["git", "config", "--list", "-z", "-f", path],
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": folder, "GIT_DIR": folder},
            capture_output=True,
            check=False,
            timeout=60,
        )
    if ended.returncode != 0:
        return None
    rows = ended.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]
    split = (row.partition("\n") for row in rows)
    return [(key, value if sign else None) for key, sign, value in split]


def list_by_us(content: bytes) -> list[Setting] | None:
    try:
        return parse_git_config(content)
    except GitConfigError:
        return None


def unify_spaces(found: list[Setting]) -> list[Setting]:
    # Since 2.45 git keeps a tab within a value, before it was a space.
    return [(key, value and value.replace("\t", " ")) for key, value in found]


# Holds: changes-39
@pytest.mark.skipif(find_git() is None, reason="git is not installed")
@given(TEXTS)
@settings(deadline=None, max_examples=80)
@example("[core]\n\thooksPath = x\n[alias]\n\ta = !b \\\n  c\n")
@example('[a "b]c"]d="e\\\n"f')
def test_settings_are_read_as_git_reads_them(text: str) -> None:
    content = text.encode("utf-8", "surrogateescape")
    ours, theirs = list_by_us(content), list_by_git(content)
    if ours is not None:
        assert theirs is not None
        assert unify_spaces(ours) == unify_spaces(theirs)
    elif theirs is not None:
        # What we do not read asks a person, so that more may be refused.
        assert "\0" in text or any("." not in key for key, _ in theirs)


# Holds: changes-39
@pytest.mark.parametrize(
    "content",
    [b"[a", b"[a]\nb = \\x", b'[a]\nb = "c', b"a = b", b"[a]\n= b", b"[a]\nb c", b"\0", b"[]\na=b"],
)
def test_what_git_might_read_in_another_way_is_refused(content: bytes) -> None:
    with pytest.raises(GitConfigError):
        parse_git_config(content)
