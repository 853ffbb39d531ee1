"""The layer that lets no personal data and no secret out or in, and signs requests."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace

from amplifier_guard import Redactor
from amplifier_providers.running.closing import closing

from ...exceptions import ArcLLMConfigError, ArcLLMParseError, ArcLLMSecurityError
from ...step import Call, Piece, Step
from ...types import LLMResponse
from ..layer import Layer
from .cleaning import Cleaning
from .detector import detector_of
from .messages import clean_message, clean_parse_error, clean_response
from .settings import Direction, SecuritySettings
from .signing import signer_of
from .streamed import AnswerStream
from .tools import clean_options, clean_tools

_TOO_DEEP = "data nested too deeply"
"""What cannot be searched to its end is blocked."""


class SecurityLayer(Layer):
    """Takes personal data and secrets out of requests and answers, or blocks them; signs requests.

    The messages of the caller stay as they are: a copy is sent. `metadata["security"]` of the response
    lists what types were found, `metadata["request_signature"]` is the signature of what was sent.

    Args:
        beneath: What is asked for the answer.
        settings: What is taken out, and how requests are signed.

    Raises:
        ArcLLMConfigError: A pattern, a class or a key cannot be used.
    """

    def __init__(self, beneath: Step, settings: SecuritySettings) -> None:
        super().__init__(beneath)
        self._settings = settings
        self._signer = signer_of(settings)
        self._detector = detector_of(settings) if settings.pii else None
        try:
            self._redactor = Redactor(settings.known_secrets) if settings.secrets else None
        except ValueError as error:
            raise ArcLLMConfigError(f"security: `known_secrets`: {error}") from None

    async def complete(self, call: Call) -> LLMResponse:
        """Return the whole answer.

        Raises:
            ArcLLMSecurityError: The request or the answer holds what is to be blocked.
        """
        request, answer = self._make_cleaning("request"), self._make_cleaning("response")
        sent, signature = self._prepare_call(call, request)
        try:
            response = await self.beneath.complete(sent)
        except ArcLLMParseError as error:
            clean_parse_error(error, answer)
            raise
        return self._finish_response(response, request, answer, signature)

    async def stream(self, call: Call) -> AsyncGenerator[Piece]:
        """Yield the answer as it arrives, at the end the response; the errors are those above."""
        request, answer = self._make_cleaning("request"), self._make_cleaning("response")
        sent, signature = self._prepare_call(call, request)
        shown = AnswerStream(answer)
        try:
            async with closing(self.beneath.stream(sent)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, LLMResponse):
                        for delta in shown.flush_rest():
                            yield delta
                        yield self._finish_response(piece, request, answer, signature)
                    else:
                        for delta in shown.clean_deltas(piece):
                            yield delta
        except ArcLLMParseError as error:
            clean_parse_error(error, answer)
            raise

    def _make_cleaning(self, direction: Direction) -> Cleaning:
        settings = self._settings
        return Cleaning(
            direction,
            self._detector if direction in settings.pii else None,
            self._redactor if direction in settings.secrets else None,
            settings.action,
        )

    def _prepare_call(self, call: Call, cleaning: Cleaning) -> tuple[Call, str | None]:
        """Return the call as it is sent, and its signature."""
        try:
            messages = [clean_message(message, cleaning) for message in call.messages]
            tools = clean_tools(call.tools, cleaning)
            options = clean_options(call.options, cleaning)
        except RecursionError:
            raise ArcLLMSecurityError("request", (_TOO_DEEP,)) from None
        sent = call
        if cleaning.found:
            sent = replace(call, messages=messages, tools=tools, options=options)
        if self._signer is None:
            return sent, None
        return sent, self._signer.sign(sent, self.name, self.model_name)

    def _finish_response(
        self, response: LLMResponse, request: Cleaning, answer: Cleaning, signature: str | None
    ) -> LLMResponse:
        try:
            response = clean_response(response, answer)
        except RecursionError:
            raise ArcLLMSecurityError("response", (_TOO_DEEP,)) from None
        if found := {each.direction: list(each.found) for each in (request, answer) if each.found}:
            response.metadata["security"] = found
        if signature is not None and self._signer is not None:
            response.metadata["request_signature"] = signature
            response.metadata["request_signature_algorithm"] = self._signer.algorithm
        return response
