"""All tests of a provider in one class."""

from __future__ import annotations

from .answers import AnswerTests
from .basics import BasicTests
from .cancellation import CancellationTests
from .events import EventTests
from .histories import HistoryTests
from .refusals import RefusalTests
from .replay import ReplayTests
from .retries import RetryTests
from .streams import StreamTests


class ProviderKit(
    BasicTests,
    AnswerTests,
    StreamTests,
    EventTests,
    RefusalTests,
    RetryTests,
    CancellationTests,
    ReplayTests,
    HistoryTests,
):
    """Tests of a provider against the strict server of its dialect, for pytest.

        class TestMyProvider(ProviderKit):
            server = AnthropicServer

            def provider(self, base_url, hooks):
                return MyProvider(base_url=base_url, api_key=self.key, hooks=hooks)

    The provider may come from any package: it needs a `name`, `complete`, `get_info`,
    `parse_tool_calls` and, where they are there, `chunks`, `list_models` and `close`. What it does
    not claim is skipped with the reason: see the attributes.
    """
