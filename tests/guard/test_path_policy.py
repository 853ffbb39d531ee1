"""What `PathPolicy` lets through, and how it refuses, as Python sees it."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_guard import NotText, PathDenied, PathPolicy

SECRET = b"the secret"


@pytest.fixture(scope="module")
def outer() -> Iterator[Path]:
    """A folder with the root `proj` in it, secrets beside the root and links of all kinds inside."""
    if sys.platform == "win32":
        pytest.skip("pipes and links like these are of Unix")
    with tempfile.TemporaryDirectory() as folder:
        outer = Path(folder).resolve()
        for directory in ("proj/src", "proj/a/b", "proj-evil"):
            (outer / directory).mkdir(parents=True)
        (outer / "secret").write_bytes(SECRET)
        (outer / "proj-evil/secret").write_bytes(SECRET)
        root = outer / "proj"
        (root / "src/main.rs").write_bytes(b"fn main() {}\n")
        (root / "a/b/c.txt").write_bytes(b"c\n")
        (root / "binary").write_bytes(b"a\0b")
        links = {
            "up": "..",
            "out": "../secret",
            "far": "/etc",
            "evil": outer / "proj-evil",
            "loop": "loop",
            "near": "src/main.rs",
            "absolute": root / "src",
            "a/back": "../src",
        }
        for name, target in links.items():
            (root / name).symlink_to(target)
        os.mkfifo(root / "pipe")
        yield outer


@pytest.fixture(scope="module")
def policy(outer: Path) -> PathPolicy:
    return PathPolicy(outer / "proj")


PARTS = ["..", ".", "", "src", "main.rs", "a", "b", "c.txt", "up", "out", "far", "evil", "loop",
         "near", "absolute", "back", "secret", "proj", "proj-evil", "passwd"]  # fmt: skip
PATHS = st.one_of(
    st.lists(st.sampled_from(PARTS), min_size=1, max_size=8).map("/".join),
    st.text(),
    st.text(st.characters(codec=None, categories=["Cs", "Cc", "Po", "L"])),
)


# Holds: sink-2
@given(PATHS, st.booleans())
def test_no_path_reads_anything_outside_the_root(
    outer: Path, policy: PathPolicy, path: str, absolute: bool
) -> None:
    if absolute:
        path = f"{outer}/proj/{path}"
    try:
        content = policy.read(path, 1000)
    except (OSError, UnicodeEncodeError):
        return
    assert content != SECRET
    real = os.path.realpath(os.path.join(policy.root, path))
    assert os.path.commonpath([real, policy.root]) == policy.root
    assert content == Path(real).read_bytes()


@pytest.mark.parametrize(
    ("path", "error", "message"),
    [
        ("../secret", PathDenied, "path `../secret` leads outside the root `{root}`"),
        ("out", PathDenied, "path `out` leads outside the root `{root}`"),
        ("/etc/passwd", PathDenied, "path `/etc/passwd` leads outside the root `{root}`"),
        ("", PathDenied, "the path is empty (`.` names the root)"),
        ("a\0b", PathDenied, "path `a\\x00b` contains a NUL character"),
        (
            "pipe",
            PathDenied,
            "`pipe` is a special file (pipe, socket or device), not a regular file",
        ),
        ("src", IsADirectoryError, "`src` is a directory, not a regular file"),
        ("none\n", PathDenied, "path `none\\n` is refused: it contains a control character"),
        ("loop", OSError, "path `loop` goes through too many links (a loop?)"),
        ("x" * 256, OSError, "path `" + "x" * 200 + "…` is too long (256 bytes)"),
    ],
)
def test_a_refusal_names_the_path_and_the_reason(
    policy: PathPolicy, path: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as raised:
        policy.read(path, 10)
    assert type(raised.value) is error
    assert str(raised.value) == message.format(root=policy.root)


def test_listing_and_walking_need_what_is_there(policy: PathPolicy) -> None:
    with pytest.raises(NotADirectoryError, match="`near` is a file, not a directory"):
        policy.list("near")
    with pytest.raises(PathDenied):
        policy.walk("up")
    with pytest.raises(PathDenied):
        policy.search("x", "evil")
    with pytest.raises(NotText, match=r"`binary` is a binary file \(NUL byte at 1\), not text"):
        policy.lines("binary")


def test_a_link_that_leads_outside_is_listed_and_not_entered(policy: PathPolicy) -> None:
    kinds = {name: kind for name, kind, _ in policy.list()}
    assert kinds == {
        **dict.fromkeys(["absolute", "evil", "far", "loop", "near", "out", "up"], "link"),
        "a": "directory",
        "binary": "file",
        "pipe": "other",
        "src": "directory",
    }
    assert [path for path, _, _ in policy.walk().files] == ["a/b/c.txt", "binary", "src/main.rs"]


def test_an_open_file_is_read_as_any_other(policy: PathPolicy) -> None:
    with policy.open(Path(policy.root, "near")) as file:
        assert file.read() == b"fn main() {}\n"


def test_a_root_must_be_a_directory(outer: Path) -> None:
    with pytest.raises(FileNotFoundError):
        PathPolicy(outer / "nothing")
    with pytest.raises(NotADirectoryError):
        PathPolicy(outer / "secret")


def test_a_set_event_stops_a_long_walk(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_bytes(b"a line\n" * 2_000_000)
    policy = PathPolicy(tmp_path)
    stop = threading.Event()
    stop.set()
    with pytest.raises(InterruptedError, match=r"reading `\.` was stopped"):
        policy.search("(.*)(.*)x", stop=stop)


@pytest.mark.skipif(sys.platform == "win32", reason="there names are not bytes")
def test_a_name_that_is_not_utf8_keeps_its_bytes(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    (tmp_path / name).write_bytes(b"content")
    policy = PathPolicy(tmp_path)
    assert policy.list() == [(name, "file", 7)]
    assert policy.read(name, 3) == b"con"
    assert policy.resolve(name) == name
