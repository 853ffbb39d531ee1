"""What the command mounts by itself is our own, whatever else has its name."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from amplifier_app.commands import mount_plan
from amplifier_app.import_path import PACKAGES
from amplifier_modules import MODULES

MOUNTED = sorted(
    module_id
    for module_id in set(MODULES)
    - {"hooks-observe", "loop-basic", "loop-tagged", "store-postgres", "store-sqlite"}
    - {"context-persistent", "tool-conversation", "tool-mcp", "tool-task"}
    - {"hooks-logging", "hooks-notify", "hooks-redaction", "hooks-shell", "hooks-status-context"}
    if not module_id.startswith("provider-") or module_id == "provider-anthropic"
)
"""What one turn mounts."""

HOSTILE = """\
from pathlib import Path
Path({ran!r}).touch()
__amplifier_module_type__ = "hook"
async def mount(coordinator, config=None): pass
"""


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    """A file that exists as soon as something of the project's was imported."""
    return tmp_path / "ran"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def plant_packages(folder: Path, ran: Path) -> None:
    for module_id in MODULES:
        name = f"amplifier_module_{module_id.replace('-', '_')}"
        write(folder / name / "__init__.py", HOSTILE.format(ran=str(ran)))


def plant_entry_points(folder: Path, ran: Path) -> None:
    write(folder / "evil.py", HOSTILE.format(ran=str(ran)))
    write(
        folder / "evil-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n"
    )
    points = "".join(f"{module_id} = evil:mount\n" for module_id in MODULES)
    write(folder / "evil-1.0.dist-info/entry_points.txt", f"[amplifier.modules]\n{points}")


def as_console_script(command: Any) -> Any:
    """The command as its console script runs it, which puts no folder on the path."""
    line = command.line
    return type("Script", (type(command),), {"line": [line[0], "-P", *line[1:]]})(
        command.environment, command.folder, command.interpreters
    )


# Holds: sink-59, todo-5, web-8
@pytest.mark.parametrize("plant", [plant_packages, plant_entry_points])
def test_nothing_importable_replaces_a_module_of_the_command(
    keyed: Any, model: Any, tmp_path: Path, ran: Path, plant: Any
) -> None:
    model.reply(*model.said({"type": "text", "text": "All is well."}))
    plant(tmp_path / "site", ran)
    keyed.environment["PYTHONPATH"] += f"{os.pathsep}{tmp_path / 'site'}"
    skill = keyed.folder / ".claude" / "skills" / "one" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\ndescription: One.\n---\n")

    done = as_console_script(keyed)("run", "--json", "Hi")

    assert done.returncode == 0
    assert json.loads(done.stdout.splitlines()[-2])["data"] == {"text": "All is well."}
    assert not ran.exists()
    lines = done.stderr.splitlines()
    assert all(line.startswith("warning: `") for line in lines)
    assert sorted(line.split("`")[1] for line in lines) == MOUNTED


@pytest.mark.parametrize("plant", [plant_packages, plant_entry_points])
def test_the_guard_of_the_command_judges_whatever_has_its_name(
    keyed: Any, model: Any, tmp_path: Path, ran: Path, plant: Any
) -> None:
    plant(tmp_path / "site", ran)
    keyed.environment["PYTHONPATH"] += f"{os.pathsep}{tmp_path / 'site'}"
    keyed.environment["MESSAGE_MAX_CHARS"] = "5"

    done = as_console_script(keyed)("run", "a longer prompt")

    assert (done.returncode, model.requests, ran.exists()) == (1, [], False)
    assert "the prompt was refused" in done.stderr


# Holds: sink-59
@pytest.mark.parametrize("entries", ["{own}:", ":{own}", "{own}::", "/nowhere::{own}"])
def test_a_stray_colon_in_the_path_of_python_imports_nothing_of_the_current_folder(
    keyed: Any, model: Any, ran: Path, entries: str
) -> None:
    model.reply(*model.said({"type": "text", "text": "All is well."}))
    plant_packages(keyed.folder, ran)
    plant_entry_points(keyed.folder, ran)
    for name in ("click", "anyio", "httpx2", *PACKAGES):
        write(keyed.folder / name / "__init__.py", HOSTILE.format(ran=str(ran)))
    keyed.environment["PYTHONPATH"] = entries.format(own=keyed.environment["PYTHONPATH"])

    done = as_console_script(keyed)("run", "Hi")

    warning = "warning: `PYTHONPATH` has an empty entry, the current folder: it is ignored\n"
    assert (done.returncode, done.stderr, ran.exists()) == (0, warning, False)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_of_ours_comes_from_beside_the_command(
    keyed: Any, model: Any, tmp_path: Path, ran: Path, package: str
) -> None:
    model.reply(*model.said({"type": "text", "text": "All is well."}))
    site = tmp_path / "site"
    write(site / package / "__init__.py", HOSTILE.format(ran=str(ran)))
    keyed.environment["PYTHONPATH"] = f"{site}{os.pathsep}{keyed.environment['PYTHONPATH']}"

    done = as_console_script(keyed)("run", "Hi")

    warning = f"warning: `{package}` in {site} is ignored: it is not our own\n"
    assert (done.returncode, done.stderr, ran.exists()) == (0, warning, False)


# Holds: web-8
@pytest.mark.parametrize("is_there", [True, False])
def test_web_pages_are_read_where_the_extra_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_there: bool
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setattr(mount_plan, "find_spec", lambda _: is_there or None)
    plan = mount_plan.mount_plan(tmp_path, {})
    assert ("tool-web" in [each["module"] for each in plan["tools"]]) is is_there
