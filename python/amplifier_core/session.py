"""The session in plain Python, which initialises itself and keeps a status.

It does what the Rust class of `amplifier_core` does but for the differences that CONTRACTS.md
lists. Its attributes are ordinary ones, which callers may replace.
"""

from __future__ import annotations

from abc import ABCMeta
from datetime import datetime
from types import SimpleNamespace
from typing import Any, Self, cast

from . import _session_exec, world
from ._kernel.argument import any_text, take_flag
from ._loading.review import review, reviewed_failure
from ._native.choice import extension
from ._session_init import (
    _safe_exception_str,  # pyright: ignore[reportPrivateUsage] -- the name that callers patch
    _session_aenter,  # pyright: ignore[reportPrivateUsage] -- of the same package
    initialize_session,
)
from .coordinator import ModuleCoordinator
from .events import CANCEL_COMPLETED, SESSION_END, SESSION_RESUME, SESSION_START
from .loader import ModuleLoader, make_session_loader
from .models import SessionStatus
from .mount_plan import check_main_modules, plan_for_events
from .session_capabilities import SESSION_STORED_HISTORY
from .turns import Turns

__all__ = ["AmplifierSession"]

_NEEDED = (
    ("orchestrator", "No orchestrator module mounted"),
    ("context", "No context manager mounted"),
    ("providers", "No providers mounted"),
)
"""Slots that a turn needs, and the error where one is empty."""


class AmplifierSession(metaclass=ABCMeta):  # noqa: B024 (for `register` alone)
    """Runs turns: it loads the modules of a configuration and has their loop answer prompts."""

    def __init__(
        self,
        config: dict[str, Any],
        loader: Any = None,
        session_id: str | None = None,
        parent_id: str | None = None,
        approval_system: Any = None,
        display_system: Any = None,
        is_resumed: bool = False,
    ) -> None:
        """Make a session; nothing is loaded yet.

        Args:
            config: Mount plan, kept as it is and live.
            loader: Loads the modules; a `ModuleLoader` by default.
            session_id: Id of the session; a random UUID by default.
            parent_id: Id of the session that this one is forked from.
            approval_system: What asks the user for approvals.
            display_system: What shows messages to the user.
            is_resumed: Whether the session continues an earlier one.

        Raises:
            ValueError: The configuration does not name a loop and a context.
            TypeError: An argument is of the wrong type.
        """
        check_main_modules(config)
        self.session_id = any_text(session_id, "session_id") if session_id else world.new_uuid()
        self.parent_id = None if parent_id is None else any_text(parent_id, "parent_id")
        self.config = config
        self.status = SessionStatus(session_id=self.session_id)
        """Status of the session."""
        identity = SimpleNamespace(
            session_id=self.session_id, parent_id=self.parent_id, config=config
        )
        self.coordinator: Any = ModuleCoordinator(identity, approval_system, display_system)
        self.coordinator._set_session(self)
        self.coordinator.hooks.set_default_fields(
            session_id=self.session_id, parent_id=self.parent_id
        )
        if loader is None:
            # The name of this module, which callers patch.
            loader = make_session_loader(self.coordinator, ModuleLoader)
        self.loader: Any = loader
        self._is_resumed = take_flag(is_resumed, "is_resumed")
        self._initialized = False
        self._is_announced = False
        self._loading: Any = None
        """While a load runs, the future that waiting callers await, if there are any."""
        self._is_loading = False
        self._turns = Turns()

    @property
    def is_resumed(self) -> bool:
        """Whether the session continues an earlier one."""
        return self._is_resumed

    @property
    def initialized(self) -> bool:
        """Whether the modules are loaded and turns can run."""
        return self._initialized

    async def initialize(self) -> None:
        """Load and mount the modules of the configuration, once.

        Raises:
            RuntimeError: A module that every session needs cannot be loaded, or the mount plan is
                strict and has mistakes.
        """
        while self._is_loading:
            await self._end_of_load()
        if self._initialized:
            return
        self._is_loading = True
        try:
            self.coordinator.loader = self.loader
            self.coordinator._set_session(self)
            try:
                await initialize_session(
                    self.config, self.coordinator, self.session_id, self.parent_id
                )
            except Exception as error:
                found = reviewed_failure(self.config, self.coordinator, error)
                if found is error:
                    raise
                raise found from found.__cause__
            if (reviewing := review(self.config, self.coordinator)) is not None:
                await reviewing
            self._note_stored()
            self._initialized = True
        finally:
            self._is_loading = False
            loading, self._loading = self._loading, None
            if loading is not None:
                loading.set()

    async def execute(self, prompt: str) -> str:
        """Run a turn and return the answer; what the loop raises comes through.

        The session is initialised if it is not. The loop gets the prompt as it is. Turns run one at
        a time, in the order of the calls.

        Raises:
            RuntimeError: A module that every session needs is not mounted, or a turn of this session
                is running in another event loop or around this call.
        """
        turn = self._turns.begin()
        if turn.waiting is not None:
            await turn.wait()
        try:
            return await self._run_turn(prompt)
        finally:
            turn.end()

    async def cleanup(self) -> None:
        """Announce the end of the session, run every clean-up function and forget the loader's paths.

        A second call has nothing left to do.
        """
        was_initialized, self._initialized = self._initialized, False
        try:
            if was_initialized:
                self.status.ended_at = datetime.fromtimestamp(world.time())
                ended = {"session_id": self.session_id, "status": self.status.status}
                await self.coordinator.hooks.emit(SESSION_END, ended)
        finally:
            try:
                await self.coordinator.cleanup()
            finally:
                self.loader.cleanup()

    async def __aenter__(self) -> Self:
        """Initialize the session."""
        return await _session_aenter(self)

    async def __aexit__(self, *_exception: object) -> None:
        """Clean the session up."""
        await self.cleanup()

    def __repr__(self) -> str:
        """Show the id and whether the session is initialised."""
        phase = "initialized" if self._initialized else "not initialized"
        return f"<{type(self).__name__}: {self.session_id!r}, {phase}>"

    async def _run_turn(self, prompt: str) -> str:
        was_immediate = self.coordinator.cancellation.is_immediate
        if not self._initialized:
            await self.initialize()
        if not self._is_announced:
            self._is_announced = True
            self._note_stored()
            event = SESSION_RESUME if self._is_resumed else SESSION_START
            await _session_exec.announce(self.coordinator, event, self._make_announcement())
        for slot, complaint in _NEEDED:
            mounted = self.coordinator.get(slot)
            # A context without messages may be falsy though it is mounted.
            if mounted is None or (slot == "providers" and not mounted):
                raise RuntimeError(complaint)
        status = self.status
        status.status = "running"
        told_before = self._cancellations_told()
        # A stop that was asked for in this turn, while hooks ran that the session called.
        stopping = (
            () if was_immediate or not self.coordinator.cancellation.is_immediate else (True,)
        )
        try:
            answer = await _session_exec.run_orchestrator(self.coordinator, prompt, *stopping)
        except GeneratorExit:
            raise
        except BaseException as error:
            message = _safe_exception_str(error)
            if self.coordinator.cancellation.is_cancelled:
                status.status = "cancelled"
                await self._tell_of_cancellation(told_before, error=message)
            else:
                status.status, status.last_error = "failed", {"message": message}
            raise
        if self.coordinator.cancellation.is_cancelled:
            status.status = "cancelled"
            await self._tell_of_cancellation(told_before)
        else:
            status.status = "completed"
        return answer

    def _note_stored(self) -> None:
        """Note that the session goes on with what is stored of it, if it does."""
        if self.coordinator.get_capability(SESSION_STORED_HISTORY) is not None:
            self._is_resumed = True

    def _merge_configs(self, base: dict[str, Any], overlay: dict[str, Any]) -> dict[str, Any]:
        """Merge two configurations; for values that are not dicts in both, the overlay wins."""
        merged = base.copy()
        for key, value in overlay.items():
            below = merged.get(key)
            if isinstance(below, dict) and isinstance(value, dict):
                nested = cast("dict[str, Any]", below), cast("dict[str, Any]", value)
                value = self._merge_configs(*nested)
            merged[key] = value
        return merged

    def _make_announcement(self) -> dict[str, Any]:
        """The payload of the event that announces the session."""
        ids = {"session_id": self.session_id, "parent_id": self.parent_id}
        return {**ids, **plan_for_events(self.config)}

    def _cancellations_told(self) -> int:
        """How often `cancel:completed` was emitted."""
        return getattr(self.coordinator.hooks, "_cancellations_told", 0)

    async def _tell_of_cancellation(self, told_before: int, **further: str) -> None:
        """Tell that a turn ended because it was cancelled, unless its loop has."""
        if self._cancellations_told() != told_before:
            return
        was_immediate = self.coordinator.cancellation.is_immediate
        await self.coordinator.hooks.emit(
            CANCEL_COMPLETED, {"was_immediate": was_immediate, **further}
        )

    async def _end_of_load(self) -> None:
        """Wait until the load that runs now has ended, well or badly."""
        if self._loading is None:
            from anyio import Event

            self._loading = Event()
        await self._loading.wait()


if extension is not None:
    AmplifierSession.register(extension.RustSession)
