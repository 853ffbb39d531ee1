"""While a model is overloaded another one is asked, by all providers, and then the first again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from services import ANSWER, REQUEST, Hooks, Service, Time, provider_of

from amplifier_core.llm_errors import ConfigurationError, ProviderUnavailableError, RateLimitError
from amplifier_providers.wire import overload
from amplifier_testing.servers import Answer, Fault

SECONDS = 100.0


class Moment:
    """The time of day."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_000_000.0
        # Providers ask for the time by this default.
        monkeypatch.setattr(overload.Overload.__init__, "__defaults__", (lambda: self.now,))


@pytest.fixture
def moment(monkeypatch: pytest.MonkeyPatch) -> Moment:
    return Moment(monkeypatch)


def settings(service: Service, **more: Any) -> dict[str, Any]:
    return {
        "fallback_on_overload": True, "fallback_model": service.other,
        "fallback_cooldown": SECONDS, "max_retries": 3, **more,
    }  # fmt: skip


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=529),
        Fault(status=503, message="The server is currently overloaded"),
        Fault(error_after=0, kind="overloaded_error"),
    ],
    ids=["by its status", "by its text", "in the stream"],
)
async def test_the_other_model_is_asked_at_once_and_the_first_after_a_while(
    service: Service, fault: Fault, moment: Moment
) -> None:
    hooks, time, other = Hooks(), Time(), service.other
    with service.server([ANSWER] * 4, faults=[fault]) as server:
        async with provider_of(
            service, server.url, hooks, time=time, **settings(service)
        ) as provider:
            first = await provider.complete(REQUEST)
            moment.now += SECONDS - 1
            await provider.complete(REQUEST)
            moment.now += 2
            last = await provider.complete(REQUEST)
        asked = [request.body["model"] for request in server.requests]
        assert server.refusals == []

    assert asked == [service.model, other, other, service.model]
    assert (time.now, hooks.data("provider:retry")) == (0, [])
    about = {"provider": service.name, "model": service.model, "fallback_model": other}
    assert hooks.data("provider:fallback") == [
        {**about, "reason": "overloaded"}, {**about, "reason": "still overloaded"},
    ]  # fmt: skip
    assert [told["model"] for told in hooks.data("llm:response")] == [other, other, service.model]
    assert first.degradation is not None
    assert (first.degradation.requested, first.degradation.actual) == (
        f"`{service.model}`", f"`{other}`",
    )  # fmt: skip
    assert first.metadata is not None
    assert first.metadata["requested_model"] == other
    assert last.degradation is None


async def test_an_overloaded_model_without_another_is_asked_again(
    service: Service, moment: Moment
) -> None:
    hooks, time = Hooks(), Time()
    with service.server([ANSWER], faults=[Fault(status=529), Fault(status=529)]) as server:
        options = settings(service, max_retries=1)
        async with provider_of(service, server.url, hooks, time=time, **options) as provider:
            await provider.complete(REQUEST)
        asked = [request.body["model"] for request in server.requests]
    assert asked == [service.model, service.other, service.other]
    assert [told["model"] for told in hooks.data("provider:retry")] == [service.other]


@pytest.mark.parametrize(
    ("fault", "kind"),
    [(Fault(status=429), RateLimitError), (Fault(status=500), ProviderUnavailableError)],
    ids=["a limit", "a failure"],
)
async def test_what_is_no_overload_makes_nobody_else_answer(
    service: Service, fault: Fault, kind: type[Exception]
) -> None:
    with service.server(faults=[fault]) as server:
        async with provider_of(service, server.url, **settings(service, max_retries=0)) as provider:
            with pytest.raises(kind):
                await provider.complete(REQUEST)
        assert len(server.requests) == 1


async def test_an_answer_of_which_a_part_was_shown_is_finished_by_nobody_else(
    service: Service,
) -> None:
    fault = Fault(error_after=12, kind="overloaded_error")
    with service.server([Answer("Once upon a time. " * 9, fragment=4)], faults=[fault]) as server:
        async with provider_of(service, server.url, Hooks(), **settings(service)) as provider:
            with pytest.raises(ProviderUnavailableError):
                await provider.complete(REQUEST)
        assert len(server.requests) == 1


async def test_mounts_and_restarts_know_of_an_overload(
    service: Service, moment: Moment, tmp_path: Path
) -> None:
    path = tmp_path / "overloads.json"
    options = settings(service, fallback_state_path=str(path))
    with service.server([ANSWER] * 6, faults=[Fault(status=529)]) as server:
        async with (
            provider_of(service, server.url, **options) as one,
            provider_of(service, server.url, **settings(service)) as two,
        ):
            await one.complete(REQUEST)
            await two.complete(REQUEST)
        del one, two
        async with provider_of(service, server.url, **options) as restarted:
            await restarted.complete(REQUEST)
            moment.now += SECONDS
            await restarted.complete(REQUEST)
        asked = [request.body["model"] for request in server.requests]
    assert asked == [service.model, *[service.other] * 3, service.model]
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [b"", b"[]", b'{"x": 1}', b"\xff", b'{"e": {"m": NaN}}'])
async def test_a_file_of_another_form_is_written_anew(
    service: Service, moment: Moment, tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "overloads.json"
    path.write_bytes(content)
    options = settings(service, fallback_state_path=str(path))
    with service.server([ANSWER] * 2, faults=[Fault(status=529)]) as server:
        async with provider_of(service, server.url, **options) as provider:
            await provider.complete(REQUEST)
    assert service.model in path.read_text()


async def test_a_fallback_needs_a_model(service: Service) -> None:
    if service.name == "anthropic":  # it has one
        return
    with pytest.raises(ConfigurationError) as caught:
        async with provider_of(service, "http://127.0.0.1:9", fallback_on_overload=True):
            pass
    assert str(caught.value) == (
        f"{service.module}: `fallback_model` is missing: `fallback_on_overload` needs a model to ask"
        " instead"
    )
