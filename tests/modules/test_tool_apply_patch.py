"""`apply_patch`: patches of several files, all of each or nothing."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from file_trees import Tree, failure, read_tree, write_tree

from amplifier_core import ModuleCoordinator
from amplifier_core.models import ToolResult
from amplifier_guard import PathPolicy
from amplifier_modules.tools import filesystem
from amplifier_modules.tools.filesystem import ApplyPatch

Tools = dict[str, Any]


@pytest.fixture
async def tools(tmp_path: Path) -> Tools:
    coordinator = ModuleCoordinator()
    await filesystem.mount(coordinator, {"root": str(tmp_path)})
    return coordinator.get("tools")


async def read_all(tools: Tools, root: Path) -> None:
    for name in read_tree(root):
        await tools["read_file"].execute({"path": name})


def files_of(result: ToolResult) -> list[dict[str, Any]]:
    assert result.output is not None
    return result.output["files"]


async def patch(tools: Tools, text: str) -> ToolResult:
    return await tools["apply_patch"].execute({"patch": text})


BEFORE: Tree = {
    "a.py": b"def run():\n    return 1\n\n\ndef walk():\n    return 2\n",
    "gone.txt": b"one\ntwo\n",
    "old/name.txt": b"first\nsecond\nthird\n",
    "same.txt": b"stays\n",
}
AFTER: Tree = {
    "a.py": b"def run():\n    return 10\n\n\ndef walk():\n    return 2\n",
    "docs/new.md": b"# New\n",
    "new/name.txt": b"first\n2nd\nthird\n",
    "same.txt": b"stays\n",
}
UNIFIED = """\
Some words of whoever wrote it.

diff --git a/a.py b/a.py
index 1234567..89abcde 100644
--- a/a.py
+++ b/a.py
@@ -1,4 +1,4 @@
 def run():
-    return 1
+    return 10
 
 
diff --git a/docs/new.md b/docs/new.md
new file mode 100644
index 0000000..1234567
--- /dev/null
+++ b/docs/new.md
@@ -0,0 +1 @@
+# New
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
index 1234567..0000000
--- a/gone.txt
+++ /dev/null
@@ -1,2 +0,0 @@
-one
-two
diff --git a/old/name.txt b/new/name.txt
similarity index 70%
rename from old/name.txt
rename to new/name.txt
index 1234567..89abcde 100644
--- a/old/name.txt
+++ b/new/name.txt
@@ -1,3 +1,3 @@
 first
-second
+2nd
 third
"""
MARKED = """\
*** Begin Patch
*** Update File: a.py
@@ def run():
-    return 1
+    return 10
*** Add File: docs/new.md
+# New
*** Delete File: gone.txt
*** Update File: old/name.txt
*** Move to: new/name.txt
@@
 first
-second
+2nd
*** End Patch
"""


# Holds: sink-68
@pytest.mark.parametrize("text", [UNIFIED, UNIFIED.replace("\n", "\r\n"), MARKED, f"\n{MARKED}\n"])
async def test_files_are_changed_made_deleted_and_renamed_by_one_patch(
    tools: Tools, tmp_path: Path, text: str
) -> None:
    write_tree(tmp_path, BEFORE)
    (tmp_path / "old/name.txt").chmod(0o750)
    mode = (tmp_path / "old/name.txt").stat().st_mode
    await read_all(tools, tmp_path)
    result = await patch(tools, text)
    changed = {"lines_added": 1, "lines_removed": 1}
    assert result == ToolResult(
        output={
            "files": [
                {"path": "a.py", "kind": "modified", "bytes": 52, **changed},
                {
                    "path": "docs/new.md",
                    "kind": "created",
                    "bytes": 6,
                    "lines_added": 1,
                    "lines_removed": 0,
                },
                {
                    "path": "gone.txt",
                    "kind": "deleted",
                    "bytes": 0,
                    "lines_added": 0,
                    "lines_removed": 2,
                },
                {
                    "path": "new/name.txt",
                    "old_path": "old/name.txt",
                    "kind": "renamed",
                    "bytes": 16,
                    **changed,
                },
            ]
        }
    )
    assert read_tree(tmp_path) == AFTER
    assert (tmp_path / "new/name.txt").stat().st_mode == mode
    again = "--- a/docs/new.md\n+++ b/docs/new.md\n@@ -1 +1 @@\n-# New\n+# Newer\n"
    assert (await patch(tools, again)).success, "its own writes are known"


# Holds: sink-68
@pytest.mark.parametrize("failing", ["replace", "create", "rename", "rename 2", "remove"])
async def test_a_write_that_fails_takes_those_before_it_back(
    tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    write_tree(tmp_path, {**BEFORE, "z.txt": b"last\n"})
    (tmp_path / "gone.txt").chmod(0o711)
    mode = (tmp_path / "gone.txt").stat().st_mode
    await read_all(tools, tmp_path)
    before = read_tree(tmp_path)
    name, _, number = failing.partition(" ")
    tool = tools["apply_patch"]
    policy = FailingPolicy(PathPolicy(tmp_path), name, int(number or 1))
    monkeypatch.setattr(tool._writer, "_policy", policy)  # pyright: ignore[reportPrivateUsage]
    delete = "--- a/z.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-last\n"
    type, message = failure(await patch(tools, UNIFIED + delete))
    if name == "remove":
        # All names are free by then: what is left over has the name of no file.
        assert type == "PartlyWrittenError"
        pattern = (
            r"all was written, but `gone\.txt` is left as `\.amplifier-\w{16}\.tmp`: disk full"
        )
        assert re.fullmatch(pattern, message)
        return
    assert (type, message) == ("NotWrittenError", "disk full (no file was changed)")
    assert read_tree(tmp_path) == before
    assert (tmp_path / "gone.txt").stat().st_mode == mode
    monkeypatch.undo()
    assert (await patch(tools, UNIFIED)).success, "what was read is still known"


class FailingPolicy:
    """A policy of which one method fails once, the n-th time."""

    def __init__(self, policy: PathPolicy, name: str, left: int) -> None:
        self._policy = policy
        self._name = name
        self._left = left

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._policy, name)
        return partial(self._call, method) if name == self._name else method

    def _call(self, method: Callable[..., str], *arguments: Any, **options: Any) -> str:
        self._left -= 1
        if self._left == 0:
            self.meddle()
            raise OSError("disk full")
        return method(*arguments, **options)

    def meddle(self) -> None:
        """Do what somebody else does in that moment."""


# Holds: sink-68
async def test_what_cannot_be_taken_back_is_named(
    tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path, {"a": b"1\n", "b": b"1\n", "c": b"1\n"})
    await read_all(tools, tmp_path)

    class Meddling(FailingPolicy):
        def meddle(self) -> None:
            (tmp_path / "a").write_bytes(b"theirs\n")

    policy = Meddling(PathPolicy(tmp_path), "replace", 3)
    monkeypatch.setattr(tools["apply_patch"]._writer, "_policy", policy)
    hunks = [f"--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-1\n+2\n" for name in "abc"]
    assert failure(await patch(tools, "".join(hunks))) == (
        "PartlyWrittenError",
        (
            "disk full; `a` could not be put back: `a` has another content, so it was not changed;"
            " 1 of 2 changes before it were taken back"
        ),
    )
    assert read_tree(tmp_path) == {"a": b"theirs\n", "b": b"1\n", "c": b"1\n"}


def update(hunk: str, path: str = "a.py") -> str:
    return f"--- a/{path}\n+++ b/{path}\n{hunk}"


LINES = "".join(f"line {number}\n" for number in range(1, 10)) + "same\nx\nsame\ny\nsame\n"


@pytest.mark.parametrize(
    ("text", "type", "message"),
    [
        (
            update("@@ -1,2 +1,2 @@\n line 1\n-line two\n+line 2nd\n"),
            "NoMatchError",
            "the hunk at line 3 of the patch is not in `a.py` (most like it: lines *",
        ),
        (
            update("@@ -1,2 +1,2 @@\n line 1\n-  line 2\n+line 2nd\n"),
            "NoMatchError",
            "the hunk at line 3 of the patch is not in `a.py` (lines 1 to 2 differ from it only in blanks)",
        ),
        (
            update("@@ -1 +1 @@\n-same\n+other\n"),
            "SeveralMatchesError",
            "the hunk at line 3 of the patch fits `a.py` at lines 10, 12, 14 (add lines around it until it fits once)",
        ),
        (
            update("@@ -4 +4 @@\n-line 4\n+4\n@@ -2 +2 @@\n-line 2\n+2\n"),
            "NoMatchError",
            "the hunk at line 6 of the patch is not in `a.py` (line 2 is before the hunk before it; hunks go in the order of the file)",
        ),
        (
            update("@@ -14 +14 @@\n-same\n\\ No newline at end of file\n+other\n"),
            "NoMatchError",
            "the hunk at line 3 of the patch is not in `a.py` (the file ends with a newline character)",
        ),
        (
            update("@@ -3 +3 @@\n-line 3\n+other\n\\ No newline at end of file\n"),
            "NoMatchError",
            "the hunk at line 3 of the patch is not in `a.py` (line 3 is not the end of the file)",
        ),
        (
            update("@@ -3,0 +4 @@\n+new\n"),
            "NoMatchError",
            "the hunk at line 3 of the patch has no line of `a.py` (add those around it)",
        ),
        (
            "*** Begin Patch\n*** Update File: a.py\n@@ def nothing():\n-same\n+x\n*** End Patch",
            "NoMatchError",
            "`@@ def nothing():` of the hunk at line 3 of the patch is not in `a.py` (no line is like it; read the file again)",
        ),
        (
            "*** Begin Patch\n*** Update File: a.py\n-same\n+x\n*** End Patch",
            "SeveralMatchesError",
            "the hunk at line 2 of the patch fits `a.py` at lines 10, 12, 14 (add lines around it until it fits once)",
        ),
        (
            update("@@ -1 +1 @@\n-line 1\n+1\n") + update("@@ -2 +2 @@\n-line 2\n+2\n", "./a.py"),
            "PatchError",
            "the patch names `a.py` 2 times (put it together)",
        ),
        (
            "--- a/a.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-line 1\n",
            "PatchError",
            "the patch deletes `a.py`, but 13 of its lines are not in it",
        ),
        (
            "--- /dev/null\n+++ b/a.py\n@@ -0,0 +1 @@\n+new\n",
            "FileExistsError",
            "`a.py` exists already",
        ),
        (
            "*** Begin Patch\n*** Update File: b.py\n*** Move to: a.py\n*** End Patch",
            "FileExistsError",
            "`a.py` exists already",
        ),
        (
            update("@@ -1 +1 @@\n-x\n+y\n", "none.py"),
            "FileNotFoundError",
            "no file `none.py` in `{root}`",
        ),
        (
            "*** Begin Patch\n*** Delete File: none.py\n*** End Patch",
            "FileNotFoundError",
            "no file or directory `none.py` in `{root}`",
        ),
        (
            "*** Begin Patch\n*** Delete File: link\n*** End Patch",
            "PathDenied",
            "`link` is a link, not a regular file",
        ),
        (
            "*** Begin Patch\n*** Add File: ../b\n+x\n*** End Patch",
            "PathDenied",
            "path `../b` leads outside the root `{root}`",
        ),
        (
            "*** Begin Patch\n*** Add File: .env\n+x\n*** End Patch",
            "PathProtected",
            "`.env` may not be written without approval: `.env` holds secrets",
        ),
        (
            update("@@ -1 +1 @@\n-x\n+y\n", "unread.py"),
            "FileNotReadError",
            "`unread.py` was not read in this session (call `read_file` first)",
        ),
        (
            "*** Begin Patch\n*** Delete File: unread.py\n*** End Patch",
            "FileNotReadError",
            "`unread.py` was not read in this session (call `read_file` first)",
        ),
        (
            update("@@ -1 +1 @@\n-x\n+y\n", "latin"),
            "NotUtf8Error",
            "`latin` is not UTF-8 (byte 0xe9 at 3)",
        ),
        (
            update("@@ -1 +1 @@\n-x\n+y\0\n"),
            "NotUtf8Error",
            "`patch` has U+0000 at character 39, which no text file may have",
        ),
    ],
)
async def test_a_patch_that_does_not_fit_says_why_and_changes_nothing(
    tools: Tools,
    tmp_path: Path,
    make_link: Callable[[Path, str], None],
    text: str,
    type: str,
    message: str,
) -> None:
    write_tree(tmp_path, {"a.py": LINES.encode(), "b.py": b"x\n", "latin": b"caf\xe9\n"})
    if "link" in message:
        make_link(tmp_path / "link", "b.py")
    await read_all(tools, tmp_path)
    (tmp_path / "unread.py").write_bytes(b"x\n")
    before = read_tree(tmp_path)
    # A change that could be made comes first.
    first = "diff --git a/b.py b/b.py\n" + update("@@ -1 +1 @@\n-x\n+y\n", "b.py")
    texts = [text]
    if not text.startswith("***") and "39" not in message:
        texts.append(first + text)
    for given_text in texts:
        found = failure(await patch(tools, given_text))
        if given_text is not text:
            found = (
                found[0],
                re.sub(r"(?<=at line )\d+", lambda line: f"{int(line[0]) - 6}", found[1]),
            )
        head, star, _ = message.format(root=tmp_path).partition("*")
        assert (found[0], found[1][: len(head)] if star else found[1]) == (type, head)
        assert read_tree(tmp_path) == before
        assert sorted(os.listdir(tmp_path)) == sorted([*before])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the patch names no file (it must be a unified diff*"),
        ("words\n", "the patch names no file (it must be a unified diff*"),
        ("@@ -1 +1 @@\n-x\n+y\n", "line 1 of the patch is a hunk of no file: `@@ -1 +1 @@`"),
        (update(""), "line 1 of the patch names a file of which nothing changes: `--- a/a.py`"),
        (update("@@ -1 +1 @@\n x\n"), "the hunk at line 3 of the patch changes no line"),
        (
            update("@@ 1,2 @@\n-x\n"),
            "line 3 of the patch is not the head of a hunk, such as `@@ -1,3 +1,4 @@`: `@@ 1,2 @@`",
        ),
        (
            update("@@ -1 +1 @@\n-x\n+y\nz\n"),
            "line 6 of the patch belongs to no hunk: `z`",
        ),
        (
            "--- a/a.py\n+++ b/b.py\n@@ -1 +1 @@\n-x\n+y\n",
            "line 1 of the patch names two files (a rename has `rename from` and `rename to`): `--- a/a.py`",
        ),
        (
            "diff --git a/a b/a\nold mode 100644\nnew mode 100755\n",
            "line 2 of the patch changes the mode of a file (only contents and names are changed): `old mode 100644`",
        ),
        (
            "diff --git a/a b/a\nnew file mode 120000\n",
            "line 2 of the patch makes a file with another mode than 100644 (only such files are made): `new file mode 120000`",
        ),
        (
            "diff --git a/a b/b\nsimilarity index 100%\ncopy from a\ncopy to b\n",
            "line 3 of the patch copies a file (add it as a new one): `copy from a`",
        ),
        (
            "diff --git a/a b/a\nindex 1..2 100644\nBinary files a/a and b/a differ\n",
            "line 3 of the patch changes a binary file: `Binary files a/a and b/a differ`",
        ),
        ("*** Begin Patch\n*** Delete File: a\n", "the patch does not end with `*** End Patch`"),
        ("*** Begin Patch\n*** End Patch\n", "the patch names no file (with *"),
        (
            "*** Begin Patch\n*** Update File: a\n*** End Patch\n",
            "line 2 of the patch names a file of which nothing changes: `*** Update File: a`",
        ),
        (
            "*** Begin Patch\n*** Add File: a\nx\n*** End Patch\n",
            "line 3 of the patch of a new file must begin with `+`: `x`",
        ),
        (
            "*** Begin Patch\n*** Update File: a\nx\n*** End Patch\n",
            "line 3 of the patch begins neither with a blank, `-` nor `+`: `x`",
        ),
        ("*** Begin Patch\n*** Rename: a\n*** End Patch\n", "line 2 of the patch must be *"),
    ],
)
async def test_what_is_no_patch_is_refused_with_its_line(
    tools: Tools, text: str, message: str
) -> None:
    type, found = failure(await patch(tools, text))
    head = message.removesuffix("*")
    assert (type, found[: len(head)] if head != message else found) == ("PatchError", head)


@pytest.mark.parametrize(
    ("before", "text", "after"),
    [
        # Wrong numbers, and none.
        (LINES, update("@@ -7,9 +7,3 @@\n line 1\n-line 2\n+2\n"), LINES.replace("line 2", "2")),
        (LINES, update("@@ ... @@\n line 1\n-line 2\n+2\n"), LINES.replace("line 2", "2")),
        (LINES, update("@@\n-line 2\n+2\n@@\n-line 4\n+4"), LINES.replace("line 2", "2").replace("line 4", "4")),
        # Of several places that of the number, also after what came before it.
        (LINES, update("@@ -12 +12 @@\n-same\n+other\n"), LINES.replace("x\nsame", "x\nother")),
        (
            LINES,
            update("@@ -3 +3 @@\n-line 1\n+1\n@@ -14 +14 @@\n-same\n+other\n"),
            LINES.replace("line 1", "1").replace("x\nsame", "x\nother"),
        ),
        # A line that looks like a head.
        ("-- a\n", update("@@ -1 +1 @@\n--- a\n+++ b\n"), "++ b\n"),
        ("a\n", update("@@ -1 +1,2 @@\n a\n+-- \n-- \n2.39.2\n\n"), "a\n-- \n"),
        # An empty line that stays, without its blank.
        ("a\n\nb\n", update("@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n"), "a\n\nc\n"),
        ("a\n\nb\n", update("@@\n a\n\n-b\n+c\n\n"), "a\n\nc\n"),
        # The end of the file.
        ("a\nb", update("@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n"), "a\nc\n"),
        ("a\nb\n", update("@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n"), "a\nc"),
        ("a\nb", update("@@ -2 +2,2 @@\n-b\n\\ No newline at end of file\n+b\n+c\n\\ No newline at end of file\n"), "a\nb\nc"),
        ("a\nb", update("@@ -1,2 +1,2 @@\n a\n-b\n+c\n"), "a\nc"),
        ("a\nb", update("@@ -1,2 +1,3 @@\n a\n b\n+c\n"), "a\nb\nc"),
        ("a\nb", update("@@ -1,2 +1 @@\n a\n-b\n"), "a"),
        ("a\nb\n", update("@@ -1,2 +1 @@\n a\n-b\n"), "a\n"),
        ("", update("@@ -0,0 +1 @@\n+a\n"), "a\n"),
        ("a\n", update("@@ -1 +0,0 @@\n-a\n"), ""),
        # Line ends and the mark of the encoding.
        ("a\r\nb\r\n", update("@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n"), "a\r\nc\r\nd\r\n"),
        ("a\r\nb\nc\n", update("@@ -1,3 +1,3 @@\n a\n b\n-c\n+d\n"), "a\r\nb\nd\n"),
        ("\ufeffa\nb\n", update("@@ -1,2 +1,2 @@\n-a\n+c\n b\n"), "\ufeffc\nb\n"),
        ("\ufeffa\nb\n", update("@@ -1,2 +1,2 @@\n-\ufeffa\n+\ufeffc\n b\n"), "\ufeffc\nb\n"),
        # Anchors.
        (
            "class A:\n  def f():\n    1\nclass B:\n  def f():\n    1\n",
            "*** Begin Patch\n*** Update File: a.py\n@@ class B:\n@@ def f():\n-    1\n+    2\n*** End Patch",
            "class A:\n  def f():\n    1\nclass B:\n  def f():\n    2\n",
        ),
        (
            "a\nb\na\n",
            "*** Begin Patch\n*** Update File: a.py\n-a\n+c\n*** End of File\n*** End Patch",
            "a\nb\nc\n",
        ),
        (
            "a\nb\n",
            "*** Begin Patch\n*** Update File: a.py\n@@\n+c\n*** End of File\n*** End Patch",
            "a\nb\nc\n",
        ),
        (
            "a\nb\nc\n",
            "*** Begin Patch\n*** Update File: a.py\n@@ -2,1 +2,1 @@\n-b\n+B\n\n*** End Patch",
            "a\nB\nc\n",
        ),
    ],
)  # fmt: skip
async def test_a_hunk_goes_where_its_lines_are(
    tools: Tools, tmp_path: Path, before: str, text: str, after: str
) -> None:
    (tmp_path / "a.py").write_bytes(before.encode())
    await tools["read_file"].execute({"path": "a.py"})
    result = await patch(tools, text)
    assert result.success, result
    assert (tmp_path / "a.py").read_bytes() == after.encode()


@pytest.mark.parametrize(
    ("head", "path"),
    [
        ("--- x.txt\n+++ x.txt\n", "x.txt"),
        ("--- a/x.txt\n+++ a/x.txt\n", "a/x.txt"),
        ("--- a/x.txt\t2026-01-01 10:00:00\n+++ b/x.txt\t2026-01-01 11:00:00\n", "x.txt"),
        ("--- i/x.txt\n+++ w/x.txt\n", "x.txt"),
        ('--- "a/caf\\303\\251 \\"1\\".txt"\n+++ "b/caf\\303\\251 \\"1\\".txt"\n', 'café "1".txt'),
        ("--- a/with blank.txt\t\n+++ b/with blank.txt\t\n", "with blank.txt"),
    ],
)
async def test_paths_are_read_as_tools_write_them(
    tools: Tools, tmp_path: Path, head: str, path: str
) -> None:
    if sys.platform == "win32" and '"' in path:
        pytest.skip("there are no such names")
    write_tree(tmp_path, {path: b"1\n"})
    await read_all(tools, tmp_path)
    result = await patch(tools, f"{head}@@ -1 +1 @@\n-1\n+2\n")
    assert [file["path"] for file in files_of(result)] == [path]
    assert read_tree(tmp_path) == {path: b"2\n"}


async def test_files_without_hunks_are_made_renamed_and_deleted(
    tools: Tools, tmp_path: Path
) -> None:
    write_tree(tmp_path, {"a b": b"\x89PNG\0\xff", "empty": b"", "pic": b"\xff\0"})
    await tools["read_file"].execute({"path": "empty"})
    for name in ("a b", "pic"):
        # Shown to nobody as text; the tools know them all the same.
        tools["apply_patch"]._writer._records.find_record().note(
            name, (tmp_path / name).read_bytes()
        )
    text = (
        "diff --git a/a b b/c d\nsimilarity index 100%\nrename from a b\nrename to c d\n"
        "diff --git a/new one b/new one\nnew file mode 100644\nindex 0000000..e69de29\n"
        "diff --git a/empty b/empty\ndeleted file mode 100644\nindex e69de29..0000000\n"
    )
    result = await patch(tools, text)
    kinds = [(file["path"], file["kind"]) for file in files_of(result)]
    assert kinds == [("c d", "renamed"), ("new one", "created"), ("empty", "deleted")]
    delete = "*** Begin Patch\n*** Delete File: pic\n*** End Patch"
    assert (await patch(tools, delete)).success
    assert read_tree(tmp_path) == {"c d": b"\x89PNG\0\xff", "new one": b""}


async def test_many_files_are_counted_where_they_do_not_fit(tmp_path: Path) -> None:
    adds = "".join(f"*** Add File: folder/with/a/long/name/{n}\n+{n}\n" for n in range(100))
    tool = ApplyPatch(PathPolicy(tmp_path), 4096)
    result = await tool.execute({"patch": f"*** Begin Patch\n{adds}*** End Patch"})
    assert result.output is not None
    assert len(files_of(result)) + result.output["omitted"]["files"] == 100
    assert len(read_tree(tmp_path)) == 100


async def test_a_stopped_call_writes_nothing(tmp_path: Path) -> None:
    tool = ApplyPatch(PathPolicy(tmp_path))
    add = "*** Begin Patch\n*** Add File: a\n+1\n*** Add File: b\n+1\n*** End Patch"
    arguments = tool._arguments.model_validate({"patch": add})  # pyright: ignore[reportPrivateUsage]
    stop = Event()
    stop.set()
    with pytest.raises(InterruptedError, match="writing `a`, `b` was stopped before it began"):
        tool.run(arguments, stop)
    assert os.listdir(tmp_path) == []


async def test_a_person_is_asked_about_each_protected_file(tools: Tools, tmp_path: Path) -> None:
    tool = tools["apply_patch"]
    for text, expected in [
        (UNIFIED, False),
        (MARKED, False),
        ("no patch", False),
        (MARKED.replace("gone.txt", ".git/config"), True),
        (MARKED.replace("new/name.txt", ".github/workflows/a.yml"), True),
        (UNIFIED.replace("docs/new.md", ".env"), True),
        (UNIFIED.replace("rename from old/name.txt", "rename from CLAUDE.md"), True),
    ]:
        assert tool.needs_approval({"patch": text}) is expected
    assert tool.needs_approval({}) is False
