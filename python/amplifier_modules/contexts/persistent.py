"""`context-persistent`: a conversation in a file, which the next session goes on with."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

from pydantic import ValidationError

from amplifier_core.message_models import Message as RequestMessage
from amplifier_core.session_capabilities import SESSION_WORKING_DIR
from amplifier_providers.settings import read_settings

from .changes import OwnMessage
from .context_settings import ContextSettings
from .conversation_file import ConversationFile
from .messages import ROLES, Message, call_names, can_be_sent
from .simple import SimpleContext, mount_context
from .stored_files import StoredFiles
from .stored_texts import StoredTexts

__amplifier_module_type__ = "context"

logger = logging.getLogger(__name__)

_ID = "{session_id}"
_KNOWN_ROLES = ", ".join(f"`{role}`" for role in sorted(ROLES))
_SHOWN_CHARS = 80
_NO_RESULT = "This call has no result: the session ended before it was stored."


class PersistentSettings(ContextSettings):
    """Where a conversation is kept, and how much of it a request contains."""

    path: str = f"~/.amplifier/conversations/{_ID}.jsonl"
    """The file of the conversation, from the session's working directory; `{session_id}` stands for
    the id of the session. Long texts are in a folder beside it, `….stored`."""
    fsync: bool = False
    """Whether each message is on the disk before the session goes on: nothing is lost when the
    system fails, and each message takes milliseconds. Without it nothing is lost when the process
    ends, however it does."""


__amplifier_settings__ = PersistentSettings


class PersistentContext(SimpleContext):
    """A conversation that is kept in a file, and loaded from it.

    What is added is in the file before it counts. While a session has the file, no other can open
    it.
    """

    module = "context-persistent"
    _settings: PersistentSettings

    def __init__(
        self,
        config: Mapping[str, Any] | None = None,
        hooks: Any = None,
        *,
        session_id: str = "",
        folder: str | Path = "",
        **settings: Any,
    ) -> None:
        """Open the file and load its conversation.

        Args:
            config: The keys of `PersistentSettings`.
            hooks: The registry that gets the events; None for none.
            session_id: The id of the session, for the path.
            folder: The folder that a relative path starts from; the current one by default.
            **settings: Keys of `PersistentSettings`, which count before those of `config`.

        Raises:
            SettingError: A value cannot be used.
            ConversationFileError: The file cannot be used; it names the line.
            OSError: The folder of the stored texts is a link, or cannot be read.
        """
        self._session_id = session_id
        self._folder = Path(folder)
        super().__init__(config, hooks, **settings)
        is_synced = self._settings.fsync
        self._file = ConversationFile(self._find_path(), _check_message, is_synced=is_synced)
        try:
            self._load()
        except BaseException:
            self._file.close()
            raise

    def _read(self, given: Mapping[str, Any] | None) -> PersistentSettings:
        return read_settings(PersistentSettings, given, self.module)

    def _store(self) -> StoredTexts:
        path = self._find_path()
        folder = path.with_name(f"{path.name}.stored")
        return StoredFiles(folder, self._settings.put_aside_total_bytes)

    def _find_path(self) -> Path:
        # An id is a name, not a path.
        name = quote(self._session_id, safe="") or "conversation"
        name = name.replace(".", "%2E") if not name.strip(".") else name
        return self._folder / Path(self._settings.path.replace(_ID, name)).expanduser()

    def _load(self) -> None:
        for is_replacement, messages in self._file.read_changes():
            if is_replacement:
                self._restart(messages)
            else:
                for message in messages:
                    self._put(message)
        missing = self._missing_results()
        for message in missing:
            self._keep(message)
            self._put(message)
        if missing:
            count = len(missing)
            logger.warning(
                "%d tool calls of `%s` had no result and got one", count, self._find_path()
            )

    def _missing_results(self) -> list[Message]:
        """Return results for the calls whose session ended before them: providers need one each."""
        called = next((each for each in reversed(self._messages) if call_names(each)), Message())
        return [
            self._copy_message(
                {
                    "role": "tool",
                    "tool_call_id": id,
                    "name": name,
                    "content": _NO_RESULT,
                    "is_error": True,
                }
            )
            for id, name in call_names(called).items()
            if id in self._open_calls
        ]

    def _copy_message(self, message: Mapping[str, Any]) -> Message:
        return _check_message(super()._copy_message(message))

    def _keep(self, message: Message) -> None:
        self._file.add(message)

    def _keep_all(self, messages: list[Message]) -> None:
        self._file.replace(messages)

    def end(self) -> None:
        """Close the file; what was put aside stays with it."""
        self._file.close()


def _check_message(given: Any) -> OwnMessage:
    """Return a message that can be in a request.

    Raises:
        TypeError: It is not an object.
        ValueError: A part of it has the wrong form.
    """
    if not isinstance(given, dict):
        raise TypeError(f"a message is of type `{type(given).__name__}` (must be an object)")
    message = OwnMessage(cast("Message", given))
    if not can_be_sent(message):
        found = repr(message.get("role"))[:_SHOWN_CHARS]
        raise ValueError(f"`role` of a message is `{found}` (must be {_KNOWN_ROLES})")
    content = "" if message.get("content", "") is None else message.get("content", "")
    try:
        RequestMessage.model_validate({**message, "content": content})
    except ValidationError as error:
        problem = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(map(str, problem["loc"]))
        raise ValueError(f"`{place}` of a message: {problem['msg'].lower()}") from None
    return message


async def mount(
    coordinator: Any, config: Mapping[str, Any] | None = None
) -> Callable[[], Awaitable[None]]:
    """Mount the context of the session; return what ends it."""
    context = PersistentContext(
        config,
        getattr(coordinator, "hooks", None),
        session_id=str(getattr(coordinator, "session_id", "") or ""),
        folder=coordinator.get_capability(SESSION_WORKING_DIR) or "",
    )
    try:
        return await mount_context(context, coordinator)
    except BaseException:
        context.end()
        raise
