"""The scenarios that the protocol's conformance suite asks of a client, through loop, hooks and guard."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("mcp")

HERE = Path(__file__).parent
TOOLS = HERE.parents[1] / ".tools" / "conformance" / "node_modules"
SUITE = TOOLS / "@modelcontextprotocol" / "conformance"
CLIENT = HERE / "conformance_client.py"
EXPECTED = HERE / "conformance_expected_failures.yaml"
FROZEN = {"2026-07-28": 32, "2025-11-25": 18}
AT_ONCE = 2
FOLDERS = ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
NO_KEYRING = {"PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}

pytestmark = [
    pytest.mark.timeout(1200),
    pytest.mark.skipif(not SUITE.exists(), reason="needs `make .tools/conformance/.installed`"),
]


def list_frozen(revision: str) -> list[str]:
    """The scenarios that a revision asks of a client, as the suite has frozen them."""
    lines = (SUITE / "requirements" / f"{revision}.yaml").read_text().splitlines()
    rows = lines[lines.index("client:") + 1 : lines.index("not_scored:")]
    return [row.removeprefix("  - ").strip() for row in rows if row.startswith("  - ")]


def run_scenario(revision: str, folder: Path, scenario: str) -> str | None:
    """Run a scenario; returns what the suite says of one that does not end as expected."""
    command = [
        TOOLS / "node" / "bin" / "node",
        SUITE / "dist" / "index.js",
        *("client", "--scenario", scenario, "--spec-version", revision),
        *("--command", f"{sys.executable} {CLIENT}", "--timeout", "120000"),
        *("--expected-failures", EXPECTED),
    ]
    ended = subprocess.run(
        list(map(str, command)),
        env=os.environ
        | dict.fromkeys(FOLDERS, str(folder / scenario.replace("/", "-")))
        | NO_KEYRING,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return ended.stdout if ended.returncode else None


# Holds: mcp-79
@pytest.mark.parametrize("revision", FROZEN)
def test_every_scenario_passes_that_is_asked_of_a_client(tmp_path: Path, revision: str) -> None:
    scenarios = list_frozen(revision)
    assert len(scenarios) == FROZEN[revision]
    run = partial(run_scenario, revision, tmp_path)
    with ThreadPoolExecutor(AT_ONCE) as threads:
        ended = dict(zip(scenarios, threads.map(run, scenarios), strict=True))

    assert {name: said for name, said in ended.items() if said is not None} == {}
