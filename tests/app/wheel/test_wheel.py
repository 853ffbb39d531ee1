"""What the wheel holds, and that everything in it works where it is installed."""

from __future__ import annotations

import base64
import csv
import json
import re
import sys
import tomllib
import zipfile
from configparser import ConfigParser
from email.parser import Parser
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.timeout(1200), pytest.mark.xdist_group("wheel")]

ROOT = Path(__file__).resolve().parents[3]
HEAVY = (
    "amplifier_modules",
    "amplifier_providers",
    "grpc",
    "httpx2",
    "pytest",
    "rich",
    "unittest.mock",
)


def test_the_wheel_is_small_and_fits_every_python_from_3_11(wheel: Path) -> None:
    name, version, python_tag, abi_tag, platform = wheel.stem.split("-")
    assert (name, version, python_tag, abi_tag) == ("amplifier_core", "3.0.0", "cp311", "abi3")
    assert wheel.stat().st_size < 6_500_000
    if sys.platform == "linux":
        assert "manylinux_2_17_" in platform


def test_nothing_in_the_wheel_names_a_folder_of_the_machine_that_built_it(wheel: Path) -> None:
    folders = {f"{folder}/".encode() for folder in (ROOT, Path.home())}
    with zipfile.ZipFile(wheel) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}

    (bill,) = (json.loads(text) for name, text in contents.items() if "/sboms/" in name)
    assert {"amplifier-core", "pyo3"} <= {each["name"] for each in bill["components"]}
    assert {name for name, text in contents.items() for each in folders if each in text} == set()


def test_the_record_of_the_wheel_has_the_digest_of_each_file(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    (record,) = (name for name in contents if name.endswith(".dist-info/RECORD"))
    rows = list(csv.reader(contents[record].decode().splitlines()))

    assert {name: (digest, size) for name, digest, size in rows if name != record} == {
        name: (
            "sha256=" + base64.urlsafe_b64encode(sha256(text).digest()).rstrip(b"=").decode(),
            str(len(text)),
        )
        for name, text in contents.items()
        if name != record
    }


@pytest.mark.skipif(sys.platform != "linux", reason="versions of glibc are of Linux")
def test_the_extension_needs_no_newer_glibc_than_the_wheel_says(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        library = archive.read("amplifier_core/_engine.abi3.so")

    needed = {(int(a), int(b)) for a, b in re.findall(rb"\0GLIBC_(\d+)\.(\d+)", library)}
    assert needed
    assert max(needed) <= (2, 17)


def test_the_wheel_says_what_it_is(wheel: Path, wheel_metadata: str) -> None:
    metadata = Parser().parsestr(wheel_metadata)
    with zipfile.ZipFile(wheel) as archive:
        entry_points = ConfigParser()
        name = "amplifier_core-3.0.0.dist-info/entry_points.txt"
        entry_points.read_string(archive.read(name).decode())

    assert {key: metadata[key] for key in ("Name", "Version", "License-Expression")} == {
        "Name": "amplifier-core",
        "Version": "3.0.0",
        "License-Expression": "MIT",
    }
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["Author"] == "The amplifier-core 3 authors"
    named = re.findall(
        r":: Python :: (3\.\d+)$", "\n".join(metadata.get_all("Classifier", [])), re.MULTILINE
    )
    assert named == ["3.11", "3.12", "3.13"]
    tested = "tested on 3.11, 3.12 and 3.13)"
    assert tested in metadata.get_payload()
    assert tested in (ROOT / "README.md").read_text()
    assert dict(entry_points["console_scripts"]) == {"amplifier-core": "amplifier_app.cli:main"}
    assert not entry_points.has_section("amplifier.modules")


@pytest.mark.parametrize(
    "page", ["README.md", "python/README.md", "docs/index.md", "docs/development.md"]
)
def test_the_pages_state_the_versions_that_are_needed(page: str) -> None:
    rust = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["rust-version"]
    python = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    text = (ROOT / page).read_text()

    assert set(re.findall(r"Rust (\d\.\d+)", text)) == {rust}
    assert set(re.findall(r"Python (\d\.\d+)", text)) == {python.removeprefix(">=")}


def test_no_link_of_its_description_is_relative(wheel_metadata: str) -> None:
    links = re.findall(r"\]\(([^)]*)\)", wheel_metadata)

    assert [link for link in links if not link.startswith("https://")] == []
    assert "from amplifier_agent import Agent" in wheel_metadata


def test_the_wheel_holds_every_file_of_the_testing_package(wheel: Path) -> None:
    python = ROOT / "python"
    files = (path for path in (python / "amplifier_testing").rglob("*") if path.is_file())
    with zipfile.ZipFile(wheel) as archive:
        names = {*archive.namelist()}

    expected = {path.relative_to(python).as_posix() for path in files if path.suffix != ".pyc"}
    assert "amplifier_testing/servers/chat/sdk_fields.json" in expected
    assert expected - names == set()


def test_the_wheel_holds_the_packages_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()

    assert {name.split("/")[0] for name in names} == {
        "amplifier_agent",
        "amplifier_app",
        "amplifier_core",
        "amplifier_core-3.0.0.dist-info",
        "amplifier_guard",
        "amplifier_modules",
        "amplifier_providers",
        "amplifier_serve",
        "amplifier_stream",
        "amplifier_testing",
        "arcllm",
    }
    assert [name for name in names if "__pycache__" in name or name.endswith(".pyc")] == []
    assert {
        "amplifier_core/_engine.abi3.so",
        "amplifier_core/_engine.pyi",
        "amplifier_core/py.typed",
        "amplifier_core-3.0.0.dist-info/licenses/LICENSE",
    } <= set(names)


IDENTITIES = """
import json
import amplifier_core
from amplifier_core import _engine

print(json.dumps({
    "rust": amplifier_core.RUST_AVAILABLE,
    "versions": [amplifier_core.__version__, _engine.__version__],
    "same": [
        amplifier_core.AmplifierSession is _engine.RustSession,
        amplifier_core.ModuleCoordinator is _engine.RustCoordinator,
        amplifier_core.HookRegistry is _engine.RustHookRegistry,
        amplifier_core.CancellationToken is _engine.RustCancellationToken,
    ],
}))
"""


def test_the_top_level_names_are_the_rust_types(installed: Any, tmp_path: Path) -> None:
    assert installed.printed(IDENTITIES, tmp_path) == {
        "rust": True,
        "versions": ["3.0.0", "3.0.0"],
        "same": [True, True, True, True],
    }


IMPORTS = """
import json
import sys
import amplifier_core

print(json.dumps(sorted(sys.modules)))
"""


def test_the_import_brings_nothing_heavy_with_it(installed: Any, tmp_path: Path) -> None:
    loaded = installed.printed(IMPORTS, tmp_path)

    assert "amplifier_core" in loaded
    assert [name for name in HEAVY if name in loaded] == []


PROVIDER = '''
"""A provider that follows a script: one tool call, then an answer from its result."""

from amplifier_core import ChatResponse, ProviderInfo, TextBlock, ToolCall, ToolCallBlock

__amplifier_module_type__ = "provider"


class Scripted:
    name = "scripted"

    def get_info(self):
        return ProviderInfo(id="scripted", display_name="Scripted")

    async def list_models(self):
        return []

    async def complete(self, request, **kwargs):
        last = request.messages[-1]
        if last.role == "user":
            arguments = {"path": "."}
            return ChatResponse(
                content=[ToolCallBlock(id="call-1", name="list_directory", input=arguments)],
                tool_calls=[ToolCall(id="call-1", name="list_directory", arguments=arguments)],
                finish_reason="tool_use",
            )
        seen = "notes.txt" in str(last.content)
        return ChatResponse(
            content=[TextBlock(text="there are notes" if seen else f"no notes: {last}")],
            finish_reason="end_turn",
        )

    def parse_tool_calls(self, response):
        return response.tool_calls or []


async def mount(coordinator, config=None):
    await coordinator.mount("providers", Scripted(), name="scripted")
'''

SESSION = """
import asyncio
import json
import os
from amplifier_core import AmplifierSession

CONFIG = {
    "session": {
        "orchestrator": {"module": "loop-basic"},
        "context": {"module": "context-simple"},
    },
    "providers": [{"module": "provider-scripted"}],
    "tools": [{"module": "tool-filesystem", "config": {"root": os.environ["FOLDER"]}}],
}


async def main():
    async with AmplifierSession(CONFIG) as session:
        answer = await session.execute("What is here?")
        messages = await session.coordinator.get("context").get_messages()
    return {"answer": answer, "roles": [message["role"] for message in messages]}


print(json.dumps(asyncio.run(main())))
"""


def test_a_session_runs_through_the_api(installed: Any, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "notes.txt").write_text("milk\n")
    (tmp_path / "amplifier_module_provider_scripted.py").write_text(PROVIDER)

    assert installed.printed(SESSION, tmp_path, FOLDER=str(folder)) == {
        "answer": "there are notes",
        "roles": ["user", "assistant", "tool", "assistant"],
    }


def test_the_command_runs_on_the_demo_model(installed: Any, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# A folder of notes\n")
    (tmp_path / "notes.txt").write_text("milk\nTODO: buy eggs\n")
    tour = ("run", "--json", "Give me a tour of this project")
    done = installed.call("amplifier-core", *tour, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]

    assert {"session:start", "tool:post", "session:end"} <= {event["event"] for event in events}
    answer, outcome = events[-2:]
    assert (answer["event"], outcome["event"]) == ("answer", "outcome")
    assert outcome["data"]["status"] == "completed"
    assert "A folder of notes" in answer["data"]["text"]
    assert len(done.stderr.splitlines()) == 1


def test_the_agent_of_the_readme_runs(installed: Any, tmp_path: Path) -> None:
    [agent] = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    (tmp_path / "README.md").write_text("# A folder of notes\n")
    done = installed.run(agent, tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert "A folder of notes" in done.stdout
