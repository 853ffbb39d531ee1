"""The decision about a call: rules, the mode, what was granted, and then a person."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import anyio.to_thread

from amplifier_core.approval import SESSION_GRANT, AskedCall, Offer
from amplifier_core.models import HookResult
from amplifier_core.session_capabilities import TOOLS_OFFER
from amplifier_core.weak_link import link_weakly
from amplifier_modules.running.kept_state import STATE
from amplifier_modules.spawn.tasks import coordinator_of

from .calls import Call, describe_call, list_preview
from .grants import Grants, make_offer, name_grant
from .modes import MODES, PRESENT_PLAN, Mode, asks_about, choose_narrower, find_refusal
from .plan_tool import PlanTool
from .questions import ask_about, ask_about_plan, deny, with_preview
from .rule_files import add_user_rule
from .rule_set import ListedRule, RuleSet
from .rules import RuleError

logger = logging.getLogger(__name__)


class ApprovalPolicy:
    """What a session and its sub-agents ask a person about; the capability `approval.policy`."""

    def __init__(
        self,
        coordinator: Any,
        project: Path,
        rules: RuleSet,
        mode: Mode,
        *,
        usual: Mode,
        seconds: float | None = None,
        user_settings: Path | None = None,
        around: Any = None,
        goes_on_in_mode: bool = True,
    ) -> None:
        """Decide for a session.

        Args:
            coordinator: That of the session.
            project: What paths in rules are counted from.
            rules: The rules.
            mode: The mode that it begins in.
            usual: The mode after a plan, where it begins in `plan`.
            seconds: The time to answer; None for what else applies.
            user_settings: Where rules go that a person grants; None to forget them with the session.
            around: What decides for the session that this one works for, if it does for one.
            goes_on_in_mode: Whether a session that goes on is in the mode that it was left in, if
                that lets less happen.
        """
        self._find_coordinator = link_weakly(coordinator)
        self._project = project
        self._rules = rules
        self._mode: Mode = mode
        self._usual: Mode = usual
        self._before_plan: Mode = usual
        self._seconds = seconds
        self._user_settings = user_settings
        self._grants = Grants()
        self._around = around
        self._goes_on_in_mode = goes_on_in_mode

    @property
    def is_reviewing(self) -> bool:
        """Whether a person is asked about each change, here or in the session around."""
        return self._mode == "review" or getattr(self._around, "is_reviewing", False) is True

    @property
    def lets_change(self) -> bool:
        """Whether a call may change anything, here and in the session around."""
        is_free = self._mode not in ("read-only", "plan")
        return is_free and getattr(self._around, "lets_change", True) is not False

    @property
    def mode(self) -> Mode:
        """The mode of the session, and of its sub-agents."""
        return self._mode

    async def set_mode(self, mode: Mode) -> None:
        """Go on in another mode, also in sub-agents that work.

        Raises:
            ValueError: There is no such mode.
        """
        if mode not in MODES:
            known = ", ".join(f"`{each}`" for each in MODES)
            raise ValueError(f"there is no mode `{mode}` (there are: {known})")
        if mode == "plan" and self._mode != "plan":
            self._before_plan = self._mode
        self._mode = mode
        await self.offer_plan_tool()

    @property
    def rules(self) -> Sequence[ListedRule]:
        """The rules that the session has, with those that were granted in it."""
        return self._rules.listed

    @property
    def granted_tools(self) -> Sequence[tuple[str, bool]]:
        """The tools that are granted for as long as the session goes on, and whether to a sub-agent."""
        granted: set[tuple[str, bool]] = set()
        for session_id, tool in self._grants.describe():
            is_sub_agent = self._is_sub_agent(session_id)
            if is_sub_agent or session_id == self._own_id:  # not that of which this is a copy
                granted.add((tool, is_sub_agent))
        return sorted(granted)

    @property
    def kind(self) -> str:
        """The kind of the rows that have its state."""
        return f"{STATE}approval"

    def describe(self) -> dict[str, Any] | None:
        """Return as JSON the mode, and what was granted; None for nothing but the usual mode."""
        grants = self._grants.describe()
        if not grants and self._mode == self._usual:
            return None
        return {
            "mode": self._mode,
            "before_plan": self._before_plan,
            "grants": grants,
        }

    async def restore(self, body: Mapping[str, Any]) -> None:
        """Take over what `describe` has returned in another process; the mode is never widened."""
        for session_id, tool in body["grants"]:
            self._grants.add(session_id, tool)
        mode, before = body["mode"], body["before_plan"]
        if not self._goes_on_in_mode or mode not in MODES or before not in MODES:
            return
        configured = self._before_plan if self._mode == "plan" else self._mode
        self._before_plan = choose_narrower(before, configured)
        self._mode = choose_narrower(mode, self._mode)
        await self.offer_plan_tool()

    async def offer_plan_tool(self) -> None:
        """Mount the tool for plans in the mode `plan`, and unmount it in others."""
        coordinator = self._find_coordinator()
        mounted: Mapping[str, Any] = coordinator.get("tools") or {}
        is_there = isinstance(mounted.get(PRESENT_PLAN), PlanTool)
        if self._mode == "plan" and PRESENT_PLAN not in mounted:
            await coordinator.mount("tools", PlanTool(self._leave_plan_mode), name=PRESENT_PLAN)
        elif self._mode != "plan" and is_there:
            await coordinator.unmount("tools", PRESENT_PLAN)

    async def judge(self, data: Mapping[str, Any]) -> tuple[HookResult | None, str]:
        """Return what becomes of a call, and its effect; None to let it pass.

        Args:
            data: The data of `tool:pre`.
        """
        arguments: Any = data.get("tool_input")
        if not isinstance(arguments, Mapping) or "tool_input_error" in data:
            return None, ""  # the loop does not run such a call
        if self._mode == "auto" and self._rules.is_empty and data.get("tool_name") != PRESENT_PLAN:
            return None, ""  # most sessions, which need not look at a call
        session_id = str(data.get("session_id") or "")
        name = str(data.get("tool_name"))
        call = await self._describe(name, cast("Mapping[str, Any]", arguments), session_id)
        verdict = self._judge(call, session_id)
        if verdict is not None and verdict.action == "ask_user" and not call.asks_itself:
            rows = await anyio.to_thread.run_sync(list_preview, call)
            verdict = with_preview(verdict, rows)
        return verdict, call.effect.value

    async def describe_question(self, asked: AskedCall, session_id: str) -> tuple[str, Offer]:
        """Return the effect of a call that a person is asked about, and what may be granted.

        Args:
            asked: The call.
            session_id: The session that asks.
        """
        call = await self._describe(asked.tool_name, asked.arguments, session_id)
        kept_in = "" if self._user_settings is None else str(self._user_settings)
        return call.effect.value, replace(make_offer(call), kept_in=kept_in)

    async def is_allowed(self, name: str, arguments: Mapping[str, Any], session_id: str) -> bool:
        """Whether a person has allowed a call before which its tool wants a person asked.

        Only a rule about the command does so without a sandbox. What a tool asks about other
        arguments, such as a file with secrets, is always asked.

        Args:
            name: The tool.
            arguments: The arguments of the call.
            session_id: The session that calls it.
        """
        call = await self._describe(name, arguments, session_id)
        if self._rules.find_denial(call) is not None or self._rules.find_question(call) is not None:
            return False
        if find_refusal(self._mode, call) is not None or make_offer(call) == Offer():
            return False
        if call.is_unconfined:
            return self._rules.find_allowing(call, whole=False) is not None
        is_granted = self._rules.find_allowing(call) is not None or self._has_grant(
            call, session_id
        )
        return (call.asks_always or call.host is not None) and is_granted

    async def note_grant(self, asked: AskedCall, session_id: str) -> None:
        """Remember what a person granted beyond the call, if that was offered."""
        grant = asked.reply.grant
        if grant == SESSION_GRANT:
            if asked.offer.for_session:
                call = await self._describe(asked.tool_name, asked.arguments, session_id)
                self._grants.add(session_id, name_grant(call))
        elif grant and asked.offer.rule is not None:
            await self._keep_rule(grant)

    def check_rule(self, rule: str, asked: AskedCall, session_id: str) -> str | None:
        """Return why a rule cannot be granted with the answer to a question; None if it can.

        Args:
            rule: The rule.
            asked: The call that it must mean.
            session_id: The session that asks.
        """
        rules = RuleSet(self._project)
        try:
            rules.allow(rule)
        except RuleError as error:
            return str(error)
        tool = self._find_tool(asked.tool_name, session_id)
        call = describe_call(asked.tool_name, tool, asked.arguments, self._project)
        if rules.find_allowing(call) is None:
            return f"`{rule}` does not mean this call"
        return None

    def _judge(self, call: Call, session_id: str) -> HookResult | None:
        if call.name == PRESENT_PLAN and (call.tool is None or isinstance(call.tool, PlanTool)):
            return self._judge_plan(call, session_id)
        if (rule := self._rules.find_denial(call)) is not None:
            return deny(f"the rule `{rule}` denies it")
        if refusal := find_refusal(self._mode, call):
            return deny(refusal)
        if (rule := self._rules.find_question(call)) is not None:
            return ask_about(call, f"the rule `{rule}`", self._seconds)
        if not asks_about(self._mode, call) or call.is_harmless:
            return None
        if self._rules.find_allowing(call) is not None or self._has_grant(call, session_id):
            return None
        return ask_about(call, f"it {call.effect.value}", self._seconds)

    def _judge_plan(self, call: Call, session_id: str) -> HookResult:
        if self._is_sub_agent(session_id):
            return deny("a sub-agent presents no plan: return it as your answer")
        if self._mode != "plan":
            return deny(f"the mode is `{self._mode}`: there is no plan to agree to")
        return ask_about_plan(call.arguments, self._seconds)

    def _has_grant(self, call: Call, session_id: str) -> bool:
        if not make_offer(call).for_session:
            return False
        # What is granted to a sub-agent is not granted to whoever started it.
        return self._grants.has_tool(name_grant(call), session_id, self._own_id)

    @property
    def _own_id(self) -> str:
        return str(getattr(self._find_coordinator(), "session_id", "") or "")

    def _is_sub_agent(self, session_id: str) -> bool:
        own = self._find_coordinator()
        return coordinator_of(own, session_id) is not own

    async def _describe(self, name: str, arguments: Mapping[str, Any], session_id: str) -> Call:
        """Look at a call in a thread, as it looks at files."""
        tool = self._find_tool(name, session_id)
        return await anyio.to_thread.run_sync(describe_call, name, tool, arguments, self._project)

    def _find_tool(self, name: str, session_id: str) -> Any:
        """Return the tool of this name in a session of the family; None if there is none."""
        coordinator = coordinator_of(self._find_coordinator(), session_id)
        tools: Mapping[str, Any] = coordinator.get("tools") or {}
        # Those of a loop's own, which finds and calls the tools that requests do not describe.
        offered: Mapping[str, Any] = getattr(coordinator.get_capability(TOOLS_OFFER), "tools", {})
        return tools.get(name) or offered.get(name)

    async def _leave_plan_mode(self) -> Mode:
        if self._mode == "plan":
            await self.set_mode(self._before_plan)
        return self._mode

    async def _keep_rule(self, rule: str) -> None:
        """Let a rule count, and add it to the settings of the user."""
        try:
            self._rules.allow(rule)
        except RuleError as error:
            logger.warning("hooks-approval: the rule is not kept: %s", error)
            return
        if self._user_settings is None:
            return
        try:
            await anyio.to_thread.run_sync(add_user_rule, self._user_settings, rule)
        except (OSError, ValueError, RecursionError) as error:
            logger.warning("hooks-approval: `%s` is for this session alone: %s", rule, error)
