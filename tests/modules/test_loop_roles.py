"""Models by role: which provider and model answers which call, and what is said of it."""

from __future__ import annotations

import logging

import pytest

from amplifier_agent import Agent, ScriptedProvider
from amplifier_core.llm_errors import ConfigurationError, ContextLengthError
from amplifier_core.models import HookResult, ModelInfo
from amplifier_modules.loops import basic, streaming
from amplifier_modules.loops.model_roles import Roles, UnknownRoleError, choose_provider
from amplifier_modules.loops.settings import LoopSettings
from amplifier_providers import openai_chat
from amplifier_providers.anthropic import AnthropicProvider, read_config
from amplifier_providers.settings import SettingError, read_settings
from amplifier_testing.servers import AnthropicServer, ChatServer

LOOPS = {"basic": basic.BasicLoop, "streaming": streaming.StreamingLoop}
MODEL_EVENTS = ("provider:request", "llm:pre", "llm:post", "provider:response")


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


@pytest.fixture(params=["basic", "streaming"])
def kind(request):
    return request.param


def settings_of(models):
    return read_settings(LoopSettings, {"models": models}, "loop")


def providers_of(*names):
    return {name: ScriptedProvider([f"{name} answers", f"{name} again"]) for name in names}


async def asked(bench, kind, providers, config=None, prompts=("go",), hook=None):
    """Run turns of a loop with several providers; return its bench and the answers."""
    turn = bench(kind, config=config)
    if hook is not None:
        turn.hook("provider:request", hook)
    loop = await turn.loop()
    answers = [
        await loop.execute(
            prompt, turn.context, providers, {}, turn.coordinator.hooks,
            coordinator=turn.coordinator,
        )
        for prompt in prompts
    ]  # fmt: skip
    return turn, answers


def identities(turn):
    keys = ("provider", "model", "role")
    return {
        event: [{key: data[key] for key in keys if key in data} for data in turn.data(event)]
        for event in MODEL_EVENTS
    }


@pytest.mark.parametrize(
    "named",
    [
        "second:large-1",
        "provider-second:large-1",
        {"provider": "second", "model": "large-1"},
        {"provider": "provider-second", "model": "large-1"},
    ],
)
async def test_a_turn_calls_the_strong_model_where_one_is_named(bench, kind, named):
    providers = providers_of("first", "second")
    config = {"models": {"strong": named}, "default_provider": "first"}
    turn, answers = await asked(bench, kind, providers, config)

    assert answers == ["second answers"]
    assert [request.model for request in providers["second"].requests] == ["large-1"]
    assert providers["first"].requests == []
    expected = {"provider": "second", "model": "large-1", "role": "strong"}
    assert identities(turn) == {event: [expected] for event in MODEL_EVENTS}


async def test_without_a_strong_model_the_default_provider_answers_and_no_role_is_said(bench, kind):
    providers = providers_of("first", "second")
    turn, answers = await asked(bench, kind, providers, {"models": {"fast": "second"}})

    assert answers == ["first answers"]
    assert providers["first"].requests[0].model is None
    assert identities(turn) == {
        event: [{"provider": "first", "model": None}] for event in MODEL_EVENTS
    }


async def test_a_model_name_may_have_colons():
    settings = settings_of({"fast": "ollama:llama3:8b", "strong": {"provider": "openai"}})

    assert {role: (each.provider, each.model) for role, each in settings.models.items()} == {
        "fast": ("ollama", "llama3:8b"),
        "strong": ("openai", None),
    }


@pytest.mark.parametrize(
    "models",
    ["fast", {"fast": ""}, {"fast": ":m"}, {"fast": {"model": "m"}}, {"fast": 3},
     {"fast": {"provider": "a", "modle": "m"}}, {"fast": {"provider": "a", "model": 3}}],
)  # fmt: skip
def test_models_that_cannot_be_read_are_refused(models):
    with pytest.raises(SettingError, match="models"):
        settings_of(models)


async def test_a_role_whose_provider_is_not_mounted_is_refused_and_the_mounted_are_listed(
    bench, kind
):
    expected = (
        "`models.fast` of the loop names the provider `third`, which is not mounted"
        " (mounted: `first`, `second`)"
    )
    providers = providers_of("first", "second")
    with pytest.raises(ConfigurationError) as caught:
        await asked(bench, kind, providers, {"models": {"fast": "third:m"}})
    assert str(caught.value) == expected
    assert not providers["first"].requests


async def test_an_agent_refuses_the_role_before_its_first_turn():
    loop = {"module": "loop-streaming", "config": {"models": {"fast": "third"}}}
    with pytest.raises(ConfigurationError, match=r"`third`, which is not mounted \(mounted: `scr"):
        async with Agent(ScriptedProvider(["Hi"]), loop=loop).session():
            pass


async def test_a_hook_chooses_the_role_of_a_call(bench, kind):
    providers = providers_of("first", "second")

    def choose(_event, data):
        if data["iteration"] == 1 and data["message_count"] == 1:
            return HookResult(action="modify", data={**data, "role": "fast"})
        return None

    config = {"models": {"fast": "second:small"}}
    turn, answers = await asked(bench, kind, providers, config, ("one", "two"), choose)

    assert answers == ["second answers", "first answers"]
    small = {"provider": "second", "model": "small", "role": "fast"}
    default = {"provider": "first", "model": None}
    assert (
        identities(turn)
        == {
            "provider:request": [default, default],  # as it is before the hook chooses
            **{event: [small, default] for event in MODEL_EVENTS[1:]},
        }
    )


async def test_a_hook_may_choose_a_role_of_its_own_name(bench, kind):
    providers = providers_of("first", "second")
    _, answers = await asked(
        bench, kind, providers, {"models": {"vision": "second", "strong": "first"}},
        hook=lambda _event, data: HookResult(action="modify", data={**data, "role": "vision"}),
    )  # fmt: skip
    assert answers == ["second answers"]


async def test_a_hook_may_take_the_role_away(bench, kind):
    providers = providers_of("first", "second")
    _, answers = await asked(
        bench, kind, providers, {"models": {"strong": "second"}},
        hook=lambda _event, data: HookResult(action="modify", data={**data, "role": None}),
    )  # fmt: skip
    assert answers == ["second answers"]  # the turn's own


@pytest.mark.parametrize("role", ["slow", 3, ["fast"]])
async def test_an_unknown_role_is_denied_and_logged(bench, kind, role, caplog):
    providers = providers_of("first", "second")
    with caplog.at_level(logging.ERROR):
        turn, answers = await asked(
            bench, kind, providers, {"models": {"fast": "second"}},
            hook=lambda _event, data: HookResult(action="modify", data={**data, "role": role}),
        )  # fmt: skip
    reason = f"`models` of the loop names no model of the role `{role}` (named: `fast`)"

    assert answers == [f"Operation denied: {reason}"]
    assert not providers["first"].requests
    assert not providers["second"].requests
    assert turn.data("orchestrator:complete") == [
        {
            "orchestrator": f"loop-{kind}",
            "turn_count": 1,
            "status": "incomplete",
            "denied": {"event": "provider:request", "reason": reason},
            "reason": reason,
        }
    ]
    assert [record.getMessage() for record in caplog.records if record.levelno == 40] == [
        f"a hook of `provider:request` asked for a role: {reason}"
    ]


def test_a_role_that_looks_misspelt_is_a_warning(caplog):
    with caplog.at_level(logging.WARNING):
        basic.BasicLoop({"models": {"fats": "first", "vision": "first"}})
    assert [record.getMessage() for record in caplog.records] == [
        "loop-basic uses no model of the role `fats`; did you mean `fast`?"
    ]


async def test_modules_ask_for_the_model_of_a_role(bench, kind):
    providers = providers_of("first", "second")
    turn = bench(kind, config={"models": {"fast": "second:small"}})
    await turn.loop()
    for name, each in providers.items():
        await turn.coordinator.mount("providers", each, name=name)
    model_of = turn.coordinator.get_capability("model.of_role")

    assert model_of("fast").identity == {"provider": "second", "model": "small", "role": "fast"}
    assert model_of("fast").provider is providers["second"]
    assert model_of("strong").identity == {"provider": "first", "model": None}


def test_without_roles_the_choice_is_that_of_the_default_provider():
    providers = providers_of("first", "second")
    roles = Roles(providers, {}, None)

    assert (roles.own.name, roles.own.provider) == choose_provider(providers, None)
    assert roles.helper is roles.own
    with pytest.raises(UnknownRoleError, match=r"role `fast` \(named: none\)"):
        roles.choose_model("fast")


class Sized(ScriptedProvider):
    """Knows the windows of two models."""

    def get_model_info(self, model=None):
        window = {"small": 20_000, None: 200_000}[model]
        return ModelInfo(
            id=model or "large", display_name="", context_window=window, max_output_tokens=0
        )

    def request_budget(self, request=None):
        return self.get_model_info(request.model if request else None).context_window


async def test_the_context_knows_the_window_of_the_model_that_is_asked(bench, kind):
    budgets = []
    turn = bench(kind, config={"models": {"strong": "sized:small"}})
    whole = turn.context.get_messages_for_request

    async def noting(token_budget=None, provider=None):
        budgets.append(token_budget)
        return await whole(token_budget=token_budget, provider=provider)

    turn.context.get_messages_for_request = noting
    loop = await turn.loop()
    await loop.execute(
        "go", turn.context, {"sized": Sized(["Hi"])}, {}, turn.coordinator.hooks,
        coordinator=turn.coordinator,
    )  # fmt: skip
    assert budgets == [20_000]


async def test_what_is_learned_of_one_model_does_not_shorten_the_requests_to_another(bench, kind):
    refused = ContextLengthError("too long", provider="first")
    providers = {
        "first": ScriptedProvider(["a", "b", refused, "c", "d"]),
        "second": ScriptedProvider(["of the second"]),
    }
    long = "word " * 200
    roles = iter([None, None, None, "fast", None])

    def choose(_event, data):
        return HookResult(action="modify", data={**data, "role": next(roles)})

    config = {"models": {"fast": "second"}}
    await asked(bench, kind, providers, config, [long, long, long, "short", "short"], choose)
    lengths = [len(request.messages) for request in providers["first"].requests]
    assert lengths[2] == 5  # refused
    assert lengths[3] < 5  # shorter
    assert lengths[4] < 9  # still
    assert len(providers["second"].requests[0].messages) == 7


async def test_two_services_answer_one_conversation_and_name_the_role_in_their_events(bench, kind):
    with AnthropicServer() as claude, ChatServer() as chat:
        claude.answers = ["I am Claude."]
        chat.answers = ["I am small.", "I am small again."]
        turn = bench(kind, config={"models": {
            "strong": "anthropic:claude-haiku-4-5", "fast": "openai-chat:gpt-4o-mini",
        }})  # fmt: skip
        for event in ("llm:request", "llm:response"):
            turn.coordinator.hooks.register(event, turn._record, priority=-100)
        turn.hook("provider:request", lambda _event, data: HookResult(
            action="modify",
            data={**data, "role": "fast" if data["message_count"] != 3 else "strong"},
        ))  # fmt: skip
        hooks = turn.coordinator.hooks
        own = read_config({"api_key": "key", "base_url": claude.url})
        other = openai_chat.read_config({"api_key": "key", "base_url": chat.url})
        providers = {
            "anthropic": AnthropicProvider(own, hooks),
            "openai-chat": openai_chat.ChatProvider.of(other, hooks),
        }
        loop = await turn.loop()
        answers = [
            await loop.execute(
                prompt, turn.context, providers, {}, hooks, coordinator=turn.coordinator
            )
            for prompt in ("a", "b", "c")
        ]
        for each in providers.values():
            await each.close()
        assert (claude.refusals, chat.refusals) == ([], [])

    assert answers == ["I am small.", "I am Claude.", "I am small again."]
    small = {"provider": "openai-chat", "model": "gpt-4o-mini", "role": "fast"}
    strong = {"provider": "anthropic", "model": "claude-haiku-4-5", "role": "strong"}
    keys = ("provider", "model", "role")
    for event in ("llm:pre", "llm:request", "llm:response", "llm:post", "provider:response"):
        found = [{key: data[key] for key in keys} for data in turn.data(event)]
        assert found == [small, strong, small]
