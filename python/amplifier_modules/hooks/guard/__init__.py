"""`hooks-guard`: checks prompts, model calls and tool calls before they run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from amplifier_core.events import PROMPT_SUBMIT, PROVIDER_REQUEST, TOOL_PRE
from amplifier_core.models import HookResult
from amplifier_core.session_capabilities import GUARD_RATE_LIMITER as LIMITER
from amplifier_core.session_capabilities import GUARD_TOOL_TIMEOUT, OBSERVABILITY_EVENTS
from amplifier_core.weak_link import link_weakly
from amplifier_guard import Limits, RateLimited, RateLimiter
from amplifier_modules.loops.steering import STEERING_SUBMITTED
from amplifier_modules.spawn.tasks import coordinator_of
from amplifier_providers.settings import SettingError, read_settings

from .answers import deny
from .prompts import FINDINGS, Prompts
from .settings import GuardSettings
from .tools import ToolArguments, ToolSinks

__amplifier_module_type__ = "hook"
__amplifier_settings__ = GuardSettings

NAME = "hooks-guard"
LAST = 1_000_000
"""The priority of its handlers: it checks what the other hooks have left."""

Handler = Callable[[str, dict[str, Any]], Awaitable[HookResult | None]]


class Guard:
    """The handlers of one session; each fails closed, so an error denies."""

    def __init__(self, settings: GuardSettings, coordinator: Any) -> None:
        """Create the policies.

        Raises:
            ValueError: The settings of a policy cannot be used.
        """
        self._settings = settings
        self._find_coordinator = link_weakly(coordinator)
        self.limits = Limits.load(settings.list_limits())
        self._prompts = Prompts(self.limits, settings.findings)
        self._arguments = ToolArguments(self.limits.name_max_chars)
        self._limiter: RateLimiter | None = (
            coordinator.get_capability(LIMITER) or settings.rates.make_limiter()
        )
        self._sinks = {name: ToolSinks(tool) for name, tool in settings.tools.items()}

    def register(self) -> Callable[[], None]:
        """Register the handlers; call what is returned to unregister them."""
        handlers: dict[str, Handler] = {
            PROMPT_SUBMIT: self.judge_prompt,
            STEERING_SUBMITTED: self.judge_prompt,
            TOOL_PRE: self.judge_call,
        }
        if self._limiter is not None:
            handlers[PROVIDER_REQUEST] = self.judge_request
        hooks = self._find_coordinator().hooks
        registered = [
            hooks.register(event, handler, priority=LAST, name=NAME, fail_closed=True)
            for event, handler in handlers.items()
        ]

        def unregister() -> None:
            for each in registered:
                each()

        return unregister

    async def judge_prompt(self, _: str, data: dict[str, Any]) -> HookResult | None:
        """Check a prompt."""
        if answer := self._count_call(user=self._settings.user):
            return answer
        prompt = data.get("prompt")
        if not isinstance(prompt, str):
            return deny(f"the prompt is of type `{type(prompt).__name__}` (must be text)")
        return await self._prompts.judge(prompt, self._judged_session(data).hooks.emit)

    async def judge_request(self, _: str, data: dict[str, Any]) -> HookResult | None:
        """Check a model call."""
        return self._count_call(provider=str(data.get("provider") or ""))

    async def judge_call(self, _: str, data: dict[str, Any]) -> HookResult | None:
        """Check a tool call as the hooks before have left it."""
        name = data.get("tool_name")
        if not isinstance(name, str):
            return deny(f"the tool name is of type `{type(name).__name__}` (must be text)")
        if answer := self._count_call(tool=name):
            return answer
        given: Any = data.get("tool_input")
        if not isinstance(given, dict):
            return deny(
                f"the tool arguments are of type `{type(given).__name__}` (must be an object)"
            )
        if "tool_input_error" in data:
            return None  # the loop does not run such a call
        arguments = cast("dict[str, Any]", given)
        tools: Any = self._judged_session(data).get("tools") or {}
        tool = tools.get(name)
        if answer := self._arguments.judge(name, tool, arguments):
            return answer
        sinks = self._sinks.get(name)
        return await sinks.judge(name, arguments) if sinks else None

    def _judged_session(self, data: Mapping[str, Any]) -> Any:
        """Return the coordinator of the session that an event is of: this one, or a sub-agent's."""
        return coordinator_of(self._find_coordinator(), data.get("session_id"))

    def _count_call(self, **names: str) -> HookResult | None:
        """Count a call of this user, tool or provider; deny it above the rate limit."""
        if self._limiter is None:
            return None
        try:
            self._limiter.take(**names)
        except RateLimited as refusal:
            return deny(str(refusal))
        return None


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> Callable[[], None]:
    """Mount the guard.

    Args:
        coordinator: The coordinator of the session.
        config: See `GuardSettings`.

    Returns:
        A callable that unregisters its handlers.

    Raises:
        SettingError: A key is unknown, or a value cannot be used.
    """
    settings = read_settings(GuardSettings, config, NAME)
    try:
        guard = Guard(settings, coordinator)
    except ValueError as error:
        raise SettingError(f"{NAME}: {error}", module=NAME) from error
    coordinator.register_capability(GUARD_TOOL_TIMEOUT, guard.limits.tool_timeout)
    coordinator.register_contributor(OBSERVABILITY_EVENTS, NAME, lambda: [FINDINGS])
    return guard.register()
