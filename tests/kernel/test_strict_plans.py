"""What a strict plan and a required module demand, and that nothing right is called a mistake."""

from __future__ import annotations

import importlib
import logging
from typing import Any
from unittest.mock import AsyncMock, MagicMock, Mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import amplifier_core.session as twin_session
from amplifier_core import _engine, _session_init, events, module_sources
from amplifier_core._loading.plan_keys import (
    MAIN_SECTION_KEYS,
    SESSION_KEYS,
    SPEC_KEYS,
    find_mistakes,
    is_plain_here,
    plan_mistakes,
    settings_mistakes,
)
from amplifier_core.mount_plan import LISTS, MAIN_MODULES, SECTIONS
from amplifier_core.validation import MountPlanValidator
from amplifier_modules import MODULES

SESSION = {"orchestrator": "loop-basic", "context": "context-simple"}
GUARD = {"module": "hooks-guard", "config": {"findngs": "ask"}}
UNGUARDED = "Failed to load hook 'hooks-guard': hooks-guard: `findngs` is unknown (did you mean `findings`?)"


def plan_of(*, strict: bool = False, **sections: Any) -> dict[str, Any]:
    return {"session": {**SESSION, "strict": strict}, **sections}


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.levelno >= logging.WARNING]


def module(monkeypatch: pytest.MonkeyPatch, module_id: str, mount: Any) -> str:
    """Make a module of someone else importable."""
    import sys
    from types import ModuleType

    name = f"amplifier_module_{module_id.replace('-', '_')}"
    package = ModuleType(name)
    package.mount = mount
    package.__path__ = []
    mount.__module__ = name
    monkeypatch.setitem(sys.modules, name, package)
    return module_id


@pytest.mark.parametrize("strict", [False, True])
async def test_a_plan_that_is_right_says_nothing(
    engine: Any, strict: bool, caplog: pytest.LogCaptureFixture
):
    plan = plan_of(
        strict=strict,
        agents={"reviewer": {"anything": 1}},
        tools=["tool-search", {"module": "tool-filesystem", "config": {"root": "."}}],
        hooks=[{"module": "hooks-guard", "required": True, "config": {"findings": "ask"}}],
        orchestrator={"config": {"max_iterations": 3}},
        context={"config": {"max_tokens": 9_000}},
    )
    session = engine.AmplifierSession(plan)
    for event in (*events.ALL_EVENTS, events.TURN_START, events.LLM_POST, "session:config"):
        session.coordinator.hooks.register(event, lambda _event, _data: None)
    async with session:
        assert (session.initialized, warnings(caplog)) == (True, [])


VAIN = {
    "session.orchestrator_source": {"session": {**SESSION, "orchestrator_source": "git+x"}},
    "session.context.source": {
        "session": {**SESSION, "context": {"module": "context-simple", "source": "git+x"}}
    },
    "providers[0].source": {
        "providers": [
            {"module": "provider-scripted", "source": "git+x", "config": {"script": ["a"]}}
        ]
    },
    "tools[1].source": {"tools": ["tool-search", {"module": "tool-filesystem", "source": "git+x"}]},
}
"""Plans that name a source, which only a resolver reads, by the place of the source."""
MISSING = {
    "session.orchestrator.source": {
        "session": {**SESSION, "orchestrator": {"module": "loop-nope", "source": "git+x"}}
    },
    "session.context_source": {
        "session": {**SESSION, "context": "context-nope", "context_source": "git+x"}
    },
    "tools[1].source": {"tools": ["tool-search", {"module": "tool-nope", "source": "git+x"}]},
}
"""The same with modules that only a resolver could find."""


# Holds: differ-115
@pytest.mark.parametrize("place", VAIN)
async def test_a_source_of_a_module_that_is_there_without_it_is_one_line_of_the_log(
    engine: Any, place: str, caplog: pytest.LogCaptureFixture
):
    plan: dict[str, Any] = {"session": SESSION, **VAIN[place]}
    text = f"`{place}` is not read, as no `module-source-resolver` is mounted: `"
    strict = {**plan, "session": {**plan["session"], "strict": True}}
    caplog.set_level("INFO", logger="amplifier_core.session")
    for each in (plan, strict):
        caplog.clear()
        async with engine.AmplifierSession(each):
            [said] = caplog.records
        assert said.levelname == "INFO"
        assert said.getMessage().startswith(text)
        assert said.getMessage().endswith("` is there without it")

    class Resolver:
        def resolve(self, module_id: str, **_hints: Any) -> Any:
            raise module_sources.ModuleNotFoundError(module_id)

    caplog.clear()
    session = engine.AmplifierSession(strict)
    await session.coordinator.mount("module-source-resolver", Resolver())
    async with session:
        assert caplog.records == []


# Holds: differ-115
@pytest.mark.parametrize("place", MISSING)
async def test_a_source_of_a_module_that_is_not_there_is_a_mistake(engine: Any, place: str):
    plan: dict[str, Any] = {"session": SESSION, **MISSING[place]}
    strict = {**plan, "session": {**plan["session"], "strict": True}}
    with pytest.raises(RuntimeError) as caught:
        await engine.AmplifierSession(strict).initialize()
    assert "the mount plan has 2 mistakes: " in str(caught.value)
    assert "not found via entry points or filesystem" in str(caught.value)
    text = f"`{place}` has no effect, as no `module-source-resolver` is mounted"
    assert str(caught.value).endswith(text)


@pytest.mark.parametrize(
    ("place", "section"),
    [
        ("session.orchestrator", {"orchestrator": {"module": "loop-basic", "instance_id": "a"}}),
        ("tools[0]", [{"module": "tool-search", "instance_id": "a"}]),
        ("hooks[0]", [{"module": "hooks-observe", "instance_id": "a"}]),
    ],
)
async def test_an_instance_id_is_of_a_provider(
    engine: Any, place: str, section: Any, caplog: pytest.LogCaptureFixture
):
    plan = plan_of()
    if isinstance(section, dict):
        plan["session"] |= section
    else:
        plan[place.partition("[")[0]] = section
    async with engine.AmplifierSession(plan):
        assert warnings(caplog) == [f"`{place}.instance_id` has no effect, as it names a provider"]


@pytest.mark.parametrize("event", ["guard:findings", "orchestrator:steering_injected"])
async def test_events_of_our_modules_are_known_whatever_is_mounted(
    engine: Any, event: str, caplog: pytest.LogCaptureFixture
):
    session = engine.AmplifierSession(plan_of(strict=True))
    session.coordinator.hooks.register(event, lambda _event, _data: None)
    async with session:
        assert warnings(caplog) == []


@pytest.mark.parametrize("as_text", [False, True])
async def test_events_that_a_module_contributes_are_known(
    engine: Any,
    as_text: bool,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
):
    async def mount(coordinator: Any, config: Any) -> None:
        names = "shop:sold" if as_text else ["shop:sold"]
        coordinator.register_contributor("observability.events", "shop", lambda: names)

    plan = plan_of(strict=True, tools=[module(monkeypatch, "tool-shop", mount)])
    session = engine.AmplifierSession(plan)
    session.coordinator.hooks.register("shop:sold", lambda _event, _data: None)
    async with session:
        assert warnings(caplog) == []


async def test_a_handler_of_a_foreign_module_stays_a_warning_where_the_plan_is_strict(
    engine: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    async def mount(coordinator: Any, config: Any) -> None:
        coordinator.hooks.register("tool:per", lambda _event, _data: None, name="theirs")

    plan = plan_of(strict=True, hooks=[module(monkeypatch, "hooks-theirs", mount)])
    async with engine.AmplifierSession(plan):
        assert warnings(caplog) == [
            (
                "the handler `theirs` is registered for `tool:per`, which nothing emits; "
                "did you mean `tool:pre`?"
            )
        ]


async def test_a_handler_that_comes_later_is_a_warning_at_the_next_turn(
    engine: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    async with engine.AmplifierSession(plan_of(strict=True)) as session:
        session.coordinator.hooks.register("tool_post", lambda _event, _data: None, name="late")
        loop = MagicMock()
        loop.execute = AsyncMock(return_value="done")
        await session.coordinator.mount("orchestrator", loop)
        await session.coordinator.mount("providers", object(), name="any")
        for _ in range(3):
            assert await session.execute("go") == "done"
    assert warnings(caplog) == [
        (
            "the handler `late` is registered for `tool_post`, which nothing emits; "
            "did you mean `tool:post`?"
        )
    ]


async def test_a_required_module_that_fails_ends_initialize(engine: Any):
    plan = plan_of(tools=[{"module": "tool-serch", "required": True}, "tool-filesystem"])
    session = engine.AmplifierSession(plan)

    with pytest.raises(RuntimeError) as refused:
        await session.initialize()

    found = (
        "Module 'tool-serch' not found via entry points or filesystem; did you mean `tool-search`?"
    )
    assert str(refused.value) == f"Cannot initialize without tool 'tool-serch': {found}"
    assert str(refused.value.__cause__) == found
    assert not session.initialized
    await session.cleanup()


async def test_every_required_module_that_fails_is_named(engine: Any):
    required = [{"module": f"tool-{name}x", "required": True} for name in ("a", "b")]
    session = engine.AmplifierSession(plan_of(tools=required))
    with pytest.raises(RuntimeError, match=r"without tool 'tool-ax'.*without tool 'tool-bx'"):
        await session.initialize()
    await session.cleanup()


# Holds: differ-117
@pytest.mark.parametrize("required", [{}, {"required": False}])
async def test_the_guard_is_required_whatever_the_plan_says(engine: Any, required: dict[str, bool]):
    session = engine.AmplifierSession(plan_of(hooks=[{**GUARD, **required}]))

    with pytest.raises(RuntimeError) as refused:
        await session.initialize()

    assert str(refused.value) == UNGUARDED.replace("Failed to load", "Cannot initialize without")
    assert not session.initialized
    await session.cleanup()


async def test_a_strict_plan_lists_a_required_module_once(engine: Any):
    session = engine.AmplifierSession(plan_of(strict=True, hooks=[GUARD]))
    with pytest.raises(RuntimeError) as refused:
        await session.initialize()
    assert refused.value.__cause__.mistakes == (UNGUARDED,)
    await session.cleanup()


@pytest.mark.parametrize("strict", [False, True])
async def test_a_module_that_fails_is_a_warning_or_an_error_and_not_both(
    engine: Any, strict: bool, caplog: pytest.LogCaptureFixture
):
    session = engine.AmplifierSession(plan_of(strict=strict, tools=["tool-absent"]))
    if not strict:
        await session.initialize()
        assert [text[:36] for text in warnings(caplog)] == ["Failed to load tool 'tool-absent': M"]
        return
    with pytest.raises(RuntimeError, match="Failed to load tool 'tool-absent'"):
        await session.initialize()
    assert warnings(caplog) == []


@pytest.mark.parametrize("demand", [{"required": True}, {"strict": True}])
async def test_a_misspelt_guard_is_an_error_where_something_demands_it(
    engine: Any, demand: dict[str, bool]
):
    spec = {"module": "hooks-gaurd", "required": demand.get("required", False)}
    session = engine.AmplifierSession(plan_of(strict=demand.get("strict", False), hooks=[spec]))
    with pytest.raises(RuntimeError, match="did you mean `hooks-guard`"):
        await session.initialize()
    await session.cleanup()


async def test_a_session_that_is_refused_can_be_tried_again(engine: Any):
    plan = plan_of(strict=True, tool=[])
    session = engine.AmplifierSession(plan)
    with pytest.raises(RuntimeError):
        await session.initialize()
    del plan["tool"]
    await session.initialize()
    assert session.initialized
    await session.cleanup()


@pytest.mark.parametrize("make", [AsyncMock, lambda: Mock(return_value=None)])
async def test_a_mocked_initialize_session_breaks_nothing(
    rust: Any, monkeypatch: pytest.MonkeyPatch, make: Any
):
    initialize_session = make()
    monkeypatch.setattr(_session_init, "initialize_session", initialize_session)
    session = rust.AmplifierSession(plan_of(strict=True))
    await session.initialize()
    assert (session.initialized, initialize_session.call_count) == (True, 1)


async def test_a_mocked_initialize_session_and_coordinator_break_nothing_in_python(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(twin_session, "initialize_session", AsyncMock())
    session = twin_session.AmplifierSession(plan_of(strict=True))
    session.coordinator = MagicMock()
    await session.initialize()
    assert session.initialized


class NoMethod: ...


class ThreeParameters:
    async def request_approval(self, prompt: str, options: list[str], seconds: float) -> str:
        return "allow"


PARAMETERS = (
    "its `request_approval` takes neither `(prompt, options, timeout, default)` nor `(request)`"
)
NO_METHOD = "it has no method `request_approval` (see `ApprovalSystem` and `ApprovalProvider`)"


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    ("approval", "why"), [(NoMethod(), NO_METHOD), (ThreeParameters(), PARAMETERS)]
)
async def test_an_approval_system_of_a_wrong_protocol_is_a_warning(
    engine: Any, strict: bool, approval: Any, why: str, caplog: pytest.LogCaptureFixture
):
    async with engine.AmplifierSession(plan_of(strict=strict), approval_system=approval):
        name = type(approval).__name__
        assert warnings(caplog) == [f"the approval system `{name}` cannot be asked: {why}"]


@pytest.mark.parametrize("approval", [Mock(), MagicMock(), AsyncMock()])
async def test_a_stand_in_for_an_approval_system_is_accepted(
    engine: Any, approval: Any, caplog: pytest.LogCaptureFixture
):
    async with engine.AmplifierSession(plan_of(), approval_system=approval):
        assert warnings(caplog) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)
_OF_ANY_SPEC: dict[str, Any] = {
    "source": st.text(),
    "config": st.dictionaries(st.text(max_size=3), JSON, max_size=2),
    "required": st.booleans(),
}
_MODULE = {"module": st.sampled_from(sorted(MODULES))}
NAMED = st.sampled_from(sorted(MODULES)) | st.fixed_dictionaries(_MODULE, optional=_OF_ANY_SPEC)
PROVIDERS = NAMED | st.fixed_dictionaries(
    _MODULE, optional={**_OF_ANY_SPEC, "instance_id": st.text(min_size=1)}
)
NUMBERS = dict.fromkeys(
    ("injection_budget_per_turn", "injection_limit_per_turn", "injection_size_limit"),
    st.none() | st.integers(0, 9),
)


@st.composite
def right_plans(draw: st.DrawFn) -> dict[str, Any]:
    """Plans in which every key is one that the contract names, and none is in vain."""
    session = draw(
        st.fixed_dictionaries(
            dict.fromkeys(MAIN_MODULES, NAMED),
            optional={"metadata": JSON, "raw": st.booleans(), "strict": st.booleans(), **NUMBERS},
        )
    )
    lists = {
        name: st.none()
        | st.lists(PROVIDERS if name == "providers" else NAMED, max_size=3, unique_by=repr)
        for name in LISTS
    }
    plan = draw(st.fixed_dictionaries({}, optional=lists))
    plan |= draw(st.fixed_dictionaries({}, optional={"agents": JSON}))
    for name in MAIN_MODULES:
        if isinstance(session[name], str) and draw(st.booleans()):
            session[f"{name}_source"] = draw(st.text())
            plan[name] = {"config": draw(st.dictionaries(st.text(max_size=3), JSON, max_size=2))}
    return {"session": session, **plan}


@given(right_plans())
def test_no_plan_that_is_right_has_a_mistake(plan: dict[str, Any]):
    assert list(plan_mistakes(plan)) == []
    result = MountPlanValidator(allow_names=True).validate(
        {name: [] if value is None else value for name, value in plan.items()}
    )
    assert (result.errors, result.warnings) == ([], [])


@st.composite
def odd_plans(draw: st.DrawFn) -> dict[str, Any]:
    """Plans of known and unknown keys whose values are of all kinds."""
    specs = st.dictionaries(st.sampled_from(["module", "config", "required", "x"]), JSON | NAMED)
    lists = st.lists(NAMED | specs | JSON, max_size=2)
    keys = st.sampled_from([*MAIN_MODULES, "strict", "raw", "x"])
    section = st.dictionaries(keys, NAMED | specs | JSON, max_size=3) | JSON
    return draw(
        st.fixed_dictionaries(
            {}, optional={"session": section, **dict.fromkeys([*LISTS, "x"], lists)}
        )
    )


@example({"providers": [""]})
@given(odd_plans() | right_plans())
def test_what_is_plain_at_a_glance_has_no_mistake(plan: dict[str, Any]):
    for is_plain in (is_plain_here, _engine._is_plain_plan):
        assert not is_plain(plan) or list(find_mistakes(plan)) == []


@pytest.mark.parametrize("is_plain", [is_plain_here, _engine._is_plain_plan])
def test_usual_plans_are_plain_at_a_glance(is_plain: Any):
    spec = {"module": "tool-search", "source": None, "config": {"root": "."}}
    assert is_plain(plan_of(strict=True, providers=[spec], tools=["a", spec], hooks=[spec]))
    assert not is_plain(plan_of(hooks=[spec, spec]))
    assert not is_plain(plan_of(tools=[{"config": {}}]))


@given(st.data())
def test_no_declared_setting_is_a_mistake(data: st.DataObject):
    module_id = data.draw(st.sampled_from(sorted(MODULES)))
    settings = importlib.import_module(MODULES[module_id]).__amplifier_settings__
    known = [*settings.model_fields, *settings.ignored_keys, *settings.renamed_keys]
    keys = data.draw(st.lists(st.sampled_from(sorted(known))))
    assert list(settings_mistakes(module_id, dict.fromkeys(keys), settings)) == []


@given(st.data())
def test_an_unknown_key_is_named_once_wherever_it_is(data: st.DataObject):
    plan = data.draw(right_plans())
    key = data.draw(st.text(min_size=1, max_size=8))
    places: list[tuple[Any, frozenset[str], str]] = [
        (plan, SECTIONS, "the mount plan"),
        (plan["session"], SESSION_KEYS, "`session`"),
    ]
    for name in MAIN_MODULES:
        if name in plan:
            places.append((plan[name], MAIN_SECTION_KEYS, f"`{name}`"))
        if isinstance(plan["session"][name], dict):
            places.append((plan["session"][name], SPEC_KEYS, f"`session.{name}`"))
    values, known, where = data.draw(st.sampled_from(places))
    if key in known:
        return
    values[key] = 1
    [mistake] = plan_mistakes(plan)
    assert mistake.startswith(f"unknown key `{repr(key)[1:-1]}` in {where} (")


@given(st.sampled_from(sorted({*SECTIONS, *SESSION_KEYS, *SPEC_KEYS})), st.data())
def test_a_key_with_a_slip_has_a_suggestion(key: str, data: st.DataObject):
    at = data.draw(st.integers(0, len(key) - 1))
    slip = data.draw(
        st.sampled_from([key[:at] + key[at + 1 :], key[: at + 1] + key[at:], f"{key}s", f"{key}_"])
    )
    plan: dict[str, Any] = {"session": dict(SESSION)}
    for values, known in ((plan, SECTIONS), (plan["session"], SESSION_KEYS)):
        if key in known and slip not in known:
            values[slip] = 1
            [mistake] = plan_mistakes(plan)
            assert "did you mean `" in mistake
            return
