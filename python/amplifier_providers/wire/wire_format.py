"""The format of a service: how requests are written for it, and its answers read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from threading import Lock
from typing import TYPE_CHECKING, Any

from amplifier_core.llm_errors import LLMError
from amplifier_core.message_models import ChatRequest

from ..prompt.forecast import CacheRule
from .body import WireRequest
from .fields import JsonDict

if TYPE_CHECKING:
    from amplifier_stream import StreamResult


class WireFormat(ABC):
    """Writes the requests of one provider, and reads the blocks of its answers.

    A provider of its own defines `path`, `encode` and `use_settings`; all else is for a service
    that needs more: other forms of blocks, answers that are continued, requests that are repaired.
    """

    path: str
    """Where requests go, after the base URL."""
    params: Mapping[str, str] | None = None
    """The query of every request."""
    limit_key: str = "max_tokens"
    """Where the body of a request limits the answer."""
    cache_rule: type[CacheRule] | None = None
    """How the service keeps the beginnings of prompts; None where nobody publishes it."""

    def __init__(self) -> None:
        """Begin with nothing written."""
        self._writing = Lock()

    def write_request(self, request: ChatRequest, options: Mapping[str, Any]) -> WireRequest:
        """Encode a request, one at a time: sessions of several threads may share a provider."""
        with self._writing:
            return self.encode(request, options)

    @abstractmethod
    def encode(self, request: ChatRequest, options: Mapping[str, Any] | None = None) -> WireRequest:
        """Return the request as it is sent.

        Args:
            request: The conversation, the tools and the options of this call.
            options: Keywords of `complete`, which override both: `model`, `max_tokens`,
                `temperature`, `extended_thinking` and the others of `requested_thinking`.

        Raises:
            ConfigurationError: No model is named.
            InvalidRequestError: There is nothing to send, or an option has no meaning here.
        """

    @abstractmethod
    def use_settings(self, settings: Any) -> None:
        """Encode with other settings from now on."""

    async def prepare(self, request: ChatRequest, options: Mapping[str, Any]) -> None:
        """Learn what the encoding of the request needs to know; most know it without asking."""
        del request, options

    def request_path(self, encoded: WireRequest) -> str:
        """Return where a request goes, after the base URL."""
        del encoded
        return self.path

    def raw_block(self, block: JsonDict) -> JsonDict:
        """Return the service's own form of a decoded block."""
        return block

    def shape_block(self, block: JsonDict) -> JsonDict:
        """Return a decoded block as responses have it."""
        return block

    def link_reasoning(
        self, blocks: list[tuple[JsonDict, JsonDict]]
    ) -> list[tuple[JsonDict, JsonDict]]:
        """Return the blocks of an answer, thinking with what it led to, each with its raw form."""
        return blocks

    def build_next_request(
        self, encoded: WireRequest, results: list[StreamResult], last: list[JsonDict]
    ) -> WireRequest | None:
        """Return the request that continues an answer that is not whole, None if it is.

        Args:
            encoded: The request of the last part of the answer.
            results: The parts of the answer.
            last: The blocks of the last part, in their raw form.
        """
        del encoded, results, last
        return None

    def repair_request(self, encoded: WireRequest, error: LLMError) -> WireRequest | None:
        """Return the request to send instead of one that failed, None to raise the error."""
        del encoded, error
        return None

    def answer_metadata(self, encoded: WireRequest, results: list[StreamResult]) -> dict[str, Any]:
        """Return what later requests want to find in the metadata of the message."""
        del encoded, results
        return {}

    def priced_as(self, asked: str, answered: str | None) -> tuple[str, ...]:
        """Return the names under which a model may have a price, the best known first.

        Args:
            asked: The model that the request names.
            answered: The model that the answer names.
        """
        return (asked,) if answered in (None, asked) else (answered, asked)
