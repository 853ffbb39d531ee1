"""What a registry says of events that nobody hears."""

from __future__ import annotations

from amplifier_core.events import CANCEL_COMPLETED, LLM_REQUEST


def test_an_event_is_heard_while_a_handler_an_observer_or_a_listener_is_there(engine):
    hooks = engine.HookRegistry()
    assert not hooks.is_heard("a")
    unregister = hooks.register("a", lambda event, data: None)
    assert (hooks.is_heard("a"), hooks.is_heard("b")) == (True, False)
    unregister()
    assert not hooks.is_heard("a")
    stop = hooks.observe(lambda event, data: None)
    assert hooks.is_heard("b")
    stop()
    assert not hooks.is_heard("b")
    hooks._listen({"b": lambda data: None})
    assert (hooks.is_heard("a"), hooks.is_heard("b")) == (False, True)
    hooks._listen(None)
    assert not hooks.is_heard("b")


def test_an_event_that_the_registry_counts_or_correlates_is_heard(engine):
    hooks = engine.HookRegistry()
    assert hooks.is_heard(CANCEL_COMPLETED)
    assert hooks.is_heard(LLM_REQUEST)


def test_a_subclass_that_emits_itself_hears_all(engine):
    class Own(engine.HookRegistry):
        def emit(self, event, data):
            return super().emit(event, data)

    assert Own().is_heard("a")
