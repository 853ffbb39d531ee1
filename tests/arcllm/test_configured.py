"""What the configuration says of a model: routing goes by it, and so do objects."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_testing.servers import Answer, Call, ChatServer, OpenAIModel, ResponsesServer
from arcllm import ArcLLMAPIError, ImageBlock, Message, Model, Tool, clear_cache, load_model
from arcllm.config.tables import ModelTable

LOOK = Tool(name="look", description="Looks.", parameters={"type": "object"})
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
)
NAMES = [OpenAIModel(name) for name in ("small", "seeing", "large")]
MODELS = """
    [providers.work]
    api_format = "openai_chat"
    base_url = "%s"
    api_key_required = false
    [providers.work.models.small]
    context_window = 6_000
    supports_tools = false
    supports_vision = false
    supports_structured_output = false
    [providers.work.models.seeing]
    context_window = 8_000
    input_modalities = ["text", "image"]
    supports_tools = false
    supports_structured_output = true
    [providers.work.models.large]
    context_window = 200_000
    supports_tools = true
    input_modalities = ["text"]
"""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    with ChatServer(models=NAMES) as running:
        file = tmp_path / "config.toml"
        file.write_text(MODELS % running.url)
        monkeypatch.setenv("ARCLLM_CONFIG", str(file))
        clear_cache()
        yield running
    clear_cache()


def routed() -> Model:
    rules = ["capability", "window"]
    return load_model(
        "work:small", routing={"models": ["work:seeing", "work:large"], "rules": rules}
    )


@pytest.mark.parametrize(
    ("message", "tools", "expected"),
    [
        ("Hi", None, "small"),
        (
            [Message(role="user", content=[ImageBlock(source=PIXEL, media_type="image/png")])],
            None,
            "seeing",
        ),
        ("Hi", [LOOK], "large"),
        ("word " * 10_000, None, "large"),
    ],
)
async def test_routing_goes_by_what_the_file_says_of_a_model(
    message: Any, tools: list[Tool] | None, expected: str, server: ChatServer
) -> None:
    async with routed() as model:
        response = await model.complete(message, tools)
    assert server.requests[-1].body["model"] == expected
    assert response.metadata["routed"] == f"work:{expected}"


@pytest.mark.parametrize("holds", [True, False])
async def test_a_model_that_is_not_held_to_a_schema_answers_by_a_tool(
    holds: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "config.toml"
    word = str(holds).lower()
    file.write_text(f'[providers.openai.models."gpt-5.5"]\nsupports_structured_output = {word}\n')
    monkeypatch.setenv("ARCLLM_CONFIG", str(file))
    clear_cache()
    answer = "[1]" if holds else Call("final_answer", {"value": [1]})
    with ResponsesServer([Answer(answer)]) as server:
        async with load_model("openai:gpt-5.5", base_url=server.url, api_key="a-key") as model:
            assert (await model.complete("Count.", output=list[int])).output == [1]
        assert ("tools" in server.requests[-1].body) is not holds
    clear_cache()


def test_a_table_adds_and_takes_away_what_a_model_can_do() -> None:
    table = ModelTable(supports_tools=False, supports_thinking=True, input_modalities=["image"])
    assert table.capabilities(["streaming", "tools"]) == ["streaming", "vision", "thinking"]
    assert ModelTable().capabilities(["tools", "vision"]) == ["tools", "vision"]
    said = ModelTable(supports_vision=False, input_modalities=["image"])
    assert said.capabilities(["vision"]) == []


async def test_a_provider_of_the_file_has_its_name_in_answers_and_errors(
    server: ChatServer,
) -> None:
    async with load_model("work:large") as model, load_model("work:none") as missing:
        assert (await model.complete("Hi")).metadata["provider"] == "work"
        with pytest.raises(ArcLLMAPIError) as caught:
            await missing.complete("Hi")
    assert caught.value.provider == "work"
    assert str(caught.value).startswith("`work`: ")
    assert caught.value.hint == "check the name of the model and its address"
