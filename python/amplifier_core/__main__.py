"""`python -m amplifier_core`: the command `amplifier-core`."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path


def main() -> None:
    """Run the command; what is in the current folder is not imported."""
    with suppress(OSError):  # a folder that is gone has nothing to import
        here = os.getcwd()
        # `-m` puts it first, and the agent may be run in a folder of somebody else's files.
        if sys.path[:1] == [here] and Path(here) != Path(__file__).resolve().parents[1]:
            del sys.path[0]
    try:
        scripts = distribution("amplifier-core").entry_points.select(group="console_scripts")
        command = next(script for script in scripts if script.name == "amplifier-core")
    except (PackageNotFoundError, StopIteration):
        sys.exit("error: the command `amplifier-core` is not installed; install the package")
    command.load()()


if __name__ == "__main__":
    main()
