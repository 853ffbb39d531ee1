"""Sessions of the command that go on in another process, and the commands about them."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from prompt_terminal import CTRL_D, PromptTerminal
from terminal import WAY_BACK, Terminal


def said(request: dict[str, Any]) -> list[tuple[str, str]]:
    """Role and text of each message of a request."""
    return [
        (message["role"], block["text"])
        for message in request["messages"]
        for block in message["content"]
        if block["type"] == "text"
    ]


def run(command: Any, *arguments: str) -> str:
    """Run the command, which succeeds without a notice; returns what it wrote."""
    done = command(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def refusal(command: Any, *arguments: str) -> tuple[int, str]:
    """Exit code and notice of the command, which writes nothing else."""
    done = command(*arguments)
    assert done.stdout == ""
    return done.returncode, done.stderr.rstrip("\n")


def list_ids(command: Any) -> list[str]:
    return [each["id"] for each in json.loads(run(command, "session", "list", "--all", "--json"))]


def begin(command: Any, say: Any, *more: str) -> str:
    """Run a first turn, and let the model say more later; returns the id of its session."""
    say("Blue.", *more)
    run(command, "Which colour?")
    return list_ids(command)[0]


# Holds: command-10
def test_continue_goes_on_with_the_last_session_of_the_folder(
    keyed: Any, model: Any, say: Any
) -> None:
    say("Blue.", "I said blue.")
    assert run(keyed, "Which colour?") == "Blue.\n"
    lines = run(keyed, "--continue", "--json", "What did you say?").splitlines()
    assert said(model.requests[1]) == [
        ("user", "Which colour?"),
        ("assistant", "Blue."),
        ("user", "What did you say?"),
    ]
    assert [json.loads(lines[-1])["data"]["session_id"]] == list_ids(keyed)


def test_a_session_of_another_folder_goes_on_there_by_its_id_name_or_title(
    keyed: Any, model: Any, say: Any, tmp_path: Path
) -> None:
    id, folder = begin(keyed, say, "Still blue."), keyed.folder
    keyed.folder = tmp_path / "other"
    keyed.folder.mkdir()
    missing = f"error: no session is stored for the folder `{keyed.folder}`; `amplifier-core session list --all`"
    assert refusal(keyed, "-c", "And now?") == (2, f"{missing} shows those of other folders")
    assert (
        run(keyed, "session", "rename", "colour", "paint")
        == f"`{id[:8]}` (Which colour?) is named `paint`\n"
    )
    for named in (id, id[:8], "PAINT", "which col"):
        done = keyed("--resume", named, "And now?")
        assert (done.returncode, done.stdout) == (0, "Still blue.\n")
        assert done.stderr == f"works in `{folder}`, as the session did\n"
    assert len(said(model.requests[-1])) == 9
    assert list_ids(keyed) == [id]
    unknown = "error: no stored session has the id, the name or the title `green`; `amplifier-core session list --all` shows them"
    assert refusal(keyed, "--resume", "green", "And now?") == (2, unknown)


def test_a_fork_leaves_its_session_as_it_was(keyed: Any, model: Any, say: Any) -> None:
    id = begin(keyed, say, "Green.")
    before = run(keyed, "session", "show", id, "--json")
    run(keyed, "--continue", "--fork-session", "Another one?")
    assert said(model.requests[1])[:2] == [("user", "Which colour?"), ("assistant", "Blue.")]
    fork, origin = json.loads(run(keyed, "session", "list", "--json"))
    assert (fork["base"], fork["name"], origin["id"]) == (id, "Which colour? (fork)", id)
    assert run(keyed, "session", "show", id, "--json") == before
    number = json.loads(before)["head"] - 2
    made = run(keyed, "session", "fork", id, "--at", str(number)).strip()
    assert json.loads(run(keyed, "session", "show", made, "--json"))["base_number"] == number
    nothing = f"error: session `{id}` has no event 99 (must be 1 to {number + 2}); `amplifier-core session show {id}`"
    assert refusal(keyed, "session", "fork", id, "--at", "99") == (
        2,
        f"{nothing} shows the numbers",
    )


def test_several_sessions_of_one_name_are_named_by_their_ids(keyed: Any, say: Any) -> None:
    ids = {begin(keyed, say) for _ in range(2)}
    code, line = refusal(keyed, "session", "show", "colour")
    first, second = list_ids(keyed)
    assert {first, second} == ids
    assert (code, line) == (
        2,
        (
            f"error: `colour` is 2 sessions: `{first[:8]}` (Which colour?), `{second[:8]}` (Which colour?);"
            " name one by its id"
        ),
    )


def test_nothing_is_kept_without_saving(keyed: Any, say: Any) -> None:
    say("Blue.")
    outcome = json.loads(run(keyed, "--no-save", "--json", "Which colour?").splitlines()[-1])
    assert "session_id" not in outcome["data"]
    assert list_ids(keyed) == []


def test_a_folder_that_cannot_be_written_is_one_warning(
    keyed: Any, say: Any, tmp_path: Path
) -> None:
    say("Blue.")
    (tmp_path / "state").write_text("")
    done = keyed("Which colour?")
    place = tmp_path / "state" / "amplifier-core" / "sessions"
    assert (done.returncode, done.stdout) == (0, "Blue.\n")
    assert (
        done.stderr
        == f"warning: the session is not kept: `{place}` cannot be made: Not a directory\n"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--continue", "--resume", "x"), "`--continue` and `--resume` exclude each other"),
        (("--fork-session",), "`--fork-session` needs `--continue` or `--resume`"),
        (("--no-save", "-c"), "`--continue` and `--no-save` exclude each other"),
        (("--no-save", "-r", "x"), "`--resume` and `--no-save` exclude each other"),
    ],
)
def test_options_that_exclude_each_other_are_refused(
    command: Any, options: tuple[str, ...], message: str
) -> None:
    line = f"error: {message}; see `amplifier-core run --help`"
    assert refusal(command, *options, "Hello") == (2, line)


def test_resume_without_a_name_needs_a_terminal(command: Any) -> None:
    assert refusal(command, "Hello", "--resume") == (
        2,
        (
            "error: `--resume` can ask which session only in a terminal; name a session, such as"
            " `--resume ID`, or use `--continue`"
        ),
    )


# Holds: command-11
@pytest.mark.parametrize("in_terminal", [False, True])
def test_a_killed_turn_goes_on_and_its_call_is_made_again_only_if_a_person_agrees(
    waiting: Any, model: Any, say: Any, in_terminal: bool
) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "wait", "input": {}}
    model.reply(*model.said(call, stop="tool_use"))
    say("It may have run.")
    killed = subprocess.Popen(
        [*waiting.line, "--json", "Wait"],
        env=waiting.environment,
        cwd=waiting.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert killed.stdout is not None
    with killed, killed.stdout as lines:
        assert any(b'"tool:pre"' in line for line in lines)
        # Once it is open for writing, the tool reads it: it runs.
        with open(waiting.environment["GATE"], "wb"):
            killed.kill()
    assert killed.returncode == -signal.SIGKILL
    if in_terminal:
        terminal = PromptTerminal(waiting, "--continue")
        terminal.see("its last turn was not finished: `/continue` goes on with it")
        terminal.say("/continue")
        terminal.see("it may have had its effect already: the process ended while it ran.")
        terminal.see_match("^[a-z]{4}>$")
        terminal.say("deny")
        terminal.see("It may have run.")
        terminal.see("1 model call · 1 tool\n>")
        terminal.say("/continue")
        terminal.see("error: no turn was left open; say what is next\n>")
        terminal.type(CTRL_D)
        assert terminal.wait() == 0
    else:
        done = waiting("--continue")
        assert (done.returncode, done.stdout) == (0, "It may have run.\n")
        assert "denied, because there is no terminal to ask in" in done.stderr
    user, answer, result = model.requests[1]["messages"]
    assert (user["role"], answer["role"]) == ("user", "assistant")
    assert "outcome of this call is unknown" in json.dumps(result["content"])
    assert len(model.requests) == 2


def test_the_last_line_in_a_terminal_says_how_the_session_goes_on(
    waiting: Any, model: Any, say: Any
) -> None:
    say("Blue.", "I said blue.")
    terminal = PromptTerminal(waiting)
    terminal.say("Which colour?")
    terminal.see("1 model call\n>")
    terminal.type(CTRL_D)
    assert terminal.wait() == 0
    found = WAY_BACK.search(terminal.whole_screen)
    assert found is not None
    (id,) = list_ids(waiting)
    assert id.startswith(found[1])
    again = PromptTerminal(waiting, "--resume", found[1])
    again.see("goes on with `Which colour?`\nyou: Which colour?\nanswer: Blue.\n>")
    again.say("What did you say?")
    again.see("1 model call\n>")
    again.type(CTRL_D)
    assert again.wait() == 0
    assert len(said(model.requests[1])) == 3
    assert list_ids(waiting) == [id]


def test_resume_in_a_terminal_asks_which_session(waiting: Any, model: Any, say: Any) -> None:
    none = Terminal(waiting, "--resume", "--quiet", "--", "Hello")
    assert none.wait() == 2
    assert "error: no session is stored for the folder" in none.screen
    begin(waiting, say, "Still blue.", "Red.", "I said blue.")
    only = Terminal(waiting, "--resume", "--quiet", "--", "And now?")
    assert (only.wait(), only.screen) == (0, "Still blue.\n")
    run(waiting, "And which other?")
    waiting.environment["AMPLIFIER_PLAIN"] = "1"
    terminal = Terminal(waiting, "--resume", "--quiet", "--", "What did you say?")
    terminal.read_until("which one [1]: ")
    terminal.type(b"2\n")
    assert terminal.wait() == 0
    assert ("assistant", "Blue.") in said(model.requests[-1])


def test_a_conversation_is_shown_and_found(keyed: Any, say: Any) -> None:
    id = begin(keyed, say)
    assert run(keyed, "session", "show", id).splitlines() == [
        "", "    3  user:", "       Which colour?", "", "    6  assistant:", "       Blue.",
    ]  # fmt: skip
    found = f"{id[:8]}  Which colour?\n          event 6: Blue.\n"
    assert run(keyed, "session", "search", "BLUE") == found
    assert run(keyed, "session", "search", "green") == ""
    assert json.loads(run(keyed, "session", "search", "blue", "--json"))[0]["number"] == 6


# Holds: command-12
def test_an_export_is_imported_as_it_was(keyed: Any, say: Any, tmp_path: Path) -> None:
    id, file = begin(keyed, say), str(tmp_path / "session.jsonl")
    run(keyed, "session", "rename", id, "paint")
    assert run(keyed, "session", "export", id, "--output", file) == ""
    exists = (
        f"error: a session `{id}` is stored already (must be a new id); `--as-new` gives new ids"
    )
    assert refusal(keyed, "session", "import", file) == (1, exists)
    new = run(keyed, "session", "import", file, "--as-new").strip()
    assert new != id
    assert run(keyed, "session", "delete", id, "--yes") == f"`{id[:8]}` (paint) is deleted\n"
    assert run(keyed, "session", "import", file) == f"{id}\n"
    assert sorted(list_ids(keyed)) == sorted([id, new])
    again = [json.loads(line) for line in run(keyed, "session", "export", id).splitlines()]
    before = [json.loads(line) for line in Path(file).read_text().splitlines()]
    # All of it was written under one claim.
    assert again == [each | ({"epoch": 1} if "epoch" in each else {}) for each in before]
    assert run(keyed, "session", "verify") == "2 sessions are whole\n"
    there = f"error: `{file}` exists; choose a file that is not there yet"
    assert refusal(keyed, "session", "export", id, "--output", file) == (2, there)
    broken = tmp_path / "broken"
    broken.write_text("{}\n")
    assert refusal(keyed, "session", "import", str(broken)) == (
        2,
        (
            f"error: `{broken}` is no export of a session: line 1 does not begin a session (must have `format`,"
            " `amplifier-session`); `amplifier-core session export` writes one"
        ),
    )


def test_a_damaged_session_is_named_with_the_way_out(keyed: Any, say: Any, tmp_path: Path) -> None:
    id = begin(keyed, say)
    (file,) = (tmp_path / "state/amplifier-core/sessions").glob("*.sessions")
    written = file.read_bytes()
    assert written.count(b'"Blue."') == 1
    file.write_bytes(written.replace(b'"Blue."', b'"Blua."'))
    problem = f"session `{id}` is damaged at event 6: its checksum does not match; `amplifier-core session export {id} --until 5` writes what is before it"
    done = keyed("session", "verify")
    assert (done.returncode, done.stdout) == (1, f"{problem}\n")
    assert done.stderr == "error: damaged: 1 of 1 session\n"
    as_json = keyed("session", "verify", "--json")
    assert as_json.returncode == 1
    assert [each["problems"] for each in json.loads(as_json.stdout)] == [[problem]]
    assert refusal(keyed, "--continue", "And now?") == (1, f"error: {problem}")
    assert len(run(keyed, "session", "export", id, "--until", "5").splitlines()) == 6


def test_nothing_is_deleted_without_a_yes(keyed: Any, say: Any) -> None:
    id = begin(keyed, say)
    asked = "error: nobody can be asked whether you are sure; `--yes` says that you are"
    assert refusal(keyed, "session", "delete", id) == (2, asked)
    assert list_ids(keyed) == [id]
