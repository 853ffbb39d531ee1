"""What the server says about its models, what it lacks, and a server that is not there."""

from __future__ import annotations

import logging
from typing import Any

import anyio
import pytest

from amplifier_core import llm_errors
from amplifier_core.message_models import ChatRequest, ImageBlock, Message, ToolSpec
from amplifier_core.validation.behavioral import ProviderBehaviorTests
from amplifier_providers.ollama import mount
from amplifier_providers.ollama.models import ModelFacts
from amplifier_testing.servers import Answer, Fault, OllamaModel, OllamaServer, Recorded

REQUEST = ChatRequest(messages=[Message(role="user", content="hi")])
RUNNING = "is it running? `ollama serve`; its address is `OLLAMA_HOST`"
NDJSON = "application/x-ndjson"
CHAT = frozenset({"completion"})


async def test_the_window_is_what_the_model_and_the_settings_say(
    server: OllamaServer, provider_with: Any
) -> None:
    server.models = [
        OllamaModel("big:latest", context_length=131_072),
        OllamaModel("set:latest", context_length=131_072, parameters="num_ctx    8192\nstop a"),
    ]
    provider = provider_with(default_model="big")
    assert provider.get_model_info().context_window == 32_768
    await provider.look()
    assert provider.get_model_info().context_window == 131_072
    assert provider.request_budget() == 131_072 - 4_096 - 4_096
    await provider.complete(REQUEST, model="set")
    assert provider.get_model_info("set").context_window == 8_192

    narrow = provider_with(default_model="big", num_ctx=16_000, max_tokens=500, priority=3)
    await narrow.look()
    info = narrow.get_model_info()
    assert (info.context_window, info.max_output_tokens, narrow.priority) == (16_000, 500, 3)
    wide = provider_with(default_model="big", num_ctx=500_000)
    await wide.look()
    assert wide.get_info().defaults["context_window"] == 131_072


async def test_a_model_is_asked_about_once(server: OllamaServer, provider_with: Any) -> None:
    provider = provider_with()
    await provider.look()
    await provider.complete(REQUEST)
    await provider.complete(REQUEST)
    assert [seen.body for seen in server.lookups] == [{"model": "qwen3-vl:8b"}]


async def test_a_model_that_answers_for_an_overloaded_one_is_asked_about_too(
    server: OllamaServer, provider_with: Any
) -> None:
    server.faults = [Fault(status=529)]
    provider = provider_with(
        enable_thinking=True, fallback_on_overload=True, fallback_model="gpt-oss:20b"
    )
    for _ in range(2):
        await provider.complete(REQUEST)
    asked = [(seen.body["model"], seen.body["think"]) for seen in server.requests]
    assert asked == [("qwen3-vl:8b", True), *[("gpt-oss:20b", "medium")] * 2]


async def test_a_call_whose_other_model_cannot_be_fetched_ends_with_that_error(
    server: OllamaServer, provider_with: Any, hooks: Any
) -> None:
    server.faults = [Fault(status=529)]
    provider = provider_with(fallback_on_overload=True, fallback_model="none", auto_pull=True)
    with pytest.raises(llm_errors.NotFoundError) as caught:
        await provider.complete(REQUEST)
    [told] = hooks.of("llm:response")
    assert told["error"]["msg"] == str(caught.value)


async def test_the_list_of_models_says_what_they_can_do(provider_with: Any) -> None:
    found = {each.id: each for each in await provider_with().list_models()}
    assert found["qwen3-vl:8b"].context_window == 262_144
    assert set(found["qwen3-vl:8b"].capabilities) == {
        "streaming", "structured_output", "tools", "thinking", "vision",
    }  # fmt: skip
    assert set(found["phi:latest"].capabilities) == {"streaming", "structured_output"}
    assert "nomic-embed-text:latest" in found
    filtered = await provider_with(filtered=True).list_models()
    assert {each.id for each in filtered} == found.keys() - {"nomic-embed-text:latest"}


async def test_other_content_is_no_list_of_models(server: OllamaServer, provider_with: Any) -> None:
    for fault in (Fault(content_type="text/html", malformed=0), Fault(malformed=0)):
        server.faults = [fault]
        with pytest.raises(llm_errors.ConfigurationError, match="instead of a list of models"):
            await provider_with().list_models()


@pytest.mark.parametrize(
    "shown",
    [
        {},
        {"capabilities": 3, "model_info": 3, "details": 3, "parameters": 3},
        {"model_info": {"a.context_length": "4096"}, "parameters": "num_ctx many\nnum_ctx"},
        {"model_info": {"a.context_length": True, "b.context_length": -1}, "details": {}},
    ],
)
def test_what_says_nothing_is_not_known(shown: dict[str, Any]) -> None:
    assert ModelFacts.of(shown) == ModelFacts()


async def test_a_server_that_cannot_be_reached_is_mounted_with_one_warning(
    coordinator: Any, caplog: pytest.LogCaptureFixture, closed_address: str
) -> None:
    config = {"host": closed_address, "default_model": "any", "max_retries": 0}
    close = await mount(coordinator, config)

    [record] = [each for each in caplog.records if each.levelno >= logging.WARNING]
    assert record.message.startswith(f"provider-ollama: cannot connect to `{closed_address}")
    assert record.message.endswith(f"; {RUNNING}")
    provider = coordinator.get("providers")["ollama"]
    for call in (provider.list_models, lambda: provider.complete(REQUEST)):
        with pytest.raises(llm_errors.NetworkError) as caught:
            await call()
        assert (caught.value.hint, caught.value.retryable) == (RUNNING, False)
    await close()


async def test_a_server_that_hangs_up_is_another_case(
    server: OllamaServer, provider_with: Any
) -> None:
    server.faults = [Fault(hang_up=True)]
    with pytest.raises(llm_errors.NetworkError) as caught:
        await provider_with().complete(REQUEST)
    assert caught.value.hint == "check `OLLAMA_HOST` and the network"


@pytest.mark.parametrize("api", ["native", "openai"])
async def test_a_model_that_is_missing_can_be_pulled_by_hand(
    coordinator: Any,
    server: OllamaServer,
    provider_with: Any,
    caplog: pytest.LogCaptureFixture,
    api: str,
) -> None:
    hint = "`ollama pull nobody`, or set `auto_pull` of provider-ollama"
    with pytest.raises(llm_errors.NotFoundError) as caught:
        await provider_with(api=api).complete(REQUEST, model="nobody")
    assert (caught.value.hint, caught.value.status_code) == (hint, 404)
    assert "model 'nobody' not found" in str(caught.value)
    close = await mount(coordinator, {"host": server.url, "default_model": "nobody", "api": api})
    await close()
    assert [record.message for record in caplog.records] == [
        f"provider-ollama: Ollama API error (404 not_found_error): model 'nobody' not found; {hint}"
    ]


async def test_a_missing_model_is_pulled_and_its_progress_is_told(
    server: OllamaServer, hooks: Any, provider_with: Any
) -> None:
    server.pullable = [OllamaModel("new:latest")]
    provider = provider_with(auto_pull=True, default_model="new")
    response = await provider.complete(REQUEST)
    await provider.complete(REQUEST)

    assert response.text == "Hello! How can I help?"
    paths = [seen.path for seen in server.requests]
    assert paths == ["/api/pull", "/api/chat", "/api/chat"]
    told = hooks.of("provider:pull_progress")
    first, *_, last = told
    common = {"provider": "ollama", "model": "new"}
    assert first == {**common, "status": "pulling manifest", "completed": None, "total": None}
    assert last == {**common, "status": "success", "completed": None, "total": None}
    percents = [each["completed"] * 100 // each["total"] for each in told if each["completed"]]
    assert percents == list(range(1, 101))
    assert provider.get_model_info().context_window == 40_960
    names = [name for name, _ in hooks.events]
    assert names.index("provider:pull_progress") < names.index("llm:request")


async def test_a_model_that_nobody_knows_cannot_be_pulled(
    server: OllamaServer, provider_with: Any
) -> None:
    with pytest.raises(llm_errors.NotFoundError) as caught:
        await provider_with(auto_pull=True, default_model="nobody").complete(REQUEST)
    assert "pull model manifest: file does not exist" in str(caught.value)
    assert caught.value.hint == "check the name of the model at `https://ollama.com/library`"
    assert caught.value.__notes__ == [f"hint: {caught.value.hint}"]
    assert [seen.path for seen in server.requests] == ["/api/pull"]


@pytest.mark.parametrize(
    ("fault", "kind", "said"),
    [
        (Fault(cut=300), llm_errors.NetworkError, "lost the connection to"),
        (Fault(stall=300), llm_errors.LLMTimeoutError, "no progress from"),
        (
            Fault(malformed=1),
            llm_errors.ConfigurationError,
            "other content instead of the progress",
        ),
        (Fault(insert={0: b"[1]\n"}), llm_errors.ConfigurationError, "other content"),
        (Fault(insert={0: b"x" * 1_000_001}), llm_errors.ConfigurationError, "other content"),
        (Fault(error_after=2, message="disk full"), llm_errors.LLMError, "disk full"),
        (Fault(status=500), llm_errors.ProviderUnavailableError, "an error was encountered"),
    ],
)
async def test_a_download_that_fails_is_an_error(
    server: OllamaServer, provider_with: Any, fault: Fault, kind: type[Exception], said: str
) -> None:
    server.pullable, server.faults = [OllamaModel("new:latest")], [fault]
    with pytest.raises(kind, match=said):
        await provider_with(auto_pull=True, default_model="new", timeout=0.5).complete(REQUEST)


async def test_a_download_that_ends_early_is_an_error(
    server: OllamaServer, provider_with: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = b'{"status":"pulling manifest"}\n\n{"status":"verifying","total":-1}'
    monkeypatch.setattr(server, "_pull", lambda name: Recorded(body, content_type=NDJSON))
    with pytest.raises(
        llm_errors.StreamError, match="the download of `new` was cut off: it ended with `ver"
    ):
        await provider_with(auto_pull=True, default_model="new").complete(REQUEST)


async def test_a_download_can_be_cancelled(server: OllamaServer, provider_with: Any) -> None:
    server.pullable, server.faults = [OllamaModel("new:latest")], [Fault(stall=300)]
    with anyio.move_on_after(0.2) as scope:
        await provider_with(auto_pull=True, default_model="new").complete(REQUEST)
    assert scope.cancelled_caught


@pytest.mark.parametrize("says", [True, False])
async def test_an_older_server_that_says_nothing_is_asked_all_the_same(
    server: OllamaServer, provider_with: Any, says: bool
) -> None:
    server.models = [OllamaModel("old:latest", says_capabilities=False)]
    if not says:
        server.lookup_paths = ()  # then a fault befalls it
        server.faults = [Fault(status=404)]
    provider = provider_with(default_model="old", enable_thinking=True)
    response = await provider.complete(REQUEST)
    assert "think" not in server.requests[-1].body
    assert response.degradation is not None
    assert response.degradation.reason == "the server does not say whether `old` can think"
    assert provider.get_model_info().context_window == (40_960 if says else 32_768)
    await provider.complete(REQUEST)
    assert sum(seen.path == "/api/show" for seen in [*server.requests, *server.lookups]) == 1


async def test_a_model_without_tools_writes_its_calls_as_tags(
    server: OllamaServer, provider_with: Any
) -> None:
    for config, tags in (
        ({"default_model": "phi"}, ("tool",)),
        ({"default_model": "phi", "tool_tags": False}, ()),
        ({"default_model": "phi", "tool_tags": "call"}, ("call",)),
        ({"default_model": "llama3.2"}, ()),
    ):
        provider = provider_with(**config)
        await provider.look()
        assert provider.tool_tags == tags
    tools = [ToolSpec(name="look", parameters={})]
    with pytest.raises(llm_errors.InvalidRequestError) as caught:
        await provider_with().complete(REQUEST.model_copy(update={"tools": tools}), model="phi")
    assert caught.value.hint == (
        "set `tool_tags` of provider-ollama to true: the model then writes its calls as tags"
    )


async def test_a_model_that_sees_nothing_gets_no_images(
    server: OllamaServer, provider_with: Any
) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    request = ChatRequest(messages=[Message(role="user", content=[ImageBlock(source=source)])])
    for api in ("native", "openai"):
        provider = provider_with(api=api)
        await provider.complete(request)
        assert "iVBORw0KGgo=" in server.requests[-1].raw.decode()
        await provider.complete(request, model="qwen3:8b")
        assert "`qwen3:8b` cannot see" in server.requests[-1].raw.decode()
    assert server.refusals == []


async def test_a_conversation_that_is_too_long_is_told_and_not_cut(
    server: OllamaServer, provider_with: Any
) -> None:
    server.faults = [
        Fault(status=400, message="the input length exceeds the context length"),
        Fault(
            status=400,
            message="request (2622 tokens) exceeds the available context size (512 tokens)",
        ),
    ]
    for _ in range(2):
        with pytest.raises(llm_errors.ContextLengthError) as caught:
            await provider_with().complete(REQUEST)
        hint = "shorten the conversation, or raise `num_ctx` of provider-ollama"
        assert caught.value.hint == hint
    assert server.requests[-1].body["truncate"] is False


@pytest.mark.parametrize(
    "name", [name for name in vars(ProviderBehaviorTests) if name.startswith("test_")]
)
async def test_it_behaves_like_every_provider(
    server: OllamaServer, provider_with: Any, name: str
) -> None:
    server.answers = [Answer("Hello.")]
    try:
        await getattr(ProviderBehaviorTests(), name)(provider_with())
    except pytest.skip.Exception as skipped:
        pytest.fail(f"{name} was skipped: {skipped}")
