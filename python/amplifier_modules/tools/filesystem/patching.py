"""The tool that changes several files at once: `apply_patch`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from pydantic import Field

from amplifier_guard import PathPolicy
from amplifier_modules.tools.blocking import Arguments
from amplifier_modules.tools.folder import path_text
from amplifier_modules.tools.result_bytes import MAX_RESULT_BYTES, ResultBytes

from .file_write import FileWrite
from .marked_patch import BEGIN, read_marked_patch
from .patch import FileChange, PatchError
from .placing import apply_hunks
from .read_record import ReadRecords
from .text_file import TextFile, check_writable, normalize_lines
from .unified_diff import read_unified_diff
from .writing import RULES, WritingTool, emit_write


class _ApplyPatch(Arguments):
    patch: str = Field(
        description=(
            "A unified diff, as `git diff` prints it, or a patch from `*** Begin Patch` to"
            " `*** End Patch` with `*** Add File:`, `*** Update File:`, `*** Move to:` and"
            " `*** Delete File:`. Paths are from the working folder."
        )
    )


class ApplyPatch(WritingTool[_ApplyPatch]):
    """Changes, makes, renames and deletes files by a patch."""

    name = "apply_patch"
    description = (
        "Change, make, rename and delete text files of the working folder by one patch: all of it, or"
        " nothing. The lines of a hunk that stay or go must be in the file exactly, and at one place;"
        " line numbers only say where to look first. `files` says of each file whether it was"
        f" `created`, `modified`, `renamed`, `deleted` or `unchanged`. {RULES}"
    )

    def __init__(
        self,
        policy: PathPolicy,
        max_bytes: int = MAX_RESULT_BYTES,
        records: ReadRecords | None = None,
    ) -> None:
        super().__init__(_ApplyPatch, policy, max_bytes, records)

    def needs_approval(self, input: Mapping[str, Any]) -> bool:
        """Whether a person must agree: a file decides what runs, or holds secrets."""
        try:
            changes = read_patch(str(input.get("patch")))
        except ValueError:
            return False  # the call itself says so
        return any(self._writer.is_protected(path) for change in changes for path in change.paths)

    def list_paths(self, input: Mapping[str, Any]) -> list[str]:
        """Return the paths that a patch names; none of one that cannot be read."""
        try:
            changes = read_patch(str(input.get("patch")))
        except ValueError:
            return []  # the call itself says so
        return [path for change in changes for path in change.paths]

    def plan_writes(self, arguments: _ApplyPatch) -> list[FileWrite]:
        """Return the writes of the patch."""
        writes = [self._prepare(change) for change in read_patch(arguments.patch)]
        counts = Counter(path for write in writes for path in write.paths)
        path, count = counts.most_common(1)[0]
        if count > 1:
            raise PatchError(f"the patch names `{path_text(path)}` {count} times (put it together)")
        return writes

    def describe_all(self, writes: Sequence[FileWrite]) -> dict[str, Any]:
        """Return the output for all files of the patch."""
        return {"files": [self.describe(write) for write in writes]}

    async def finish(self, output: dict[str, Any]) -> dict[str, Any]:
        """Emit `artifact:write` for each file; the diffs are not repeated to the model."""
        files: list[dict[str, Any]] = []
        for file in output["files"]:
            await emit_write(file)
            files.append({key: file[key] for key in file if key not in ("diff", "omitted")})
        room = ResultBytes(self.max_bytes, {})
        taken = room.take_first(files, lambda file: file)
        refused = {key: output[key] for key in ("not_written", "note") if key in output}
        left_out = len(files) - len(taken)
        omitted = {"omitted": {"files": left_out}} if left_out else {}
        return {"files": taken, **refused, **omitted}

    def _prepare(self, change: FileChange) -> FileWrite:
        compose = partial(self._compose, change)
        if change.old_path is None or change.old_path == change.new_path:
            return self._writer.prepare(change.paths[0], compose, is_new=change.old_path is None)
        # Without hunks the content need not be text.
        composed = compose if change.hunks else None
        return self._writer.prepare_removal(change.old_path, composed, change.new_path)

    def _compose(self, change: FileChange, path: str, file: TextFile | None) -> TextFile:
        if change.old_path is not None and file is None:
            raise FileNotFoundError(f"no file `{path}` in `{self._policy.root}`")
        changed = apply_hunks(path, file or TextFile(""), change.hunks)
        if change.new_path is None and changed.text:
            lines = changed.text.count("\n") + (not changed.text.endswith("\n"))
            raise PatchError(
                f"the patch deletes `{path}`, but {lines:,} of its lines are not in it"
            )
        return changed


def read_patch(patch: str) -> list[FileChange]:
    """Return the changes of a patch in one of both forms.

    Raises:
        PatchError: It has neither.
        NotUtf8Error: It has a character that no text file may have.
    """
    check_writable("patch", patch)
    text = normalize_lines(patch)
    is_marked = text.lstrip().startswith(BEGIN)
    return read_marked_patch(text) if is_marked else read_unified_diff(text)
