"""The folder of one session for temporary files of its commands, and for long outputs."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from pathlib import Path
from weakref import finalize


class SessionFolder:
    """A new folder that nobody else may enter; it is removed at the session's end.

    One that nobody has removed goes with its session, or at the end of this process.
    """

    def __init__(self) -> None:
        """Make the folder.

        Raises:
            OSError: It cannot be made.
        """
        path = tempfile.mkdtemp(prefix="amplifier-")
        self.path = Path(path).resolve()
        """Links followed, as commands see it."""
        self.temporary = self.path / "tmp"
        """Where commands have their temporary files."""
        self.temporary.mkdir()
        self._numbers = itertools.count(1)
        self._remove = finalize(self, shutil.rmtree, path, ignore_errors=True)

    def name_output(self) -> Path:
        """Return the path for the output of another command."""
        return self.path / f"output-{next(self._numbers)}.txt"

    def remove(self) -> None:
        """Remove the folder and all that is in it."""
        self._remove()
