"""Sessions and interpreters at their end: freed, exited, forked, and kept to one interpreter."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import textwrap
import weakref
from pathlib import Path
from typing import Any

import pytest

from amplifier_core import AmplifierSession

PLAN = {"session": {"orchestrator": "loop", "context": "context"}}


class Loop:
    async def execute(self, prompt: str, **mounted: Any) -> str:
        await mounted["hooks"].emit("tool:pre", {"tool_name": "look"})
        return prompt


class Loader:
    async def load(self, module_id: str, config: Any = None, **_: Any) -> Any:
        async def mount(coordinator: Any) -> None:
            slot = {"loop": "orchestrator"}.get(module_id, module_id)
            await coordinator.mount(slot, Loop())

        return mount

    def get_on_session_ready_queue(self) -> list[Any]:
        return []

    def clear_on_session_ready_queue(self) -> None: ...

    def cleanup(self) -> None: ...


async def used_session() -> AmplifierSession:
    """Make a session, give it a handler that knows the session, and run a turn."""
    session = AmplifierSession(PLAN, loader=Loader())

    async def handler(event: str, data: dict[str, Any]) -> None:
        assert session.initialized

    session.coordinator.hooks.register("tool:pre", handler)
    session.coordinator.register_capability("session", session)
    await session.initialize()
    assert await session.execute("hello") == "hello"
    return session


def run_python(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program in an interpreter of its own."""
    command = [sys.executable, "-c", textwrap.dedent(program), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def run_script(script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a script in an interpreter of its own."""
    command = [sys.executable, str(script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("ending", ["dropped", "cleaned up"])
async def test_sessions_that_ran_leave_nothing_behind(ending):
    async def round_of_sessions() -> list[weakref.ref[Any]]:
        sessions = [await used_session() for _ in range(50)]
        if ending == "cleaned up":
            for session in sessions:
                await session.cleanup()
        return [
            weakref.ref(each)
            for session in sessions
            for each in (session, session.coordinator, session.coordinator.hooks)
        ]

    await round_of_sessions()
    gc.collect()
    before = len(gc.get_objects())

    references = await round_of_sessions()
    gc.collect()

    assert [reference for reference in references if reference() is not None] == []
    del references
    assert len(gc.get_objects()) - before < 50


def test_objects_can_be_made_while_garbage_is_collected():
    program = """
        import gc
        from amplifier_core import (
            AmplifierSession, CancellationToken, HookRegistry, ModuleCoordinator,
        )
        plan = {"session": {"orchestrator": "loop", "context": "context"}}
        gc.set_threshold(1)
        made = [
            [CancellationToken(), ModuleCoordinator(), HookRegistry(), AmplifierSession(plan)]
            for _ in range(100)
        ]
        print(len(made))
    """
    result = run_python(program)

    assert (result.returncode, result.stdout) == (0, "100\n")


ENDINGS = Path(__file__).with_name("interpreter_endings.py")
ENDING_COUNT = 20


@pytest.mark.parametrize("number", range(ENDING_COUNT))
def test_an_interpreter_exits_cleanly_with_live_coroutines_and_handlers(number):
    result = run_script(ENDINGS, str(number))

    assert result.returncode == 0, result.stderr
    for complaint in ("panicked", "Fatal Python error", "Exception ignored", "Traceback"):
        assert complaint not in result.stderr


def test_there_are_no_other_endings():
    result = run_script(ENDINGS, str(ENDING_COUNT))

    assert "IndexError" in result.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_runs_sessions_of_its_own_and_the_parents():
    program = """
        import asyncio, os
        from amplifier_core import CancellationToken, HookRegistry, ModuleCoordinator

        hooks, token, coordinator = HookRegistry(), CancellationToken(), ModuleCoordinator()
        heard = []

        async def handler(event, data):
            await asyncio.sleep(0)
            heard.append(event)

        hooks.register("e", handler)
        token.on_cancel(lambda: heard.append("cancelled"))

        async def use():
            await hooks.emit("e", {})
            await token.trigger_callbacks()
            await coordinator.mount("tools", object(), name="t")
            fresh = HookRegistry()
            fresh.register("e", handler)
            await fresh.emit("e", {})

        asyncio.run(use())
        heard.clear()
        child = os.fork()
        asyncio.run(use())
        assert heard == ["e", "cancelled", "e"], heard
        if child == 0:
            os._exit(7)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    result = run_python(program)

    assert (result.returncode, result.stdout, result.stderr) == (0, "7\n", "")


def test_a_child_forked_in_the_middle_of_an_emit_goes_on_with_it():
    program = """
        import asyncio, os
        from amplifier_core import HookRegistry

        hooks, heard = HookRegistry(), []
        hooks.register("e", lambda *_: heard.append(os.fork()))
        hooks.register("e", lambda *_: heard.append("second"))
        asyncio.run(hooks.emit("e", {}))
        assert heard[1:] == ["second"], heard
        if heard[0] == 0:
            os._exit(7)
        print(os.waitstatus_to_exitcode(os.waitpid(heard[0], 0)[1]))
    """
    result = run_python(program)

    assert (result.returncode, result.stdout, result.stderr) == (0, "7\n", "")


def test_a_second_interpreter_is_refused_with_an_import_error():
    program = """
        import sys
        if sys.version_info >= (3, 14):
            from concurrent import interpreters

            run = interpreters.create().exec
        elif sys.version_info >= (3, 13):
            import _interpreters as interpreters

            number = interpreters.create("legacy")
            run = lambda text: print(interpreters.exec(number, text) or "", end="")
        else:
            import _xxsubinterpreters as interpreters

            number = interpreters.create()
            run = lambda text: interpreters.run_string(number, text)
        import amplifier_core._engine

        run('''if True:
            try:
                import amplifier_core._engine
            except ImportError as error:
                print("refused:", error, flush=True)
            else:
                print("imported", flush=True)
        ''')
    """
    result = run_python(program)

    assert result.stdout.startswith("refused: "), result
    assert "subinterpreter" in result.stdout
    assert result.returncode == 0


REFUSAL = (
    "the program is ending: a daemon thread can no longer use the kernel; "
    "end and join the thread before"
)
DAEMON_THREADS = """
    import asyncio, os, sys, threading, time
    from amplifier_core import HookRegistry

    hooks, begun = HookRegistry(), threading.Barrier(4)

    def plain(event, data):
        time.sleep(float(sys.argv[1]))

    async def waits(event, data):
        await asyncio.sleep(0)

    hooks.register("e", plain)
    hooks.register("e", waits)
    asyncio.run(hooks.emit("e", {}))

    def work():
        async def emit():
            begun.wait()
            while True:
                await hooks.emit("e", {})
        try:
            asyncio.run(emit())
        except RuntimeError as error:
            os.write(1, f"{error}\\n".encode())  # `print` needs a lock that goes away

    for _ in range(3):
        threading.Thread(target=work, daemon=True).start()
    begun.wait()
    time.sleep(0.02)
    asyncio.run(HookRegistry().emit("e", {}))
    print("end", flush=True)
"""


# Holds: end-1
@pytest.mark.parametrize("seconds", ["0", "0.0001", "0.1"])
def test_daemon_threads_in_the_middle_of_emits_do_not_disturb_the_end(seconds):
    for _ in range(5):
        result = run_python(DAEMON_THREADS, seconds)

        assert (result.returncode, result.stderr) == (0, "")
        first, *refused = result.stdout.splitlines()
        assert first == "end"
        assert {*refused} <= {REFUSAL}


IMPORTING_THREAD = """
    import sys, threading
    from pathlib import Path
    from types import SimpleNamespace
    from amplifier_core._native import ending

    folder = Path(sys.argv[1])
    reached, waited = threading.Event(), threading.Event()
    module = "import __main__; __main__.reached.set(); __main__.waited.wait()"
    (folder / "late.py").write_text(module)
    sys.path.insert(0, sys.argv[1])

    def work():
        import late
        (folder / "imported").touch()

    def sleep(seconds):
        waited.set()
        thread.join()

    ending.time = SimpleNamespace(monotonic=lambda: 0, sleep=sleep)
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    reached.wait()
"""


# Holds: end-1
def test_a_daemon_thread_may_finish_its_import(tmp_path):
    result = run_python(IMPORTING_THREAD, str(tmp_path))

    assert (result.returncode, result.stderr) == (0, "")
    assert (tmp_path / "imported").exists()
