"""What the validators find when they mount a module."""

from __future__ import annotations

import sys

import pytest
from sample_modules import MODULES, NOTHING, TOOL, Write, failed, message

from amplifier_core._loading.check import check_mount
from amplifier_core.validation import HookValidator, ToolValidator, base


@pytest.mark.parametrize("kind", ["tool", "provider", "orchestrator", "context"])
async def test_a_module_that_mounts_nothing_fails(kind: str, write: Write):
    result = await MODULES[kind][0]().validate(write(NOTHING))
    assert failed(result) == [("protocol_compliance", "error")]
    assert f"No {kind} was mounted" in message(result, "protocol_compliance")


# Holds: differ-90
async def test_a_hook_module_that_registers_nothing_fails(write: Write):
    result = await HookValidator().validate(write(NOTHING))
    assert failed(result) == [("protocol_compliance", "error")]
    assert "No hook was registered" in message(result, "protocol_compliance")


@pytest.mark.parametrize(
    "text",
    [
        "async def mount(coordinator, config=None): return lambda: None\n",
        NOTHING + "async def on_session_ready(coordinator): pass\n",
        "async def mount(c, config=None): c.register_contributor('a.b', 'n', list)\n",
    ],
)
async def test_a_hook_module_that_may_register_later_passes_with_a_warning(text: str, write: Write):
    result = await HookValidator().validate(write(text))
    assert result.checks[-1].passed
    assert result.checks[-1].severity == "warning"


@pytest.mark.parametrize("kind", ["tool", "provider", "orchestrator", "context"])
async def test_a_module_that_gives_only_a_cleanup_passes_with_a_warning(kind: str, write: Write):
    text = "async def mount(coordinator, config=None): return lambda: None\n"
    result = await MODULES[kind][0]().validate(write(text))
    assert result.passed
    assert (result.checks[-1].name, result.checks[-1].severity) == (
        "protocol_compliance",
        "warning",
    )


async def test_an_object_that_mount_returns_is_judged(write: Write):
    returned = TOOL.partition("    await coordinator")[0] + "    return Tool()\n"
    assert (await ToolValidator().validate(write(returned))).passed


async def test_every_mounted_tool_is_judged(write: Write):
    text = TOOL + "    await coordinator.mount('tools', object(), name='y')\n"
    result = await ToolValidator().validate(write(text))
    assert failed(result) == [("protocol_compliance", "error")]
    assert "Tool 'y' does not implement Tool interface (missing name, execute)" in [
        check.message for check in result.errors
    ]


# Holds: differ-91
async def test_a_module_is_mounted_once_with_its_config_and_cleaned_up_once(write: Write):
    text = TOOL + (
        "    calls.append(config)\n"
        "    coordinator.register_cleanup(lambda: calls.append('registered'))\n"
        "    async def cleanup(): calls.append('returned')\n"
        "    return cleanup\n"
        "calls = []\n"
    )
    result = await ToolValidator().validate(write(text), config={"a": 1})
    assert result.passed
    assert sys.modules["checked_module"].calls == [{"a": 1}, "returned", "registered"]


async def test_a_cleanup_runs_also_when_mount_fails_and_may_fail_itself(write: Write):
    text = (
        "calls = []\n"
        "def cleanup(): calls.append(1); raise ValueError('late')\n"
        "async def mount(coordinator, config=None):\n"
        "    coordinator.register_cleanup(cleanup); raise ValueError('boom')\n"
    )
    result = await ToolValidator().validate(write(text))
    assert sys.modules["checked_module"].calls == [1]
    assert "boom" in message(result, "protocol_compliance")


@pytest.mark.parametrize(
    ("ready", "word"),
    [
        ("def on_session_ready(coordinator): pass", "async"),
        ("async def on_session_ready(): pass", "coordinator"),
        ("async def on_session_ready(coordinator=None): pass", "coordinator"),
        ("async def on_session_ready(coordinator, **kwargs): pass", None),
        ("", None),
    ],
)
async def test_a_wrong_on_session_ready_stands_after_the_signature(
    ready: str, word: str | None, write: Write
):
    result = await ToolValidator().validate(write(f"{TOOL}\n{ready}\n"))
    names = [check.name for check in result.checks]
    found = base.check_on_session_ready(sys.modules["checked_module"])
    if word is None:
        assert found is None
        assert "on_session_ready_async" not in names
    else:
        assert names[2:5] == ["mount_signature", "on_session_ready_async", "protocol_compliance"]
        assert found is not None
        assert (found.severity, found.passed, word in found.message) == ("error", False, True)
        assert failed(result) == [("on_session_ready_async", "error")]


def test_the_loader_and_the_validators_have_the_same_checks(write: Write):
    write(NOTHING)
    module = base.import_module_from_path(write("def mount(c): pass\n", "checked_other"))
    assert [check.name for check in check_mount(module)] == [
        "mount_exists",
        "mount_signature",
    ]
