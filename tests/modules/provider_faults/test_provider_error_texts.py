"""What a service says of a refused request decides which error it is, where no code does."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core import llm_errors
from amplifier_core.llm_errors import LLMError
from amplifier_providers.openai.config import SERVICE
from amplifier_providers.wire.errors import api_error

BAD_KEY = llm_errors.AuthenticationError
TOO_LONG = llm_errors.ContextLengthError
INVALID = llm_errors.InvalidRequestError


# Holds: provider-26
@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Incorrect API key provided: x***y. You can obtain an API key at the console.", BAD_KEY),
        ("API key not valid. Please pass a valid API key.", BAD_KEY),
        ("Invalid API Key", BAD_KEY),
        ("the api_key is invalid", BAD_KEY),
        ("Your API key has expired", BAD_KEY),
        ("Unknown parameter: `api_key`", INVALID),
        ("Invalid api_key parameter in the schema of the tool `login`", INVALID),
        ("Invalid `api_key_id`: must be a string", INVALID),
        ("Do not send an API key in `metadata`; it is not valid there", INVALID),
        ("The total length of all messages is too long", TOO_LONG),
        ("prompt is too long: 9 tokens > 8 maximum", TOO_LONG),
        ("Input is too long for requested model.", TOO_LONG),
        ("messages.0.name: the string is too long", INVALID),
        ("the name of the tool is too long", INVALID),
    ],
)
@pytest.mark.parametrize("status", [400, 422])
def test_the_message_of_an_invalid_request_decides(
    message: str, expected: type[LLMError], status: int
) -> None:
    details: dict[str, Any] = {"status": status, "message": message, "retryable": False}
    error = api_error(SERVICE, details, model="m")
    assert (type(error), error.retryable) == (expected, False)


@pytest.mark.parametrize("key", ["code", "type"])
def test_a_code_of_too_many_tokens_is_a_context_that_is_too_long(key: str) -> None:
    details = {"status": 400, "message": "no", key: "too_many_prompt_tokens"}
    assert type(api_error(SERVICE, details, model="m")) is TOO_LONG


def test_words_of_a_key_change_no_other_status() -> None:
    details = {"status": 503, "message": "incorrect API key of the upstream"}
    assert type(api_error(SERVICE, details, model="m")) is llm_errors.ProviderUnavailableError
