"""On a disk that is full or read-only nothing is lost, and each refusal is one line.

Holds: changes-76
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from amplifier_modules.changes.change import find_changes_support

WORK = Path(__file__).with_name("disk_work.py")
MOUNT = 'mount -t tmpfs -o size=2m tmpfs "$0" && exec "$@"'
EXPECTED = """\
commit: ChangeError: cannot read the change `FOLDER/state/one/000003`: No space left on device (os error 28)
begin: OSError: [Errno 28] No space left on device
undo: (['a'], [], ())
files: {'a': '1'}
undo: (['a'], [], ())
run: None
files: {'c': '1'}
notes: ['one/000001', 'one/000001.json', 'one/000002', 'one/000002.json', 'one/000003', 'one/000003.json']
begin: OSError: [Errno 30] Read-only file system: 'FOLDER/state/places'
list: [1, 2, 3]
preview: (['c'], [], ())
undo: ([], [], ('cannot write `FOLDER/state/one/000003/manifest`: Read-only file system (os error 30)',))
keep: None
remove: OSError: [Errno 30] Read-only file system: 'FOLDER/state/one/000001.json'
files: {'c': '1'}
"""


def run_on_small_disk(folder: Path, *command: object) -> subprocess.CompletedProcess[str]:
    """Run a command that alone sees a small disk at the folder."""
    words = ["unshare", "-Urm", "sh", "-c", MOUNT, folder, *command]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        list(map(str, words)), capture_output=True, text=True, check=False, env=environment
    )


@pytest.mark.skipif(shutil.which("unshare") is None, reason="`unshare` is not installed")
def test_on_a_bad_disk_nothing_is_lost(tmp_path: Path) -> None:
    if not find_changes_support():
        pytest.skip("changes can be kept only on Linux, with the extension")
    if (done := run_on_small_disk(tmp_path, "true")).returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
    done = run_on_small_disk(tmp_path, sys.executable, WORK, tmp_path)
    assert done.stdout == EXPECTED, done.stderr
    assert "Traceback" not in done.stderr
