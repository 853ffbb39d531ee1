"""The rules of a tool result's content, as `_engine` has them for JSON text."""

from __future__ import annotations

import json

import pytest

from amplifier_core import _engine
from amplifier_core._models import tool_content

IMAGE = '{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}'


@pytest.mark.parametrize(
    ("content", "normalized"),
    [
        ("null", None),
        ("[]", None),
        ('[{"type": "text", "text": "a", "extra": 1}]', '[{"type":"text","text":"a"}]'),
        (f"[{IMAGE}]", f"[{IMAGE}]"),
    ],
)
def test_the_engine_reduces_the_content_of_a_tool_result(content, normalized):
    assert _engine._normalize_tool_result_content(content) == normalized


@pytest.mark.parametrize(
    "content", ['""', "{}", "nope", "[1]", '[{"type":"video"}]', "[" * 100_000]
)
def test_the_engine_refuses_other_content(content):
    with pytest.raises(ValueError, match=r"^invalid tool result content$"):
        _engine._normalize_tool_result_content(content)


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        ("{}", {"success": True, "output": None, "error": None}),
        ("[]", {"success": True, "output": None, "error": None}),
        (
            f'{{"success":false,"output":[{IMAGE}],"error":{{"message":"m"}},"content":[{IMAGE}]}}',
            {
                "success": False,
                "output": [tool_content.OMITTED_IMAGE],
                "error": {"message": "m"},
                "content": [tool_content.OMITTED_IMAGE],
            },
        ),
    ],
)
def test_the_engine_shows_hooks_a_tool_result_without_its_images(result, shown):
    assert json.loads(_engine._tool_result_safe_hook_presentation(result)) == shown


@pytest.mark.parametrize("value", [None, b"[]", [], 1])
def test_the_engine_reads_tool_results_from_text_alone(value):
    for function in (
        _engine._normalize_tool_result_content,
        _engine._tool_result_safe_hook_presentation,
    ):
        with pytest.raises(TypeError, match="must be a str"):
            function(value)
