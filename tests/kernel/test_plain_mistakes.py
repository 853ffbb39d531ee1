"""Each mistake in a mount plan: the one line that is said of it, on both engines."""

from __future__ import annotations

import logging
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from amplifier_core.llm_errors import ConfigurationError

PLAN: dict[str, Any] = {"session": {"orchestrator": "loop-basic", "context": "context-simple"}}
ANTHROPIC = {"module": "provider-anthropic", "config": {"api_key": "a-key"}}
SEARCH = {"module": "tool-search"}
OBSERVE = {"module": "hooks-observe", "config": {}}


def plan_of(**changes: Any) -> dict[str, Any]:
    plan = deepcopy({**PLAN, **changes})
    plan["session"] = {**PLAN["session"], **plan["session"]}
    return plan


def on_tool_pre(event: str, data: dict[str, Any]) -> None: ...


TABLE: dict[str, tuple[dict[str, Any], str]] = {
    "a section": (
        plan_of(tool=[SEARCH]),
        "unknown key `tool` in the mount plan (did you mean `tools`?)",
    ),
    "a section of the application": (
        plan_of(billing={}),
        (
            "unknown key `billing` in the mount plan (known: `agents`, `context`, `hooks`, "
            "`orchestrator`, `providers`, `session`, `tools`)"
        ),
    ),
    "a key of the session": (
        plan_of(session={"stricct": True}),
        "unknown key `stricct` in `session` (did you mean `strict`?)",
    ),
    "the module of a spec": (
        plan_of(tools=[{"modul": "tool-search"}]),
        "unknown key `modul` in `tools[0]` (did you mean `module`?)",
    ),
    "the config of a spec": (
        plan_of(session={"context": {"module": "context-simple", "confg": {}}}),
        "unknown key `confg` in `session.context` (did you mean `config`?)",
    ),
    "a spec that names nothing": (
        plan_of(tools=[{"config": {}}]),
        "`tools[0]` has no effect, as it names no `module`",
    ),
    "a key of a section of settings": (
        plan_of(orchestrator={"confg": {}}),
        "unknown key `confg` in `orchestrator` (did you mean `config`?)",
    ),
    "a setting of a tool": (
        plan_of(tools=[{"module": "tool-filesystem", "config": {"rooot": "x"}}]),
        "unknown key `rooot` in the config of `tool-filesystem` (did you mean `root`?)",
    ),
    "a setting of a loop": (
        plan_of(orchestrator={"config": {"max_iteration": 3}}),
        (
            "unknown key `max_iteration` in the config of `loop-basic` (did you mean "
            "`max_iterations`?)"
        ),
    ),
    "a setting of a provider": (
        plan_of(
            providers=[{"module": "provider-anthropic", "config": {"api_key": "k", "max_token": 9}}]
        ),
        (
            "unknown key `max_token` in the config of `provider-anthropic` (did you mean "
            "`max_tokens`?)"
        ),
    ),
    "settings that another spec replaces": (
        plan_of(
            session={"orchestrator": {"module": "loop-basic"}},
            orchestrator={"config": {"max_iterations": 3}},
        ),
        "`orchestrator.config` has no effect, as `session.orchestrator` is a spec of its own",
    ),
    "a source that another spec replaces": (
        plan_of(session={"context": {"module": "context-simple"}, "context_source": "here"}),
        "`session.context_source` has no effect, as `session.context` is a spec of its own",
    ),
    "a switch that is no switch": (
        plan_of(tools=[{**SEARCH, "required": "no"}]),
        "`tools[0].required` is 'no' (must be true or false)",
    ),
    "two specs of the same tools": (
        plan_of(tools=["tool-search", SEARCH]),
        (
            "two specs mount the tools `glob`, `grep`: `tool-search` replaces what `tool-search` "
            "mounted"
        ),
    ),
    "two instances of one name": (
        plan_of(providers=[{**ANTHROPIC, "instance_id": "a"}, {**ANTHROPIC, "instance_id": "a"}]),
        (
            "two specs mount the provider `a`: `provider-anthropic` replaces what "
            "`provider-anthropic` mounted"
        ),
    ),
    "the same hook module twice": (
        plan_of(hooks=[OBSERVE, OBSERVE]),
        "`hooks[1]` is the same as `hooks[0]` (`hooks-observe`)",
    ),
    "a module that does not exist": (
        plan_of(tools=["tool-serch"]),
        (
            "Failed to load tool 'tool-serch': Module 'tool-serch' not found via entry points or "
            "filesystem; did you mean `tool-search`?"
        ),
    ),
    "a misspelt guard": (
        plan_of(hooks=["hooks-gaurd"]),
        (
            "Failed to load hook 'hooks-gaurd': Module 'hooks-gaurd' not found via entry points or "
            "filesystem; did you mean `hooks-guard`?"
        ),
    ),
    "a value that cannot be used": (
        plan_of(tools=[{"module": "tool-search", "config": {"root": 5}}]),
        (
            "Failed to load tool 'tool-search': tool-search: `root` is 5 (must be the path of a "
            "folder)"
        ),
    ),
    "a provider without a key": (
        plan_of(providers=["provider-anthropic"]),
        (
            "Failed to load provider 'provider-anthropic': no API key; set `ANTHROPIC_API_KEY` or the "
            "config key `api_key`"
        ),
    ),
}

HANDLERS: dict[str, tuple[str, Any, str | None, str]] = {
    "an event that is nearly one": (
        "tool_pre",
        on_tool_pre,
        None,
        (
            "the handler `on_tool_pre` is registered for `tool_pre`, which nothing emits; did you "
            "mean `tool:pre`?"
        ),
    ),
    "an event of nobody": (
        "shop:sold",
        on_tool_pre,
        "till",
        (
            "the handler `till` is registered for `shop:sold`, which nothing emits; whatever emits it "
            "can contribute its name to `observability.events`"
        ),
    ),
}


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    found = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert [record.exc_info for record in found] == [None] * len(found)
    return [record.getMessage() for record in found]


async def refusal(session: Any) -> BaseException:
    with pytest.raises(RuntimeError) as refused:
        await session.initialize()
    assert type(refused.value) is RuntimeError
    assert not session.initialized
    cause = refused.value.__cause__
    assert isinstance(cause, ConfigurationError)
    assert str(cause) == str(refused.value)
    await session.cleanup()
    return cause


# Holds: differ-114
@pytest.mark.parametrize(("plan", "text"), TABLE.values(), ids=TABLE)
async def test_a_mistake_in_a_plan_is_one_warning(
    engine: Any, plan: dict[str, Any], text: str, caplog: pytest.LogCaptureFixture
):
    async with engine.AmplifierSession(deepcopy(plan)):
        assert warnings(caplog) == [text]


# Holds: differ-114
@pytest.mark.parametrize(("plan", "text"), TABLE.values(), ids=TABLE)
async def test_a_mistake_in_a_strict_plan_is_an_error_of_the_same_text(
    engine: Any, plan: dict[str, Any], text: str
):
    strict = {**deepcopy(plan), "session": {**plan["session"], "strict": True}}
    cause: Any = await refusal(engine.AmplifierSession(strict))
    assert cause.mistakes == (text,)
    assert str(cause) == f"the mount plan has a mistake: {text}"


@pytest.mark.parametrize(("event", "handler", "name", "text"), HANDLERS.values(), ids=HANDLERS)
async def test_a_handler_of_an_event_that_nothing_emits_is_one_warning(
    engine: Any,
    event: str,
    handler: Callable[..., None],
    name: str | None,
    text: str,
    caplog: pytest.LogCaptureFixture,
):
    session = engine.AmplifierSession(plan_of())
    session.coordinator.hooks.register(event, handler, name=name)
    async with session:
        assert warnings(caplog) == [text]

    strict = engine.AmplifierSession(plan_of(session={"strict": True}))
    strict.coordinator.hooks.register(event, handler, name=name)
    cause: Any = await refusal(strict)
    assert cause.mistakes == (text,)


async def test_a_strict_plan_lists_all_of_its_mistakes(engine: Any):
    plan = plan_of(session={"strict": True}, tool=[], tools=["tool-serch", {"modul": "x"}])
    session = engine.AmplifierSession(plan)
    session.coordinator.hooks.register("tool_pre", on_tool_pre)

    cause: Any = await refusal(session)

    expected = ("a module that does not exist", "a section")
    first, second = (TABLE[row][1] for row in expected)
    third = "unknown key `modul` in `tools[1]` (did you mean `module`?)"
    fourth = HANDLERS["an event that is nearly one"][3]
    assert cause.mistakes == (first, second, third, fourth)
    assert str(cause) == "the mount plan has 4 mistakes: " + "; ".join(cause.mistakes)


async def test_a_strict_plan_without_its_loop_lists_all_of_its_mistakes(
    engine: Any, caplog: pytest.LogCaptureFixture
):
    missing = (
        "Cannot initialize without orchestrator: Module 'loop-basics' not found via entry points "
        "or filesystem; did you mean `loop-basic`?"
    )
    plan = plan_of(session={"orchestrator": "loop-basics", "strict": True}, tool=[])
    cause: Any = await refusal(engine.AmplifierSession(plan))
    assert cause.mistakes == (missing, TABLE["a section"][1])

    plan["session"]["strict"] = False
    with pytest.raises(RuntimeError) as refused:
        await engine.AmplifierSession(plan).initialize()
    assert str(refused.value) == missing
    assert warnings(caplog) == [TABLE["a section"][1]]
