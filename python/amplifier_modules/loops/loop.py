"""The base class of all loops, and how one is mounted."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from amplifier_core.llm_errors import ConfigurationError
from amplifier_core.session_capabilities import (
    APPROVAL_TIMEOUT,
    GUARD_TOOL_TIMEOUT,
    MODEL_OF_ROLE,
    OBSERVABILITY_EVENTS,
    SESSION_JOURNAL,
    SESSION_PAUSE,
    SESSION_RESUME,
    SESSION_STEER,
    SESSION_STORED_HISTORY,
    TURN_BUDGET,
    TURN_GOES_ON,
    TURN_PROMPT_BLOCKS,
    TURN_RESPONSE_FORMAT,
)
from amplifier_core.suggest import suggest_name
from amplifier_core.weak_link import link_weakly
from amplifier_providers.settings import read_settings

from ..contexts.history_events import HISTORY_EVENTS
from ..running.kept_state import KeptState
from ..spawn.spawn import offer_spawn
from ..spawn.task import TASK_END, TASK_START
from ..spending.budget import BUDGET_WARNING, Budget
from ..spending.ledger import Ledger, running_ledger
from .answers import agent_events
from .answers.response import RequestedCall
from .boundary.call_approval import APPROVAL_TIMEOUT as APPROVAL_TIMED_OUT
from .boundary.call_context import TOOL_PROGRESS, TOOL_RESULT, TOOL_START, offer_progress
from .boundary.cancellation import TurnCancellation
from .boundary.hook_points import HookPoints
from .deferred.offer import KeptAnnouncements, KeptOffer
from .goal.kept_goal import KeptGoal
from .goal.pursuit import GOAL_PROGRESS
from .model_call import TurnModels
from .model_roles import FAST, STRONG, ChosenModel, Roles, role_problems
from .pace import PAUSED, RATE_LIMIT_DELAY, RESUMED, LastCall, Pace
from .recovery import RECOVERABLE_ERROR
from .settings import UNLIMITED, LoopSettings
from .single_call import SingleCall
from .steering import ENDED, STEERING_DISCARDED, STEERING_INJECTED, STEERING_SUBMITTED
from .tool_call import CallRun
from .turn import Turn
from .turn_history import TurnHistory
from .turn_state import CallRules, LoopState, TurnState

logger = logging.getLogger(__name__)

ROLES = (STRONG, FAST)
"""The roles that loops use by themselves; hooks may choose others."""


class Loop:
    """A loop: runs turns, one after the other."""

    name: str
    is_streaming = False
    settings_type: type[LoopSettings] = LoopSettings
    keeps_budget = True
    """Whether turns end at the limits of their `Budget`."""

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        """Read the configuration.

        Raises:
            SettingError: A value cannot be used.
        """
        self.settings = read_settings(self.settings_type, config, self.name)
        for role in self.settings.models:
            if role not in ROLES and (advice := suggest_name(role, ROLES)):
                logger.warning("%s uses no model of the role `%s`%s", self.name, role, advice)
        self._state = state = LoopState(self.name, self.settings)
        self.steering = state.steering
        self.pausing = state.pausing

    def steer(self, text: str) -> None:
        """Add a message before the next model call, or in the next turn.

        Raises:
            TypeError: The text is not a `str`.
            ValueError: The text is empty.
            SteeringQueueFull: Too many messages are waiting.
        """
        self.steering.steer(text)

    def pause(self) -> None:
        """Hold the turn, or the next one, before its next step; nothing if it is paused."""
        self.pausing.pause()

    def resume(self) -> None:
        """Let it go on; nothing if it is not paused."""
        self.pausing.resume()

    async def execute(
        self,
        prompt: str,
        context: Any,
        providers: Mapping[str, Any],
        tools: Mapping[str, Any],
        hooks: Any,
        **kwargs: Any,
    ) -> str:
        """Run one turn and return its answer.

        Args:
            prompt: The text of the user. The capability `turn.prompt_blocks` has the blocks that it
                stands for, if there are any.
            context: The context that stores the conversation.
            providers: Mounted providers by name.
            tools: Mounted tools by name.
            hooks: The hook registry.
            **kwargs: `coordinator`, which has the cancellation token and processes hook results;
                without it a turn can neither be cancelled nor ask for approval.

        Raises:
            ConfigurationError: No provider is mounted, or that of a role is not.
            Exception: What the provider raised.
        """
        coordinator = kwargs.get("coordinator")
        if callable(reset := getattr(coordinator, "reset_turn", None)):
            reset()
        state = self._make_state(context, providers, tools, hooks, coordinator)
        if state.journal is not None:
            self.steering.restore(state.journal)
        stored = None
        if capability_of(coordinator, TURN_GOES_ON) is True:
            stored = capability_of(coordinator, SESSION_STORED_HISTORY).take_turn()
        blocks = capability_of(coordinator, TURN_PROMPT_BLOCKS)
        return await Turn(state, prompt, stored, blocks).run()

    async def run_call(
        self, call: RequestedCall, tools: Mapping[str, Any], coordinator: Any
    ) -> CallRun:
        """Run a tool call that no model has asked for, in a turn of its own without a model.

        It is judged by the hooks, put to people, limited and answered as in any turn, and is in no
        history. Several may run at the same time.

        Args:
            call: The call.
            tools: Tools by name.
            coordinator: The session's, whose providers and hooks are those of the turn.
        """
        providers: dict[str, Any] = coordinator.get("providers") or {}
        state = self._make_state(None, providers, tools, coordinator.hooks, coordinator)
        turn = SingleCall(state, call)
        await turn.run()
        return turn.take_run()

    def _make_state(
        self,
        context: Any,
        providers: Mapping[str, Any],
        tools: Mapping[str, Any],
        hooks: Any,
        coordinator: Any,
    ) -> TurnState:
        loop, settings = self._state, self.settings
        given = capability_of(coordinator, APPROVAL_TIMEOUT)
        points = HookPoints(hooks, coordinator, given or settings.approval_timeout)
        cancellation = TurnCancellation(coordinator)
        most = settings.max_parallel_tools
        rules = CallRules(
            longest=longest_tool(settings.tool_timeout, coordinator),
            max_bytes=settings.max_result_bytes,
            most_at_once=None if most == UNLIMITED else most,
            most_calls=settings.max_calls_per_answer,
        )
        has_delays = settings.min_delay_between_calls_ms > 0 or settings.stream_delay > 0
        pace: Pace | None = None
        if has_delays:
            loop.last_call = loop.last_call or LastCall()
            pace = Pace(settings, loop.last_call, cancellation)
        return TurnState(
            loop,
            tools,
            points,
            cancellation,
            TurnHistory(context, None if context is None else loop.emitted_history),
            rules,
            self._choose_models(providers, points, pace),
            ledger_of_turn(settings.budget, coordinator),
            capability_of(coordinator, TURN_RESPONSE_FORMAT),
            capability_of(coordinator, SESSION_JOURNAL),
        )

    def kept_states(self, coordinator: Any) -> Sequence[KeptState]:
        """Return what a session that is stored keeps of its turns."""
        return (
            self._state.budgets,
            KeptGoal(coordinator),
            KeptOffer(coordinator),
            KeptAnnouncements(coordinator),
        )

    def restore_spending(self, coordinator: Any, turns: Mapping[str, Mapping[str, Any]]) -> None:
        """Count what turns of other processes have used of the shared budget of a session.

        Args:
            coordinator: The coordinator of the session.
            turns: What is stored of them, by their ids.
        """
        from ..spending.kept_spending import restore_shared, shared_budget_of  # late: of a store

        if turns and (shared := shared_budget_of(self.settings.budget, coordinator)) is not None:
            restore_shared(shared, turns)

    def model_of_role(self, coordinator: Any, role: str) -> ChosenModel:
        """Return the model of a role in a session, else that of the calls of its turns.

        Raises:
            ConfigurationError: No provider is mounted, or that of a role is not.
        """
        providers: dict[str, Any] = coordinator.get("providers") or {}
        return self._choose_roles(providers).of_or_own(role)

    def role_problems(self, providers: Mapping[str, Any]) -> list[str]:
        """Say which roles of the settings name a provider that is not mounted."""
        return role_problems(providers, self.settings.models)

    def _choose_roles(self, providers: Mapping[str, Any]) -> Roles:
        return Roles(providers, self.settings.models, self.settings.default_provider)

    def _choose_models(
        self, providers: Mapping[str, Any], points: HookPoints, pace: Pace | None
    ) -> TurnModels | Exception:
        try:
            roles = self._choose_roles(providers)
        except ConfigurationError as error:
            return error
        return TurnModels(roles, points, self.settings, pace, is_streaming=self.is_streaming)


def ledger_of_turn(configured: Budget | None, coordinator: Any) -> Ledger | None:
    """Return the ledger of a turn; None where neither it nor a turn around it has a budget.

    Args:
        configured: The budget of the loop.
        coordinator: Has the capability `turn.budget`, which wins; may be None.
    """
    given = capability_of(coordinator, TURN_BUDGET)
    budget = given if isinstance(given, Budget) else configured
    around = running_ledger()
    if budget is None and around is None:
        return None
    if budget is None or (around is not None and around.owner is coordinator is not None):
        # A turn around of the same session, such as one that is repeated in parts, has its budget.
        budget = Budget(model_calls=None)
    return Ledger(budget, around, owner=coordinator)


def capability_of(coordinator: Any, name: str) -> Any:
    """Return a capability of the session; None without one."""
    capability = getattr(coordinator, "get_capability", None)
    return capability(name) if callable(capability) else None


def longest_tool(configured: float | None, coordinator: Any) -> float | None:
    """Return the time limit of tools in seconds: that of the loop or the guard, if shorter.

    Args:
        configured: The loop's own limit; None for none.
        coordinator: Has the capability `guard.tool_timeout`; may be None.
    """
    allowed = capability_of(coordinator, GUARD_TOOL_TIMEOUT)
    if (
        allowed is None
        or isinstance(allowed, bool)
        or not isinstance(allowed, (int, float))
        or allowed <= 0
    ):
        return configured
    return float(allowed) if configured is None else min(float(allowed), configured)


EVENTS = (
    *HISTORY_EVENTS,
    BUDGET_WARNING,
    APPROVAL_TIMED_OUT,
    TOOL_START,
    TOOL_PROGRESS,
    TOOL_RESULT,
    RECOVERABLE_ERROR,
    RATE_LIMIT_DELAY,
    STEERING_SUBMITTED,
    STEERING_INJECTED,
    STEERING_DISCARDED,
    GOAL_PROGRESS,
    PAUSED,
    RESUMED,
    TASK_START,
    TASK_END,
)
"""The events of our loops in addition to those of the kernel."""


async def mount_loop(coordinator: Any, loop: Loop) -> None:
    """Mount a loop as the session's orchestrator, with its capabilities and the names of its events.

    Messages that no turn has read are discarded when the session ends, unless it is stored.
    """
    offered = _Offered(loop, coordinator)
    coordinator.register_capability(SESSION_STEER, offered.steer)
    coordinator.register_capability(SESSION_PAUSE, loop.pause)
    coordinator.register_capability(SESSION_RESUME, loop.resume)
    coordinator.register_capability(MODEL_OF_ROLE, offered.find_model)
    offer_progress(coordinator)
    offer_spawn(coordinator, loop.settings.task_limits)
    coordinator.register_contributor(OBSERVABILITY_EVENTS, loop.name, offered.list_events)
    coordinator.register_cleanup(offered.discard_messages)
    await coordinator.mount("orchestrator", loop)


class _Offered:
    """What a loop offers to one session, of the many that may share it."""

    __slots__ = ("_find_coordinator", "_loop")

    def __init__(self, loop: Loop, coordinator: Any) -> None:
        self._loop = loop
        self._find_coordinator = link_weakly(coordinator)

    def list_events(self) -> list[str]:
        return [*EVENTS, *agent_events.list_names(self._find_coordinator())]

    def find_model(self, role: str) -> ChosenModel:
        return self._loop.model_of_role(self._find_coordinator(), role)

    def steer(self, text: str) -> None:
        journal = capability_of(self._find_coordinator(), SESSION_JOURNAL)
        self._loop.steering.steer(text, journal)

    async def discard_messages(self) -> None:
        if steering := self._loop.steering:
            hooks = getattr(self._find_coordinator(), "hooks", None)
            await steering.discard(HookPoints(hooks, None), ENDED, keeps_stored=True)
