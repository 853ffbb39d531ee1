"""Programs in a process of their own, in an empty folder, against a strict server."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from warm_interpreter import Interpreters

from amplifier_testing.servers import AnthropicServer, SeenRequest


def printed_by(
    interpreters: Interpreters, program: Path, folder: Path, answers: list[Any]
) -> tuple[str, list[SeenRequest]]:
    """Return what a program prints, and what it asked the server; it must end well, and be silent."""
    with AnthropicServer(answers) as server:
        environment = {
            **os.environ,
            "ANTHROPIC_API_KEY": "a-key-of-the-tests",
            "ANTHROPIC_BASE_URL": server.url,
            "ARCLLM_CONFIG": "",
            "XDG_CONFIG_HOME": str(folder),
            "XDG_STATE_HOME": str(folder),
        }
        done = interpreters.run(str(program), env=environment, cwd=folder)
        assert server.refusals == []
        requests = list(server.requests)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout, requests
