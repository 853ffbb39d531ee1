"""What `allowed-tools` of a skill leaves of the tools, until the turn in which it was read ends.

It is a state of the session, so that a turn that goes on in another process has it, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

import anyio.to_thread

from amplifier_core.events import PROMPT_SUBMIT, TOOL_PRE
from amplifier_core.models import HookResult
from amplifier_core.session_capabilities import TURN_GOES_ON
from amplifier_core.weak_link import link_weakly
from amplifier_guard import TerminalText
from amplifier_modules.running.kept_state import STATE
from amplifier_modules.spawn.tasks import coordinator_of

from .skill_files import Skill

_NAME = "tool-skill"
_LATE = 998_000
"""It judges what other hooks have left; who is asked about a call comes after it."""


@dataclass(frozen=True)
class _Limit:
    skill: str
    allowed: tuple[str, ...]
    """As it is written."""
    rules: Any
    """A `RuleSet`, which only denies here: what it does not allow."""

    @property
    def written(self) -> str:
        """What is allowed, as it can be shown."""
        return TerminalText.line(", ".join(self.allowed) or "none", 300)


class SkillLimits:
    """Denies the calls that a skill in use does not allow. It allows nothing that is not allowed besides."""

    def __init__(self, coordinator: Any, project: Path, what: str = "skill") -> None:
        """Judge the calls of a session and its sub-agents.

        Args:
            coordinator: That of the session.
            project: What paths in rules are counted from.
            what: What limits them, for the reason of a refusal.
        """
        self._what = what
        self._find_coordinator = link_weakly(coordinator)
        self._project = project
        self._limits = dict[str, dict[str, _Limit]]()

    def register(self) -> Callable[[], None]:
        """Register the handlers; call what is returned to unregister them."""
        hooks = self._find_coordinator().hooks
        registered = [
            hooks.register(TOOL_PRE, self.judge_call, _LATE, _NAME, fail_closed=True),
            hooks.register(PROMPT_SUBMIT, self.end_turn, name=_NAME),
        ]

        def unregister() -> None:
            for each in registered:
                each()

        return unregister

    def add(self, skill: Skill, session_id: str) -> list[str]:
        """Let only the tools of a skill be called from now on; return what to say about that.

        Args:
            skill: The skill, with `allowed-tools`.
            session_id: The session that uses it.
        """
        return self.add_allowed(skill.name, skill.allowed_tools or (), session_id)

    def add_allowed(self, name: str, allowed: Sequence[str], session_id: str) -> list[str]:
        """Do the same for tools by their names and rules.

        Args:
            name: What allows them.
            allowed: The rules.
            session_id: The session.
        """
        limit, notes = self._make_limit(name, allowed, session_id)
        self._limits.setdefault(session_id, {})[name] = limit
        return [f"until this turn ends, only these tools can be called: {limit.written}", *notes]

    def list_kept(self, session_id: str) -> list[list[Any]]:
        """Return the limits of a session as JSON: the name of each skill, and what it allows."""
        limits = list(self._limits.get(session_id, {}).values())
        return [[each.skill, *each.allowed] for each in limits]

    def restore(self, kept: Iterable[Sequence[str]], session_id: str) -> None:
        """Take over what `list_kept` has returned in another process."""
        for skill, *allowed in kept:
            limit, _ = self._make_limit(skill, allowed, session_id)
            self._limits.setdefault(session_id, {})[skill] = limit

    async def judge_call(self, event: str, data: dict[str, Any]) -> HookResult | None:
        """Deny a call that a skill in use does not allow."""
        del event
        limits = self._list_limits(str(data.get("session_id") or ""))
        arguments: Any = data.get("tool_input")
        if not limits or not isinstance(arguments, Mapping) or "tool_input_error" in data:
            return None
        name = str(data.get("tool_name"))
        tool = self._list_tools(str(data.get("session_id") or "")).get(name)
        if getattr(tool, "acts_in_session", False) is True:
            return None  # what it leads to is judged by itself
        given = cast("Mapping[str, Any]", arguments)
        refusing = await anyio.to_thread.run_sync(self._find_refusal, limits, name, tool, given)
        if refusing is None:
            return None
        reason = (
            f"the {self._what} `{refusing.skill}` is in use, and allows only: {refusing.written}; it ends"
            " with this turn"
        )
        return HookResult(action="deny", reason=reason)

    async def end_turn(self, event: str, data: dict[str, Any]) -> None:
        """Forget what the turn before has limited, unless that turn goes on."""
        del event
        session_id = str(data.get("session_id") or "")
        coordinator = coordinator_of(self._find_coordinator(), session_id)
        if not coordinator.get_capability(TURN_GOES_ON):
            self._limits.pop(session_id, None)

    def _make_limit(
        self, skill: str, allowed: Sequence[str], session_id: str
    ) -> tuple[_Limit, list[str]]:
        """Return a limit, and what is to be said of its rules."""
        # Late: most skills limit nothing, and the rules have a parser of commands.
        from amplifier_modules.hooks.approval.rule_set import RuleSet
        from amplifier_modules.hooks.approval.rules import RuleError, read_rule

        rules, notes = RuleSet(self._project), list[str]()
        mounted = set(self._list_tools(session_id))
        for text in allowed:
            shown = TerminalText.line(text, 80)
            try:
                rule = read_rule(text, self._project)
                rules.allow(text)
            except RuleError:
                notes.append(f"`{shown}` of `allowed-tools` is not understood: it allows nothing")
                continue
            if not any(map(rule.is_about, mounted)):
                notes.append(f"`{shown}` of `allowed-tools` is no tool that is mounted")
        return _Limit(skill, tuple(allowed), rules), notes

    def _list_limits(self, session_id: str) -> list[_Limit]:
        """Return the limits of a session; those of the one around count for its sub-agents, too."""
        own = str(getattr(self._find_coordinator(), "session_id", "") or "")
        return [
            limit
            for each in dict.fromkeys((own, session_id))
            for limit in self._limits.get(each, {}).values()
        ]

    def _find_refusal(
        self, limits: list[_Limit], name: str, tool: Any, arguments: Mapping[str, Any]
    ) -> _Limit | None:
        from amplifier_modules.hooks.approval.calls import describe_call

        call = describe_call(name, tool, arguments, self._project)
        return next((each for each in limits if each.rules.find_allowing(call) is None), None)

    def _list_tools(self, session_id: str) -> Mapping[str, Any]:
        coordinator = coordinator_of(self._find_coordinator(), session_id)
        return cast("Mapping[str, Any]", coordinator.get("tools") or {})


class KeptLimits:
    """The limits of one session as a state of it; see `KeptState`."""

    kind: ClassVar[str] = f"{STATE}skill-limits"

    def __init__(self, limits: SkillLimits, coordinator: Any) -> None:
        """Keep those of the session of a coordinator."""
        self._limits = limits
        self._session_id = str(getattr(coordinator, "session_id", "") or "")

    def describe(self) -> list[list[Any]] | None:
        """Return them as JSON; None for none."""
        return self._limits.list_kept(self._session_id) or None

    def restore(self, body: Any) -> None:
        """Take over what another process has described."""
        self._limits.restore(body, self._session_id)
