"""The headers that a program adds to a call: sent as they are, or refused by name."""

from __future__ import annotations

import h11
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from amplifier_core.llm_errors import ConfigurationError
from amplifier_providers.wire.options import extra_headers

SIGNS = st.sampled_from("\r\n\0\t ,;:é\x7f\x80\xa0\u202e\udc80-_.xX1") | st.characters(codec=None)
TEXTS = st.text(SIGNS, max_size=12)


@given(st.dictionaries(TEXTS, TEXTS, max_size=3))
@example({"x": "a\r\nx-injected: 1"})
@example({"": "a"})
@example({"x-mine\n": "a"})
def test_what_is_not_refused_can_be_sent(headers):
    try:
        sent = extra_headers({"extra_headers": headers}, "any")
    except ConfigurationError:
        return
    assert sent == {name.lower(): value for name, value in headers.items()}
    h11.Request(method="POST", target="/", headers=[("host", "any"), *sent.items()])


# Holds: layer-9
@pytest.mark.parametrize(
    "name", ["Authorization", "X-API-Key", "api-key", "HOST", "Content-Length"]
)
def test_what_the_request_says_itself_cannot_be_replaced(name):
    with pytest.raises(ConfigurationError) as refused:
        extra_headers({"extra_headers": {name: "secret"}}, "any")

    assert f"has `{name.lower()}`, which the request has itself" in str(refused.value)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("given_headers", [["x"], {"x": 1}, {1: "x"}, "x"])
def test_what_is_no_mapping_of_texts_is_refused(given_headers):
    with pytest.raises(ConfigurationError, match="no mapping of texts"):
        extra_headers({"extra_headers": given_headers}, "any")


@pytest.mark.parametrize("options", [{}, {"extra_headers": None}, {"extra_headers": {}}])
def test_nothing_is_added_where_nothing_is_given(options):
    assert extra_headers(options, "any") == {}
