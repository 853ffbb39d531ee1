"""The folder of a module, as the mounted resolver gives it."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from .info import TYPE_TO_MOUNT_POINT

logger = logging.getLogger("amplifier_core.loader")


async def resolve_folder(coordinator: Any, module_id: str, hint: Any) -> Path | None:
    """Ask the resolver of a coordinator for a module's folder.

    Args:
        coordinator: Coordinator with the resolver; None for none.
        module_id: Id of the module.
        hint: Where the mount plan says that the module is.

    Returns:
        The folder, or None if there is no resolver. What a resolver raises comes through.
    """
    resolver = None if coordinator is None else coordinator.get(TYPE_TO_MOUNT_POINT["resolver"])
    if resolver is None:
        return None
    hints = {"source_hint": hint, "profile_hint": hint}
    if hasattr(resolver, "async_resolve"):
        source = await resolver.async_resolve(module_id, **hints)
    else:
        source = resolver.resolve(module_id, **hints)
    path = Path(source.resolve())
    logger.debug("module `%s` resolved to %s", module_id, path)
    return path
