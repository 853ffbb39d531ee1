"""Settings from the environment variables of the user: retries, rates and limits."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from amplifier_app.commands.prompt import TYPED_CHARS
from amplifier_app.failure import Failure
from amplifier_app.notice import show_notice
from amplifier_providers.settings import Env, SettingError, Settings, read_settings
from amplifier_providers.value_problems import Form

OWN_SERVERS = "mcp.json"
"""The file of the user's own MCP servers, in the config folder."""
NO_MCP = "the package `mcp` is missing"
MCP_EXTRA = "`pip install 'amplifier-core[mcp]'`"

_LOOP = ("max_iterations", "max_result_bytes")
_TOOLS = ("max_result_bytes",)
_MAX_PERIOD_SECONDS = 31_536_000  # a year
_PRICES = Form('JSON such as `{"MODEL": {"input": 3, "output": 15}}`')
_RATE = Form("calls per seconds, such as `30/60`")


def _count(text: str) -> int:
    if not re.fullmatch("[0-9]{1,10}", text):
        raise ValueError
    return int(text)


def _read_rate(text: str) -> dict[str, Any]:
    calls, _, period = text.partition("/")
    limit, seconds = _count(calls), float(period or 60)
    if not 1 <= limit < 1_000_000 or not 0.001 <= seconds <= _MAX_PERIOD_SECONDS:
        raise ValueError
    return {"limit": limit, "period": seconds}


class CommandVariables(Settings):
    """The environment variables of `amplifier-core run`, by the keys that they set."""

    model_config = ConfigDict(strict=False)

    max_retries: Annotated[
        int | None, Env("PROVIDER_MAX_RETRIES", _count), Field(ge=0, le=1_000, strict=True)
    ] = None
    """`max_retries` of the provider."""
    min_retry_delay: Annotated[float | None, Env("PROVIDER_RETRY_DELAY"), Field(ge=0)] = None
    """`min_retry_delay` of the provider, in seconds."""
    retry_budget: Annotated[float | None, Env("PROVIDER_RETRY_BUDGET"), Field(ge=0)] = None
    """`retry_budget` of the provider, in seconds."""
    rate: Annotated[dict[str, Any] | None, _RATE, Env("PROVIDER_RATE", _read_rate)] = None
    """`rate` of the provider."""
    prices: Annotated[dict[str, Any] | None, _PRICES, Env("PROVIDER_PRICES", json.loads)] = None
    """`prices` of the provider, as JSON."""
    content_timeout: Annotated[float, Env("PROVIDER_CONTENT_TIMEOUT"), Field(ge=0.001)] = 600.0
    """`content_timeout` of the provider, in seconds; 600 if not set."""
    max_answer_bytes: Annotated[
        int, Env("PROVIDER_MAX_ANSWER_BYTES", _count), Field(ge=1, le=1024**3, strict=True)
    ] = 64 * 1024**2
    """`max_answer_bytes` of the provider; 67,108,864 if not set."""
    max_iterations: Annotated[int, Env("LOOP_MAX_ITERATIONS", _count), Field(ge=1, strict=True)] = (
        200
    )
    """`max_iterations` of the loop; 200 if not set."""
    max_result_bytes: Annotated[
        int, Env("TOOL_MAX_RESULT_BYTES", _count), Field(ge=4096, strict=True)
    ] = 256 * 1024
    """`max_result_bytes` of the loop and of the tools; 262,144 if not set."""
    tool_rate: Annotated[dict[str, Any] | None, _RATE, Env("TOOL_RATE", _read_rate)] = None
    """`rates.tool` of `hooks-guard`."""


def provider_settings(environment: Mapping[str, str]) -> dict[str, Any]:
    """The config of a provider: what the environment sets, and the limits of the command.

    Raises:
        Failure: A value cannot be used.
    """
    others = {"tool_rate", *_LOOP, *_TOOLS}
    return _read(environment).model_dump(exclude_none=True, exclude=others)


def loop_settings(environment: Mapping[str, str]) -> dict[str, Any]:
    """The limits of the loop: what the environment sets, or the defaults of the command.

    Raises:
        Failure: A value cannot be used.
    """
    return _read(environment).model_dump(include={*_LOOP})


def tool_settings(environment: Mapping[str, str]) -> dict[str, Any]:
    """The limits of the tools: what the environment sets, or the defaults of the command.

    Raises:
        Failure: A value cannot be used.
    """
    return _read(environment).model_dump(include={*_TOOLS})


def guard_settings(environment: Mapping[str, str], block_chars: int = 0) -> dict[str, Any]:
    """The config of `hooks-guard`, as far as the environment sets it.

    Args:
        environment: The environment variables.
        block_chars: By how much a prompt may be longer, unless the environment limits it.

    Raises:
        Failure: A value cannot be used.
    """
    rate = _read(environment).tool_rate
    config: dict[str, Any] = {"rates": {"tool": rate}} if rate else {}
    if block_chars and not environment.get("MESSAGE_MAX_CHARS", "").strip():
        config["message_max_chars"] = TYPED_CHARS + block_chars
    return config


def approval_settings(environment: Mapping[str, str], *, is_kept: bool) -> dict[str, Any]:
    """The config of `hooks-approval`: the files of the user, and the rules of the project.

    Args:
        environment: The environment variables.
        is_kept: Whether anything of the session may be stored.
    """
    from amplifier_modules.hooks.approval.rule_files import find_user_settings
    from amplifier_modules.running.user_folders import find_state_folder

    config: dict[str, Any] = {"project_rules": True}
    if (user_settings := find_user_settings(environment)) is not None:
        config["user_settings"] = str(user_settings)
    if (state := find_state_folder(environment)) is not None:
        config["state_folder"] = str(state)
        if is_kept:
            config["audit_log"] = str(state / "approvals.jsonl")
    return config


def shell_hook_settings(environment: Mapping[str, str], folder: Path) -> dict[str, Any] | None:
    """The config of `hooks-shell`: the files of the user and of the project; None without hooks.

    Args:
        environment: The environment variables.
        folder: The project.
    """
    from amplifier_modules.hooks.approval.rule_files import PROJECT_FILES, find_user_settings
    from amplifier_modules.running.user_folders import find_state_folder

    user_settings = find_user_settings(environment)
    config: dict[str, Any] = {"root": str(folder)}
    if user_settings is not None and _names_hooks(user_settings):
        config["user_settings"] = str(user_settings)
    if any(_names_hooks(folder / name) for name in PROJECT_FILES):
        config["project_hooks"] = True
        if (state := find_state_folder(environment)) is not None:
            config["state_folder"] = str(state)
    return config if len(config) > 1 else None


def mcp_settings(
    environment: Mapping[str, str], folder: Path, files: Sequence[Path] = ()
) -> dict[str, Any] | None:
    """The config of `tool-mcp`: the servers of the user and of the project; None without any.

    Args:
        environment: The environment variables.
        folder: The project.
        files: More files of the user.

    Raises:
        Failure: There are such files, but the package `mcp` is missing.
    """
    from amplifier_modules.running.user_folders import find_config_folder, find_state_folder

    config: dict[str, Any] = {}
    own = find_config_folder(environment)
    is_own = own is not None and (own / OWN_SERVERS).is_file()
    if own is not None and is_own:
        files = (own / OWN_SERVERS, *files)
    if files:
        config["server_files"] = [str(each) for each in files]
    if os.path.lexists(folder / ".mcp.json"):
        config["project_servers"] = True
        if (state := find_state_folder(environment)) is not None:
            config["state_folder"] = str(state)
    if not config or find_spec("mcp") is not None:
        return config or None
    if len(files) > is_own:
        raise Failure(NO_MCP, hint=MCP_EXTRA)
    if is_own:
        show_notice(f"warning: your MCP servers are not connected: {NO_MCP}: {MCP_EXTRA}")
    return None


def _names_hooks(path: Path) -> bool:
    """Whether a file may have hooks; one that cannot be read is left to the module, which says so."""
    from amplifier_modules.hooks.settings_file import read_object

    try:
        return "hooks" in read_object(path)
    except FileNotFoundError:
        return False
    except (OSError, ValueError, RecursionError):
        return True


def _read(environment: Mapping[str, str]) -> CommandVariables:
    try:
        return read_settings(CommandVariables, None, "", environment)
    except SettingError as error:
        raise Failure(str(error), hint="correct the environment variable") from error
