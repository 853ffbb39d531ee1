"""Each checker of the Rust core finds what it is there for.

A fault is a change to the text of the product's own source, made in a copy of the crate: so it
lies in the very code that the models run, and in nothing that is ever shipped. It compiles, and
then the test that it names must fail in the way that it names.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target" / "prove")
CRATE = Path("crates/amplifier-core")

# A checker that finds that nothing can go on says so in these words.
DEADLOCK = "deadlock"


@dataclass(frozen=True)
class Fault:
    """What is changed, and the model that must fail of it."""

    source: str
    changes: tuple[tuple[str, str], ...]
    model: str
    symptom: str
    in_mixed: str | None = None
    """How the mixed program fails of it, where it does."""


REGISTERS_A_CHILD = """\
        let level = {
            let mut state = lock(&self.inner.state);
"""
RAISES = """\
            let mut state = lock(&inner.state);
            let rose = state.request(level);
"""
STARTS_A_TOOL = """\
        lock(&self.inner.state).tool_started(id.to_owned(), name.to_owned());
"""
WAITS_FOR_A_RISE = """\
            let mut rise = pin!(self.inner.rises.notified());
            rise.as_mut().enable();
            if self.state() >= level {
                return;
            }
            rise.await;
"""
TAKES_A_SNAPSHOT = """\
            let state = lock(&self.state);
            let handlers = state.handlers.handlers(event).to_vec();
"""
TAKES_A_REGISTRATION_BACK = """\
            let removed = lock(&state).handlers.unregister(&self.event, self.serial);
"""
EMITS = """\
        emission::emit(event, &handlers, payload, data, self.world.time()).await
"""
ENDS_A_LOAD = """\
        let mut life = lock(&self.session.life);
        life.session.end_initialize(self.has_succeeded);
"""
SAYS_THAT_A_LOAD_ENDED = """\
        drop(life);
        self.session.load_ended.notify_waiters();
"""

FAULTS = {
    # Holds: thread-4
    "the_level_of_a_parent_is_read_before_its_child_is_added": Fault(
        "cancellation.rs",
        (
            (
                REGISTERS_A_CHILD,
                """\
        let level = self.state();
        let _ = {
            let mut state = lock(&self.inner.state);
""",
            ),
        ),
        "small::children::a_child_registered_during_a_cancel_ends_cancelled",
        "left == right",
        in_mixed=DEADLOCK,
    ),
    # Holds: thread-5
    "a_parent_is_locked_while_its_child_is_told": Fault(
        "cancellation.rs",
        (
            (
                REGISTERS_A_CHILD,
                """\
        let mut state = lock(&self.inner.state);
        let level = {
""",
            ),
        ),
        "small::children::tokens_that_register_each_other_neither_wait_nor_turn_for_ever",
        DEADLOCK,
        in_mixed=DEADLOCK,
    ),
    # Holds: thread-1
    "whether_a_level_rises_is_decided_before_it_is_raised": Fault(
        "cancellation.rs",
        (
            (
                RAISES,
                """\
            let rose = level > lock(&inner.state).state();
            let mut state = lock(&inner.state);
            state.request(level);
""",
            ),
        ),
        "small::cancelling::a_rise_is_news_to_one_of_those_who_ask_for_it",
        "left == right",
    ),
    # Holds: thread-2
    "the_running_tools_are_changed_in_a_copy_and_written_back": Fault(
        "cancellation.rs",
        (
            (
                STARTS_A_TOOL,
                """\
        let mut tools = self.running_tools();
        tools.push((id.to_owned(), name.to_owned()));
        let mut state = lock(&self.inner.state);
        let level = state.state();
        state.reset();
        state.request(level);
        for (id, name) in tools {
            state.tool_started(id, name);
        }
""",
            ),
        ),
        "small::cancelling::every_start_and_end_of_a_tool_counts_during_a_cancel",
        "left == right",
        in_mixed="left == right|assertion failed",
    ),
    # Holds: thread-3
    "who_waits_looks_at_the_level_before_he_listens": Fault(
        "cancellation.rs",
        (
            (
                WAITS_FOR_A_RISE,
                """\
            if self.state() >= level {
                return;
            }
            self.inner.rises.notified().await;
""",
            ),
        ),
        "small::cancelling::who_waits_for_a_level_hears_of_it",
        DEADLOCK,
        in_mixed=DEADLOCK,
    ),
    # Holds: thread-7
    "the_snapshot_is_taken_without_holding_the_lock": Fault(
        "hook.rs",
        (
            (
                TAKES_A_SNAPSHOT,
                """\
            let count = lock(&self.state).handlers.handlers(event).len();
            let at = |place| lock(&self.state).handlers.handlers(event).get(place).cloned();
            let handlers: Vec<_> = (0..count).filter_map(at).collect();
            let state = lock(&self.state);
""",
            ),
        ),
        "small::registering::an_emit_calls_whom_it_finds_at_its_first_step_once",
        "each once, in the order of running|assertion failed",
        in_mixed="called twice by one emit|has passed by a hook",
    ),
    # Holds: thread-8
    "the_default_fields_are_read_before_the_handlers": Fault(
        "hook.rs",
        (
            (
                TAKES_A_SNAPSHOT,
                "            let defaults = lock(&self.state).defaults.clone();\n"
                + TAKES_A_SNAPSHOT,
            ),
            ("(handlers, state.defaults.clone())", "(handlers, defaults)"),
        ),
        "small::registering::handlers_and_default_fields_are_of_one_instant",
        "of two instants",
    ),
    # Holds: thread-9
    "the_registry_is_taken_out_of_its_lock_to_be_changed": Fault(
        "hook.rs",
        (
            (
                TAKES_A_REGISTRATION_BACK,
                """\
            let mut handlers = std::mem::take(&mut lock(&state).handlers);
            let removed = handlers.unregister(&self.event, self.serial);
            lock(&state).handlers = handlers;
""",
            ),
        ),
        "small::registering::a_handle_takes_back_its_own_registration_alone",
        "left == right",
        in_mixed="has passed by a hook|left == right",
    ),
    # Holds: thread-10
    "an_emit_takes_the_handlers_out_until_it_ends": Fault(
        "hook.rs",
        (
            (
                EMITS,
                """\
        let taken = std::mem::take(&mut lock(&self.state).handlers);
        let result = emission::emit(event, &handlers, payload, data, self.world.time()).await;
        lock(&self.state).handlers = taken;
        result
""",
            ),
        ),
        "small::dropping::a_registry_is_as_before_after_an_emit_that_is_dropped_at_the_first_handler",
        "left == right|IndexMap",
        in_mixed="has passed by a hook|left == right",
    ),
    # Holds: thread-12
    "the_end_of_a_load_is_told_before_it_has_ended": Fault(
        "session.rs",
        (
            (SAYS_THAT_A_LOAD_ENDED, "        drop(life);\n"),
            (ENDS_A_LOAD, "        self.session.load_ended.notify_waiters();\n" + ENDS_A_LOAD),
        ),
        "small::dropping::a_load_that_is_dropped_is_taken_up_by_who_waits_for_it",
        DEADLOCK,
        in_mixed=DEADLOCK,
    ),
}


@pytest.fixture(scope="module")
def copy() -> Path:
    """The crate, to be changed; always at one place, so that what it stands on is built once."""
    copy = TARGET / "planted"
    shutil.rmtree(copy, ignore_errors=True)
    # With the times of now: cargo must not take what an earlier run built for this.
    shutil.copytree(ROOT / CRATE, copy / CRATE, copy_function=shutil.copyfile)
    for name in ("Cargo.toml", "Cargo.lock"):
        shutil.copyfile(ROOT / name, copy / name)
    return copy


def cargo(copy: Path, checker: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    # Not `--locked`: the copy lacks the other crates, which leave the lock file.
    command = ["cargo", "test", "--package=amplifier-core", "--features=tokio", "--lib"]
    settings = {
        "CARGO_TARGET_DIR": str(TARGET),
        "CARGO_PROFILE_DEV_OPT_LEVEL": "1",
        "RUSTFLAGS": f"--cfg {checker}",
    }
    return subprocess.run(
        [*command, *arguments],
        cwd=copy,
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
        timeout=1_000,
    )


def assert_found(copy: Path, checker: str, fault: Fault, model: str, symptom: str) -> None:
    path = copy / CRATE / "src" / "runtime" / fault.source
    whole = path.read_text()
    planted = whole
    for old, new in fault.changes:
        assert planted.count(old) == 1, f"`{fault.source}` does not hold this once:\n{old}"
        planted = planted.replace(old, new)
    path.write_text(planted)
    try:
        built = cargo(copy, checker, "--no-run")
        assert built.returncode == 0, built.stdout
        found = cargo(copy, checker, "--", "--exact", f"runtime::interleavings::{model}")
    finally:
        path.write_text(whole)
    assert "running 1 test" in found.stdout, found.stdout
    assert found.returncode != 0, f"{checker} has not found it:\n{found.stdout}"
    assert re.search(symptom, found.stdout), found.stdout


@pytest.mark.timeout(2_000)
@pytest.mark.parametrize("name", FAULTS)
def test_loom_finds_what_is_planted(copy: Path, name: str) -> None:
    fault = FAULTS[name]
    assert_found(copy, "loom", fault, fault.model, fault.symptom)


@pytest.mark.timeout(2_000)
@pytest.mark.parametrize("name", [name for name in FAULTS if FAULTS[name].in_mixed])
def test_shuttle_finds_what_is_planted(copy: Path, name: str) -> None:
    fault = FAULTS[name]
    assert fault.in_mixed
    model = "mixed::a_session_used_from_all_sides_keeps_its_promises_in_random_orders"
    assert_found(copy, "shuttle", fault, model, fault.in_mixed)
