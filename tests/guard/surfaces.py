"""From the name of a surface to the public policy that judges its inputs."""

from __future__ import annotations

import copy
import json
import os
import shlex
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
from input_world import path_world

from amplifier_core import ModuleCoordinator
from amplifier_core.models import HookResult
from amplifier_guard import (
    Limits,
    MessageProcessor,
    MessageRejected,
    NameDenied,
    PathPolicy,
    ProcessedMessage,
    ProjectConfigDenied,
    Redactor,
    ShellDenied,
    ShellPolicy,
    TerminalText,
    ToolInputDenied,
    ToolInputPolicy,
    UrlDenied,
    UrlPolicy,
    check_tool_name,
    judge_project_config,
)
from amplifier_guard.question import question_rows
from amplifier_modules.hooks.guard.settings import ShellSettings, ToolSettings
from amplifier_modules.hooks.guard.tools import ToolSinks


@dataclass(frozen=True)
class Passed:
    """What a policy let through."""

    output: Any
    unchanged: Any
    """What the output is if nothing was changed."""


@dataclass(frozen=True)
class Surface:
    """A policy, and the errors by which it refuses."""

    run: Callable[[Any, dict[str, Any]], Passed]
    refusals: tuple[type[Exception], ...] = ()


def path_read(given: str | bytes, setup: dict[str, Any]) -> Passed:
    with path_world(setup) as (root, actual):
        path = actual(os.fsdecode(given))
        return Passed(PathPolicy(root).read(path, 1_000_000), Path(root, path).read_bytes())


def path_write(given: str | bytes, setup: dict[str, Any]) -> Passed:
    with path_world(setup) as (root, actual):
        path = actual(os.fsdecode(given))
        PathPolicy(root).write(path, b"written")
        return Passed(Path(root, path).read_bytes(), b"written")


def shell_policy(given: str, setup: dict[str, Any]) -> Passed:
    policy = ShellPolicy(setup["allow_prefixes"], root=setup.get("root"))
    return Passed(policy.check(given), shlex.split(given))


class Unapproved(Exception):
    """A call that does not run without a person, or to which a person has said no."""


def shell_call(given: dict[str, Any], setup: dict[str, Any]) -> Passed:
    with path_world(setup) as (root, _):
        settings = ShellSettings(
            allow=setup["allow_prefixes"], root=str(root), harmless=setup.get("harmless", ())
        )
        answer = anyio.run(ToolSinks(ToolSettings(shell=settings)).judge, "bash", given)
    if answer is not None:
        raise Unapproved(answer.approval_prompt or answer.reason)
    return Passed(given, given)


def approval_answer(given: dict[str, Any], setup: dict[str, Any]) -> Passed:
    approval = SimpleNamespace(request_approval=lambda *_: given["answer"])
    question = HookResult(action="ask_user", approval_options=given["options"])
    coordinator = ModuleCoordinator(None, approval)
    left = anyio.run(coordinator.process_hook_result, question, "tool:pre")
    if left.action != "continue":
        raise Unapproved(left.reason)
    return Passed(given, given)


def approval_question(given: str, setup: dict[str, Any]) -> Passed:
    rows = question_rows([given], "bcdf", 80)
    return Passed("\n".join(row.removeprefix("bcdf| ") for row in rows), given)


def url_policy(given: str, setup: dict[str, Any]) -> Passed:
    policy = UrlPolicy(ports=setup.get("allow_ports"), deny_private=setup.get("deny_private", True))
    answers = {
        host: iter(found if isinstance(found[0], list) else [found] * 9)
        for host, found in setup.get("resolver", {}).items()
    }

    def resolve(host: str, port: int) -> list[str]:
        return next(answers.get(host, iter(())), [])

    destination = policy.destination(given)
    checked = anyio.run(policy.check, given, resolve)
    return Passed((checked.host, checked.port), (destination.host, destination.port))


def project_config(given: Any, setup: dict[str, Any]) -> Passed:
    judged = judge_project_config(given)
    if judged.refused:
        raise ProjectConfigDenied(str(judged.refused[0]))
    return Passed(judged.allowed, given)


def redactor(given: str, setup: dict[str, Any]) -> Passed:
    return Passed(Redactor().redact(given), given)


def display(given: str | bytes, setup: dict[str, Any]) -> Passed:
    return Passed(TerminalText.show(given), given)


def grep_pattern(given: str, setup: dict[str, Any]) -> Passed:
    text = setup["text"] if isinstance(setup["text"], bytes) else setup["text"].encode()
    with tempfile.TemporaryDirectory() as root:
        Path(root, "file").write_bytes(text)
        PathPolicy(root).search(given)
    return Passed(given, given)


def tool_args(given: dict[str, Any], setup: dict[str, Any]) -> Passed:
    before = copy.deepcopy(given)
    tools = ToolInputPolicy()
    tools.set_schema("tool", setup["schema"])
    tools.check("tool", given)
    return Passed(given, before)


def tool_args_json(given: str | bytes, setup: dict[str, Any]) -> Passed:
    tools = ToolInputPolicy(max_depth=setup.get("max_depth", 128))
    tools.set_schema("tool", setup["schema"])
    return Passed(tools.check_json("tool", given), json.loads(given))


def tool_name(given: str, setup: dict[str, Any]) -> Passed:
    check_tool_name(given)
    return Passed(given, given)


def message(given: Any, setup: dict[str, Any]) -> Passed:
    processed = _processor(setup).process(
        given if isinstance(given, dict) else {"role": "user", "content": given}
    )
    return Passed(_content(processed), _blocks(given))


def user_message(given: str, setup: dict[str, Any]) -> Passed:
    return Passed(_content(_processor(setup).process_user_message(given)), _blocks(given))


def _processor(setup: dict[str, Any]) -> MessageProcessor:
    limits = {name: value for name, value in setup.items() if name.isupper()}
    return MessageProcessor(Limits.load(limits, {}))


def _content(processed: ProcessedMessage) -> Any:
    return json.loads(processed.to_json())["content"]


def _blocks(given: Any) -> Any:
    content = given["content"] if isinstance(given, dict) else given
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


SURFACES = {
    "path_read": Surface(path_read, (OSError,)),
    "path_write": Surface(path_write, (OSError,)),
    "grep_pattern": Surface(grep_pattern, (ValueError,)),
    "shell_policy": Surface(shell_policy, (ShellDenied,)),
    "shell_call": Surface(shell_call, (Unapproved,)),
    "approval_answer": Surface(approval_answer, (Unapproved,)),
    "approval_question": Surface(approval_question),
    "url_policy": Surface(url_policy, (UrlDenied,)),
    "project_config": Surface(project_config, (ProjectConfigDenied,)),
    "redactor": Surface(redactor),
    "display": Surface(display),
    "message": Surface(message, (MessageRejected,)),
    "user_message": Surface(user_message, (MessageRejected,)),
    "tool_args": Surface(tool_args, (ToolInputDenied,)),
    "tool_args_json": Surface(tool_args_json, (ToolInputDenied,)),
    "tool_name": Surface(tool_name, (NameDenied,)),
}


class UnknownSurface(LookupError):
    """A row names a surface that no policy is known for."""


def surface_of(name: str) -> Surface:
    """Return the policy of a surface.

    Raises:
        UnknownSurface: There is none of this name.
    """
    if name not in SURFACES:
        raise UnknownSurface(f"unknown surface `{name}` (known: {', '.join(sorted(SURFACES))})")
    return SURFACES[name]
