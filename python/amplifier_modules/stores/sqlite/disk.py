"""Whether a folder is on a disk of this machine."""

from __future__ import annotations

import re
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")
_REMOTE = re.compile(
    r"(nfs|cifs|smb|9p|afs|ceph|gluster|lustre|ocfs|gfs|fuse|virtiofs|vboxsf|prl_fs)"
)


def is_on_local_disk(folder: Path) -> bool:
    """Whether a folder is known to be on a local disk; it need not exist yet."""
    try:
        lines = _MOUNTS.read_text(errors="surrogateescape").splitlines()
    except OSError:
        return False
    place = folder.absolute().resolve()
    longest, kind = -1, ""
    for line in lines:
        # 36 35 98:0 / /mnt rw,noatime master:1 - ext3 /dev/root rw
        before, _, after = line.partition(" - ")
        mount = Path(before.split(" ")[4].replace("\\040", " "))
        if place.is_relative_to(mount) and len(mount.parts) >= longest:
            longest, kind = len(mount.parts), after.split(" ")[0]
    return bool(kind) and _REMOTE.match(kind) is None
