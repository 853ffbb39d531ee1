"""What the caller says is sent, by each provider: whatever is changed is reported with both values."""

from __future__ import annotations

from typing import Any, Self

import pytest
from strict_services import LOOK, SERVICES, body_of, changes, degradations, request

from amplifier_core.llm_errors import InvalidRequestError
from arcllm import load_model

Found = tuple[dict[str, Any], list[tuple[str, str]]]

OWN = "the model's own"
_STOPPED = {"include": None, "reasoning": {"effort": "none"}}

SHORT: dict[str, dict[str, Any]] = {
    "claude with a budget": {"max_tokens": 100, "thinking": None},
    "claude that adapts": {"max_tokens": 100, "thinking": None},
    "claude that always thinks": {"max_tokens": 100},
    "claude without thinking": {"max_tokens": 100},
    "gpt that can stop": {"max_output_tokens": 100, **_STOPPED},
    "gpt that cannot stop": {"max_output_tokens": 100},
    "gpt without reasoning": {"max_output_tokens": 100},
    "azure": {"max_output_tokens": 100},
    "azure of no known family": {"max_output_tokens": 100},
    "deployment": {"max_completion_tokens": 100},
    "deployment of no known family": {"max_completion_tokens": 100},
    "groq": {"max_completion_tokens": 100},
    "openrouter": {"max_tokens": 100},
    "deepseek": {"max_tokens": 100, "thinking": {"type": "disabled"}},
    "mistral": {"max_tokens": 100},
    "ollama": {"options": {"num_predict": 100}, "think": False},
    "ollama at /v1": {"max_tokens": 100, "reasoning_effort": "none"},
    "ollama with levels": {"options": {"num_predict": 100}},
    "ollama without thinking": {"options": {"num_predict": 100}},
}
"""What a limit of 100 tokens changes: no model thinks unasked that would have no room for it."""

WARM: dict[str, Found] = {
    "claude with a budget": ({"temperature": 0.5, "thinking": None}, []),
    "claude that adapts": ({"temperature": 0.5, "thinking": None}, []),
    "claude that always thinks": ({}, [("a temperature of 0.5", OWN)]),
    "claude without thinking": ({"temperature": 0.5}, []),
    "gpt that can stop": ({"temperature": 0.5, **_STOPPED}, []),
    "gpt that cannot stop": ({}, [("a temperature of 0.5", OWN)]),
    "gpt without reasoning": ({"temperature": 0.5}, []),
    "azure": ({}, [("a temperature of 0.5", OWN)]),
    "deployment": ({}, [("a temperature of 0.5", OWN)]),
    "openai-chat": ({"temperature": 0.5, "reasoning_effort": "none"}, []),
    "groq": ({"temperature": 0.5}, []),
    "openrouter": ({"temperature": 0.5}, []),
    "deepseek": ({"temperature": 0.5, "thinking": {"type": "disabled"}}, []),
    "mistral": ({"temperature": 0.5}, []),
    "ollama": ({"options": {"temperature": 0.5}}, []),
    "ollama at /v1": ({"temperature": 0.5}, []),
    "ollama with levels": ({"options": {"temperature": 0.5}}, []),
    "ollama without thinking": ({"options": {"temperature": 0.5}}, []),
}


OF_RESPONSES = (
    "gpt that can stop", "gpt that cannot stop", "gpt without reasoning", "azure",
    "azure of no known family",
)  # fmt: skip
"""Those of an API without texts that end an answer."""


class Asking:
    """A provider that is asked, and what its server got of a request that says nothing."""

    def __init__(self, name: str) -> None:
        self._service = SERVICES[name]

    async def __aenter__(self) -> Self:
        self._server = self._service.server().__enter__()
        self._provider = self._service.provider(self._server, {})
        self._others: list[Any] = []
        return self

    async def __aexit__(self, *_: object) -> None:
        for provider in (self._provider, *self._others):
            await provider.close()
        self._server.__exit__()
        assert self._server.refusals == []

    async def found(
        self, options: dict[str, Any] | None = None, *, settings: Any = None, **fields: Any
    ) -> Found:
        """Return what options, settings and fields of a request change, and what is reported."""
        before = self._provider
        await before.complete(request(tools=fields.get("tools")))
        plain = body_of(self._server)
        provider = before
        if settings is not None:
            provider = self._service.provider(self._server, {}, **settings)
            self._others.append(provider)
        response = await provider.complete(request(**fields), **(options or {}))
        return changes(plain, body_of(self._server)), degradations(response)


# Holds: provider-21
@pytest.mark.parametrize("name", SHORT)
async def test_a_limit_is_sent_as_it_was_given(name: str) -> None:
    async with Asking(name) as asking:
        assert await asking.found(max_output_tokens=100) == (SHORT[name], [])
        assert await asking.found({"max_tokens": 100}) == (SHORT[name], [])
        assert await asking.found(settings={"max_tokens": 100}) == (SHORT[name], [])


# Holds: provider-21
@pytest.mark.parametrize("name", WARM)
async def test_a_temperature_is_sent_as_it_was_given_or_reported(name: str) -> None:
    async with Asking(name) as asking:
        assert await asking.found(temperature=0.5) == WARM[name]
        assert await asking.found({"temperature": 0.5}) == WARM[name]
        assert await asking.found(settings={"temperature": 0.5}) == WARM[name]


_BUDGET = {"thinking": {"type": "enabled", "budget_tokens": 2_048}}
_ON = {"extended_thinking": True}
_REASONS = {"reasoning": {"effort": "medium", "summary": "detailed"}}


# Holds: provider-21
@pytest.mark.parametrize(
    ("name", "fields", "options", "expected"),
    [
        ("claude with a budget", {"max_output_tokens": 100}, _ON,
         ({"max_tokens": 8_292}, [("an answer of 100 tokens", "one of 8292")])),
        ("claude with a budget", {"max_output_tokens": 100},
         {"extended_thinking": _BUDGET["thinking"]},
         ({"max_tokens": 2_148, **_BUDGET}, [("an answer of 100 tokens", "one of 2148")])),
        ("claude with a budget", {"max_output_tokens": 9_000}, _ON, ({"max_tokens": 9_000}, [])),
        ("claude with a budget", {"max_output_tokens": 9_000}, {}, ({"max_tokens": 9_000}, [])),
        ("claude with a budget", {"max_output_tokens": 8_192}, {},
         ({"max_tokens": 8_192, "thinking": None}, [])),
        ("claude with a budget", {"max_output_tokens": 999_999}, {},
         ({"max_tokens": 64_000}, [("an answer of 999999 tokens", "at most 64000")])),
        ("claude with a budget", {}, {"extended_thinking": {"budget_tokens": 7}},
         ({"thinking": {"type": "enabled", "budget_tokens": 1_024}},
          [("a thinking budget of 7 tokens", "one of 1024")])),
        ("claude with a budget", {}, {"extended_thinking": {"budget_tokens": 900_000}},
         ({"max_tokens": 64_000, "thinking": {"type": "enabled", "budget_tokens": 63_999}},
          [("a thinking budget of 900000 tokens", "one of 63999")])),
        ("claude with a budget", {"reasoning_effort": "high"}, {},
         ({}, [("reasoning effort `high`", "a thinking budget of 8192 tokens")])),
        ("claude with a budget", {"temperature": 0.5}, _ON,
         ({}, [("a temperature of 0.5", "a temperature of 1")])),
        ("claude with a budget", {"temperature": 1}, _ON, ({"temperature": 1}, [])),
        ("claude with a budget", {"top_p": 0.5}, {}, ({"thinking": None, "top_p": 0.5}, [])),
        ("claude with a budget", {"top_p": 0.96}, {}, ({"top_p": 0.96}, [])),
        ("claude with a budget", {"top_p": 0.5}, _ON, ({}, [("a `top_p` of 0.5", OWN)])),
        ("claude with a budget", {"temperature": 0.5, "top_p": 0.9}, {},
         ({"temperature": 0.5, "thinking": None}, [("a `top_p` of 0.9", OWN)])),
        ("claude without thinking", {"temperature": 0.5, "top_p": 0.9}, {},
         ({"temperature": 0.5, "top_p": 0.9}, [])),
        ("claude that adapts", {"reasoning_effort": "minimal"}, {},
         ({"output_config": {"effort": "low"}}, [("reasoning effort `minimal`", "`low`")])),
        ("claude that adapts", {"reasoning_effort": "xhigh"}, {},
         ({"output_config": {"effort": "high"}}, [("reasoning effort `xhigh`", "`high`")])),
        ("gpt that can stop", {"max_output_tokens": 3}, _ON,
         ({"max_output_tokens": 16, **_REASONS}, [("3 tokens", "16 tokens")])),
        ("gpt that can stop", {"temperature": 0.5}, _ON,
         (_REASONS, [("a temperature of 0.5", OWN)])),
        ("gpt without reasoning", {"max_output_tokens": 99_999}, {},
         ({"max_output_tokens": 32_768}, [("99,999 tokens", "32,768 tokens")])),
        ("deepseek", {"temperature": 0.5}, _ON,
         ({"temperature": 0.5, "thinking": {"type": "enabled"}},
          [("a `temperature` of 0.5", "without effect")])),
        ("openrouter", {}, {"extended_thinking": {"budget_tokens": 9, "effort": "low"}},
         ({"reasoning": {"max_tokens": 9}},
          [("reasoning effort `low`", "a thinking budget of 9 tokens")])),
    ],
)  # fmt: skip
async def test_who_asks_for_what_excludes_another_hears_of_it(
    name: str, fields: dict[str, Any], options: dict[str, Any], expected: Found
) -> None:
    async with Asking(name) as asking:
        assert await asking.found(options, **fields) == expected


@pytest.mark.parametrize("name", SERVICES)
async def test_a_tool_call_without_tools_and_blank_stops_are_reported(name: str) -> None:
    stops = "stop texts" if name in OF_RESPONSES else "1 blank stop text"
    async with Asking(name) as asking:
        changed, reported = await asking.found(tool_choice="required", stop=[" "])
        assert (changed, set(reported)) == ({}, {("a tool call", "none"), (stops, "none")})
        assert await asking.found(tool_choice="auto", stop=[]) == ({}, [])


async def test_texts_that_end_an_answer_are_sent_where_the_model_takes_them() -> None:
    async with Asking("deployment") as asking:
        assert await asking.found(stop=["END"]) == ({}, [("stop texts", "none")])
    async with Asking("openai-chat") as asking:
        assert await asking.found(stop=["END"]) == ({}, [("stop texts", "none")])
        assert await asking.found(stop=["END"], reasoning_effort="none") == (
            {"reasoning_effort": "none"},
            [("stop texts", "none")],
        )
    async with Asking("groq") as asking:
        assert await asking.found(stop=["END"]) == ({"stop": ["END"]}, [])


@pytest.mark.parametrize("name", ["claude with a budget", "gpt that can stop", "groq", "ollama"])
async def test_a_limit_that_is_none_is_refused(name: str) -> None:
    async with Asking(name) as asking:
        for value in (0, -1, "100", True):
            with pytest.raises(InvalidRequestError, match=r"`max_tokens` is .*a whole number from"):
                await asking.found({"max_tokens": value})


async def test_a_forced_tool_call_excludes_thinking_and_says_so() -> None:
    forced = {"type": "tool", "name": "look"}
    async with Asking("claude with a budget") as asking:
        changed, reported = await asking.found(tools=[LOOK], tool_choice="look")
    assert changed["tool_choice"] == forced
    assert changed["thinking"] is None
    assert reported == [("thinking", "no thinking")]


async def test_one_call_sends_what_it_is_given() -> None:
    service = SERVICES["claude with a budget"]
    with service.server() as server:
        given = {"api_key": "k", "base_url": server.url}
        async with load_model("anthropic:claude-sonnet-4-5", max_tokens=100, **given) as model:
            of_model = await model.complete("Hi")
        async with load_model("anthropic:claude-sonnet-4-5", **given) as model:
            of_call = await model.complete("Hi", max_tokens=100, temperature=0.5)
            raised = await model.complete("Hi", max_tokens=100, extended_thinking=True)
        bodies = [seen.body for seen in server.requests]
    keys = ("max_tokens", "temperature", "thinking")
    assert [tuple(body.get(key) for key in keys) for body in bodies] == [
        (100, None, None),
        (100, 0.5, None),
        (8_292, None, {"type": "enabled", "budget_tokens": 8_192}),
    ]
    assert "degradations" not in {**of_model.metadata, **of_call.metadata}
    assert [each["actual"] for each in raised.metadata["degradations"]] == ["one of 8292"]
