"""The steps that the validation of every type of module has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from inspect import isawaitable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, cast

from amplifier_core import ModuleCoordinator
from amplifier_core._loading.check import check_mount
from amplifier_core.error_messages import describe_failure, error_text

from ._target import find_target
from .base import ValidationCheck, ValidationResult, check_on_session_ready

COMPLIANCE = "protocol_compliance"

KEY = "api_key"
"""The key of a config that holds the secret of a provider."""
MADE_UP_KEY = "made-up-for-validation"
_ADDRESS = "base_url"
"""The key of a config that holds the address of a provider's service."""
_MADE_UP_ADDRESS = "http://127.0.0.1"
_WITH_MADE_UP = (
    "It mounts nothing without a key, so it is looked at with a made-up {what}; no model is called"
)

_OWN_PACKAGES = (__package__, "amplifier_core._loading", "amplifier_core._packages")
"""Where the import errors of our own are raised."""


class ModuleValidator(ABC):
    """Imports a module, mounts it once on a coordinator of its own, and looks at what is there."""

    module_type: ClassVar[str]
    """Type of the modules: `tool`, say."""

    async def validate(
        self,
        module_path: str | Path,
        entry_point: str | None = None,
        config: dict[str, Any] | None = None,
    ) -> ValidationResult:
        """Validate a module; problems are listed in the result, never raised.

        Args:
            module_path: Folder of a package, Python file, or dotted name of a module.
            entry_point: Name of the entry point to validate, of those that the project at the
                path declares or that are installed; None for the module at the path.
            config: Configuration that the module is mounted with.
        """
        result = ValidationResult(self.module_type, str(module_path))
        try:
            module = find_target(module_path, entry_point)
        except (Exception, SystemExit) as error:  # noqa: BLE001 (a foreign import)
            result.note(
                "module_importable",
                False,
                f"Failed to import module: {_describe_import_error(error)}",
            )
            return result
        result.note("module_importable", True, f"Module imported from {module_path}")
        found = check_mount(module)
        for check in found:
            result.note(*check)
        if not found[0].passed:
            return result
        ready = check_on_session_ready(module)
        if ready is not None:
            result.add(ready)
        await self._try_mount(result, module, dict(config or {}))
        return result

    async def _try_mount(
        self, result: ValidationResult, module: Any, config: dict[str, Any]
    ) -> None:
        """Mount the module, look at what it did, and clean up after it."""
        settings = {"orchestrator": "validation", "context": "validation"}
        session = SimpleNamespace(
            session_id="validation", parent_id=None, config={"session": settings}
        )
        coordinator = ModuleCoordinator(session)
        try:
            returned = module.mount(coordinator, config)
            if isawaitable(returned):
                returned = await returned
            if callable(returned) and self._list_missing(returned):
                coordinator.register_cleanup(returned)
            is_empty = returned is None and self._is_empty(coordinator)
            if is_empty and KEY not in config:
                await self._try_mount(result, module, {**config, KEY: MADE_UP_KEY})
            elif is_empty and config[KEY] == MADE_UP_KEY and _ADDRESS not in config:
                await self._try_mount(result, module, {**config, _ADDRESS: _MADE_UP_ADDRESS})
            else:
                if not is_empty and config.get(KEY) == MADE_UP_KEY:
                    both = f"`{KEY}` and `{_ADDRESS}`" if _ADDRESS in config else f"`{KEY}`"
                    result.note("provider_key", True, _WITH_MADE_UP.format(what=both))
                self._inspect(result, coordinator, returned, module)
        except Exception as error:  # noqa: BLE001 (a foreign function)
            message = f"Error during protocol compliance check: {describe_failure(error)}"
            result.note(COMPLIANCE, False, message)
        finally:
            await coordinator.cleanup()

    def _is_empty(self, coordinator: ModuleCoordinator) -> bool:
        """Whether a module mounted nothing although it may do so with a key."""
        del coordinator
        return False

    @abstractmethod
    def _inspect(
        self, result: ValidationResult, coordinator: ModuleCoordinator, returned: Any, module: Any
    ) -> None:
        """Look at what a module mounted."""

    def _list_missing(self, instance: Any) -> list[str]:
        """What an object lacks to be what such modules mount."""
        del instance
        return ["everything"]


class MountingValidator(ModuleValidator):
    """Validates modules that mount objects, by the members of these."""

    interface: ClassVar[str]
    """Name of the protocol."""
    mount_point: ClassVar[str]
    """Where the objects are mounted."""
    required: ClassVar[tuple[str, ...]]
    """Members without which an object is not judged further."""

    @property
    def label(self) -> str:
        """The type as the beginning of a sentence."""
        return self.module_type.capitalize()

    def inspect(self, result: ValidationResult, mounted: Any, returned: Any) -> None:
        """Look at what a module mounted and what its `mount` returned.

        Args:
            result: Where the checks are noted.
            mounted: The object in the slot of the type, or the objects there by name.
            returned: What `mount` returned.
        """
        if isinstance(mounted, dict):
            objects = list(cast("dict[str, Any]", mounted).items())
        else:
            objects = [] if mounted is None else [(None, mounted)]
        for name, instance in objects:
            self._judge(result, instance, self.label if name is None else f"{self.label} '{name}'")
        if objects:
            return
        if returned is not None and not self._list_missing(returned):
            self._judge(result, returned, f"What mount() returned ({type(returned).__name__})")
        elif callable(returned):
            message = (
                "mount() returned a cleanup callable, and mounted no "
                f"{self.module_type}: it may be conditional"
            )
            result.add(ValidationCheck(COMPLIANCE, True, message, "warning"))
        else:
            message = (
                f"No {self.module_type} was mounted and mount() did not return an object with "
                f"the interface of {self.interface}, found {_name_kind(returned)}"
            )
            result.note(COMPLIANCE, False, message)

    def _inspect(
        self, result: ValidationResult, coordinator: ModuleCoordinator, returned: Any, module: Any
    ) -> None:
        self.inspect(result, coordinator.get(self.mount_point), returned)

    def _judge(self, result: ValidationResult, instance: Any, title: str) -> None:
        missing = self._list_missing(instance)
        if missing:
            message = f"{title} does not implement {self.interface} interface"
            result.note(COMPLIANCE, False, f"{message} (missing {', '.join(missing)})")
            return
        result.note(COMPLIANCE, True, f"{title} implements {self.interface} interface")
        self._check_members(result, instance)

    def _list_missing(self, instance: Any) -> list[str]:
        return [name for name in self.required if not has_member(instance, name)]

    @abstractmethod
    def _check_members(self, result: ValidationResult, instance: Any) -> None:
        """Look at the members of a mounted object."""


def has_member(instance: Any, name: str) -> bool:
    """Whether an object has a member; of those but `name`, one that can be called."""
    try:
        return hasattr(instance, name) if name == "name" else callable(getattr(instance, name))
    except AttributeError:
        return False
    except Exception:  # noqa: BLE001 (a foreign property)
        return name == "name"  # it exists, and its own check reports what it raised


def _name_kind(value: Any) -> str:
    return "None" if value is None else f"a `{type(value).__name__}`"


def _describe_import_error(error: BaseException) -> str:
    """A failed import in one line; our own errors are shown without their class."""
    if isinstance(error, ImportError) and error.__traceback__ is not None:
        last = error.__traceback__
        while last.tb_next is not None:
            last = last.tb_next
        if last.tb_frame.f_globals.get("__package__") in _OWN_PACKAGES:
            return error_text(error)
    return describe_failure(error)
