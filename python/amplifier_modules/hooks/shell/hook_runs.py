"""Where the hooks of a session run: those of the user as the user, those of a project in the sandbox."""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

import anyio.to_thread

from amplifier_modules.hooks.project_answers import read_answers, remember_answers
from amplifier_modules.sandbox.command import Tier
from amplifier_modules.sandbox.environment import build_environment, find_caches
from amplifier_modules.sandbox.named_files import NamedFileError
from amplifier_modules.sandbox.runner import Confinement, describe_remedy, open_runner
from amplifier_modules.sandbox.session_folder import SessionFolder
from amplifier_modules.sandbox.unconfined import UnconfinedRunner

from .agreements import find_answers, hash_hook, read_project_hooks
from .answers import Answer, read_answer
from .hook_files import ShellHook
from .hook_process import HookPlace, HookProcess

logger = logging.getLogger(__name__)

AskAgain: TypeAlias = Callable[[ShellHook], Awaitable[bool]]
"""Asks a person whether a hook may run that has changed since they agreed to it."""
_CHANGED = "has changed, or a file that it names has, since the user agreed to it"


class HookRuns:
    """Runs hooks, and knows to which ones of the project the user agreed; `close` it at the end."""

    def __init__(
        self, project: Path, timeout: float, passed: Iterable[str], ask_again: AskAgain
    ) -> None:
        """Run hooks in a project; blocks.

        Args:
            project: The project, links followed.
            timeout: Seconds for those that say nothing else.
            passed: Names of variables of ours that hooks of the user have too.
            ask_again: Asks a person whether a hook may run that has changed.

        Raises:
            OSError: There is no folder for temporary files.
        """
        self._project = project
        self._timeout = timeout
        self._folders = [SessionFolder()]
        self._agreed: dict[ShellHook, str] = {}
        self._refused: set[str] = set()
        """The hashes to which a person said no since the start."""
        self._ask_again = ask_again
        self._state: Path | None = None
        self._asking: anyio.Lock | None = None
        self._of_user = HookPlace(
            UnconfinedRunner(), str(project), self._folders[0].temporary, self._build(passed)
        )
        self._of_project: HookPlace | None = None

    def add_project_hooks(self, state: Path | None) -> list[ShellHook]:
        """Return the hooks of the project that the user agreed to; blocks.

        Args:
            state: Where the answers are; None for none.
        """
        self._state = state
        found = read_project_hooks(self._project)
        for problem in found.problems:
            logger.warning("hooks-shell: %s", problem)
        answers = {} if state is None else read_answers(self._project, find_answers(state))
        unanswered = 0
        for hook in found.hooks:
            try:
                digest = hash_hook(hook, self._project)
            except NamedFileError as error:
                logger.warning(
                    "hooks-shell: `%s` of the project never runs: %s", hook.command, error
                )
                continue
            answer = answers.get(digest)
            if answer is True:
                self._agreed[hook] = digest
            unanswered += answer is None
        if unanswered:
            logger.warning(
                "hooks-shell: %d of the hooks in `.claude` of the project do not run, as the user has"
                " not agreed to them",
                unanswered,
            )
        if self._agreed and not self._open_sandbox():
            self._agreed.clear()
            logger.warning(
                "hooks-shell: the hooks of the project do not run, as no sandbox keeps them to it; %s",
                describe_remedy(),
            )
        return list(self._agreed)

    async def run(self, hook: ShellHook, given: bytes) -> Answer:
        """Run a hook, and return what it says.

        Args:
            hook: The hook.
            given: What it reads.
        """
        if not hook.of_project:
            return await self._run(hook, self._of_user, given)
        if self._of_project is None or not await self._may_run(hook):
            return self._refuse(hook)
        answer = await self._run(hook, self._of_project, given)
        # What was judged by a file that came and went in between does not count.
        if hook.judges and await self._has_changed(hook):
            return self._refuse(hook)
        return answer

    def close(self) -> None:
        """Remove what is kept; blocks."""
        if self._of_project is not None:
            self._of_project.runner.close()
        for folder in self._folders:
            folder.remove()

    async def _run(self, hook: ShellHook, place: HookPlace, given: bytes) -> Answer:
        process = HookProcess(place, hook.command, hook.timeout or self._timeout, given)
        return read_answer(hook, await process.run())

    async def _may_run(self, hook: ShellHook) -> bool:
        """Whether a person has agreed to a hook as it is now; one that has changed is asked about."""
        if not await self._has_changed(hook):
            return True
        self._asking = self._asking or anyio.Lock()
        async with self._asking:  # of calls that run side by side, one asks
            digest = await self._hash_hook(hook)
            if digest is None or digest in self._refused:
                return False
            if digest != self._agreed.get(hook):
                if not await self._ask_again(hook):
                    self._refused.add(digest)
                    return False
                await self._note_yes(hook, digest)
        # What it was asked about may be something else by now.
        return not await self._has_changed(hook)

    async def _note_yes(self, hook: ShellHook, digest: str) -> None:
        self._agreed[hook] = digest
        if self._state is None:
            return
        path = find_answers(self._state)
        remember = partial(remember_answers, [digest], self._project, path, agreed=True)
        try:
            await anyio.to_thread.run_sync(remember)
        except OSError as error:
            logger.warning("hooks-shell: the answer cannot be kept: %s", error)

    async def _has_changed(self, hook: ShellHook) -> bool:
        return await self._hash_hook(hook) != self._agreed.get(hook, "")

    async def _hash_hook(self, hook: ShellHook) -> str | None:
        """Return the hash of a hook; None where nobody can agree to it."""
        try:
            return await anyio.to_thread.run_sync(hash_hook, hook, self._project)
        except NamedFileError:
            return None

    def _refuse(self, hook: ShellHook) -> Answer:
        note = f"the hook `{hook.command}` of the project {_CHANGED}: it runs after another yes, at the next start"
        return Answer(denied=note) if hook.judges else Answer(notes=(note,))

    def _open_sandbox(self) -> bool:
        folder = SessionFolder()
        self._folders.append(folder)
        caches = find_caches(self._project)
        confinement = Confinement(
            self._project, folder.path, folder.temporary, caches, "project", "off"
        )
        runner = open_runner(confinement)
        if runner.tier is Tier.NONE:
            return False
        environment = {**self._build(()), "TMPDIR": str(folder.temporary)}
        self._of_project = replace(
            self._of_user, runner=runner, temporary=folder.temporary, environment=environment
        )
        return True

    def _build(self, passed: Iterable[str]) -> Mapping[str, str]:
        temporary, caches = self._folders[0].temporary, find_caches(self._project)
        environment = build_environment(os.environ, temporary, caches, passed=passed)
        return {**environment, "CLAUDE_PROJECT_DIR": str(self._project)}
