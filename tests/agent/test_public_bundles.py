"""Mount plans of public applications are taken as they are."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_agent import Agent
from amplifier_core._loading.handled_events import PUBLIC_EVENTS
from amplifier_core.llm_errors import ConfigurationError

GIT = "git+https://example.org/modules@main"


def from_git(module: str, **more: Any) -> dict[str, Any]:
    return {"module": module, "source": GIT, **more}


BUNDLE: dict[str, Any] = {
    "session": {
        "orchestrator": from_git("loop-streaming", config={"extended_thinking": True}),
        "context": from_git("context-simple", config={"max_tokens": 200_000}),
    },
    "providers": [from_git("provider-mock")],
    "tools": [from_git("tool-filesystem"), from_git("tool-search"), from_git("tool-task")],
    "agents": {"reviewer": {"description": "Reviews."}},
}

Write = Callable[[str, str], None]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Writes importable modules of somebody else, and forgets them at the end."""
    monkeypatch.syspath_prepend(str(tmp_path))
    written: list[str] = []

    def write(module_id: str, text: str) -> None:
        name = f"amplifier_module_{module_id.replace('-', '_')}"
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(text)
        written.append(name)

    yield write
    for name in written:
        sys.modules.pop(name, None)


def heard(caplog: pytest.LogCaptureFixture, level: int) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == level]


def run(caplog: pytest.LogCaptureFixture, **plan: Any) -> None:
    caplog.clear()
    with caplog.at_level(logging.INFO, logger="amplifier_core"):
        assert Agent(plan={**BUNDLE, **plan}).run_sync("hi").text == "Done."


def test_a_bundle_whose_modules_come_from_elsewhere_runs(caplog: pytest.LogCaptureFixture) -> None:
    run(caplog)

    assert heard(caplog, logging.WARNING) == []
    places = ["session.orchestrator", "session.context", "providers[0]"]
    places += [f"tools[{number}]" for number in range(3)]
    assert [text.split("`")[1] for text in heard(caplog, logging.INFO)] == [
        f"{place}.source" for place in places
    ]


@pytest.mark.parametrize("main", ["orchestrator", "context"])
@pytest.mark.parametrize("source", [None, GIT])
def test_a_bundle_may_leave_out_the_loop_and_the_context(
    main: str, source: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    key = {"orchestrator": "max_iterations", "context": "max_tokens"}[main]
    section = {main: {"config": {key: 7_000}}}
    session = {} if source is None else {f"{main}_source": source}
    run(caplog, session=session, **section)

    assert heard(caplog, logging.WARNING) == []


def test_what_a_default_takes_the_place_of_is_no_warning(
    write: Write, caplog: pytest.LogCaptureFixture
) -> None:
    for module_id in ("loop-streaming", "context-simple"):
        write(module_id, "raise SystemExit('imported')")
    run(caplog, session={})

    assert heard(caplog, logging.WARNING) == []


WAITING = """
async def mount(coordinator, config=None):
    for event in config["events"]:
        coordinator.hooks.register(event, lambda event, data: None, name="hooks-waiting")
"""


def test_hooks_may_wait_for_the_events_of_public_applications(
    write: Write, caplog: pytest.LogCaptureFixture
) -> None:
    write("hooks-waiting", WAITING)
    run(caplog, hooks=[from_git("hooks-waiting", config={"events": sorted(PUBLIC_EVENTS)})])
    assert heard(caplog, logging.WARNING) == []

    run(caplog, hooks=[from_git("hooks-waiting", config={"events": ["llm:stream_blokc_end"]})])
    [said] = heard(caplog, logging.WARNING)
    assert "registered for `llm:stream_blokc_end`, which nothing emits" in said
    assert said.endswith("did you mean `llm:stream_block_end`?")


# Holds: differ-116
@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("import amplifier_module_tool_sibling", "amplifier_module_tool_sibling"),
        ("from amplifier_module_tool_sibling.parts import Part", "amplifier_module_tool_sibling"),
        ("import absent_library.inner", "absent_library"),
        (
            "async def mount(coordinator, config=None):\n    import absent_library",
            "absent_library",
        ),
    ],
)
def test_a_module_without_its_sibling_says_what_to_install(
    text: str, missing: str, write: Write
) -> None:
    write("tool-alone", f"{text}\nasync def late(): ...\n")
    with pytest.raises(ConfigurationError) as caught:
        Agent(plan={**BUNDLE, "tools": ["tool-alone"]}).run_sync("hi")

    install = f"pip install {missing.replace('_', '-')}"
    assert f"the package `{missing}` is missing: `{install}`" in str(caught.value)


def test_a_module_that_lacks_a_part_of_its_own_needs_no_other_package(write: Write) -> None:
    write("tool-broken", "from ._absent import part")
    with pytest.raises(ConfigurationError) as caught:
        Agent(plan={**BUNDLE, "tools": ["tool-broken"]}).run_sync("hi")

    assert "No module named 'amplifier_module_tool_broken._absent'" in str(caught.value)
    assert "is missing: `pip install" not in str(caught.value)
