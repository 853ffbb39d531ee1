"""What a registry holds, in the order of running: the same on both engines."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core import HookRegistry
from amplifier_core import hooks as plain


@pytest.mark.parametrize("kind", [HookRegistry, plain.HookRegistry], ids=["rust", "python"])
def test_all_registrations_are_listed_in_the_order_of_running(kind: Any) -> None:
    def judge(event: str, data: dict[str, Any]) -> None: ...

    hooks = kind()
    hooks.register("tool:pre", judge, priority=10, name="late", fail_closed=True, timeout=1.5)
    hooks.observe(judge, name="observer")
    hooks.register("prompt:submit", judge, name="other")
    hooks.register("tool:pre", judge, priority=-10, name="early")
    hooks.register("tool:post", judge, name="gone")()

    assert hooks._all_registrations() == [
        ("tool:pre", 3, -10, "early", judge, False, None),
        ("tool:pre", 0, 10, "late", judge, True, 1.5),
        ("prompt:submit", 2, 0, "other", judge, False, None),
        (None, 1, 2**31 - 1, "observer", judge, False, None),
    ]
