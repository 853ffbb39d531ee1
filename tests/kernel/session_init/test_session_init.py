"""How the modules of a mount plan are loaded and mounted."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest
from planned import PLAN, Loader, Provider, mounting, ready, record, start

from amplifier_core import ModuleLoader, RustCoordinator
from amplifier_core import _session_init as session_init
from amplifier_core._session_init import initialize_session


async def test_the_phases_come_in_their_order():
    loader = Loader(provider_a=mounting(Provider("a")))
    plan = {
        "hooks": [{"module": "hooks-a"}],
        "tools": ["tool-a", {"module": "tool-b", "source": "there", "config": {"n": 1}}],
        "providers": [{"module": "provider-a"}],
        "session": {
            "orchestrator": {"module": "loop", "source": "here", "config": {"m": 2}},
            "context": {"module": "context"},
        },
    }
    await start(plan, loader)
    assert loader.loaded == [
        ("loop", {"m": 2}, "here"),
        ("context", {}, None),
        ("provider-a", {}, None),
        ("tool-a", {}, None),
        ("tool-b", {"n": 1}, "there"),
        ("hooks-a", {}, None),
    ]


async def test_a_plan_may_name_the_loop_by_its_id_alone():
    loader = Loader()
    plan = {
        "session": {"orchestrator": "loop", "orchestrator_source": "here", "context": "kept"},
        "orchestrator": {"config": {"m": 2}},
        "context": {"config": {"n": 3}},
    }
    await start(plan, loader)
    assert loader.loaded == [("loop", {"m": 2}, "here"), ("kept", {"n": 3}, None)]


@pytest.mark.parametrize(
    "plan", [{}, {"session": {}}, {"session": {"orchestrator": {"config": {}}, "context": ""}}]
)
async def test_loop_and_context_have_defaults(plan: dict[str, Any]):
    loader = Loader()
    await start(plan, loader)
    assert [module_id for module_id, *_ in loader.loaded] == ["loop-basic", "context-simple"]


async def test_the_own_modules_make_a_session():
    coordinator = RustCoordinator()
    await initialize_session({}, coordinator, "an id", None)
    assert isinstance(coordinator.loader, ModuleLoader)
    assert coordinator.loader._coordinator is coordinator
    assert hasattr(coordinator.get("orchestrator"), "execute")
    assert hasattr(coordinator.get("context"), "add_message")


async def test_an_empty_slot_is_no_error():
    coordinator = await start(PLAN, Loader())
    assert coordinator.get("orchestrator") is None


async def test_cleanups_are_registered_and_other_returns_ignored():
    def cleanup() -> None: ...

    async def with_cleanup(coordinator: Any) -> Any:
        return cleanup

    async def with_information(coordinator: Any) -> Any:
        return {"info": 1}

    loader = Loader(loop=with_cleanup, tool_a=with_information)
    coordinator = await start({**PLAN, "tools": ["tool-a"]}, loader)
    assert coordinator._cleanup_fns[:1] == [cleanup]
    await coordinator.cleanup()


async def test_ready_functions_are_called_in_order_with_the_coordinator():
    called: list[Any] = []

    def note(name: str) -> Any:
        async def on_session_ready(coordinator: Any) -> None:
            called.append((name, coordinator))

        return ready(name, on_session_ready)

    async def provide(coordinator: Any) -> None:
        await coordinator.mount("providers", Provider("a"))

    provide.__on_session_ready__ = note("provider-a").__on_session_ready__  # pyright: ignore
    loader = Loader(
        loop=note("loop"), context=note("context"), provider_a=provide, tool_a=note("tool-a")
    )
    loader.mounts["provider-b"] = note("provider-b")  # mounts nothing: failed, so never ready
    plan = {**PLAN, "providers": ["provider-a", "provider-b"], "tools": ["tool-a"]}
    coordinator = await start(plan, loader)
    assert called == [(name, coordinator) for name in ("loop", "context", "provider-a", "tool-a")]
    assert loader.get_on_session_ready_queue() == []


@pytest.mark.parametrize(
    ("session", "payload"),
    [
        ({}, {}),
        ({"metadata": {"m": 1}}, {"metadata": {"m": 1}}),
        (
            {"raw": True},
            {"raw": {"session": {**PLAN["session"], "raw": True}, "token": "[REDACTED]"}},
        ),
    ],
)
async def test_a_fork_is_told_after_everything_else(
    session: dict[str, Any], payload: dict[str, Any]
):
    order: list[Any] = []

    async def on_session_ready(coordinator: Any) -> None:
        order.append("ready")

    coordinator = RustCoordinator()
    order = record(coordinator, "session:fork")
    plan = {"session": {**PLAN["session"], **session}, "token": "s3cret"}
    await start(plan, Loader(loop=ready("loop", on_session_ready)), coordinator, "above")
    assert order == [
        "ready",
        ("session:fork", {"parent": "above", "session_id": "an id", **payload}),
    ]


async def test_without_a_parent_nothing_is_told_of_a_fork():
    coordinator = RustCoordinator()
    seen = record(coordinator, "session:fork")
    await start(PLAN, Loader(), coordinator, None)
    assert seen == []


async def test_mocks_of_loader_and_coordinator_will_do():
    loader = mock.create_autospec(ModuleLoader, instance=True)
    mounted = mock.AsyncMock(return_value=None)
    loader.load.return_value = mounted
    loader.get_on_session_ready_queue.return_value = []
    coordinator = mock.MagicMock()
    coordinator.loader = loader
    coordinator.get.return_value = None
    coordinator.get_capability.return_value = None
    coordinator.hooks.emit = mock.AsyncMock()
    plan = {**PLAN, "providers": ["provider-a"], "tools": ["tool-a"], "hooks": ["hooks-a"]}
    await initialize_session(plan, coordinator, "an id", "above")
    assert mounted.await_args_list == [mock.call(coordinator)] * 5
    loader.get_on_session_ready_queue.assert_called_once_with()
    assert [call.args[0] for call in coordinator.hooks.emit.await_args_list] == [
        "module:load_failed",
        "session:fork",
    ]
    coordinator.register_cleanup.assert_not_called()
    coordinator.unmount.assert_not_called()


async def test_the_loader_is_looked_up_when_it_is_needed(monkeypatch: pytest.MonkeyPatch):
    loader = Loader()
    made = mock.Mock(return_value=loader)
    monkeypatch.setattr("amplifier_core.loader.ModuleLoader", made)
    coordinator = RustCoordinator()
    await initialize_session(PLAN, coordinator, "an id", None)
    assert made.call_args_list == [mock.call(coordinator=coordinator)]
    assert coordinator.loader is loader


async def test_entering_a_session_initializes_it_and_gives_it():
    session = mock.AsyncMock()
    assert await session_init._session_aenter(session) is session
    assert session.initialize.await_args_list == [mock.call()]


def test_the_names_that_callers_patch_are_there_and_the_old_ones_gone():
    assert callable(session_init.initialize_session)
    assert not hasattr(session_init, "_wrap_initialize")
