"""Where the hooks of a session run: those of the user as the user, those of a project in the sandbox."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import anyio.to_thread

from amplifier_modules.hooks.project_answers import read_answers
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

_CHANGED = "has changed, or a file that it names has, since the user agreed to it"


class HookRuns:
    """Runs hooks, and knows to which ones of the project the user agreed; `close` it at the end."""

    def __init__(self, project: Path, timeout: float, passed: Iterable[str]) -> None:
        """Run hooks in a project; blocks.

        Args:
            project: The project, links followed.
            timeout: Seconds for those that say nothing else.
            passed: Names of variables of ours that hooks of the user have too.

        Raises:
            OSError: There is no folder for temporary files.
        """
        self._project = project
        self._timeout = timeout
        self._folders = [SessionFolder()]
        self._agreed: dict[ShellHook, str] = {}
        self._of_user = HookPlace(
            UnconfinedRunner(), str(project), self._folders[0].temporary, self._build(passed)
        )
        self._of_project: HookPlace | None = None

    def add_project_hooks(self, state: Path | None) -> list[ShellHook]:
        """Return the hooks of the project that the user agreed to; blocks.

        Args:
            state: Where the answers are; None for none.
        """
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
        if self._of_project is None or await self._has_changed(hook):
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

    async def _has_changed(self, hook: ShellHook) -> bool:
        try:
            digest = await anyio.to_thread.run_sync(hash_hook, hook, self._project)
        except NamedFileError:
            return True
        return digest != self._agreed.get(hook)

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
