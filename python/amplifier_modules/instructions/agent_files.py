"""The sub-agents that a user or a project describes, each in a Markdown file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from amplifier_guard import TerminalText

from ..running.user_folders import find_config_folder
from .frontmatter import read_line_of, read_name, read_names, split_frontmatter
from .places import Origin, find_claude_folder, list_project_folders
from .shelves import Problems, Shelf, list_entries, list_shelves
from .written_text import WrittenTextError, escape_marks

PROJECT_AGENTS = (".claude/agents",)
"""The folders of a project that hold them."""
_MAX_BYTES = 64 * 1024


@dataclass(frozen=True)
class AgentFile:
    """A sub-agent, as its file describes it."""

    name: str
    description: str
    origin: Origin
    """Whose word it is."""
    system: str
    """Its system prompt."""
    tools: tuple[str, ...] | None = None
    """The tools that it may have, by the names that rules have for them; None for all."""
    model: str | None = None
    """The model that a user wants for it, as `provider:model`."""


@dataclass
class FoundAgents:
    """What was found in all folders."""

    agents: dict[str, AgentFile] = field(default_factory=dict[str, AgentFile])
    problems: Problems = field(default_factory=Problems)


def find_agents(working: Path, environment: Mapping[str, str]) -> FoundAgents:
    """Return the sub-agents of a user and of a project; of one name, the user's and then the inner one.

    Args:
        working: The working folder.
        environment: The variables that name the folder of the configuration.

    Raises:
        OSError: The working folder cannot be opened.
    """
    found = FoundAgents()
    of_user = (find_config_folder(environment), find_claude_folder())
    folders = [each and each / "agents" for each in of_user]
    shelves = list_shelves(folders, list_project_folders(working), PROJECT_AGENTS)
    for shelf, file in list_entries(shelves, "agents", found.problems):
        if file.endswith(".md"):
            _add_agent(found, shelf, file)
    return found


def _add_agent(found: FoundAgents, shelf: Shelf, file: str) -> None:
    shown = f"the {shelf.origin}'s agent `{TerminalText.line(file, 80)}` is not offered"
    try:
        agent = _read_agent(shelf, file)
    except (OSError, ValueError) as error:
        found.problems.note(shown, error)
        return
    if agent is None:
        return
    if (other := found.agents.get(agent.name)) is not None:
        found.problems.note(f"{shown}: the {other.origin} has one of this name")
        return
    found.agents[agent.name] = agent


def _read_agent(shelf: Shelf, file: str) -> AgentFile | None:
    text = shelf.read_text(file, _MAX_BYTES)
    if text is None:
        return None
    if text.is_cut:
        raise WrittenTextError(f"it has more than {_MAX_BYTES:,} bytes")
    head = split_frontmatter(text.text)
    model = head.fields.get("model")
    is_full = shelf.origin == "user" and isinstance(model, str) and ":" in model
    return AgentFile(
        name=read_name(head.fields, file.removesuffix(".md")),
        description=escape_marks(read_line_of(head.fields, "description")),
        origin=shelf.origin,
        system=escape_marks(head.body.strip()),
        tools=read_names(head.fields, "tools"),
        model=model if is_full else None,
    )
