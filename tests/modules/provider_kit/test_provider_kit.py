"""How the kit is used: what its author says, what is skipped, and the time in it."""

from __future__ import annotations

import asyncio
import functools
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import pytest
import trio
from tiny_provider import TinyProvider

from amplifier_testing import KitClock, ProviderKit
from amplifier_testing.servers import AnthropicServer, ModelServer

REAL = (anyio.sleep, asyncio.sleep, trio.sleep)


class TinyKit(ProviderKit):
    server = AnthropicServer

    def provider(self, base_url: str, hooks: Any) -> Any:
        return TinyProvider(base_url, self.key, hooks)


@pytest.mark.parametrize(
    ("claim", "test", "arguments"),
    [
        ("thinking", "test_thoughts_are_blocks_of_their_own", {}),
        ("images", "test_images_of_the_user_are_sent", {}),
        ("retries", "test_what_may_pass_is_asked_again", {"name": "503"}),
        ("retries", "test_retries_end", {}),
        ("models", "test_it_lists_the_models_of_the_service", {}),
    ],
)
def test_what_a_provider_does_not_claim_is_skipped_with_the_reason(
    claim: str, test: str, arguments: dict[str, Any]
) -> None:
    kit = TinyKit()
    setattr(kit, claim, False)

    with pytest.raises(pytest.skip.Exception, match=f"does not claim it: `{claim} = False`"):
        getattr(kit, test)(**arguments, backend="asyncio")


def test_tokens_of_a_cache_that_a_dialect_does_not_count_are_in_no_total() -> None:
    kit = TinyKit()
    kit.cached_tokens = False

    with pytest.raises(AssertionError, match="`total_tokens` is 160, not 120"):
        kit.test_each_token_is_counted_once("asyncio")


def test_what_a_provider_does_not_have_is_skipped_with_the_reason() -> None:
    with pytest.raises(pytest.skip.Exception, match="the provider has no `chunks`"):
        TinyKit().test_chunks_add_up_to_the_answer("asyncio")


def test_only_the_event_loops_of_the_provider_are_tried(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        f"import sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from test_provider_kit import TinyKit\n"
        "class TestIt(TinyKit):\n"
        "    backends = ('asyncio',)\n"
        "    images = False\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:asyncio", "-rs"]
    done = subprocess.run(
        [*command, "-v", "-k", "images or finish_reason", "test_it.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert "test_the_finish_reason_says_why_the_answer_ended[asyncio] PASSED" in done.stdout
    assert "trio]" not in done.stdout
    assert "SKIPPED [1]" in done.stdout
    assert "the provider does not claim it: `images = False`" in done.stdout


def as_method(_self: Any, *arguments: Any, **options: Any) -> ModelServer:
    return AnthropicServer(*arguments, **options)


@pytest.mark.parametrize(
    "server",
    [
        AnthropicServer,
        as_method,
        staticmethod(AnthropicServer),
        functools.partial(AnthropicServer, alternation=False),
    ],
    ids=["class", "method", "static method", "partial"],
)
def test_the_server_may_be_given_in_any_form(server: Any) -> None:
    kit = type("Kit", (TinyKit,), {"server": server})()
    kit.test_the_answer_is_what_the_service_said("asyncio")


def test_a_kit_without_its_parts_says_which() -> None:
    with pytest.raises(NotImplementedError, match="`ProviderKit` must define `server`"):
        ProviderKit().test_it_describes_itself()

    class Half(ProviderKit):
        server = AnthropicServer

    with pytest.raises(NotImplementedError, match="`Half` must define `provider`"):
        Half().test_it_describes_itself()


def test_a_call_that_hangs_fails() -> None:
    async def hang() -> None:
        await trio.sleep_forever()

    with pytest.raises(AssertionError, match="a call did not end within"):
        TinyKit().run(hang, "trio", seconds=0.01)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_wait_is_over_at_once_and_has_passed(backend: str) -> None:
    clock = KitClock()

    async def wait() -> None:
        started = time.monotonic()
        before = time.time()
        await anyio.sleep(1_000)
        await (asyncio.sleep if backend == "asyncio" else trio.sleep)(2_000)
        assert 3_000 <= time.monotonic() - started < 3_100
        assert 3_000 <= time.time() - before < 3_100
        assert 3_000 <= clock.monotonic() - started < 3_100

    started = time.monotonic()
    with clock.use(patches=True):
        anyio.run(wait, backend=backend)
    assert time.monotonic() - started < 1_000
    assert (anyio.sleep, asyncio.sleep, trio.sleep) == REAL
