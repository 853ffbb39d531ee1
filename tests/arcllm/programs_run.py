"""Programs in a process of their own, in an empty folder, against a strict server."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from amplifier_testing.servers import AnthropicServer, SeenRequest


def printed_by(program: Path, folder: Path, answers: list[Any]) -> tuple[str, list[SeenRequest]]:
    """Return what a program prints, and what it asked the server; it must end well, and be silent."""
    with AnthropicServer(answers) as server:
        done = subprocess.run(
            [sys.executable, "-W", "error", str(program)],
            env={
                **os.environ,
                "ANTHROPIC_API_KEY": "a-key-of-the-tests",
                "ANTHROPIC_BASE_URL": server.url,
                "ARCLLM_CONFIG": "",
                "XDG_CONFIG_HOME": str(folder),
                "XDG_STATE_HOME": str(folder),
            },
            cwd=folder,
            capture_output=True,
            check=False,
            text=True,
            timeout=60,
        )
        assert server.refusals == []
        requests = list(server.requests)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout, requests
