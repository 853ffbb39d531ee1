"""The coordinator in plain Python: the same contract as the Rust class of `amplifier_core`."""

from __future__ import annotations

import logging
import weakref
from abc import ABCMeta
from collections.abc import Callable, Coroutine
from typing import Any, Literal, Self, cast

from . import _collect_helper, approval
from ._hook_result import HookResult
from ._kernel.argument import any_text, make_refusal, take_flag, take_integer, take_text
from ._kernel.hook_effects import carry_out
from ._kernel.own_failure import describe
from ._kernel.qualname import set_qualname
from ._native.choice import extension
from ._native.drive import wrap_result
from .cancellation import CancellationToken
from .event_loop import is_awaitable
from .hooks import HookRegistry
from .mount_plan import session_number

__all__ = ["ModuleCoordinator"]

logger = logging.getLogger(__name__)

_SLOTS: dict[str, Literal["single", "named", "registry"]] = {
    "orchestrator": "single",
    "providers": "named",
    "tools": "named",
    "context": "single",
    "hooks": "registry",
    "module-source-resolver": "single",
}
"""What each mount point holds: one module at most, modules by name, or the hook registry."""

_mounted = wrap_result("ModuleCoordinator.mount")
_unmounted = wrap_result("ModuleCoordinator.unmount")
_requested = wrap_result("ModuleCoordinator.request_cancel")
_carry_out = set_qualname("ModuleCoordinator.process_hook_result")(carry_out)


class ModuleCoordinator(metaclass=ABCMeta):
    """Holds a session's modules, hooks, capabilities and clean-up functions."""

    loader: Any
    """The module loader, or None until the session is initialised."""
    approval_system: Any
    """What asks the user for approvals, or None."""
    display_system: Any
    """What shows messages to the user, or None."""
    _identity: tuple[str, str | None, Any]
    _owner: Any
    _session: weakref.ref[Any] | None
    _hooks: HookRegistry
    _cancellation: CancellationToken
    _mount_points: dict[str, Any]
    _capabilities: dict[str, Any]
    _cleanup_functions: list[Any]
    _channels: dict[str, list[dict[str, Any]]]
    _injected_tokens: int
    _shared: dict[str, Any]

    def __new__(
        cls, session: Any = None, approval_system: Any = None, display_system: Any = None
    ) -> Self:
        """Make a coordinator with nothing mounted.

        Args:
            session: What has the `session_id`, `parent_id` and `config`; None means an empty
                session.
            approval_system: What asks the user for approvals.
            display_system: What shows messages to the user.

        Raises:
            TypeError: An id of the session is not a string.
        """
        self = super().__new__(cls)
        if session is None:
            self._identity = ("", None, {})
        else:
            session_id, parent_id = any_text(session.session_id, "session_id"), session.parent_id
            parent_id = None if parent_id is None else any_text(parent_id, "parent_id")
            self._identity = (session_id, parent_id, session.config)
        self._owner, self._session = session, None
        self._hooks, self._cancellation = HookRegistry(), CancellationToken()
        empty = {"single": lambda: None, "named": dict, "registry": lambda: self._hooks}
        self._mount_points = {slot: empty[kind]() for slot, kind in _SLOTS.items()}
        self._capabilities, self._channels, self._cleanup_functions = {}, {}, []
        self._injected_tokens = 0
        self.loader, self._shared = None, {}
        self.approval_system, self.display_system = approval_system, display_system
        return self

    @property
    def session_id(self) -> str:
        """The id of the session; empty without one."""
        return self._identity[0]

    @property
    def parent_id(self) -> str | None:
        """The id of the parent session, or None."""
        return self._identity[1]

    @property
    def config(self) -> Any:
        """The session's configuration, the same object and live."""
        return self._identity[2]

    @property
    def session(self) -> Any:
        """The session; before and after its life, a namespace with its ids and configuration."""
        session = None if self._session is None else self._session()
        return self._owner if session is None else session

    @property
    def hooks(self) -> HookRegistry:
        """The hook registry."""
        return self._hooks

    @property
    def cancellation(self) -> CancellationToken:
        """The cancellation token."""
        return self._cancellation

    @property
    def channels(self) -> dict[str, list[dict[str, Any]]]:
        """The contributors by channel, live."""
        return self._channels

    @property
    def _cleanup_fns(self) -> list[Any]:
        """The clean-up functions, live."""
        return self._cleanup_functions

    @property
    def injection_budget_per_turn(self) -> int | None:
        """Most tokens that hooks may inject in a turn before a warning; None is no limit."""
        return self._session_setting("injection_budget_per_turn")

    @property
    def injection_size_limit(self) -> int | None:
        """Most characters of one injection; None is no limit."""
        return self._session_setting("injection_size_limit")

    @property
    def mount_points(self) -> dict[str, Any]:
        """The mounted modules by slot, live."""
        return self._mount_points

    @mount_points.setter
    def mount_points(self, points: dict[str, Any]) -> None:
        if not issubclass(cast("type[Any]", type(points)), dict):
            raise make_refusal(points, "dict", "mount_points")
        self._mount_points = points

    @property
    def session_state(self) -> dict[str, Any]:
        """A dict for whatever modules want to share."""
        return self._shared

    @session_state.setter
    def session_state(self, shared: dict[str, Any]) -> None:
        if not issubclass(cast("type[Any]", type(shared)), dict):
            raise make_refusal(shared, "dict", "session_state")
        self._shared = shared

    @property
    def _current_turn_injections(self) -> int:
        """The tokens that hooks have injected in this turn."""
        return self._injected_tokens

    @_current_turn_injections.setter
    def _current_turn_injections(self, tokens: int) -> None:
        self._injected_tokens = take_integer(tokens, "tokens", bits=64)

    def _set_session(self, session: Any) -> None:
        """Set the session; one that holds this coordinator is held weakly, so that it is freed."""
        if getattr(session, "coordinator", None) is self:
            self._session = weakref.ref(session)
        else:
            self._session, self._owner = None, session

    def mount(
        self, mount_point: str, module: Any, name: str | None = None
    ) -> Coroutine[Any, Any, None]:
        """Mount a module immediately; the result must be awaited.

        Without `await` this coordinator has mounted the module, and Python warns that the coroutine
        was never awaited; others, such as `MockCoordinator`, mount nothing.

        Args:
            mount_point: Slot to mount on.
            module: Any object.
            name: Name in a slot of many; without it the module's own `name` counts.

        Raises:
            ValueError: No such slot, or a name is needed and the module has none.
            TypeError: The name is not a string.
        """
        slot, kind = _parse(mount_point)
        name = None if name is None else take_text(name, "name")
        if kind == "registry":
            raise ValueError("Hooks should be registered directly with the HookRegistry")
        if kind == "single":
            self._mount_points[slot] = module
        else:
            own: Any = getattr(module, "name", None) if name is None else name
            if own is None:
                raise ValueError(f"Name required for {slot}")
            self._get_modules(slot)[take_text(own, "name")] = module
        return _mounted(None)

    def unmount(self, mount_point: str, name: str | None = None) -> Coroutine[Any, Any, None]:
        """Remove a module immediately; the result may be awaited. A missing module is ignored."""
        slot, kind = _parse(mount_point)
        name = None if name is None else take_text(name, "name")
        if kind == "single":
            self._mount_points[slot] = None
        elif kind == "named":
            if name is None:
                raise ValueError(f"Name required to unmount from {slot}")
            modules = self._get_modules(slot)
            if name in modules:
                del modules[name]
        return _unmounted(None)

    def get(self, mount_point: str, name: str | None = None) -> Any:
        """Look up a slot, or one module of a named slot; None where nothing is mounted."""
        slot, kind = _parse(mount_point)
        name = None if name is None else take_text(name, "name")
        if kind == "named" and name is not None:
            return self._get_modules(slot).get(name)
        return self._get_slot(slot)

    def register_capability(self, name: str, value: Any) -> None:
        """Offer a value to other modules under a name, in the place of one of that name."""
        self._capabilities[take_text(name, "name")] = value

    def get_capability(self, name: str) -> Any:
        """Return the value offered under a name, or None."""
        return self._capabilities.get(take_text(name, "name"))

    def register_cleanup(self, cleanup_fn: Any) -> None:
        """Run a function, plain or async, at clean-up; what cannot be called is ignored."""
        if callable(cleanup_fn):
            self._cleanup_functions.append(cleanup_fn)

    async def cleanup(self) -> None:
        """Run every clean-up function once, the last registered first.

        Raises:
            BaseException: The first error that is not an `Exception`, after all functions have run.
        """
        held: BaseException | None = None
        while self._cleanup_functions:
            function = self._cleanup_functions.pop()
            if not callable(function):
                continue
            try:
                called = function()
                if is_awaitable(called):
                    await called
            except GeneratorExit:
                raise
            except Exception as error:
                logger.error("Error during cleanup: %s", describe(error), exc_info=error)
            except BaseException as error:  # noqa: BLE001 (raised when all have run)
                held = held or error
        if held is not None:
            raise held

    def register_contributor(self, channel: str, name: str, callback: Callable[[], Any]) -> None:
        """Contribute to a channel: the callback, plain or async, is asked at each collection."""
        channel, name = take_text(channel, "channel"), take_text(name, "name")
        self._channels.setdefault(channel, []).append({"name": name, "callback": callback})

    def collect_contributions(self, channel: str) -> Coroutine[Any, Any, list[Any]]:
        """Ask every contributor of a channel and list the answers."""
        collected = _collect_helper.collect_contributions(
            self._channels, take_text(channel, "channel")
        )
        collected.__qualname__ = "ModuleCoordinator.collect_contributions"
        return collected

    def request_cancel(self, immediate: bool = False) -> Coroutine[Any, Any, None]:
        """Request cancellation immediately; the result may be awaited."""
        if take_flag(immediate, "immediate"):
            self.cancellation.request_immediate()
        else:
            self.cancellation.request_graceful()
        return _requested(None)

    def reset_turn(self) -> None:
        """Begin a turn: nothing is injected yet."""
        self._injected_tokens = 0

    def process_hook_result(
        self, result: Any, event: str, hook_name: str = "unknown"
    ) -> Coroutine[Any, Any, HookResult]:
        """Carry out what a hook's result asks for, and return what is left to the loop."""
        event, hook_name = any_text(event, "event"), any_text(hook_name, "hook_name")
        return _carry_out(self, approval.ask, result, event, hook_name)

    def to_dict(self) -> dict[str, Any]:
        """Describe what is mounted, as plain data."""
        return {
            "tools": list(self._get_modules("tools")),
            "providers": list(self._get_modules("providers")),
            "has_orchestrator": self._get_slot("orchestrator") is not None,
            "has_context": self._get_slot("context") is not None,
            "capabilities": list(self._capabilities),
            "has_approval_provider": self.approval_system is not None,
            "has_display_service": self.display_system is not None,
        }

    def __repr__(self) -> str:
        """Name the session."""
        return f"<{type(self).__name__}: session {self.session_id!r}>"

    def _get_slot(self, slot: str) -> Any:
        """What is in a slot now, whoever put it there."""
        return self._mount_points.get(slot)

    def _get_modules(self, slot: str) -> dict[str, Any]:
        """The modules of a slot of many by name, whoever put them there."""
        if slot not in self._mount_points:
            raise _make_slot_error(slot)
        modules = self._get_slot(slot)
        if not issubclass(type(modules), dict):
            raise make_refusal(modules, "dict", f"mount_points.{slot}")
        return modules

    def _session_setting(self, name: str) -> int | None:
        """A whole number from the mount plan's section `session`, read live."""
        return session_number(self.config, name)


def _parse(mount_point: str) -> tuple[str, Literal["single", "named", "registry"]]:
    """Return a slot and what it holds.

    Raises:
        ValueError: No such slot.
    """
    slot = take_text(mount_point, "mount_point")
    kind = _SLOTS.get(slot)
    if kind is None:
        raise _make_slot_error(slot)
    return slot, kind


def _make_slot_error(slot: str) -> ValueError:
    known = ", ".join(f"`{name}`" for name in _SLOTS)
    return ValueError(f"Unknown mount point: {slot} (there are {known})")


if extension is not None:
    ModuleCoordinator.register(extension.RustCoordinator)
