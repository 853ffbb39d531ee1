"""What the validator of mount plans and those of JSON results find."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.validation import MountPlanValidationResult, MountPlanValidator
from amplifier_core.validation.proto_schema import validate_hook_result, validate_tool_result

SESSION = {"orchestrator": {"module": "loop-basic"}, "context": {"module": "context-simple"}}


def failed(plan: Any, **options: Any) -> list[tuple[str, str]]:
    result = MountPlanValidator(**options).validate(plan)
    return [(check.name, check.severity) for check in result.checks if not check.passed]


# Holds: differ-93
def test_a_good_plan_passes():
    plan = {
        "session": SESSION,
        "providers": [{"module": "provider-x", "source": "git+x", "config": {"a": 1}}],
        "tools": [],
        "agents": 3,
        "orchestrator": {"config": {}},
    }
    result = MountPlanValidator().validate(plan)
    assert [check.name for check in result.checks] == [
        "root_type",
        "session_present",
        "session.orchestrator_module_valid",
        "session.context_module_valid",
        "providers[0]_module_valid",
        "tools_empty",
    ]
    assert (result.passed, result.format_errors()) == (True, "No errors")


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        ("x", [("root_type", "error")]),
        (None, [("root_type", "error")]),
        ({}, [("session_present", "error")]),
        ({"session": 3}, [("session_type", "error")]),
        (
            {"session": {}},
            [("session_orchestrator_present", "error"), ("session_context_present", "error")],
        ),
        ({"session": SESSION, "zzz": 1}, [("unknown_sections", "warning")]),
        ({"session": SESSION, "tools": {}}, [("tools_type", "error")]),
        ({"session": SESSION, "tools": ["tool-x"]}, [("tools[0]_type", "error")]),
        ({"session": SESSION, "hooks": [{}]}, [("hooks[0]_module_required", "error")]),
        ({"session": SESSION, "hooks": [{"module": 3}]}, [("hooks[0]_module_type", "error")]),
        ({"session": SESSION, "hooks": [{"module": " "}]}, [("hooks[0]_module_empty", "error")]),
        (
            {"session": SESSION, "hooks": [{"module": "a", "config": None, "source": 3}]},
            [("hooks[0]_config_type", "error"), ("hooks[0]_source_type", "error")],
        ),
    ],
)
def test_what_is_wrong_with_a_plan_has_a_name(plan: Any, expected: list[tuple[str, str]]):
    assert failed(plan) == expected


def test_the_phrases_that_callers_look_for():
    plan = {"session": {"orchestrator": "a", "context": {"module": ""}}, "tools": 3, "hooks": [{}]}
    text = MountPlanValidator().validate(plan).format_errors()
    assert text.startswith("Mount Plan Validation Failed")
    for phrase in (
        "[session.orchestrator_type] Module spec at session.orchestrator must be a dict, got str",
        "at session.context cannot be empty",
        "'tools' must be a list, got int",
        "missing the required field 'module'",
        "Got: {}",
        "Expected: {'module': ",
        "Total: 4 error(s)",
    ):
        assert phrase in text


def test_secrets_do_not_reach_the_messages():
    plan = {"session": SESSION, "tools": [{"config": {"api_key": "sk-1"}}]}
    assert "sk-1" not in MountPlanValidator().validate(plan).format_errors()


# Holds: differ-94
def test_names_alone_are_accepted_when_allowed():
    plan = {"session": {"orchestrator": "loop-basic", "context": ""}, "tools": ["tool-x"]}
    assert failed(plan, allow_names=True) == [("session.context_module_empty", "error")]
    assert failed(plan) == [
        ("session.orchestrator_type", "error"),
        ("session.context_type", "error"),
        ("tools[0]_type", "error"),
    ]


def test_an_empty_result_passes():
    result = MountPlanValidationResult()
    assert (result.checks, result.passed, result.format_errors()) == ([], True, "No errors")
    assert result.summary() == "PASSED: 0/0 checks passed (0 errors, 0 warnings)"


class Hostile:
    def __repr__(self) -> str:
        raise ValueError("no repr")


SECTIONS = st.sampled_from(["session", "tools", "hooks", "providers", "agents", "module", "zzz"])
VALUES = st.recursive(
    st.none() | st.integers() | st.text() | st.builds(Hostile),
    lambda inner: st.lists(inner) | st.dictionaries(SECTIONS | st.integers(), inner),
)


@given(VALUES)
def test_no_plan_makes_the_validator_raise(plan: Any):
    result = MountPlanValidator().validate(plan)
    assert result.passed == (result.format_errors() == "No errors")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"success": True, "output": 3, "zzz": 1}, []),
        ({}, ["Missing required field: 'success'"]),
        ({"success": "x"}, ["Field 'success' must be bool, got str"]),
        ([], ["A tool result must be a dict, got list"]),
    ],
)
def test_a_tool_result_as_json(data: Any, expected: list[str]):
    assert validate_tool_result(data) == expected


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({}, []),
        ({"action": "continue", "approval_default": "deny"}, []),
        ({"action": "zz"}, ["Invalid action 'zz'"]),
        (
            {"context_injection_role": "tool", "user_message_level": [], "approval_default": "x"},
            ["context_injection_role 'tool'", "approval_default 'x'", "user_message_level []"],
        ),
        (None, ["A hook result must be a dict, got NoneType"]),
    ],
)
def test_a_hook_result_as_json(data: Any, words: list[str]):
    found = validate_hook_result(data)
    assert len(found) == len(words)
    assert all(word in text for word, text in zip(words, found, strict=True))
