"""`amplifier-core --bg`: stores the prompt, and starts the process that works on it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from amplifier_app.failure import Failure
from amplifier_app.notice import show_notice
from amplifier_app.outcome import WRONG_USAGE
from amplifier_app.sessions.choice import SHORT_ID_CHARS
from amplifier_app.sessions.opening import run_on_store
from amplifier_core import world

if TYPE_CHECKING:
    from amplifier_app.commands.order import Order
    from amplifier_modules.stores import Store

_TITLE_CHARS = 200


def launch(order: Order, options: Sequence[str]) -> int:
    """Store the prompt, start the process that runs it, and write the id of the session.

    Args:
        order: What to run, and where.
        options: The options of the command that hold for the process, too.

    Raises:
        Failure: There is no model, nothing can be stored, or another process has the session.
    """
    from amplifier_app.commands.model_choice import find_answering_provider, require_engine
    from amplifier_app.commands.order import make_folder

    if os.name != "posix":
        message = "`--bg` is not there on Windows"
        raise Failure(message, hint="use WSL 2", exit_code=WRONG_USAGE)
    require_engine()
    find_answering_provider(order)
    make_folder(order.folder)
    id = _store_prompt(order)
    arguments = ["run", "--resume", id, "--directory", str(order.folder)]
    arguments.append(f"--work-off={order.block_chars}")
    _start_process([*arguments, *options], find_log(id))
    sys.stdout.write(f"{id}\n")
    show_notice(f"`amplifier-core session follow {id[:SHORT_ID_CHARS]}` shows what it does")
    return 0


def find_log(session_id: str) -> Path:
    """Return the file that what a process in the background says goes to."""
    from amplifier_modules.stores.sqlite import SqliteStore

    return Path(SqliteStore().folder).with_name("logs") / f"{session_id}.log"


def _store_prompt(order: Order) -> str:
    """Store the prompt as one that is queued, and return the id of the session."""
    from amplifier_modules.stores import NewSession
    from amplifier_modules.stores.inbox import PROMPT

    id = str(world.new_uuid()) if order.stored is None else order.stored.id
    title = " ".join(order.prompt[:_TITLE_CHARS].split())
    meta = {"folder": str(order.folder), "started": world.time(), "title": title}

    async def store_prompt(store: Store) -> None:
        if order.stored is None:
            await store.end(await store.claim(id, "--bg", new=NewSession(meta=meta)))
        if order.prompt:
            body = {"text": order.prompt, "block_chars": order.block_chars}
            await store.put(id, PROMPT, body)

    run_on_store(store_prompt, None if order.named is None else order.named.store_entry)
    return id


def _start_process(arguments: Sequence[str], log: Path) -> None:
    try:
        log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
        with open(os.open(log, flags, 0o600), "ab") as file, open(os.devnull, "r+b") as nothing:
            streams = ((nothing, 0), (nothing, 1), (file, 2))
            os.posix_spawn(
                sys.executable,
                [sys.executable, "-m", "amplifier_app.cli", *arguments],
                os.environ,
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, each.fileno(), number) for each, number in streams
                ],
                setsid=True,
            )
    except OSError as error:
        raise Failure(f"no process can be started: {error}") from error
