"""On which engine each of some cases runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import pytest


def on_both_engines(names: str, cases: Sequence[Any]) -> pytest.MarkDecorator:
    """All cases run on the engine in Rust, the last of them in plain Python, too.

    What the cases tell apart is beyond the kernel: it awaits them alike. `make prove` runs all of them on both.
    """
    in_python = cases if os.environ.get("PROVE") else cases[-1:]
    return pytest.mark.parametrize(
        ("engine", *names.split(", ")),
        [
            pytest.param(engine, *(case if isinstance(case, tuple) else (case,)))
            for engine, chosen in (("rust", cases), ("python", in_python))
            for case in chosen
        ],
        indirect=["engine"],
    )
