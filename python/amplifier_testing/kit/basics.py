"""Tests of what a provider is beside its calls."""

from __future__ import annotations

import inspect
from typing import Any, cast

from amplifier_core import llm_errors
from amplifier_core.llm_errors import LLMError
from amplifier_core.message_models import ChatResponse, TextBlock
from amplifier_core.models import ModelInfo, ProviderInfo

from ..servers import Fault
from .base import KitBase, close, wait_until
from .failing import fail, kernel_kind
from .recorder import KitHooks
from .returned import checked_calls


class BasicTests(KitBase):
    """The name of a provider, its description, its models and its end."""

    def test_it_has_the_attributes_of_a_provider(self) -> None:
        """Those that the kernel and the loops use, and no `stream`, which loops would call."""
        provider = self.make_provider("http://127.0.0.1:9", KitHooks())
        name: Any = getattr(provider, "name", None)
        if not isinstance(name, str) or not name:
            fail(f"`name` is {name!r} (must be a text)")
        if not inspect.iscoroutinefunction(getattr(provider, "complete", None)):
            fail("`complete` is not an `async` method")
        if inspect.getattr_static(provider, "stream", None) is not None:
            fail(
                "the provider has an attribute `stream`: loops would call it instead of `complete`"
            )
        plain = ChatResponse(content=[TextBlock(text="Yes.")])
        calls = checked_calls(provider.parse_tool_calls(plain), "`parse_tool_calls`", "returned")
        if calls:
            fail(f"an answer without calls has the calls {calls}")

    def test_it_describes_itself(self) -> None:
        """`get_info` returns its id and its name, without a request."""
        with self.serving() as server:
            provider = self.make_provider(self.base_url(server), KitHooks())
            info: Any = provider.get_info()
            if not isinstance(info, ProviderInfo):
                fail(f"`get_info` returned a `{type(info).__name__}`, not a `ProviderInfo`")
            if not info.id or not info.display_name:
                fail(f"`get_info` has no id or no name: {info!r}")
            if server.requests:
                fail("`get_info` sent a request")

    def test_it_lists_the_models_of_the_service(self, backend: str) -> None:
        """Each model has an id, and no two are the same."""
        self.check_claim("models")

        async def check() -> None:
            async with self.bench() as bench:
                models: Any = await bench.list_models()
                bench.expect_no_refusal()
                if not isinstance(models, list) or not models:
                    fail(f"`list_models` returned {models!r}, not a list of models")
                ids: list[str] = []
                for each in cast("list[object]", models):
                    if not isinstance(each, ModelInfo):
                        fail(f"`list_models` returned {each!r}, not a `ModelInfo`")
                    ids.append(each.id)
                if len(set(ids)) != len(ids) or not all(ids):
                    fail(f"two models have the same id, or one has none: {ids}")

        self.run(check, backend)

    def test_a_list_of_models_that_is_refused_is_an_error(self, backend: str) -> None:
        """A wrong key is said, and never an empty list."""
        self.check_claim("models")

        async def check() -> None:
            async with self.bench(faults=[Fault(status=401)] * 9) as bench:
                try:
                    models = await bench.list_models()
                except LLMError as error:
                    if kernel_kind(error) is not llm_errors.AuthenticationError:
                        fail(f"status 401 of `list_models` is {error!r}")
                else:
                    fail(f"`list_models` returned {models} although the key was refused")

        self.run(check, backend)

    def test_it_can_be_closed(self, backend: str) -> None:
        """`close` closes every connection, also twice and before the first call."""

        async def check() -> None:
            async with self.bench() as bench:
                provider = bench.provider
                if getattr(provider, "close", None) is None:
                    return
                await close(provider)
                await bench.ask("Yes.")
                await close(provider)
                if not await wait_until(lambda: bench.server.connections == 0):
                    fail(f"{bench.server.connections} connections are open after `close`")
                await close(provider)

        self.run(check, backend)
