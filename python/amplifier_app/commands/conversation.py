"""A session whose turns are shown, one after the other."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from amplifier_agent.observer import EARLIEST, Observer
from amplifier_app.approval import Asking, TerminalApproval
from amplifier_app.attached.unseen import are_images_unseen, has_image
from amplifier_app.commands.model_choice import AnsweringProvider
from amplifier_app.commands.mount_plan import SYSTEM_PROMPT, mount_plan, replaced_modules
from amplifier_app.commands.order import Order
from amplifier_app.commands.project_hooks import ask_about_changed_hook, ask_about_project_hooks
from amplifier_app.commands.project_rules import ask_about_project_rules
from amplifier_app.commands.project_servers import ask_about_project_servers
from amplifier_app.display.watched_servers import watch_servers
from amplifier_app.failure import Failure
from amplifier_app.known_secrets import SECRETS
from amplifier_app.module_conduct import contain_modules
from amplifier_app.notice import show_notice
from amplifier_app.output import Output
from amplifier_app.redacted_output import RedactedOutput
from amplifier_app.sessions.given_answer import find_given_answer
from amplifier_app.sessions.keeping import find_store
from amplifier_app.sessions.kept_approval import KeptApproval
from amplifier_app.turn_content import text_block, turn_content
from amplifier_core import events
from amplifier_core.session_capabilities import (
    APPROVAL_POLICY,
    GUARD_REDACTOR,
    HOOKS_ASK_AGAIN,
    SESSION_ADDED_FOLDERS,
    SESSION_JOURNAL,
    SESSION_ONE_TURN,
)
from amplifier_modules.contexts.history_events import HOOK, from_source
from amplifier_modules.running.session_bound import session_bound
from amplifier_modules.spawn.task import TASK_END, TASK_START
from amplifier_modules.spawn.tasks import tasks_of
from amplifier_modules.tools.added_folders import AddedFolders, describe_added
from amplifier_providers.prompt.watch import SessionPrompts, go_on_with, prompts_of
from amplifier_providers.requests.model_window import limits_of

if TYPE_CHECKING:
    from amplifier_agent import Agent, Prompt, Result
    from amplifier_modules.changes.change import ChangedPath
    from amplifier_modules.changes.rewind_point import NamedChange
    from amplifier_modules.changes.undone import Undone

logger = logging.getLogger(__name__)

_GRACE_SECONDS = 5.0
"""How long the clean-up may take."""


class Conversation:
    """The session of the command: it opens with the first turn.

    Args:
        order: The folder, the model and the hooks.
        answering: The provider that answers.
        output: What shows the turns.
        messages: The conversation so far, where it is not stored.
        session_id: The id of the session, which goes on if it is stored; None for a new one.
        restores_goal: Whether a session that is stored has its goal again, unless the order has one.
        asking: Put around each question, where something else reads from the terminal.
        prompts: What the requests so far have begun with, where it goes on with those of a session.
        keeps_questions: Whether questions wait for an answer of another process, as nobody is here.
    """

    def __init__(
        self,
        order: Order,
        answering: AnsweringProvider,
        output: Output,
        *,
        messages: Sequence[Mapping[str, Any]] = (),
        session_id: str | None = None,
        restores_goal: bool = True,
        is_one_turn: bool = False,
        asking: Asking = contextlib.nullcontext,
        prompts: SessionPrompts | None = None,
        keeps_questions: bool = False,
    ) -> None:
        self.output: Output = RedactedOutput(output)
        self._approval = TerminalApproval(
            self.output.hold, self.output.release, asking, find_given_answer
        )
        agent = _make_agent(order, answering, "wait" if keeps_questions else self._approval)
        self._session = agent.session(
            messages=[dict(each) for each in messages], session_id=session_id, goal=order.goal
        )
        if keeps_questions:
            kernel = self._session.session.coordinator
            kernel.approval_system = KeptApproval(kernel.approval_system, self._approval)
        self._session.session.coordinator.display_system = self.output
        self._coordinator: Any = self._session.session.coordinator
        SECRETS.learn(self._session.session.config)
        self._coordinator.register_capability(GUARD_REDACTOR, SECRETS.redactor)
        if is_one_turn:
            self._coordinator.register_capability(SESSION_ONE_TURN, True)
        if prompts is not None:
            go_on_with(self._coordinator.hooks, prompts)
        self._observer = Observer(self._coordinator, self._observe)
        self._observer.start()
        if self.output.shows_blocks:
            tasks = tasks_of(self._coordinator)
            tasks.prepare = (*tasks.prepare, self._observe_sub_agent)
        self._folder = order.folder
        self._added_folders = order.added_folders
        self._folders = AddedFolders(order.folder)
        self._coordinator.register_capability(SESSION_ADDED_FOLDERS, self._folders)
        self._name = order.name
        self._restores_goal = restores_goal and order.goal is None
        self._journal: Any = None
        self._is_open = False
        self.late_mode: str | None = None
        """The mode that was chosen while the session opens."""
        self._steering: list[str] = []
        self._is_answering = False
        self._has_begun = False
        self._has_images = False
        """Whether the prompt has images, and nobody has said that the model sees none."""
        self._before = 0
        self._result: Result | None = None
        self._written = ""

    @property
    def token(self) -> Any:
        """The cancellation token of the session."""
        return self._coordinator.cancellation

    @property
    def prompts(self) -> SessionPrompts:
        """What its requests so far have begun with."""
        return prompts_of(self._coordinator.hooks)

    @property
    def stored_id(self) -> str | None:
        """The id by which the session can go on later; None if nothing of it is stored."""
        return self._session.id if self._journal is not None and self._journal.is_stored else None

    @property
    def journal(self) -> Any:
        """What stores the session; None before the first turn, and without a store."""
        return self._journal

    async def has_queued(self) -> bool:
        """Whether a prompt of another process waits; it opens the session.

        Raises:
            Exception: What keeps the session from going on.
        """
        await self.open()
        if self._journal is None:
            return False
        await self._journal.inbox.look()
        return self._journal.inbox.count_prompts() > 0

    @property
    def is_usable(self) -> bool:
        """Whether it can take one more turn: it was opened, and nothing cancelled that."""
        return self._is_open and not self.token.is_cancelled

    @property
    def goal(self) -> str | None:
        """The goal of this turn and the next ones; None without one, or after it is reached."""
        return self._session.goal

    @goal.setter
    def goal(self, goal: str | None) -> None:
        self._session.goal = goal

    @property
    def takes_steering(self) -> bool:
        """Whether the turn that runs is not over yet: its last events may still be on their way."""
        return self._is_answering

    @property
    def result(self) -> Result | None:
        """The result of the last turn, also of one that raised; None if none ran."""
        return self._result

    @property
    def text(self) -> str:
        """What the model wrote last: the answer, or as much as there is of it."""
        return self._written or ("" if self._result is None else self._result.text)

    @property
    def content(self) -> list[dict[str, Any]]:
        """The text and tool results of the last turn, as blocks of the Claude dialect."""
        messages = () if self._result is None else self._result.messages[self._before :]
        unfinished = [text_block(self._written)] if self._written else []
        return turn_content(messages) + unfinished

    async def run(self, prompt: Prompt | None, *, is_queued: bool = False) -> Result | None:
        """Run a turn; None if it was cancelled before it began.

        Args:
            prompt: What the user says; None to go on with the turn that was not finished.
            is_queued: Whether the prompt is the next one that another process has sent.

        Raises:
            Failure: Something is wrong with the mount plan.
            Exception: What the provider or the context raised.
        """
        self._result, self._written = None, ""
        self._is_answering, self._has_begun = True, False
        self._has_images = has_image(prompt)
        with contain_modules():
            if self._is_open:
                self.token.reset()  # an interruption ends one turn
            else:
                await self._open()
            if self.token.is_cancelled:
                return None
            if prompt is None and not is_queued and not self._session.has_open_turn:
                raise Failure("no turn was left open", hint="say what is next")
            previous = self._session.last
            self._before = len(await self.messages())
            self._has_begun = True
            try:
                if is_queued:
                    return await self._session.run_queued()
                if prompt is None:
                    return await self._session.resume_turn()
                return await self._session.run(prompt)
            finally:
                self._is_answering = False
                last = self._session.last
                self._result = None if last is previous else last

    async def open(self) -> None:
        """Mount the modules, if no turn has done that.

        Raises:
            Failure: Something is wrong with the mount plan.
        """
        if not self._is_open:
            with contain_modules():
                await self._open()

    async def undo(self, to: str = "") -> Undone:
        """Take back what the last turn has changed; once it is open, between two turns.

        Args:
            to: Take back all that came after this change, turn or event.
        """
        if to:
            return await self._session.rewind(to, conversation=False)
        return await self._session.undo()

    async def redo(self) -> Undone:
        """Make again what was taken back last; as `undo`."""
        return await self._session.redo()

    async def list_changed_paths(self) -> list[ChangedPath]:
        """Return what was changed and not taken back, in the order in which it was; as `undo`."""
        from amplifier_agent.undoing import require_changes

        return await asyncio.to_thread(require_changes(self._coordinator).list_paths)

    async def list_changes(self) -> list[NamedChange]:
        """Return what was changed and not taken back, with what it is named by; as `undo`."""
        return await self._session.list_changes()

    def steer(self, text: str) -> None:
        """Say something to the turn that runs, before its next model call.

        Raises:
            Exception: The loop takes no messages, or no more of them.
        """
        if self._is_open:
            self._session.steer(text)
        else:
            self._steering.append(text)

    @property
    def added_folders(self) -> Sequence[str]:
        """The folders beside that of the session which its tools may use."""
        return self._folders.paths

    async def add_folder(self, named: str) -> str | None:
        """Let the tools use a further folder, tell the model, and return its path; once it is open.

        Returns:
            None if they may use it already.

        Raises:
            FolderRefusedError: They may not.
        """
        folder = self._folders.add(named)
        context = self._coordinator.get("context")
        if folder is not None and context is not None:
            with from_source(HOOK):
                await context.add_message({"role": "user", "content": describe_added(folder)})
        return folder

    def limit_next_turn(self, name: str, allowed: tuple[str, ...]) -> list[str]:
        """Let only some tools be called in the next turn; return lines about that.

        Args:
            name: The command that says so.
            allowed: Names of tools, or rules as those of the approvals.
        """
        from amplifier_modules.tools.skill.command_limits import CommandLimits

        return CommandLimits.of_session(self._coordinator).limit_next_turn(name, allowed)

    def listen(self, event: str, take: Callable[[str, Any], object]) -> None:
        """Call something with each event of a kind; it must not wait."""
        self._coordinator.hooks.register(event, session_bound(take), name="listen")

    def find_window(self) -> int | None:
        """Return the tokens that the model can read at once; None if that is not known."""
        providers: dict[str, Any] = self._coordinator.get("providers") or {}
        provider: Any = next(iter(providers.values()), None)
        return None if provider is None else limits_of(provider.get_info())[0]

    def find_capability(self, name: str) -> Any:
        """Return what a module of the session has registered; None if none has."""
        return self._coordinator.get_capability(name)

    def find_mounted(self, mount_point: str) -> Any:
        """Return what is mounted there, such as `tools` by their names; None for nothing."""
        return self._coordinator.get(mount_point)

    def find_config(self, module_id: str) -> Mapping[str, Any] | None:
        """Return the config of a hook module; None where the plan does not have it."""
        entries: Any = self._session.session.config.get("hooks") or ()
        found = next((each for each in entries if each.get("module") == module_id), None)
        return None if found is None else found.get("config") or {}

    def list_handlers(self) -> Mapping[str, Sequence[str]]:
        """Return the names of the hooks of each event."""
        return self._coordinator.hooks.list_handlers()

    async def messages(self) -> list[Mapping[str, Any]]:
        """The conversation so far, without the system prompt."""
        context = self._coordinator.get("context")
        found: list[Mapping[str, Any]] = [] if context is None else await context.get_messages()
        return [message for message in found if message.get("role") != "system"]

    async def keep_unfinished(self) -> None:
        """Take what the model wrote of a response that it did not finish as its answer."""
        self._written = self._session.record.unfinished if self._has_begun else ""
        context = self._coordinator.get("context")
        if self._written and context is not None:
            message = {"role": "assistant", "content": [text_block(self._written)]}
            await context.add_message(message)

    async def close(self) -> None:
        """End the session, within a limited time; failures are logged."""
        try:
            async with asyncio.timeout(_GRACE_SECONDS):
                await self._session.__aexit__()
        except TimeoutError:
            logger.warning("the session did not clean up within %.0f s", _GRACE_SECONDS)
        except Exception:
            logger.exception("the clean-up of the session failed")

    def _observe(self, event: str, data: Any) -> None:
        if event == events.EXECUTION_END:
            self._is_answering = False
        self.output.handle(event, data)
        if self._has_images and event == events.PROVIDER_RESPONSE:
            self._note_unseen(data.get("response"))

    def _note_unseen(self, response: object) -> None:
        """Say once that the model cannot see the images of the prompt."""
        if are_images_unseen(response):
            self._has_images = False
            self.output.break_line()
            show_notice("the model sees no images: it was told that one was there")

    def _observe_sub_agent(self, coordinator: Any) -> None:
        """Have what a sub-agent does shown, too."""
        for event in (events.TOOL_PRE, TASK_START, TASK_END):
            coordinator.hooks.register(event, self._show, EARLIEST, "display")

    @session_bound
    def _show(self, event: str, data: Any) -> None:
        self.output.handle(event, data)

    async def _open(self) -> None:
        """Mount the modules; the plan is strict, so nothing is left out.

        Raises:
            Failure: Something is wrong with the mount plan.
        """
        from amplifier_core.llm_errors import ConfigurationError

        goal = self._session.goal
        plan = self._session.session.config
        await ask_about_project_rules(plan, self._folder, self._approval)
        await ask_about_project_hooks(plan, self._folder, self._approval)
        await ask_about_project_servers(plan, self._folder, self._approval)
        ask_again = partial(ask_about_changed_hook, self._folder, self._approval)
        self._coordinator.register_capability(HOOKS_ASK_AGAIN, ask_again)
        try:
            await self._session.__aenter__()
        except ConfigurationError as error:
            mistakes: tuple[str, ...] = getattr(error, "mistakes", ()) or (str(error),)
            hint = "run again with `--debug` for the traceback"
            raise Failure("; ".join(mistakes), hint=hint) from error
        if not self._restores_goal:
            # What the person wants counts, also if the stored session has reached that or has another.
            self._session.goal = goal
        self._is_open = True
        policy = self.find_capability(APPROVAL_POLICY)
        if policy is not None and self.late_mode is not None:
            await policy.set_mode(self.late_mode)
        self._journal = self._coordinator.get_capability(SESSION_JOURNAL)
        if self._name is not None and self._journal is not None:
            await self._journal.rename(self._name)
        for each in self._added_folders:
            await self.add_folder(each)
        await self._observer.add_contributed()
        watch_servers(self._coordinator, self.output)
        for line in replaced_modules(self._session.session.config):
            show_notice(f"warning: {line}")
        for text in self._steering:
            self._session.steer(text)


def _make_agent(
    order: Order, answering: AnsweringProvider, approval: TerminalApproval | Literal["wait"]
) -> Agent[None]:
    from amplifier_agent import Agent

    named = None if order.named is None else order.named.store_entry
    is_new = order.stored is None
    return Agent(
        plan=mount_plan(
            order.folder,
            answering.config,
            order.model,
            order.hooks,
            order.block_chars,
            named=order.named,
            provider_module=answering.provider.module_id,
            store=find_store(named, is_new=is_new) if order.is_kept else None,
            mode=order.mode,
            is_mode_asked=order.is_mode_asked,
            has_project_notes=order.has_project_notes,
            server_files=order.server_files,
        ),
        system=order.system or SYSTEM_PROMPT.format(folder=order.folder),
        approvals=approval,
        directory=order.folder,
    )
