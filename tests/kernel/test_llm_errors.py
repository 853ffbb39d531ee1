"""The errors of language models."""

from __future__ import annotations

import copy
import inspect
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core import llm_errors
from amplifier_core.llm_errors import (
    AbortError,
    AccessDeniedError,
    AuthenticationError,
    ConfigurationError,
    ContentFilterError,
    ContextLengthError,
    InvalidRequestError,
    InvalidToolCallError,
    LLMError,
    LLMTimeoutError,
    NetworkError,
    NotFoundError,
    ProviderUnavailableError,
    QuotaExceededError,
    RateLimitError,
    StreamError,
)

TREE: dict[type[LLMError], tuple[type[Exception], bool]] = {
    LLMError: (Exception, False),
    RateLimitError: (LLMError, True),
    QuotaExceededError: (RateLimitError, False),
    AuthenticationError: (LLMError, False),
    AccessDeniedError: (AuthenticationError, False),
    ContextLengthError: (LLMError, False),
    ContentFilterError: (LLMError, False),
    InvalidRequestError: (LLMError, False),
    ProviderUnavailableError: (LLMError, True),
    NetworkError: (ProviderUnavailableError, True),
    LLMTimeoutError: (LLMError, True),
    NotFoundError: (LLMError, False),
    StreamError: (LLMError, True),
    AbortError: (LLMError, False),
    InvalidToolCallError: (LLMError, False),
    ConfigurationError: (LLMError, False),
}
"""Base and default `retryable` of each class."""

classes = pytest.mark.parametrize("kind", list(TREE), ids=lambda kind: kind.__name__)


def test_the_table_holds_every_class():
    defined = {
        member
        for _, member in inspect.getmembers(llm_errors, inspect.isclass)
        if member.__module__ == llm_errors.__name__
    }
    assert defined == set(TREE)


@classes
def test_a_class_has_its_base_and_its_default(kind: type[LLMError]):
    base, retryable = TREE[kind]
    error = kind("what happened")

    expected = {
        "provider": None,
        "model": None,
        "status_code": None,
        "retryable": retryable,
        "retry_after": None,
        "delay_multiplier": 1.0,
    }
    if kind is InvalidToolCallError:
        expected |= {"tool_name": None, "raw_arguments": None}
    assert kind.__bases__ == (base,)
    assert vars(error) == expected
    assert (str(error), error.args) == ("what happened", ("what happened",))


@classes
def test_everything_after_the_message_is_keyword_only(kind: type[LLMError]):
    with pytest.raises(TypeError):
        kind("what happened", "a provider")  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError):
        kind()  # pyright: ignore[reportCallIssue]


@classes
@pytest.mark.parametrize("retryable", [True, False])
def test_the_caller_decides_whether_to_retry(kind: type[LLMError], retryable: bool):
    assert kind("no", retryable=retryable).retryable is retryable


def test_the_repr_shows_what_is_out_of_the_ordinary_in_order():
    error = RateLimitError(
        "hi",
        delay_multiplier=2.0,
        retry_after=1.5,
        status_code=429,
        model="m",
        provider="p",
    )
    assert repr(error) == (
        "RateLimitError('hi', provider='p', model='m', status_code=429, retryable=True, "
        "retry_after=1.5, delay_multiplier=2.0)"
    )
    assert repr(AbortError("it's over")) == 'AbortError("it\'s over")'
    assert repr(LLMError("x", provider="", status_code=0, retry_after=0.0)) == (
        "LLMError('x', provider='', status_code=0, retry_after=0.0)"
    )


@classes
def test_an_error_carries_its_hint_beside_its_message(kind: type[LLMError]):
    error = kind("the key was refused", hint="check `API_KEY`")
    assert (str(error), error.hint) == ("the key was refused", "check `API_KEY`")
    assert repr(error).endswith(", hint='check `API_KEY`')")
    assert copy.copy(error).hint == pickle.loads(pickle.dumps(error)).hint == error.hint
    assert kind("the key was refused").hint is None


# Holds: differ-100
def test_an_invalid_tool_call_carries_the_call_and_what_the_server_asks_to_wait():
    error = InvalidToolCallError("bad", tool_name="grep", raw_arguments="{", retry_after=1.5)
    assert (error.tool_name, error.raw_arguments, error.retry_after) == ("grep", "{", 1.5)
    assert repr(error) == "InvalidToolCallError('bad', retry_after=1.5)"
    assert InvalidToolCallError("bad").retry_after is None
    with pytest.raises(TypeError):
        InvalidToolCallError("bad", delay_multiplier=2.0)  # pyright: ignore[reportCallIssue]


details: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "provider": st.none() | st.text(),
        "model": st.none() | st.text(),
        "status_code": st.none() | st.integers(100, 599),
        "retryable": st.booleans(),
        "retry_after": st.none() | st.floats(0, 1e6),
        "delay_multiplier": st.floats(0.1, 100),
        "hint": st.none() | st.text(),
    },
)


@given(
    st.sampled_from([kind for kind in TREE if kind is not InvalidToolCallError]), st.text(), details
)
def test_a_pickled_error_comes_back_whole(
    kind: type[LLMError], message: str, given_details: dict[str, Any]
):
    error = kind(message, **given_details)
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is kind
    assert (back.args, vars(back), repr(back)) == (error.args, vars(error), repr(error))


def test_a_pickled_tool_call_error_comes_back_whole():
    error = InvalidToolCallError("bad", tool_name="grep", raw_arguments="{", provider="p")
    assert vars(pickle.loads(pickle.dumps(error))) == vars(error)


def test_the_docstring_says_when_the_multiplier_counts():
    text = " ".join((LLMError.__doc__ or "").split())
    assert "compute_delay()" in text
    assert "applied after the max_delay cap" in text


def test_a_subclass_without_arguments_of_its_own_keeps_the_default_of_its_base():
    class Overloaded(ProviderUnavailableError):
        pass

    assert Overloaded("busy").retryable is True
