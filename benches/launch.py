"""A command in a sandbox beside the same command by `subprocess`, in each tier that there is.

Both run `true` by bash without files of settings, and wait for its end. Seconds pass for a user here,
not only those of a processor: the figures are times on the clock, of many launches in turns.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

from side_by_side import Figure, Times, run

from amplifier_modules.sandbox.bubblewrap import find_bubblewrap
from amplifier_modules.sandbox.command import Command, LaunchError, Tier
from amplifier_modules.sandbox.sandbox import Sandbox

LAUNCHES = 100
ALLOWED = 0.025
"""Seconds that a launch may take above `subprocess`."""
SHELL = [
    shutil.which("bash") or "/bin/sh",
    *("--noprofile", "--norc") * (shutil.which("bash") is not None),
]


def measure() -> Times:
    """Medians of seconds above `subprocess`, and what it takes itself."""
    taken: dict[str, list[float]] = {}
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        project, temporary = Path(folder, "project"), Path(folder, "temporary")
        project.mkdir()
        temporary.mkdir()
        nowhere = stack.enter_context(open(os.devnull, "wb")).fileno()
        command = Command("true", str(project), {"PATH": os.environ["PATH"]})

        def start_shell() -> None:
            subprocess.run([*SHELL, "-c", "true"], stdin=subprocess.DEVNULL, check=True)

        ways: dict[str, Callable[[], object]] = {"subprocess": start_shell}
        for name, tier, bubblewrap in [
            ("namespaces", Tier.NAMESPACES, None),
            ("bubblewrap", Tier.NAMESPACES, find_bubblewrap()),
            ("landlock", Tier.LANDLOCK, None),
        ]:
            if name == "bubblewrap" and bubblewrap is None:
                continue
            sandbox = Sandbox(str(project), str(temporary), tier, bubblewrap=bubblewrap)
            stack.enter_context(closing(sandbox))

            def launch(sandbox: Sandbox = sandbox) -> None:
                assert sandbox.start(command, nowhere).wait().exit_code == 0

            try:
                launch()
            except LaunchError:
                continue  # this machine has no such tier
            ways[name] = launch
        for _ in range(LAUNCHES):
            for name, way in ways.items():
                begun = time.perf_counter()
                way()
                taken.setdefault(name, []).append(time.perf_counter() - begun)
    medians = {name: statistics.median(times) for name, times in taken.items()}
    plain = medians.pop("subprocess")
    return {name: median - plain for name, median in medians.items()} | {
        "allowed": ALLOWED,
        "plain": plain,
    }


FIGURES = [
    Figure("a launch in namespaces, above subprocess", "namespaces", share=1.0, against="allowed"),
    Figure("by bubblewrap", "bubblewrap", share=None, against="allowed"),
    Figure("by Landlock alone", "landlock", share=1.0, against="allowed"),
]

if __name__ == "__main__":
    run(__file__, measure, "launches of a command", FIGURES, rounds_by_default=1)
