"""A service that is slow is waited for, and one that is silent no longer than the settings say."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from services import ANSWER, REQUEST, Service, provider_of

from amplifier_core.llm_errors import (
    LLMError,
    LLMTimeoutError,
    NetworkError,
    ProviderUnavailableError,
)
from amplifier_core.message_models import ChatRequest, Message
from amplifier_testing.servers import Fault

RAISE = "retry, or raise `timeout`"
HANGS = 20
"""Seconds after which a call counts as hanging."""


async def failure(url: str, service: Service, call: str = "complete", **settings: Any) -> LLMError:
    """The error of a call to an address, which must come by itself."""
    request = settings.pop("request", REQUEST)
    with anyio.fail_after(HANGS):
        async with provider_of(service, url, **settings) as provider:
            with pytest.raises(LLMError) as caught:
                await (
                    provider.list_models() if call == "list_models" else provider.complete(request)
                )
    return caught.value


@pytest.mark.parametrize("use_streaming", [True, False], ids=["streamed", "whole"])
async def test_an_answer_that_trickles_is_whole(service: Service, use_streaming: bool) -> None:
    with service.server([ANSWER] * 2, faults=[None, Fault(piece=1)]) as server:
        async with provider_of(service, server.url, use_streaming=use_streaming) as provider:
            fast = await provider.complete(REQUEST)
            slow = await provider.complete(REQUEST)

    assert slow.finish_reason == fast.finish_reason == "tool_use"
    assert [call.arguments for call in slow.tool_calls or []] == [{"path": "é/a.py"}]
    assert [block.type for block in slow.content] == [block.type for block in fast.content]


async def test_each_byte_gives_the_next_one_its_time(service: Service) -> None:
    # The whole takes longer than the limit of each wait.
    with service.server([ANSWER], faults=[Fault(piece=32, pause=0.025)]) as server:
        async with provider_of(service, server.url, timeout=0.5) as provider:
            started = anyio.current_time()
            assert (await provider.complete(REQUEST)).finish_reason == "tool_use"
            assert anyio.current_time() - started > 0.5


# Holds: provider-27
@pytest.mark.parametrize(
    ("fault", "what"),
    [
        (Fault(silent=True), "answer"),
        (Fault(stall=0), "further data"),
        (Fault(stall=150), "further data"),
    ],
    ids=["at once", "before a byte", "in the middle"],
)
@pytest.mark.parametrize("use_streaming", [True, False], ids=["streamed", "whole"])
async def test_silence_ends_after_the_timeout(
    service: Service, fault: Fault, what: str, use_streaming: bool
) -> None:
    with service.server([ANSWER], faults=[fault]) as server:
        error = await failure(server.url, service, timeout=0.2, use_streaming=use_streaming)
        url = server.url + service.path

    assert (type(error), error.retryable, error.hint) == (LLMTimeoutError, True, RAISE)
    assert str(error) == f"no {what} from `{url}` within 0.2 s"
    assert (error.provider, error.model) == (service.name, service.model)


async def test_the_timeout_of_a_request_counts_for_it(service: Service) -> None:
    with service.server(faults=[Fault(silent=True)]) as server:
        request = REQUEST.model_copy(update={"timeout": 0.1})
        error = await failure(server.url, service, request=request)
    assert str(error).endswith(" within 0.1 s")


# Holds: sink-8
@pytest.mark.parametrize("when", ["at once", "before a byte", "pings without end"])
async def test_an_answer_without_content_ends_after_its_own_limit(
    service: Service, when: str
) -> None:
    faults = {
        "at once": Fault(silent=True),
        "before a byte": Fault(stall=0),
        "pings without end": Fault(insert={1: service.idle * 2_000}, piece=8, pause=0.01),
    }
    with service.server([ANSWER], faults=[faults[when]]) as server:
        error = await failure(server.url, service, content_timeout=0.2)

    assert (type(error), error.retryable) == (LLMTimeoutError, True)
    assert str(error) == (
        f"no content of the answer of `{service.model}` within 0.2 s, the `content_timeout` of"
        f" {service.module}"
    )
    assert error.hint == "retry, or raise `content_timeout`"


@pytest.mark.parametrize("call", ["complete", "list_models"])
@pytest.mark.parametrize(
    "fault", [Fault(status=503, stall=20), Fault(status=503, piece=1, pause=0.1)], ids=str
)
async def test_an_error_that_does_not_end_is_told_with_its_beginning(
    service: Service, fault: Fault, call: str
) -> None:
    with service.server(faults=[fault]) as server:
        error = await failure(server.url, service, call, timeout=0.3)

    assert (type(error), error.status_code) == (ProviderUnavailableError, 503)
    assert str(error).startswith(f"{service.title} API error (503 api_error): {{")


@pytest.mark.parametrize(
    ("fault", "what"),
    [
        (Fault(silent=True), "answer"),
        (Fault(stall=20), "whole answer"),
        (Fault(piece=1, pause=0.1), "whole answer"),
    ],
    ids=["at once", "in the middle", "byte by byte"],
)
async def test_the_list_of_models_is_not_waited_for_longer(
    service: Service, fault: Fault, what: str
) -> None:
    with service.server(faults=[fault]) as server:
        error = await failure(server.url, service, "list_models", timeout=0.3)

    assert (type(error), error.retryable, error.hint) == (LLMTimeoutError, True, RAISE)
    assert str(error).startswith(f"no {what} from `{server_root(str(error))}")
    assert str(error).endswith(" within 0.3 s")


def server_root(text: str) -> str:
    return text.partition("`")[2].partition("`")[0]


@pytest.mark.parametrize("cut", [0, 1, 30])
async def test_a_list_of_models_that_is_cut_off_is_a_lost_connection(
    service: Service, cut: int
) -> None:
    with service.server(faults=[Fault(cut=cut)]) as server:
        error = await failure(server.url, service, "list_models")

    assert (type(error), error.retryable) == (NetworkError, True)
    assert str(error).startswith("lost the connection to `http://127.0.0.1:")
    assert error.hint == f"check `{service.address_from}` and the network"


@pytest.fixture
def accepting() -> Iterator[str]:
    """An address that takes connections and never reads from one."""
    with contextlib.ExitStack() as connections, socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connections.enter_context(server.accept()[0])

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        thread.join(10)


@pytest.fixture
def full() -> Iterator[str]:
    """An address that answers no SYN: so many connections wait that no more fit."""
    with contextlib.ExitStack() as waiting, socket.create_server(("127.0.0.1", 0)) as server:
        server.listen(0)
        address = server.getsockname()
        for _ in range(3):
            client = waiting.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(address)
        yield f"http://127.0.0.1:{address[1]}"


@pytest.mark.parametrize("call", ["complete", "list_models"])
async def test_an_address_that_accepts_and_never_answers_does_not_hang(
    service: Service, accepting: str, call: str
) -> None:
    error = await failure(accepting, service, call, timeout=0.2)
    assert (type(error), error.hint) == (LLMTimeoutError, RAISE)
    assert str(error).startswith(f"no answer from `{accepting}/")
    assert str(error).endswith(" within 0.2 s")


async def test_an_address_that_does_not_even_read_does_not_hang(
    service: Service, accepting: str
) -> None:
    long = ChatRequest(messages=[Message(role="user", content="x" * 20_000_000)])
    error = await failure(accepting, service, timeout=0.2, request=long)
    assert type(error) is LLMTimeoutError
    assert str(error).endswith(" within 0.2 s")


@pytest.mark.parametrize("call", ["complete", "list_models"])
async def test_an_address_that_takes_no_connection_does_not_hang(
    service: Service, full: str, call: str
) -> None:
    error = await failure(full, service, call, timeout=0.2)
    assert (type(error), error.hint) == (LLMTimeoutError, RAISE)
    assert str(error).startswith(f"no connection from `{full}/")
    assert str(error).endswith(" within 0.2 s")


@pytest.mark.parametrize("call", ["complete", "list_models"])
async def test_nobody_at_an_address_is_said_at_once(service: Service, call: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    error = await failure(f"http://user:password@127.0.0.1:{port}", service, call)
    assert (type(error), error.retryable) == (NetworkError, not service.is_own)
    assert str(error).startswith(f"cannot connect to `http://127.0.0.1:{port}/")
    assert str(error).endswith("`: Connection refused")
    assert error.hint == service.hint(service.unreachable)
