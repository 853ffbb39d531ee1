"""The hooks of a project: none runs before a yes to exactly it, and then in the sandbox."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_modules.hooks.project_answers import read_answers, remember_answers
from amplifier_modules.hooks.shell.agreements import find_answers, hash_hook, read_project_hooks
from amplifier_modules.hooks.shell.hook_files import ShellHook
from amplifier_modules.sandbox.command import Tier
from amplifier_modules.sandbox.named_files import NamedFileError, find_named_paths
from amplifier_modules.sandbox.tiers import find_tier

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("shell-hooks")]

needs_sandbox = pytest.mark.skipif(
    find_tier().tier is Tier.NONE, reason="nothing keeps commands to the project here"
)


class Project:
    """A project with a hook and a script that it names."""

    def __init__(self, case: Any, state: Path, line: str) -> None:
        self.case = case
        self.root: Path = case.folder
        self.state = state
        self.script = self.root / ".claude" / "check.sh"
        self.script.parent.mkdir()
        self.write("exit 2")
        group = {"hooks": [{"type": "command", "command": line}]}
        settings = {"hooks": {"PreToolUse": [group]}}
        (self.root / ".claude" / "settings.json").write_text(json.dumps(settings))

    def write(self, text: str) -> None:
        self.script.write_text(text)

    def answer(self, *, agreed: bool) -> None:
        found = read_project_hooks(self.root.resolve())
        digests = [hash_hook(each, self.root.resolve()) for each in found.hooks]
        path = find_answers(self.state)
        remember_answers(digests, self.root.resolve(), path, agreed=agreed)

    async def begin(self) -> Any:
        await self.case.mount({}, project_hooks=True, state_folder=str(self.state))
        return self.case


class Person:
    """Answers whether a hook may run that has changed."""

    def __init__(
        self, case: Any, *, yes: bool, meanwhile: Callable[[], object] = lambda: None
    ) -> None:
        self.asked: list[str] = []
        self._yes = yes
        self._meanwhile = meanwhile
        case.turn.coordinator.register_capability("hooks.ask_again", self.ask)

    async def ask(self, hook: ShellHook) -> bool:
        self.asked.append(hook.command)
        self._meanwhile()
        return self._yes


@pytest.fixture
def project(
    case: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Project]:
    def make(line: str = "sh .claude/check.sh") -> Project:
        return Project(case(), tmp_path_factory.mktemp("state"), line)

    return make


# Holds: shellhooks-13
@pytest.mark.parametrize("agreed", [None, False])
async def test_a_hook_without_a_yes_never_runs(
    project: Any, caplog: pytest.LogCaptureFixture, agreed: bool | None
) -> None:
    p = project()
    if agreed is not None:
        p.answer(agreed=agreed)
    c = await p.begin()

    assert await c.run() == ["did it"]
    assert ("1 of the hooks in `.claude` of the project do not run" in caplog.text) is (
        agreed is None
    )


# Holds: shellhooks-13
@needs_sandbox
async def test_a_hook_with_a_yes_judges(project: Any) -> None:
    p = project()
    p.answer(agreed=True)
    c = await p.begin()

    assert await c.run() == ["Denied by hook: it gave no reason"]


# Holds: shellhooks-14
@needs_sandbox
async def test_a_yes_ends_with_any_change_of_what_is_named(project: Any) -> None:
    p = project()
    p.answer(agreed=True)
    c = await p.begin()
    p.write("exit 0")

    [denied] = await c.run()

    assert "has changed, or a file that it names has, since the user agreed to it" in denied
    assert c.ran == []


# Holds: shellhooks-21
@needs_sandbox
async def test_a_changed_hook_runs_after_another_yes(project: Any) -> None:
    p = project()
    p.answer(agreed=True)
    c = await p.begin()
    person = Person(c, yes=True)
    p.write("exit 0")

    assert await c.run() == ["did it"]
    assert person.asked == ["sh .claude/check.sh"]
    digests = [hash_hook(each, p.root) for each in read_project_hooks(p.root).hooks]
    answers = read_answers(p.root, find_answers(p.state))
    assert [answers[each] for each in digests] == [True]


# Holds: shellhooks-21
@needs_sandbox
async def test_a_no_to_a_changed_hook_counts_until_it_changes_again(project: Any) -> None:
    p = project()
    p.answer(agreed=True)
    c = await p.begin()
    person = Person(c, yes=False)
    asked: list[int] = []
    results: list[str] = []
    for text in ("exit 0", "exit 0", "exit 0 # again", "exit 2"):
        p.write(text)
        c.script(c.say.calls(("1", "bash", {"command": "ls"})), c.say.text("done"))
        results.append((await c.run())[-1])
        asked.append(len(person.asked))

    assert asked == [1, 1, 2, 2]
    assert ["has changed" in each for each in results] == [True, True, True, False]
    assert len(read_answers(p.root, find_answers(p.state))) == 1
    assert c.ran == []


# Holds: shellhooks-21
@needs_sandbox
async def test_a_yes_is_about_what_was_asked(project: Any) -> None:
    p = project()
    p.answer(agreed=True)
    c = await p.begin()
    Person(c, yes=True, meanwhile=lambda: p.write("exit 0 # other"))
    p.write("exit 0")

    [denied] = await c.run()

    assert "has changed" in denied


# Holds: shellhooks-14
@needs_sandbox
async def test_a_hook_that_changes_itself_while_it_judges_denies(project: Any) -> None:
    p = project()
    p.write("echo exit 0 > .claude/check.sh")
    p.answer(agreed=True)
    c = await p.begin()

    [denied] = await c.run()

    assert "has changed" in denied


# Holds: shellhooks-15
@needs_sandbox
async def test_a_hook_of_a_project_runs_in_the_sandbox(
    project: Any, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "t")
    outside = tmp_path_factory.mktemp("outside")
    p = project()
    p.write(f"cat > input; env > env; echo no > {outside}/made; echo yes > made; exit 0")
    p.answer(agreed=True)
    await p.case.mount(
        {}, project_hooks=True, state_folder=str(p.state), pass_environment=["MY_TOKEN"]
    )

    assert await p.case.run() == ["did it"]
    assert p.case.read_input()["tool_input"] == {"command": "ls"}
    assert (p.root / "made").read_text() == "yes\n"
    assert not (outside / "made").exists()
    assert "MY_TOKEN" not in (p.root / "env").read_text()


# Holds: shellhooks-15
async def test_without_a_sandbox_no_hook_of_a_project_runs(
    project: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from amplifier_modules.hooks.shell import hook_runs
    from amplifier_modules.sandbox.unconfined import UnconfinedRunner

    def open_runner(_confinement: Any) -> UnconfinedRunner:
        return UnconfinedRunner()

    monkeypatch.setattr(hook_runs, "open_runner", open_runner)
    p = project()
    p.answer(agreed=True)
    c = await p.begin()

    assert await c.run() == ["did it"]
    assert "the hooks of the project do not run, as no sandbox keeps them to it" in caplog.text


@pytest.mark.parametrize("content", ["{", "[]", '{"hooks": 5}', "\0"])
async def test_hooks_of_a_project_that_cannot_be_read_are_one_warning(
    project: Any, content: str, caplog: pytest.LogCaptureFixture
) -> None:
    p = project()
    (p.root / ".claude" / "settings.json").write_text(content)
    c = await p.begin()

    assert await c.run() == ["did it"]
    assert len([each for each in caplog.records if "hooks-shell" in each.message]) == 1


# Holds: shellhooks-14
@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("sh .claude/check.sh", [".claude/check.sh", "sh"]),
        ('"$CLAUDE_PROJECT_DIR"/.claude/check.sh', [".claude/check.sh"]),
        ("${CLAUDE_PROJECT_DIR}/a.sh --x=b.json", ["a.sh", "b.json"]),
        ("./a b/../c", ["a", "c"]),
        ("sh $(git rev-parse --show-toplevel)/.claude/x.sh", [".claude/x.sh"]),
        ('sh "$PWD/a.sh" `pwd`/b.sh', ["a.sh", "b.sh"]),
        ("python3 'my file.py'", ["my file.py"]),
        ("sh -c 'cat a.txt; . ./b'", ["a.txt", "b"]),
        ("cat <a.txt >b.txt;c|d&&e", ["a.txt", "b.txt", "c", "d", "e"]),
        ("echo $(cat a) `cat b`", ["a", "b"]),
        ("sh 'a", ["a"]),
        ("cd .claude && ./check.sh", [".claude", ".claude/check.sh"]),
        ("/usr/bin/env ../../etc/passwd", []),
    ],
)
def test_words_name_files_of_the_project(line: str, named: list[str], tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    found = {os.path.relpath(each, tmp_path) for each in find_named_paths([line], tmp_path)}

    assert set(named) <= found
    assert not any(each.startswith("..") for each in found)


# Holds: shellhooks-13
@pytest.mark.parametrize(
    ("line", "is_named"),
    [
        ("echo called >> a.sh", False),
        ("jq -r .x 2>a.sh", False),
        ('check >"$CLAUDE_PROJECT_DIR/a.sh" && true', False),
        ("echo called >> a.sh; sh a.sh", True),
        ("sh -c '. $1' '>' a.sh", True),
        ("sh -c 'echo called >> a.sh'", True),
        ("echo \\> a.sh", True),
        ("sort < a.sh > b.sh", True),
        ("tee >(sh a.sh)", True),
        ("echo '> a.sh", True),
        ('echo x > "$(./a.sh)"', True),
        ("echo x > `./a.sh`", True),
        ("echo x > ${X:-`./a.sh`}", True),
        ("echo x > >(bash a.sh)", True),
    ],
)
def test_a_file_that_only_gets_output_is_not_named(
    line: str, is_named: bool, tmp_path: Path
) -> None:
    assert (str(tmp_path / "a.sh") in find_named_paths([line], tmp_path, is_shell=True)) == is_named


# Holds: shellhooks-14
def test_any_change_is_another_hash(tmp_path: Path) -> None:
    hook = ShellHook("Stop", "", "sh a.sh", of_project=True)
    seen = {hash_hook(hook, tmp_path)}

    def expect_another(hook: ShellHook = hook) -> None:
        digest = hash_hook(hook, tmp_path)
        assert digest not in seen
        seen.add(digest)

    expect_another(ShellHook("Stop", "", "sh a.sh ", of_project=True))
    expect_another(ShellHook("PreToolUse", "", "sh a.sh", of_project=True))
    expect_another(ShellHook("Stop", "x", "sh a.sh", of_project=True))
    expect_another(ShellHook("Stop", "", "sh a.sh", 5, of_project=True))
    (tmp_path / "a.sh").write_text("1")
    expect_another()
    (tmp_path / "other").write_text("2")
    (tmp_path / "a.sh").unlink()
    (tmp_path / "a.sh").symlink_to("other")
    expect_another()
    (tmp_path / "other").write_text("3")
    expect_another()


def test_a_hook_that_names_what_cannot_be_read_never_runs(tmp_path: Path) -> None:
    hook = ShellHook("Stop", "", "sh pipe", of_project=True)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NamedFileError, match="is no file"):
        hash_hook(hook, tmp_path)
    (tmp_path / "pipe").unlink()
    with (tmp_path / "pipe").open("wb") as file:
        file.truncate(9 * 1024 * 1024)
    with pytest.raises(NamedFileError, match="has more than 8,388,608 bytes"):
        hash_hook(hook, tmp_path)
    with pytest.raises(NamedFileError, match="has more than 1,000 words"):
        hash_hook(ShellHook("Stop", "", " ".join(map(str, range(2000)))), tmp_path)


def test_answers_are_of_one_project_and_one_hash(tmp_path: Path) -> None:
    one, other, state = tmp_path / "one", tmp_path / "other", tmp_path / "state"

    remember_answers(["a"], one, state, agreed=True)
    remember_answers(["b"], one, state, agreed=False)
    remember_answers(["a"], other, state, agreed=False)

    answers = [read_answers(place, state).get(digest) for place in (one, other) for digest in "abc"]
    assert answers == [True, False, None, False, None, None]
