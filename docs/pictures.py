"""Draws `pictures/*.svg`: what the command shows in a terminal of 80 columns, each from a real run.

Where Chromium is installed, `pictures/trace.png` is such a run as a page, too. The demo model answers, in a small project made for it. `make docs-pictures` calls this.
"""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

PICTURES = Path(__file__).parent / "pictures"
COLUMNS = 80
RUNS = {
    "tour": ["Give me a tour of this project"],
    "validate": ["validate", "plan.toml"],
}
PROJECT = {
    "README.md": "# Birds\n\nCounts the birds of a garden, day by day.\n",
    "birds.py": '"""Reads the counts."""\n\n\ndef total(counts):\n    # TODO: leave out the hens\n'
    "    return sum(counts)\n",
    "test_birds.py": "from birds import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n",
    "plan.toml": 'tolos = []\n\n[session]\norchestrator = "loop-basic"\ncontext = "context-simple"\n\n'
    '[[hooks]]\nmodule = "hooks-gaurd"\n',
}
# As that of rich, without the fonts that a browser would load from elsewhere.
FORMAT = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; \
font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
.{unique_id}-title {{ font: bold 18px sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def written(arguments: list[str], folder: str, state: str) -> str:
    """Return what the command writes to a terminal.

    Args:
        arguments: Those of the command.
        folder: Where it works.
        state: Where it stores its sessions.
    """
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    environment = kept | {"TERM": "xterm-256color", "COLORTERM": "truecolor", "PYTHONUTF8": "1"}
    environment["XDG_STATE_HOME"] = state
    command = [sys.executable, "-m", "amplifier_core", *arguments]
    process, terminal = pty.fork()
    if process == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
        os.chdir(folder)
        os.execve(command[0], command, environment)
    pieces: list[bytes] = []
    while piece := _read(terminal):
        pieces.append(piece)
    os.close(terminal)
    os.waitpid(process, 0)
    return b"".join(pieces).decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux says that the other side has gone
        return b""


def drawn(name: str, output: str) -> str:
    """Return the picture of what is left on the screen."""
    below = r"\r\x1b\[\?7l.*?\x1b\[\?7h(?:\x1b\[\d+A)?\r|\r\x1b\[J"
    lines = re.sub(below, "", output.replace("\r\n", "\n"), flags=re.DOTALL).split("\n")
    screen = "\n".join(line.rpartition("\r\x1b[K")[2] for line in lines).rstrip()
    # The id is another one each time.
    screen = re.sub(r"--resume [0-9a-f]{8}", "--resume 1b9d6bcd", screen)
    console = Console(width=COLUMNS, record=True, file=io.StringIO(), legacy_windows=False)
    command = " ".join(f'"{word}"' if " " in word else word for word in RUNS[name])
    console.print(Text(f"$ amplifier-core {command}", style="bold"))
    console.print(Text.from_ansi(screen))
    text = console.export_svg(title="birds", theme=MONOKAI, code_format=FORMAT, unique_id=name)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def draw_picture(name: str) -> str:
    """Run the command of a picture in a new folder with the project, and return the picture."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as state:
        for file, text in PROJECT.items():
            Path(folder, file).write_text(text)
        return drawn(name, written(RUNS[name], folder, state))


def draw_page(browser: str) -> bytes:
    """Return a picture of the page that `trace` makes of a session of two turns."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as state:
        for file, text in PROJECT.items():
            Path(folder, file).write_text(text)
        for line in (
            "Give me a tour of this project",
            "Add a function mean to birds.py and test it",
        ):
            written(
                ["run", "--continue", line] if os.listdir(state) else ["run", line], folder, state
            )
        written(["trace", "--output", "trace.html"], folder, state)
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        options += [
            "--window-size=1200,1000",
            "--screenshot=trace.png",
            Path(folder, "trace.html").as_uri(),
        ]
        subprocess.run([browser, *options], cwd=folder, check=True, capture_output=True)
        return Path(folder, "trace.png").read_bytes()


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    for name in RUNS:
        (PICTURES / f"{name}.svg").write_text(draw_picture(name))
    if (browser := shutil.which("chromium")) is not None:
        (PICTURES / "trace.png").write_bytes(draw_page(browser))
