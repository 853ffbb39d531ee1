"""The agents of a worker: objects of the user's programs, and mount plans."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amplifier_app.commands.named_modules import named_modules
from amplifier_app.commands.provider_key import with_stored_keys
from amplifier_app.failure import Failure
from amplifier_app.known_secrets import SECRETS
from amplifier_app.outcome import WRONG_USAGE
from amplifier_core.llm_errors import ConfigurationError

if TYPE_CHECKING:
    from amplifier_agent import Agent

_EXAMPLE = "such as `--agent package.module:agent`"


def load_agents(programs: Iterable[str], plans: Iterable[str]) -> dict[str, Agent[Any]]:
    """Return the agents by their names.

    Args:
        programs: Values of `--agent`: `[NAME=]package.module:object`.
        plans: Values of `--plan`: `[NAME=]FILE`.

    Raises:
        Failure: One cannot be loaded, or two have one name.
    """
    agents: dict[str, Agent[Any]] = {}
    for value, load in (
        *((each, _load_object) for each in programs),
        *((each, _load_plan) for each in plans),
    ):
        given, has_name, rest = value.partition("=")
        name, agent = load(rest if has_name else value)
        name = given.strip() if has_name else name
        if name in agents:
            message = f"two agents are called `{name}`"
            raise Failure(message, hint="write `NAME=` before one", exit_code=WRONG_USAGE)
        agents[name] = agent
        SECRETS.learn(agent.plan)
    return agents


def _load_object(place: str) -> tuple[str, Agent[Any]]:
    """Import an agent; its module is looked for in the current folder last."""
    from amplifier_agent import Agent

    module_name, has_object, name = place.partition(":")
    if not has_object or not module_name or not name:
        raise Failure(f"`--agent` is `{place}`", hint=_EXAMPLE, exit_code=WRONG_USAGE)
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        message = f"`{module_name}` cannot be imported: {type(error).__name__}: {error}"
        raise Failure(message, hint="`--debug` shows where", exit_code=WRONG_USAGE) from error
    found = getattr(module, name, None)
    if not isinstance(found, Agent):
        what = "there is none" if found is None else f"it is a `{type(found).__name__}`"
        message = f"`{name}` of `{module_name}` is no agent: {what}"
        raise Failure(message, hint=_EXAMPLE, exit_code=WRONG_USAGE)
    return name, found  # pyright: ignore[reportUnknownVariableType] -- of whatever output


def _load_plan(file: str) -> tuple[str, Agent[Any]]:
    """Make an agent of a mount plan, whose questions wait for clients."""
    from amplifier_agent import Agent

    plan = with_stored_keys(named_modules((), file)).plan
    try:
        return Path(file).stem, Agent(plan=plan, approvals="wait")
    except (ConfigurationError, ValueError, TypeError) as error:
        raise Failure(f"{file}: {error}", hint="check `--plan`", exit_code=WRONG_USAGE) from error
