"""The scenarios that the protocol's conformance suite asks of a server, through hooks and guard."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("mcp")

HERE = Path(__file__).parent
TOOLS = HERE.parents[1] / ".tools" / "conformance" / "node_modules"
SUITE = TOOLS / "@modelcontextprotocol" / "conformance"
SERVER = HERE / "conformance_server.py"
EXPECTED = HERE / "conformance_expected_failures_of_server.yaml"
FROZEN = {"2026-07-28": 37, "2025-11-25": 30}
WITHOUT = re.compile(r"sampling|roots|logging|multiple-input-requests")
"""What the names of the scenarios have that do not pass by design."""

pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.skipif(not SUITE.exists(), reason="needs `make .tools/conformance/.installed`"),
]


def list_frozen(revision: str) -> list[str]:
    """The scenarios that a revision asks of a server, as the suite has frozen them."""
    lines = (SUITE / "requirements" / f"{revision}.yaml").read_text().splitlines()
    rows = lines[lines.index("server:") + 1 : lines.index("client:")]
    return [row.removeprefix("  - ").strip() for row in rows if row.startswith("  - ")]


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    """The file in which a hook of the server notes each call."""
    return tmp_path / "judged"


@pytest.fixture
def address(judged: Path) -> Iterator[str]:
    """The address of the server."""
    command = [sys.executable, SERVER, judged]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()


# Holds: mcp-59
@pytest.mark.parametrize("revision", FROZEN)
def test_every_scenario_passes_that_is_asked_of_a_server(
    tmp_path: Path, address: str, judged: Path, revision: str
) -> None:
    frozen = list_frozen(revision)
    command = [
        TOOLS / "node" / "bin" / "node",
        SUITE / "dist" / "index.js",
        *("server", "--url", address, "--requirements", revision),
        *(
            "--expected-failures",
            EXPECTED,
            "--timeout",
            "60000",
            "--output-dir",
            tmp_path / "checks",
        ),
    ]
    ended = subprocess.run(
        list(map(str, command)),
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    summary = ended.stdout.partition("=== SUMMARY ===")[2].partition("Total:")[0]
    results = dict(map(reversed, re.findall(r"^([✓✗]) (\S+):", summary, re.MULTILINE)))
    failed = [each for each in frozen if results[each] != "✓"]

    assert ended.returncode == 0, ended.stdout
    assert len(frozen) == FROZEN[revision]
    assert [each for each in failed if not WITHOUT.search(each)] == []
    assert {"test_simple_text", "test_audio_content"} <= set(judged.read_text().splitlines())
