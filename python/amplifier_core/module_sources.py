"""Where modules come from: a source returns a folder, a resolver returns a source."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pathlib import Path


class ModuleNotFoundError(Exception):
    """A resolver knows no source for a module; the loader then searches on its own."""


class ModuleLoadError(Exception):
    """A source was found but could not be fetched."""


class ModuleSource(ABC):
    """A place that a module can be fetched from."""

    @abstractmethod
    def resolve(self) -> Path:
        """Return the folder that holds the module, fetching it first if need be."""


class ModuleSourceResolver(Protocol):
    """Finds the source of a module; mounted at `module-source-resolver`."""

    def resolve(
        self, module_id: str, source_hint: Any = None, profile_hint: Any = None
    ) -> ModuleSource:
        """Find the source of `module_id`.

        Args:
            module_id: Id of the module, such as `tool-search`.
            source_hint: The `source` of the module's entry in the mount plan.
            profile_hint: The same under its older name.

        Raises:
            ModuleNotFoundError: The resolver knows no source for the module.
        """
        ...


class FileSystemModuleSource:
    """A list of folders that modules are searched in."""

    def __init__(self, paths: list[str] | None = None) -> None:
        self._paths = list(paths or [])

    def get_module_paths(self) -> list[str]:
        """Return a copy of the folders."""
        return list(self._paths)

    def get_mention_mappings(self) -> dict[str, str]:
        """Return the names of folders in mentions: there are none."""
        return {}
