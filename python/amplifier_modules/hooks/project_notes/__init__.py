"""`hooks-project-notes`: gives a model the notes of its user and of the project."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import anyio.to_thread

from amplifier_core.events import ARTIFACT_READ, ARTIFACT_WRITE, PROMPT_SUBMIT, PROVIDER_REQUEST
from amplifier_core.session_capabilities import SESSION_STORED_HISTORY, SESSION_WORKING_DIR
from amplifier_core.weak_link import link_weakly
from amplifier_modules.contexts.history_events import HOOK, from_source
from amplifier_modules.contexts.messages import NOTES, program_of
from amplifier_modules.contexts.simple import SimpleContext
from amplifier_modules.contexts.system_prompt import SystemNote
from amplifier_modules.instructions.reporting import report_problems
from amplifier_modules.running.session_bound import session_bound
from amplifier_providers.settings import read_settings

from .note import Notes, write_block, write_changes
from .note_files import NoteFiles
from .settings import MAX_NOTES_BYTES, ProjectNotesSettings

__amplifier_module_type__ = "hook"
__amplifier_settings__ = ProjectNotesSettings

__all__ = ["MAX_NOTES_BYTES", "NAME", "ProjectNotes", "ProjectNotesSettings", "mount"]

NAME = "hooks-project-notes"
_MAX_INNER_FOLDERS = 200


class ProjectNotes:
    """The notes of one session.

    What is there at the first request stands below the system prompt until the session ends. What
    is found later, or has changed since, is a message at the end of the history: no request begins
    otherwise than the one before it.
    """

    def __init__(self, coordinator: Any, files: NoteFiles, max_bytes: int) -> None:
        """Give the session of a coordinator what these files hold.

        Args:
            coordinator: The coordinator.
            files: Where the notes are.
            max_bytes: Bytes of all notes together.
        """
        self._find_coordinator = link_weakly(coordinator)
        self._files = files
        self._max_bytes = max_bytes
        self._inner_folders = dict[str, None]()
        self._is_current = False
        self._has_begun = False
        self._said = set[str]()
        """The problems that were reported."""
        self._known = dict[str, str]()
        """The digests of what is in a context of others, which does not keep them."""
        self._used = 0

    def register(self) -> Callable[[], None]:
        """Register the handlers; call what is returned to unregister them."""
        hooks = self._find_coordinator().hooks
        handlers = {
            PROMPT_SUBMIT: self.note_turn,
            ARTIFACT_READ: self.note_file,
            ARTIFACT_WRITE: self.note_file,
            PROVIDER_REQUEST: self.offer_notes,
        }
        registered = [hooks.register(event, each, name=NAME) for event, each in handlers.items()]

        def unregister() -> None:
            for each in registered:
                each()

        return unregister

    @session_bound
    async def note_turn(self, event: str, data: dict[str, Any]) -> None:
        """Have the files looked at again in a new turn."""
        del event, data
        self._is_current = False

    @session_bound
    async def note_file(self, event: str, data: dict[str, Any]) -> None:
        """Have the notes of a sub-folder read once a file there is read or written."""
        del event
        path = data.get("path")
        if not isinstance(path, str):
            return
        for folder in await anyio.to_thread.run_sync(self._files.list_inner_folders, path):
            is_new = folder not in self._inner_folders
            if is_new and len(self._inner_folders) < _MAX_INNER_FOLDERS:
                self._inner_folders[folder] = None
                self._is_current = False

    @session_bound
    async def offer_notes(self, event: str, data: dict[str, Any]) -> None:
        """Put the notes into the context before a request that does not have them."""
        del event, data
        if self._is_current:
            return
        self._is_current = True
        found = await anyio.to_thread.run_sync(self._files.read, tuple(self._inner_folders))
        news = [each for each in found.problems if each not in self._said]
        self._said.update(news)
        coordinator: Any = self._find_coordinator()
        await report_problems(coordinator, NAME, news)
        context: Any = coordinator.get("context")
        if context is None:
            return
        if isinstance(context, SimpleContext) and await self._may_begin(context):
            text = write_block(found.notes, found.problems)
            if text:
                context.system_note = SystemNote(text, found.list_digests())
        else:
            await self._add_changes(context, found, news)
        self._has_begun = True

    async def _may_begin(self, context: SimpleContext) -> bool:
        """Whether no request of this session, nor of the process before it, was without the notes."""
        if self._has_begun or context.system_note is not None:
            return False
        if self._find_coordinator().get_capability(SESSION_STORED_HISTORY) is None:
            return True
        return not await context.get_messages()

    async def _add_changes(self, context: Any, found: Notes, problems: list[str]) -> None:
        known, used = await self._list_known(context)
        changed = [each for each in found.notes if known.get(each.key) != each.digest]
        digests = found.list_digests()
        removed = [key for key, digest in known.items() if digest and key not in digests]
        if not changed and not removed:
            return
        text = write_changes(changed, (key.partition(":")[2] for key in removed), problems)
        if used + len(text.encode("utf-8", "replace")) > self._max_bytes:
            names = [f"`{each.file}` has changed or is new; read it if you need it: all notes"
                     f" together may have {self._max_bytes:,} bytes" for each in changed]  # fmt: skip
            text = write_changes((), (key.partition(":")[2] for key in removed), names[:20])
        news = {each.key: each.digest for each in changed} | dict.fromkeys(removed, "")
        self._known.update(news)
        self._used += len(text.encode("utf-8", "replace"))
        metadata = {"source": NOTES, "digests": news}
        with from_source(HOOK):
            await context.add_message({"role": "user", "content": text, "metadata": metadata})

    async def _list_known(self, context: Any) -> tuple[dict[str, str], int]:
        """Return the digests of the notes that the model has, and how many bytes they take.

        They are read from the history, which may have gone back to an earlier point.
        """
        if not isinstance(context, SimpleContext):
            return self._known, self._used
        note = context.system_note
        known = {} if note is None else dict(note.digests)
        used = 0 if note is None else len(note.text.encode("utf-8", "replace"))
        for message in await context.get_messages():
            if program_of(message) == NOTES:
                known |= cast("dict[str, str]", message["metadata"].get("digests") or {})
                used += len(str(message.get("content")).encode("utf-8", "replace"))
        return known, used


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> Callable[[], None]:
    """Mount the notes.

    Args:
        coordinator: The coordinator of the session.
        config: See `ProjectNotesSettings`.

    Returns:
        A callable that unregisters its handlers.

    Raises:
        SettingError: A key is unknown, or a value cannot be used.
        OSError: The working folder cannot be opened.
    """
    settings = read_settings(ProjectNotesSettings, config, NAME)
    working = Path(coordinator.get_capability(SESSION_WORKING_DIR) or ".")
    if settings.root is not None:
        working /= settings.root.expanduser()

    def find_files() -> NoteFiles:
        return NoteFiles(working, os.environ, settings.max_bytes, user_notes=settings.user_notes)

    files = await anyio.to_thread.run_sync(find_files)
    return ProjectNotes(coordinator, files, settings.max_bytes).register()
