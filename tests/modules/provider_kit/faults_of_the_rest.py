"""Faults of what a provider is beside its calls."""

from __future__ import annotations

from planted import found_by
from tiny_provider import TinyProvider

from amplifier_core.llm_errors import LLMError
from amplifier_core.message_models import ChatRequest
from amplifier_core.models import ModelInfo, ProviderInfo


@found_by("it_has_the_attributes_of_a_provider", "the provider has an attribute `stream`")
class HasStream(TinyProvider):
    """Has an attribute `stream`."""

    async def stream(self, request: ChatRequest) -> None:
        """Do what loops would call."""


@found_by("it_describes_itself", "`get_info` has no id")
class Nameless(TinyProvider):
    """Describes itself without an id."""

    def get_info(self) -> ProviderInfo:
        return ProviderInfo(id="", display_name="Tiny")


@found_by("it_lists_the_models_of_the_service", "two models have the same id")
class ListsTwice(TinyProvider):
    """Lists a model twice."""

    async def list_models(self) -> list[ModelInfo]:
        return await super().list_models() * 2


@found_by(
    "a_list_of_models_that_is_refused_is_an_error", r"returned \[\] although the key was refus"
)
class ListsNothing(TinyProvider):
    """Takes a refused key for a service without models."""

    async def list_models(self) -> list[ModelInfo]:
        try:
            return await super().list_models()
        except LLMError:
            return []


@found_by("it_can_be_closed", "1 connections are open after `close`")
class NeverCloses(TinyProvider):
    """Does not close its connections."""

    async def close(self) -> None:
        vars(self).setdefault("kept", []).append(self.client)
        self.client = self.new_client()
