"""The tools of the command as a server: its plan, its wire, and its end."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn

from amplifier_agent.serving.http_access import is_loopback
from amplifier_agent.serving.tool_server import ToolServer
from amplifier_app.approval import TerminalApproval
from amplifier_app.commands.mcp.bearer_token import find_token
from amplifier_app.commands.model_choice import require_engine
from amplifier_app.commands.mount_plan import SERVERS, mount_plan, replaced_modules
from amplifier_app.commands.project_hooks import ask_about_project_hooks
from amplifier_app.commands.project_rules import ask_about_project_rules
from amplifier_app.failure import Failure
from amplifier_app.interrupt import listening
from amplifier_app.known_secrets import SECRETS
from amplifier_app.module_conduct import contain_modules
from amplifier_app.notice import show_notice, write_notice
from amplifier_app.outcome import WRONG_USAGE
from amplifier_core.known_modules import Own
from amplifier_core.llm_errors import ConfigurationError
from amplifier_core.session_capabilities import GUARD_REDACTOR

if TYPE_CHECKING:
    from amplifier_agent.serving.standard_streams import StandardStreams
    from amplifier_app.commands.named_modules import NamedModules

_NAME = "amplifier-core"
_CLOSE_SECONDS = 1


@dataclass(frozen=True)
class Serving:
    """What is served."""

    folder: Path
    named: NamedModules | None = None
    """The modules that the user names."""
    mode: str | None = None
    """The mode of `hooks-approval`; None for the usual one."""

    def make_plan(self) -> dict[str, Any]:
        """Return the mount plan of the command, without a model unless the user names one.

        MCP servers of the user and of the project are left out, unless the user names them: one of
        them may be this command, which would start itself for ever.
        """
        plan = mount_plan(
            self.folder, {}, named=self.named, mode=self.mode, has_project_notes=False
        )
        if self.named is None or not self.named.names_provider:
            plan["providers"] = []
        if self.named is None or not self.named.has_module(SERVERS):
            plan["tools"] = [each for each in plan["tools"] if not _is_usual_server(each)]
        return plan


def _is_usual_server(entry: dict[str, Any]) -> bool:
    return entry.get("module") == SERVERS and entry.get("source") is Own.TABLE


def serve_tools(
    serving: Serving,
    streams: StandardStreams | None,
    http: str | None,
    token_file: str | None,
    names: Sequence[str],
) -> int:
    """Serve until the client goes or a signal comes; return the exit code.

    Args:
        serving: What is served.
        streams: The wire; None for HTTP.
        http: Where to listen.
        token_file: The file that has the token, or is to have it.
        names: Further names by which clients reach the server.

    Raises:
        Failure: The plan, the address or the token cannot be used.
    """
    require_engine()
    plan = serving.make_plan()

    def prepare(coordinator: Any) -> None:
        SECRETS.learn(plan)
        coordinator.register_capability(GUARD_REDACTOR, SECRETS.redactor)

    server = ToolServer(
        _NAME,
        plan=plan,
        directory=serving.folder,
        prepare=prepare,
        version=_find_version(),
        instructions=f"Files of the folder `{serving.folder}`, and commands in it.",
    )
    for line in replaced_modules(plan):
        show_notice(f"warning: {line}")
    if streams is not None:
        if os.isatty(streams.reader):
            write_notice(
                "a client of MCP starts this command and speaks to it here; Ctrl+C ends it"
            )
        return asyncio.run(_serve_client(server, plan, serving.folder, streams))
    with _listen(http or "") as listener:
        token, is_new = find_token(token_file, os.environ)
        host, port = listener.getsockname()[:2]
        app = server.streamable_http_app(token=token, host=host, allowed_names=names)
        shown = f"[{host}]" if ":" in host else host
        if not is_loopback(host):
            write_notice(
                "warning: others can reach this server, and its token is sent in the clear"
            )
        write_notice(f"serves MCP at http://{shown}:{port}/mcp; Ctrl+C ends it")
        if is_new:
            write_notice(f"the token: {token}")
        return asyncio.run(_serve_http(server, plan, serving.folder, app, listener))


async def _serve_client(
    server: ToolServer, plan: dict[str, Any], folder: Path, streams: StandardStreams
) -> int:
    task = asyncio.create_task(_open_and(server, plan, folder, server.run_stdio_async(streams)))
    return await _run_until_signal(task, task.cancel)


async def _serve_http(
    server: ToolServer, plan: dict[str, Any], folder: Path, app: Any, listener: socket.socket
) -> int:
    config = uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=_CLOSE_SECONDS)
    http_server = _HttpServer(config)

    def stop() -> None:
        http_server.should_exit = True

    serve = http_server.serve(sockets=[listener])
    task = asyncio.create_task(_open_and(server, plan, folder, serve))
    return await _run_until_signal(task, stop)


class _HttpServer(uvicorn.Server):
    """A server that leaves signals to the command."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


async def _open_and(server: ToolServer, plan: dict[str, Any], folder: Path, serve: Any) -> None:
    """Open the session, and serve.

    Raises:
        Failure: Something is wrong with the mount plan.
    """
    try:
        approval = TerminalApproval()
        await ask_about_project_rules(plan, folder, approval)
        await ask_about_project_hooks(plan, folder, approval)
        with contain_modules():
            async with server.open():
                await serve
    except ConfigurationError as error:
        mistakes: tuple[str, ...] = getattr(error, "mistakes", ()) or (str(error),)
        hint = "run again with `--debug` for the traceback"
        raise Failure("; ".join(mistakes), hint=hint) from error
    finally:
        serve.close()


async def _run_until_signal(task: asyncio.Task[None], stop: Any) -> int:
    codes: list[int] = []

    def end(name: str) -> None:
        codes.append(128 + getattr(signal, name))
        stop()

    with listening(lambda: end("SIGINT"), end):
        try:
            await task
        except asyncio.CancelledError:
            if not codes:
                raise
    return codes[0] if codes else 0


@contextmanager
def _listen(http: str) -> Generator[socket.socket]:
    """Listen at an address of the form `[HOST:]PORT`.

    Raises:
        Failure: It is of another form, or cannot be had.
    """
    host, _, port = http.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not port.isascii() or not port.isdigit() or int(port) > 65535:
        message = f"`--http` is `{http}` (must be a port, or `HOST:PORT`)"
        raise Failure(message, hint="such as `--http 8765`", exit_code=WRONG_USAGE)
    try:
        family = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((host, int(port)), family=family)
    except OSError as error:
        reason = error.strerror if error.errno is None else os.strerror(error.errno)
        message = f"nothing can listen at `{host}:{port}`: {reason or error}"
        raise Failure(message, hint="choose another port or address") from None
    with listener:
        yield listener


def _find_version() -> str:
    try:
        return version(_NAME)
    except PackageNotFoundError:
        from amplifier_core import __version__

        return __version__
