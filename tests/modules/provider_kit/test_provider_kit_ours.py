"""Our providers pass the kit."""

from __future__ import annotations

import our_kits


class TestAnthropic(our_kits.AnthropicKit):
    pass


class TestOpenAI(our_kits.OpenAIKit):
    pass


class TestOpenAIChat(our_kits.ChatKit):
    pass


class TestDeepSeek(our_kits.DeepSeekKit):
    pass


class TestAzureOpenAI(our_kits.AzureKit):
    pass


class TestAzureOfOneDeployment(our_kits.AzureDeploymentKit):
    pass


class TestOllama(our_kits.OllamaKit):
    pass


class TestOllamaOverChatCompletions(our_kits.OllamaCompletionsKit):
    pass


def test_every_provider_with_a_kit_is_tested() -> None:
    tested = {
        base
        for each in (v for k, v in globals().items() if k.startswith("Test"))
        for base in each.__bases__
    }

    assert tested == set(our_kits.KITS)
