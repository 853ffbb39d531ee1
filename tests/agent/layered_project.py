"""A project whose commands have layers, and what models do in it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from amplifier_agent import Agent, ScriptedProvider
from amplifier_modules.changes.place import choose_folder, find_changes_folder
from amplifier_modules.sandbox.command import Tier
from amplifier_modules.sandbox.layers import find_layer_obstacle
from amplifier_modules.sandbox.sandbox import Sandbox
from amplifier_modules.sandbox.tiers import find_tier

TOOLS = ("tool-filesystem", "tool-bash")


def make_project(folder: Path) -> Path:
    """Make a project; skip where commands can have no layers, but fail in CI without a sandbox."""
    found = find_tier()
    if found.tier is not Tier.NAMESPACES:
        message = f"there is no tier `namespaces` here: {'; '.join(found.reasons)}"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(message)
    project = folder / "project"
    project.mkdir()
    if (obstacle := find_obstacle(project, folder)) is not None:
        pytest.skip(obstacle)
    (project / "plan.txt").write_text("A plan.\n")
    (project / "old").mkdir()
    (project / "old" / "a.txt").write_text("a\n")
    return project


def find_obstacle(project: Path, temporary: Path) -> str | None:
    store = choose_folder(project, find_changes_folder())
    if store is None:
        return "nothing can be kept beside the project"
    found = find_tier()
    runner = Sandbox(str(project), str(temporary), found.tier, bubblewrap=found.bubblewrap)
    try:
        return find_layer_obstacle(runner, str(project), str(store))
    finally:
        runner.close()


def bash(command: str, **more: Any) -> dict[str, Any]:
    return {"tool": "bash", "arguments": {"command": command, **more}}


def write(path: str, content: str) -> dict[str, Any]:
    return {"tool": "write_file", "arguments": {"path": path, "content": content}}


def make_agent(project: Path, *script: Any, **options: Any) -> tuple[Agent, ScriptedProvider]:
    model = ScriptedProvider(script)
    return Agent(model, tools=TOOLS, directory=project, **options), model


def list_results(model: ScriptedProvider) -> list[str]:
    """What the model has read of its calls."""
    return [str(each.content) for each in model.requests[-1].messages if each.role == "tool"]
