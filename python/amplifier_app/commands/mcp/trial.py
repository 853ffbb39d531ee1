"""`amplifier-core mcp test NAME`: connects a server, and writes what it offers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from amplifier_app.columns import in_columns
from amplifier_app.commands.mcp.listed_servers import ListedServer, list_servers
from amplifier_app.commands.report import Report, write_foreign
from amplifier_app.commands.settings import MCP_EXTRA, NO_MCP
from amplifier_app.failure import Failure
from amplifier_app.known_secrets import SECRETS
from amplifier_app.outcome import WRONG_USAGE
from amplifier_core import world

_MAX_LISTED = 500
_MAX_TEXT = 70


@dataclass
class Trial:
    """What a server has said of itself."""

    seconds: float
    """Until its tools were listed."""
    server: str
    protocol: str
    tools: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Their names and descriptions."""
    prompts: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    resources: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Their addresses and names."""


def try_server(
    report: Report, name: str, folder: Path, seconds: float, hosts: tuple[str, ...] = ()
) -> None:
    """Connect a server once, and write what it offers and how long that took.

    Args:
        report: Takes that.
        name: The server.
        folder: The project, links followed.
        seconds: How long it may take to start.
        hosts: What one of the project reaches that runs in the sandbox.

    Raises:
        Failure: There is no such server, nobody has agreed to it, or it does not answer.
    """
    server = _find_server(name, folder, hosts)
    if find_spec("mcp") is None:
        raise Failure(NO_MCP, hint=MCP_EXTRA)
    SECRETS.learn({"server": server.entry.settings.model_dump(exclude_none=True)})
    with report.waiting(f"connecting {name} …"):
        trial = _run_trial(server, folder, seconds)
    if report.as_json:
        report.write_data(_describe_trial(name, trial))
        return
    report.write_lines(
        [f"{name} works: {trial.server}, MCP {trial.protocol}, connected in {trial.seconds:.2f} s"]
    )
    for kind, listed in (
        ("tool", trial.tools),
        ("prompt", trial.prompts),
        ("resource", trial.resources),
    ):
        report.write_lines([f"{len(listed)} {kind}{'' if len(listed) == 1 else 's'}"])
        if listed:
            rows = [(f"  {first}", second) for first, second in listed]
            report.write_lines(in_columns(rows, report.width))


def _find_server(name: str, folder: Path, hosts: tuple[str, ...]) -> ListedServer:
    servers, problems = list_servers(folder, hosts)
    found = next((each for each in servers if each.entry.name == name), None)
    if found is None:
        hint = next(iter(problems), "see `amplifier-core mcp list`")
        raise Failure(f"there is no server `{name}`", hint=hint, exit_code=WRONG_USAGE)
    if found.state in ("not asked", "not agreed"):
        message = f"you have not agreed to the server `{name}` of the project"
        raise Failure(message, hint="`amplifier-core mcp ask` asks you")
    return found


def _run_trial(server: ListedServer, folder: Path, seconds: float) -> Trial:
    """Connect it.

    Raises:
        Failure: It does not answer.
    """
    import asyncio

    from amplifier_modules.tools.mcp.server_entry import EntryError
    from amplifier_modules.tools.mcp.server_errors import describe_problem

    try:
        return asyncio.run(_connect(server, folder, seconds))
    except EntryError as error:
        message = f"the server `{server.entry.name}` cannot be connected: {error}"
        raise Failure(message) from error
    except Exception as error:
        message = f"the server `{server.entry.name}` does not answer: {describe_problem(error)}"
        raise Failure(message, hint="`--debug` shows more") from error
    finally:
        server.entry.close()


async def _connect(server: ListedServer, folder: Path, seconds: float) -> Trial:
    from amplifier_core import ModuleCoordinator
    from amplifier_core.session_capabilities import SESSION_WORKING_DIR
    from amplifier_modules.tools.mcp.opening import make_opener
    from amplifier_modules.tools.mcp.settings import McpSettings

    coordinator = ModuleCoordinator()
    coordinator.register_capability(SESSION_WORKING_DIR, str(folder))
    settings = McpSettings(start_timeout=seconds)
    import mcp  # noqa: F401  # pyright: ignore[reportUnusedImport] -- before the time is taken

    begun = world.monotonic()
    async with make_opener(settings, lambda: coordinator, server.entry)() as connection:
        client: Any = connection.client
        about = client.server_info
        trial = Trial(
            world.monotonic() - begun,
            write_foreign(f"{about.name} {about.version}".strip()),
            write_foreign(client.protocol_version),
            [_describe(each.name, each.description or each.title) for each in connection.tools],
        )
        capabilities = client.server_capabilities
        if capabilities.prompts is not None:
            prompts = await _list(connection, client.list_prompts, "prompts")
            trial.prompts = [_describe(each.name, each.description) for each in prompts]
        if capabilities.resources is not None:
            resources = await _list(connection, client.list_resources, "resources")
            trial.resources = [_describe(str(each.uri), each.name) for each in resources]
    return trial


async def _list(connection: Any, read: Any, kind: str) -> Sequence[Any]:
    from amplifier_modules.tools.mcp.connection import read_pages

    return await connection.request(lambda: read_pages(read, kind, _MAX_LISTED))


def _describe(name: str, text: str | None) -> tuple[str, str]:
    first = (text or "").strip().partition("\n")[0]
    shown = first if len(first) <= _MAX_TEXT else f"{first[: _MAX_TEXT - 1]}…"
    return write_foreign(name), write_foreign(shown)


def _describe_trial(name: str, trial: Trial) -> dict[str, Any]:
    return {
        "server": name,
        "seconds": round(trial.seconds, 3),
        "about": trial.server,
        "protocol": trial.protocol,
        "tools": [{"name": each, "description": text} for each, text in trial.tools],
        "prompts": [{"name": each, "description": text} for each, text in trial.prompts],
        "resources": [{"uri": each, "name": text} for each, text in trial.resources],
    }
