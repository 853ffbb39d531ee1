"""The names of events and capabilities."""

from __future__ import annotations

import pytest

from amplifier_core import _engine, capabilities, events


def constants(module: object) -> dict[str, object]:
    return {name: getattr(module, name) for name in dir(module) if name.isupper()}


def test_the_43_events_are_listed_in_their_order():
    assert events.ALL_EVENTS is _engine.ALL_EVENTS
    found = events.ALL_EVENTS
    assert found == [
        "session:start",
        "session:end",
        "session:fork",
        "session:resume",
        "prompt:submit",
        "prompt:complete",
        "plan:start",
        "plan:end",
        "provider:request",
        "provider:response",
        "provider:retry",
        "provider:error",
        "provider:throttle",
        "provider:tool_sequence_repaired",
        "provider:resolve",
        "llm:request",
        "llm:response",
        "content_block:start",
        "content_block:delta",
        "content_block:end",
        "thinking:delta",
        "thinking:final",
        "tool:pre",
        "tool:post",
        "tool:error",
        "context:pre_compact",
        "context:post_compact",
        "context:compaction",
        "context:include",
        "orchestrator:complete",
        "execution:start",
        "execution:end",
        "user:notification",
        "artifact:write",
        "artifact:read",
        "policy:violation",
        "approval:required",
        "approval:granted",
        "approval:denied",
        "cancel:requested",
        "cancel:completed",
        "module:on_session_ready_failed",
        "module:load_failed",
    ]


def test_the_module_lists_the_events_and_nothing_else_in_capitals():
    listed = constants(events)
    assert listed.pop("ALL_EVENTS") is events.ALL_EVENTS
    assert sorted(listed.values()) == sorted(events.ALL_EVENTS)
    assert len(listed) == len(set(events.ALL_EVENTS)) == 43
    assert {name: getattr(_engine, name) for name in listed} == listed


def test_a_constant_is_called_like_its_event():
    listed = constants(events)
    del listed["ALL_EVENTS"]
    assert {name: str(value).replace(":", "_").upper() for name, value in listed.items()} == {
        name: name for name in listed
    }


def test_an_event_is_a_namespace_and_an_action():
    assert [event for event in events.ALL_EVENTS if event.count(":") != 1] == []


# Holds: differ-33
def test_the_further_events_are_served_but_not_listed():
    from amplifier_core.events import LLM_POST, LLM_PRE, TURN_END, TURN_START

    names = ["LLM_POST", "LLM_PRE", "TURN_END", "TURN_START"]
    values = ["llm:post", "llm:pre", "turn:end", "turn:start"]
    assert values == [LLM_POST, LLM_PRE, TURN_END, TURN_START]
    assert [getattr(_engine, name) for name in names] == values
    assert [name for name in names if name in dir(events) or name in vars(events)] == []
    assert [value for value in values if value in events.ALL_EVENTS] == []


def test_an_unknown_event_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'TURN_MIDDLE'"):
        _ = events.TURN_MIDDLE


def test_the_16_capabilities_are_listed_in_their_order():
    assert capabilities.ALL_WELL_KNOWN_CAPABILITIES is _engine.ALL_WELL_KNOWN_CAPABILITIES
    found = capabilities.ALL_WELL_KNOWN_CAPABILITIES
    assert found == [
        "tools",
        "streaming",
        "thinking",
        "vision",
        "json_mode",
        "fast",
        "code_execution",
        "web_search",
        "deep_research",
        "local",
        "audio",
        "image_generation",
        "computer_use",
        "embeddings",
        "long_context",
        "batch",
    ]


def test_the_module_lists_the_capabilities_and_nothing_else_in_capitals():
    listed = constants(capabilities)
    known = listed.pop("ALL_WELL_KNOWN_CAPABILITIES")
    assert listed == {
        str(value).upper(): value for value in capabilities.ALL_WELL_KNOWN_CAPABILITIES
    }
    assert {name: getattr(_engine, name) for name in listed} == listed
    assert known == capabilities.ALL_WELL_KNOWN_CAPABILITIES
