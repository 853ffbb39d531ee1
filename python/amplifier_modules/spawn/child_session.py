"""A session that does a task for another one, made of the modules of that one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import anyio

from amplifier_core import AmplifierSession, events
from amplifier_core.handlers import count_registrations
from amplifier_core.llm_errors import ConfigurationError
from amplifier_core.loader import ModuleLoader
from amplifier_core.mount_plan import MAIN_MODULES
from amplifier_core.mounting import list_mounted_modules, note_inherited
from amplifier_core.session_capabilities import (
    SESSION_STORE_CHILD,
    SESSION_STORED_HISTORY,
    TURN_GOES_ON,
)

from ..contexts.attached import attach_context
from ..running.failure import is_token_cancellation
from ..spending.budget import Budget
from ..spending.ledger import RUNNING, Ledger
from .child_plan import child_plan
from .rights import Rights, hand_on
from .task import Answer, Used
from .tasks import CANCELLED, Prepare, tasks_of
from .turn_account import TurnAccount

_RESOLVER = "module-source-resolver"


@dataclass(frozen=True)
class Recipe:
    """What a sub-agent is made of, beside the modules of its parent; kept while it can go on."""

    system: str | None = None
    """The system prompt."""
    tools: tuple[Any, ...] | None = None
    """Names of the parent's tools, and tools; None for all of the parent's."""
    model: Any = None
    context: Any = None


class Kept(NamedTuple):
    """What a task is continued with."""

    recipe: Recipe
    messages: Sequence[Mapping[str, Any]]


class ChildSession:
    """A session with the rights of its parent and a history of its own; `run` it once.

    It shares the tools and the handlers that its parent has at this moment. Its loop and its
    context are its own, and so is what belongs to one session, such as providers: that is mounted
    anew, while what the parent has is still what its module mounted.
    """

    def __init__(
        self,
        parent: Any,
        recipe: Recipe,
        *,
        budget: Budget | None = None,
        messages: Sequence[Mapping[str, Any]] = (),
        session_id: str | None = None,
        goes_on: bool = False,
        prepare: Sequence[Prepare] = (),
    ) -> None:
        """Make the session; nothing is loaded yet.

        Args:
            parent: The coordinator of the parent.
            recipe: What the session is made of.
            budget: What its turn may use, within what is left of the turn around it.
            messages: The conversation so far.
            session_id: Its id if it goes on with an earlier conversation.
            goes_on: Whether it goes on with a turn that another process has begun.
            prepare: What is called before the modules are loaded.

        Raises:
            ValueError: The recipe names a tool that is not there, or no model.
        """
        self._parent = parent
        self._recipe = recipe
        self._budget = budget
        self._messages = messages
        self._goes_on = goes_on
        self._prepare = tuple(prepare)
        self._account = TurnAccount()
        self.messages: list[dict[str, Any]] = list(map(dict, messages))
        """The conversation, without the system prompt; complete after `run`."""
        rights = Rights.of(parent)
        if recipe.tools is not None:
            names = {each for each in recipe.tools if isinstance(each, str)}
            if session_id is None:  # what is resumed may have lost some of its tools
                _check_tools(names, rights.tools)
            rights = rights.narrowed_to(names)
        self._rights = rights
        self._child_plan = child_plan(parent.config, rights, recipe.model, recipe.context)
        self.session = AmplifierSession(
            self._child_plan.plan,
            loader=_own_loader(parent),
            session_id=session_id,
            parent_id=parent.session_id or None,
            approval_system=rights.approvals,
            display_system=rights.display,
            is_resumed=session_id is not None,
        )
        """The session of the kernel."""

    @property
    def kept(self) -> Kept:
        """What the task is continued with."""
        return Kept(self._recipe, self.messages)

    def count_usage(self) -> Used:
        """Return what the turn has used so far."""
        return self._account.used

    async def run(self, prompt: str) -> Answer:
        """Run the turn and end the session.

        Raises:
            ConfigurationError: The session cannot keep its budget.
            Exception: What a module, the provider or the context raised.
        """
        coordinator: Any = self.session.coordinator
        try:
            await self._begin(coordinator)
            if coordinator.cancellation.is_cancelled:
                return CANCELLED
            history = coordinator.get_capability(SESSION_STORED_HISTORY)
            if self._goes_on and history is not None:
                if (ended := TurnAccount.read_ended(history)) is not None:
                    self.messages = await _read_conversation(coordinator.get("context"))
                    return ended
                if history.prompt is not None and _is_our_loop(coordinator):
                    coordinator.register_capability(TURN_GOES_ON, True)
                    prompt = history.prompt
            return await self._run_turn(coordinator, prompt)
        finally:
            with anyio.CancelScope(shield=True):
                await self.session.cleanup()

    async def _begin(self, coordinator: Any) -> None:
        for name, value in self._rights.capabilities.items():
            coordinator.register_capability(name, value)
        begun = count_registrations(coordinator.hooks)
        hand_on(self._rights.handed_on(self._child_plan.remounted), coordinator.hooks)
        inherited = range(begun, count_registrations(coordinator.hooks))
        tasks_of(coordinator).prepare = self._prepare
        for prepare in self._prepare:
            prepare(coordinator)
        resolver = self._parent.get(_RESOLVER)
        if resolver is not None:
            await coordinator.mount(_RESOLVER, resolver)
        await self.session.initialize()
        note_inherited(coordinator, inherited, self._rights.capabilities)
        await self._mount_objects(coordinator)
        if self._budget is not None and not _is_our_loop(coordinator):
            loop = coordinator.get("orchestrator")
            name = getattr(loop, "name", None) or type(loop).__name__
            raise ConfigurationError(f"the loop `{name}` keeps no budget; use one of ours")
        store_child = self._parent.get_capability(SESSION_STORE_CHILD)
        if store_child is not None:
            await store_child(coordinator)
        is_stored = coordinator.get_capability(SESSION_STORED_HISTORY) is not None
        await self._fill(coordinator.get("context"), () if is_stored else self._messages)

    async def _mount_objects(self, coordinator: Any) -> None:
        """Mount what no plan can hold: the objects of the recipe, and those of the parent."""
        recipe = self._recipe
        if recipe.context is not None and not isinstance(recipe.context, str | Mapping):
            await attach_context(coordinator, recipe.context)
        for name, provider in self._child_plan.providers.items():
            await coordinator.mount("providers", provider, name=name)
        if recipe.model is not None and not isinstance(recipe.model, str):
            await coordinator.mount("providers", recipe.model, name=recipe.model.name)
        tools = {**self._rights.tools, **self._given_tools(coordinator)}
        mounted: dict[str, Any] = dict(coordinator.get("tools") or {})
        own = mounted.keys() & self._own_tools()
        for name in mounted:
            await coordinator.unmount("tools", name)
        # In the order of the parent: what requests have in common is cached by services.
        for name, each in tools.items():
            is_own = name in own and each is self._rights.tools.get(name)
            await coordinator.mount("tools", mounted[name] if is_own else each, name=name)

    def _given_tools(self, coordinator: Any) -> dict[str, Any]:
        """Return the tools that the program gave to the sub-agent, not to its parent."""
        recipe, given = self._recipe, dict[str, Any]()
        if recipe.tools is None and isinstance(recipe.context, str | Mapping):
            of_contexts = (
                each for each in list_mounted_modules(coordinator) if each.kind == "context"
            )
            for module in of_contexts:
                given |= {n: each for n, each in module.tools if n not in self._rights.tools}
        return given | {each.name: each for each in recipe.tools or () if not isinstance(each, str)}

    def _own_tools(self) -> set[str]:
        """Name the tools that are mounted anew, as those of the parent belong to its session."""
        modules = [each for each in self._rights.modules if each.kind in MAIN_MODULES]
        return set[str]().union(
            *map(self._rights.own_tools, (*modules, *self._child_plan.remounted))
        )

    async def _fill(self, context: Any, messages: Iterable[Mapping[str, Any]]) -> None:
        if (system := self._recipe.system) is not None:
            set_factory = getattr(context, "set_system_prompt_factory", None)
            if callable(set_factory):
                await cast("Any", set_factory(_make_prompt_factory(system)))
            else:
                await context.add_message({"role": "system", "content": system})
        for message in messages:
            await context.add_message(message)

    async def _run_turn(self, coordinator: Any, prompt: str) -> Answer:
        account, token = self._account, coordinator.cancellation
        response = events.LLM_POST if _is_our_loop(coordinator) else events.PROVIDER_RESPONSE
        coordinator.hooks._listen(account.make_listeners(response))
        ledger = Ledger(
            self._budget or Budget(model_calls=None), self._rights.ledger, owner=coordinator
        )
        running = RUNNING.set(ledger)
        try:
            text = await self.session.execute(prompt)
        except BaseException as error:
            if token.is_cancelled and is_token_cancellation(error):
                return CANCELLED
            raise
        finally:
            RUNNING.reset(running)
            ledger.end()
            coordinator.hooks._listen(None)
            with anyio.CancelScope(shield=True):
                self.messages = await _read_conversation(coordinator.get("context"))
        return account.answer(text, is_cancelled=token.is_cancelled)


def _is_our_loop(coordinator: Any) -> bool:
    """Whether the loop of a session is one of ours: it keeps budgets, and goes on with turns."""
    return getattr(coordinator.get("orchestrator"), "keeps_budget", False) is True


def _own_loader(parent: Any) -> Any:
    """Return the loader of an application; None for ours, of which each session has its own."""
    loader = getattr(parent, "loader", None)
    return None if isinstance(loader, ModuleLoader) else loader


async def _read_conversation(context: Any) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [] if context is None else await context.get_messages()
    return [{**each} for each in messages if each.get("role") != "system"]


def _check_tools(names: Iterable[str], mounted: Mapping[str, Any]) -> None:
    for each in names:
        if each not in mounted:
            known = ", ".join(f"`{name}`" for name in mounted) or "none"
            raise ValueError(f"no tool `{each}` is mounted (there are: {known})")


def _make_prompt_factory(system: str) -> Any:
    async def return_prompt() -> str:
        return system

    return return_prompt
