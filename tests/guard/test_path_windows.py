"""What `PathPolicy` writes on Windows, and by what names it does not."""

from __future__ import annotations

import sys

import pytest

if sys.platform != "win32":
    pytest.skip("files of Windows", allow_module_level=True)

import _winapi
import os
from pathlib import Path
from stat import FILE_ATTRIBUTE_HIDDEN

import win32api
import win32con

from amplifier_guard import (
    AttributeNotKept,
    PathChanged,
    PathDenied,
    PathPolicy,
    PathProtected,
    windows_files,
)


@pytest.fixture
def policy(tmp_path: Path) -> PathPolicy:
    root = tmp_path / "proj"
    (root / "src").mkdir(parents=True)
    (root / "src/main.rs").write_bytes(b"old\r\n")
    return PathPolicy(root)


def list_files(policy: PathPolicy) -> dict[str, bytes]:
    root = Path(policy.root)
    files = (path for path in root.rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}


# Holds: sandbox-106
def test_a_file_is_replaced_whole_and_keeps_what_it_has(policy: PathPolicy) -> None:
    main = Path(policy.root, "src/main.rs")
    win32api.SetFileAttributes(str(main), win32con.FILE_ATTRIBUTE_HIDDEN)
    with main.open("rb") as reader:
        pass
    assert policy.replace("src/main.rs", b"new\r\n", expected=b"old\r\n") == "src/main.rs"
    assert main.stat().st_file_attributes & FILE_ATTRIBUTE_HIDDEN
    with pytest.raises(PathChanged, match="has another content"):
        policy.replace("src/main.rs", b"newer", expected=b"old\r\n")
    with pytest.raises(PathChanged, match="exists already"):
        policy.create("src/main.rs", b"newer")
    assert policy.create("docs/page.md", b"1") == "docs/page.md"
    assert policy.rename("docs/page.md", "docs/deep/page.md", expected=b"1") == "docs/deep/page.md"
    with pytest.raises(PathChanged, match="exists already"):
        policy.rename("docs/deep/page.md", "src/main.rs")
    assert list_files(policy) == {"src/main.rs": b"new\r\n", "docs/deep/page.md": b"1"}
    assert policy.remove("docs/deep/page.md", expected=b"1") == "docs/deep/page.md"
    assert list_files(policy) == {"src/main.rs": b"new\r\n"}
    assert reader.closed


# Holds: sandbox-106
def test_what_cannot_be_kept_is_refused(
    policy: PathPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_old: str, _new: str) -> None:
        raise OSError(None, "refused", None, 5)

    monkeypatch.setattr(windows_files, "copy_access", refuse)
    with pytest.raises(AttributeNotKept, match="its owner or its access list"):
        policy.replace("src/main.rs", b"new")
    assert list_files(policy) == {"src/main.rs": b"old\r\n"}


# Holds: sandbox-106
def test_a_file_keeps_its_name_if_another_cannot_take_it(
    policy: PathPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop_between(old: str, _new: str, aside: str) -> None:
        os.rename(old, aside)
        raise OSError(None, "unable to move the replacement", None, 1177)

    monkeypatch.setattr(windows_files, "replace_file", stop_between)
    with pytest.raises(OSError, match="os error 1177"):
        policy.replace("src/main.rs", b"new")
    assert list_files(policy) == {"src/main.rs": b"old\r\n"}


# Holds: sandbox-107
def test_a_file_that_another_program_writes_meanwhile_stays(
    policy: PathPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace, rename = windows_files.replace_file, windows_files.rename_file

    def write_before(old: str, new: str, aside: str) -> None:
        Path(old).write_bytes(b"theirs")
        replace(old, new, aside)

    def make_before(old: str, new: str) -> None:
        Path(new).write_bytes(b"theirs")
        rename(old, new)

    monkeypatch.setattr(windows_files, "replace_file", write_before)
    with pytest.raises(PathChanged, match="has another content"):
        policy.replace("src/main.rs", b"new", expected=b"old\r\n")
    monkeypatch.setattr(windows_files, "rename_file", make_before)
    with pytest.raises(PathChanged, match="was made meanwhile"):
        policy.create("new.txt", b"new")
    assert list_files(policy) == {"src/main.rs": b"theirs", "new.txt": b"theirs"}


# Holds: sandbox-108
@pytest.mark.parametrize(
    ("path", "error"),
    [
        *((name, PathDenied) for name in ("NUL", "con.txt", "src/COM1", "COM\u00b9", "CONOUT$")),
        *((name, PathDenied) for name in ("src/main.rs:hidden", "src/main.rs::$DATA")),
        *((name, PathDenied) for name in ("a.", "a ", "src./a", "..\\a", "\\a", "//host/share/a")),
        *((name, PathDenied) for name in ("C:a", "C:/a", "C:\\a", "\\\\?\\C:\\a")),
        *((name, PathProtected) for name in (".git\\hooks\\a", ".GIT/config", "GIT~1/config")),
        *((name, PathProtected) for name in (".ENV", "src\\.env")),
    ],
)
def test_a_name_that_windows_reads_as_another_is_not_written(
    policy: PathPolicy, path: str, error: type[Exception]
) -> None:
    for write in (policy.writable, lambda path: policy.create(path, b"new")):
        with pytest.raises(error):
            write(path)
    assert list_files(policy) == {"src/main.rs": b"old\r\n"}


# Holds: sandbox-108
def test_a_short_name_is_not_taken_for_a_long_one(policy: PathPolicy) -> None:
    secret = Path(policy.root, "src/secrets of mine.env")
    secret.write_bytes(b"secret")
    short = Path(win32api.GetShortPathName(str(secret))).name
    if not Path(policy.root, "src", short).exists() or "~" not in short:
        pytest.skip("this file system has no short names")
    for attempt in (policy.readable, policy.writable, lambda path: policy.read(path, 9)):
        with pytest.raises(PathDenied, match="short name"):
            attempt(f"src/{short}")
    Path(policy.root, "src/own~1.txt").write_bytes(b"own")
    assert policy.read("src/own~1.txt", 9) == b"own"


# Holds: sandbox-108
def test_no_junction_is_written_through(policy: PathPolicy, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    junction = Path(policy.root, "out")
    try:
        _winapi.CreateJunction(str(tmp_path / "outside"), str(junction))
    except OSError as error:
        pytest.skip(f"no junction can be made: {error}")
    for write in (policy.writable, lambda path: policy.create(path, b"new")):
        with pytest.raises(PathDenied):
            write("out/a.txt")
    assert os.listdir(tmp_path / "outside") == []


# Holds: sandbox-109
def test_both_separators_are_read_and_one_is_written(policy: PathPolicy) -> None:
    root = Path(policy.root)
    assert not policy.root.startswith("\\\\?\\")
    assert policy.create("docs\\deep\\page.md", b"1") == "docs/deep/page.md"
    assert policy.writable(root / "docs" / "new.md") == "docs/new.md"
    assert policy.resolve(f"{root.as_posix()}/docs/deep") == "docs/deep"
    assert [path for path, *_ in policy.walk().files] == ["docs/deep/page.md", "src/main.rs"]
    assert [path for path, *_ in policy.search("1").lines] == ["docs/deep/page.md"]
