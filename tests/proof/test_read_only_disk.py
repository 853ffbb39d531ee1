"""On a disk that is mounted read-only a session is read, and no tool runs that cannot be stored."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from amplifier_modules.stores import NewSession
from amplifier_modules.stores.sqlite import SqliteStore

MOUNT = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0"'


def run_read_only(folder: Path, *command: object) -> subprocess.CompletedProcess[str]:
    """Run a command that alone sees the folder on a read-only disk."""
    words = ["unshare", "--mount", "sh", "-c", f'{MOUNT} && exec "$@"', folder, *command]
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)


# Holds: store-40
@pytest.mark.skipif(shutil.which("unshare") is None, reason="`unshare` is not installed")
@pytest.mark.parametrize("is_open", [False, True], ids=["closed", "open in another process"])
@pytest.mark.parametrize("mode", ["persist", "wal"])
async def test_a_session_on_a_read_only_disk_is_read(
    tmp_path: Path, mode: str, is_open: bool
) -> None:
    if (done := run_read_only(tmp_path, "true")).returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
    folder = tmp_path / "sessions"
    store = SqliteStore(folder=str(folder), journal_mode=mode)
    claim = await store.claim("work", "me", new=NewSession())
    claim = await store.append(claim, [("a", 1), ("b", 2)])
    if not is_open:
        await store.close()
    program = Path(__file__).with_name("failing_disk") / "read_only_work.py"
    done = run_read_only(folder, sys.executable, program, folder, mode)
    refused = f"refused session `work` cannot be stored in `{folder}`: the file or the folder is read-only"
    *printed, asked = done.stdout.splitlines()
    assert printed[:4] == ["work", "session:origin a b", refused, refused], done
    assert printed[4].startswith(f"refused the store in `{folder}` cannot be used: "), done
    assert (len(printed), asked) == (5, "asked 0 times")
    assert "Traceback" not in done.stderr
    await store.append(claim, [("c", 3)])
    assert [each.kind for each in await store.read("work")] == ["session:origin", "a", "b", "c"]
    await store.close()
