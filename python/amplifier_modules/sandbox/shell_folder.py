"""What a shell on Windows reads and writes by files, as it has no pipe beside its output."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from tempfile import mkdtemp

_SCRIPT = """trap {trap} EXIT; eval "set --; $(<{command})"
set -- "$?"; {tell}; exit "$1"
"""


class ShellFolder:
    """A folder with the command of a shell, in which that tells where it ends.

    Nothing of the command is in the arguments of the shell: Windows has one line for all of them,
    of 32,767 characters, which each program takes apart by its own rules.
    """

    def __init__(self, text: str, *, show_folder: str = "pwd -W") -> None:
        """Make the folder.

        Args:
            text: The command.
            show_folder: What prints the working folder of the shell as Windows names it.

        Raises:
            OSError: It cannot be made.
        """
        self._path = Path(mkdtemp(prefix="amplifier-"))
        self._command = self._path / "command"
        self._directory = self._path / "directory"
        self._show_folder = show_folder
        try:
            self._command.write_bytes(text.encode("utf-8", "surrogatepass"))
        except OSError:
            self.remove()
            raise

    def build_arguments(self, bash: str) -> list[str]:
        """Return the arguments of the process that runs the command."""
        tell = f"{self._show_folder} 2>/dev/null >{shlex.quote(self._directory.as_posix())}"
        script = _SCRIPT.format(
            trap=shlex.quote(tell),
            tell=tell,
            command=shlex.quote(self._command.as_posix()),
        )
        return [bash, "--noprofile", "--norc", "-c", script, "bash"]

    def read_directory(self) -> str | None:
        """Return the working folder of the shell at its end, links followed; None if unknown."""
        try:
            written = self._directory.read_bytes().removesuffix(b"\n").decode()
            return str(Path(written).resolve()) if written else None
        except (OSError, ValueError):
            return None

    def remove(self) -> None:
        """Remove the folder, as far as nothing has its files open."""
        shutil.rmtree(self._path, ignore_errors=True)
