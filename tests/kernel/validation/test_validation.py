"""What the validators find in what a module mounted, and how they report it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from sample_modules import CONTEXT, LOOP, MODULES, PROVIDER, TOOL, Write, failed, message

from amplifier_core import validation
from amplifier_core.validation import (
    ContextValidator,
    OrchestratorValidator,
    ProviderValidator,
    ToolValidator,
    ValidationCheck,
    ValidationResult,
)


@pytest.mark.parametrize("kind", MODULES)
async def test_a_good_module_passes_every_check(kind: str, write: Write):
    validator, text = MODULES[kind]
    package = write(text)
    result = await validator().validate(package)
    assert failed(result) == []
    assert (result.module_type, result.module_path) == (kind, str(package))
    assert {check.severity for check in result.checks} == {"info"}
    assert [check.name for check in result.checks][:4] == [
        "module_importable",
        "mount_exists",
        "mount_signature",
        "protocol_compliance",
    ]


async def test_the_checks_of_each_type_have_these_names(write: Write):
    names = {}
    for kind, (validator, text) in MODULES.items():
        result = await validator().validate(write(text, f"checked_{kind}"))
        names[kind] = [check.name for check in result.checks][4:]
    assert names == {
        "tool": ["tool_name", "tool_description", "tool_input_schema", "tool_execute"],
        "provider": [
            "provider_name",
            "provider_get_info",
            "provider_list_models",
            "provider_complete",
            "provider_parse_tool_calls",
        ],
        "orchestrator": ["orchestrator_execute"],
        "context": [
            "context_add_message",
            "context_get_messages_for_request",
            "context_get_messages",
            "context_set_messages",
            "context_clear",
        ],
        "hook": [],
    }


async def test_the_phrases_that_callers_look_for(write: Write):
    tool = await ToolValidator().validate(write(TOOL, "checked_tool"))
    assert "implements Tool interface" in message(tool, "protocol_compliance")
    provider = await ProviderValidator().validate(write(PROVIDER, "checked_provider"))
    assert "implements Provider interface" in message(provider, "protocol_compliance")


async def test_members_that_do_not_fit_are_told_by_severity(write: Write):
    text = (
        TOOL.replace('name = "x"', 'name = ""')
        .replace('description = "does"', "description = 3")
        .replace("input_schema = {}", "input_schema = []")
        .replace("async def execute(self, input)", "def execute(self)")
    )
    assert failed(await ToolValidator().validate(write(text))) == [
        ("tool_name", "error"),
        ("tool_description", "warning"),
        ("tool_input_schema", "warning"),
        ("tool_execute", "error"),
    ]


async def test_a_property_that_raises_is_told(write: Write):
    text = TOOL.replace(
        'name = "x"', "@property\n    def name(self): raise ValueError('no name')"
    ).replace("input_schema = {}", "@property\n    def input_schema(self): return 1 / 0")
    result = await ToolValidator().validate(write(text))
    assert failed(result) == [("tool_name", "error"), ("tool_input_schema", "warning")]
    assert "no name" in message(result, "tool_name")


async def test_a_tool_needs_neither_schema_nor_description_nor_base(write: Write):
    text = TOOL.replace('    description = "does"\n    input_schema = {}\n', "")
    result = await ToolValidator().validate(write(text))
    assert result.passed
    assert failed(result) == [("tool_description", "warning")]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("raise", "raise", []),
        ('ProviderInfo(id="x", display_name="X")', "{}", [("provider_get_info", "error")]),
        ('ProviderInfo(id="x", display_name="X")', "1/0", [("provider_get_info", "warning")]),
        ("async def list_models", "def list_models", [("provider_list_models", "error")]),
        ("self, request, **kwargs", "self", [("provider_complete", "error")]),
        ("def parse_tool_calls", "async def other", [("protocol_compliance", "error")]),
    ],
)
async def test_providers_are_judged_by_their_members(
    old: str, new: str, expected: list[tuple[str, str]], write: Write
):
    result = await ProviderValidator().validate(write(PROVIDER.replace(old, new)))
    assert failed(result) == expected


async def test_a_loop_takes_what_the_kernel_gives(write: Write):
    text = LOOP.replace("prompt, context, providers, tools, hooks, **kwargs", "prompt, **kwargs")
    result = await OrchestratorValidator().validate(write(text))
    assert failed(result) == [("orchestrator_execute", "error")]


async def test_a_context_lacks_no_method(write: Write):
    text = CONTEXT.replace("async def clear(self): pass", "")
    result = await ContextValidator().validate(write(text))
    assert "missing clear" in message(result, "protocol_compliance")


@pytest.mark.parametrize("kind", ["tool", "provider"])
async def test_a_method_that_cannot_be_called_is_missing(kind: str, write: Write):
    name = {"tool": "execute", "provider": "get_info"}[kind]
    text = MODULES[kind][1].replace(
        "async def mount", f"{kind.capitalize()}.{name} = 3\nasync def mount"
    )
    result = await MODULES[kind][0]().validate(write(text))
    assert failed(result) == [("protocol_compliance", "error")]
    assert f"(missing {name})" in message(result, "protocol_compliance")


def test_a_result_counts_its_checks():
    result = ValidationResult("tool", "x")
    assert (result.checks, result.passed, result.summary()) == (
        [],
        True,
        "PASSED: 0/0 checks passed (0 errors, 0 warnings)",
    )
    result.add(ValidationCheck("a", True, "fine", "info"))
    result.add(ValidationCheck("b", False, "odd", "warning"))
    assert result.summary() == "PASSED: 1/2 checks passed (0 errors, 1 warnings)"
    result.add(ValidationCheck("c", False, "bad", "error"))
    assert result.summary() == "FAILED: 1/3 checks passed (1 errors, 1 warnings)"
    assert ([c.name for c in result.errors], [c.name for c in result.warnings]) == (["c"], ["b"])


def test_the_exported_names_resolve():
    assert [name for name in validation.__all__ if not hasattr(validation, name)] == []


def test_validation_needs_no_test_framework():
    program = (
        "import json, sys; sys.modules['pytest'] = sys.modules['pytest_asyncio'] = None\n"
        "import amplifier_core.validation, amplifier_core.validation.base\n"
        "print(json.dumps([name for name in ('unittest.mock', 'grpc') if name in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert json.loads(done.stdout) == []
