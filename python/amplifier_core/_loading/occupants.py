"""What is mounted by name: what one spec replaced of another, and how the providers were before."""

from __future__ import annotations

from typing import Any

from ..mounting import list_mounted


class Occupants:
    """The modules of a slot, each with the spec that mounted it."""

    def __init__(self, coordinator: Any, slot: str) -> None:
        """Remember what is mounted before the first spec."""
        self._coordinator = coordinator
        self._slot = slot
        self._before = self._list_now()
        self._owners: dict[str, Any] = {}

    def replaced_by(self, module_id: Any) -> list[str]:
        """Describe, after a spec was mounted, what it replaced of earlier ones."""
        before, self._before = self._before, self._list_now()
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

    def _list_now(self) -> dict[str, Any]:
        return list_mounted(self._coordinator, self._slot)


_missing = object()


def mounted_providers(coordinator: Any) -> dict[str, Any]:
    """Return the live dict of mounted providers."""
    providers: dict[str, Any] | None = coordinator.get("providers")
    return providers if isinstance(providers, dict) else {}


def is_unchanged(coordinator: Any, before: dict[str, Any]) -> bool:
    """Whether each mounted provider was mounted under its name before."""
    for name, provider in mounted_providers(coordinator).items():
        if before.get(name, _missing) is not provider:
            return False
    return True


async def rename_new_provider(
    coordinator: Any, module_id: str, instance_id: str, before: dict[str, Any]
) -> None:
    """Mount a new provider under the name of its instance instead of the module's own.

    Args:
        coordinator: Coordinator that it is mounted on.
        module_id: Id of its module; `provider-x` mounts itself as `x`.
        instance_id: Name to mount it under.
        before: The providers before; one that had the module's name gets it back.

    Raises:
        ValueError: No new provider has the module's own name.
    """
    own_name = module_id.removeprefix("provider-")
    provider = mounted_providers(coordinator).get(own_name)
    if provider is None or provider is before.get(own_name):
        raise ValueError(
            "Named provider mount did not install a new instance at its default mount name"
        )
    if own_name == instance_id:
        return
    await coordinator.mount("providers", provider, name=instance_id)
    if own_name in before:
        await coordinator.mount("providers", before[own_name], name=own_name)
    else:
        await coordinator.unmount("providers", name=own_name)


def restore_providers(coordinator: Any, before: dict[str, Any]) -> None:
    """Restore the providers, in the same order."""
    providers = mounted_providers(coordinator)
    if len(providers) != len(before) or not is_unchanged(coordinator, before):
        providers.clear()
        providers.update(before)
