"""A session of the command without a model: its tools, and calls of them."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from amplifier_app.approval import TerminalApproval
from amplifier_app.commands.model_choice import require_engine
from amplifier_app.commands.mount_plan import mount_plan, replaced_modules
from amplifier_app.commands.project_hooks import ask_about_project_hooks
from amplifier_app.commands.project_rules import ask_about_project_rules
from amplifier_app.commands.project_servers import ask_about_project_servers
from amplifier_app.commands.provider_choice import DEMO
from amplifier_app.commands.start import set_up_logging
from amplifier_app.failure import Failure
from amplifier_app.interrupt import listening
from amplifier_app.known_secrets import SECRETS
from amplifier_app.module_conduct import contain_modules
from amplifier_app.notice import show_notice
from amplifier_core.llm_errors import ConfigurationError
from amplifier_core.session_capabilities import GUARD_REDACTOR, SESSION_ONE_TURN

if TYPE_CHECKING:
    from amplifier_app.commands.named_modules import NamedModules

T = TypeVar("T")


@dataclass(frozen=True)
class ToolOrder:
    """Which tools there are."""

    folder: Path
    named: NamedModules | None
    """The modules that the user names."""
    mode: str | None
    """The mode of the approvals; None for the usual one."""
    server_files: tuple[Path, ...]
    """Files of MCP servers that the user names."""


def run_with_tools(order: ToolOrder, work: Callable[[Any], Awaitable[T]]) -> T:
    """Open a session, call `work` with its coordinator, close it, and return what `work` returned.

    Raises:
        Failure: Something is wrong with the mount plan.
        KeyboardInterrupt: Ctrl+C.
        SystemExit: The command is ended by a signal.
    """
    require_engine()
    set_up_logging(verbose=False)
    return asyncio.run(_run(order, work))


async def _run(order: ToolOrder, work: Callable[[Any], Awaitable[T]]) -> T:
    async def run() -> T:
        async with _open(order) as coordinator:
            return await work(coordinator)

    names: list[str] = []

    def end(name: str) -> None:
        names.append(name)
        task.cancel()

    task = asyncio.create_task(run())
    with listening(lambda: end("SIGINT"), end), suppress(asyncio.CancelledError):
        return await task
    if names == ["SIGINT"]:
        raise KeyboardInterrupt
    raise SystemExit(128 + getattr(signal, names[-1]))


@asynccontextmanager
async def _open(order: ToolOrder) -> AsyncGenerator[Any]:
    from amplifier_agent import Agent

    plan = mount_plan(
        order.folder,
        {},
        named=order.named,
        provider_module=DEMO.module_id,
        mode=order.mode,
        has_project_notes=False,
        server_files=order.server_files,
    )
    approval = TerminalApproval()
    session = Agent(plan=plan, approvals=approval, directory=order.folder).session()
    coordinator: Any = session.session.coordinator
    SECRETS.learn(plan)
    coordinator.register_capability(GUARD_REDACTOR, SECRETS.redactor)
    coordinator.register_capability(SESSION_ONE_TURN, True)
    for ask in (ask_about_project_rules, ask_about_project_hooks, ask_about_project_servers):
        await ask(plan, order.folder, approval)
    with contain_modules():
        try:
            await session.__aenter__()
        except ConfigurationError as error:
            mistakes: tuple[str, ...] = getattr(error, "mistakes", ()) or (str(error),)
            hint = f"see `amplifier-core doctor -C {os.fspath(order.folder)}`"
            raise Failure("; ".join(mistakes), hint=hint) from error
        try:
            for line in replaced_modules(plan):
                show_notice(f"warning: {line}")
            yield coordinator
        finally:
            await session.__aexit__()
