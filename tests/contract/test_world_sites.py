"""Nothing of ours reads a clock or makes something random but through `amplifier_core.world`."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from structure import CHECKOUT

CLOCKS = {
    "time",
    "time_ns",
    "monotonic",
    "monotonic_ns",
    "perf_counter",
    "perf_counter_ns",
}
NOW = {"now", "utcnow", "today"}

EXEMPT = {
    "amplifier_core/world.py": "the seam",
    "amplifier_core/_native/ending.py": "the process ends, and nothing is replayed after it",
    "amplifier_core/_packages/installed.py": "compares the times of files, which the system sets",
    "amplifier_providers/limits/shared_file.py": "waits for another process",
    "amplifier_modules/sandbox/command_clock.py": "the time of a process, which no world moves",
    "amplifier_modules/sandbox/launch.py": "a process of its own, without a world",
    "amplifier_app/approval.py": "`secrets`: what nobody may guess",
    "amplifier_app/named_secrets.py": "`secrets`: what nobody may guess",
    "amplifier_testing/kit/clock.py": "moves the clocks of providers of others",
    "amplifier_testing/servers/serving/server.py": "strict servers import nothing that they judge",
    "amplifier_testing/servers/serving/fault.py": "strict servers import nothing that they judge",
    "amplifier_testing/servers/serving/issued.py": "`secrets`: what nobody may guess",
}
"""Files that read the system, and why."""

EXEMPT_RUST = {
    "amplifier-core/src/runtime/world.rs": "the system of the driver",
    "amplifier-python/src/world.rs": "the seam of the extension",
    "amplifier-python/src/guard/path.rs": "how often a search looks whether it is to stop",
}

READS_IN_RUST = re.compile(r"\b(SystemTime|Instant)::now\b|\bnew_v[147]\b|\bgetrandom\b|\bOsRng\b")


def _reads(tree: ast.Module) -> Iterator[int]:
    """Yield the lines of a file that read the system's clock or randomness."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                if {alias.name for alias in names} & {"random", "secrets", "uuid"}:
                    yield node.lineno
            case ast.ImportFrom(module=module, names=names, level=0):
                taken = {alias.name for alias in names}
                is_clock = module == "time" and taken & CLOCKS
                is_random = module in {"random", "secrets", "uuid"} or "urandom" in taken
                if is_clock or is_random:
                    yield node.lineno
            case ast.Attribute(value=ast.Name(id=owner), attr=name):
                is_clock = owner.strip("_") == "time" and name in CLOCKS
                is_now = owner in {"datetime", "date"} and name in NOW
                if is_clock or is_now or name == "urandom":
                    yield node.lineno
            case _:
                pass


# Holds: world-3
def test_every_file_reads_time_and_randomness_of_the_world() -> None:
    root = CHECKOUT / "python"
    found = {
        path.relative_to(root).as_posix(): lines
        for path in sorted(root.rglob("*.py"))
        if (lines := list(_reads(ast.parse(path.read_text(encoding="utf-8")))))
    }

    assert {place: found[place] for place in found.keys() - EXEMPT.keys()} == {}
    assert EXEMPT.keys() - found.keys() == set(), "exempt for nothing"


# Holds: world-3
def test_every_crate_is_handed_the_time_or_asks_its_world() -> None:
    root = CHECKOUT / "crates"
    found = {
        path.relative_to(root).as_posix()
        for path in root.glob("*/src/**/*.rs")
        if any(map(READS_IN_RUST.search, _code(path)))
    }

    assert found == EXEMPT_RUST.keys()


def _code(path: Path) -> Iterator[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return (line for line in lines if not line.lstrip().startswith("//"))
