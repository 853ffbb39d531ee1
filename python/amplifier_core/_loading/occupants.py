"""What is mounted by name, and what one spec replaced of another."""

from __future__ import annotations

from typing import Any

from .mounted_modules import mounted_in


class Occupants:
    """The modules of a slot, each with the spec that mounted it."""

    def __init__(self, coordinator: Any, slot: str) -> None:
        """Remember what is mounted before the first spec."""
        self._coordinator = coordinator
        self._slot = slot
        self._before = self._now()
        self._owners: dict[str, Any] = {}

    def replaced_by(self, module_id: Any) -> list[str]:
        """Describe, after a spec was mounted, what it replaced of earlier ones."""
        before, self._before = self._before, self._now()
        by_owner: dict[str, list[str]] = {}
        for name, module in self._before.items():
            if name in before and before[name] is module:
                continue
            if name in self._owners:
                by_owner.setdefault(str(self._owners[name]), []).append(f"`{name}`")
            self._owners[name] = module_id
        what = self._slot.removesuffix("s")
        return [
            f"two specs mount the {what}{'s' if len(names) > 1 else ''} {', '.join(names)}: "
            f"`{module_id}` replaces what `{owner}` mounted"
            for owner, names in by_owner.items()
        ]

    def _now(self) -> dict[str, Any]:
        return mounted_in(self._coordinator, self._slot)
