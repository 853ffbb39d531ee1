"""The commands about MCP servers, what a session mounts of them, and the question about a project's."""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from amplifier_app.approval import TerminalApproval
from amplifier_app.command_line import run_command
from amplifier_app.commands import project_servers, settings
from amplifier_app.commands.mcp import ask
from amplifier_app.commands.mount_plan import SERVERS, mount_plan
from amplifier_app.commands.named_modules import NamedModules
from amplifier_app.commands.project_servers import ask_about_project_servers
from amplifier_app.failure import Failure

RAW = Path(__file__).parents[1] / "modules" / "tool_mcp" / "raw_server.py"
RUN_RAW = [sys.executable, "-S", "-E", str(RAW)]


class Person:
    """Answers questions, the last answer again and again."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.prompts: list[str] = []

    async def request_approval(self, prompt: str, *_rest: Any) -> str:
        self.prompts.append(prompt)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class Case:
    """The command in a project, for a user with folders of their own."""

    def __init__(self, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.project = folder / "project"
        self.project.mkdir()
        self.own = folder / "config" / "amplifier-core" / "mcp.json"
        self.state = folder / "state" / "amplifier-core"
        self._capfd = capfd

    def run(self, *words: str) -> tuple[int, str, str]:
        self._capfd.readouterr()
        code = run_command(["mcp", *words])
        out, err = self._capfd.readouterr()
        return code, out, err

    def write_project(self, **servers: Any) -> None:
        (self.project / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))

    def write_own(self, **servers: Any) -> None:
        self.own.parent.mkdir(parents=True, exist_ok=True)
        self.own.write_text(json.dumps({"mcpServers": servers}))

    def read_own(self) -> Any:
        return json.loads(self.own.read_text())["mcpServers"]

    def plan(self, **more: Any) -> dict[str, Any]:
        return mount_plan(self.project, {}, **more)

    def find_config(self, **more: Any) -> Any:
        tools = self.plan(**more)["tools"]
        return next((each["config"] for each in tools if each["module"] == SERVERS), None)

    async def ask(self, person: Person) -> list[str]:
        await ask_about_project_servers(self.plan(), self.project, cast("TerminalApproval", person))
        return person.prompts


def find_nothing(_name: str) -> None:
    return None


@pytest.fixture
def case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Case:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setattr(project_servers, "can_ask", lambda: True)
    found = Case(tmp_path, capfd)
    monkeypatch.chdir(found.project)
    return found


# Holds: mcp-34
def test_servers_are_mounted_where_there_are_some(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert case.find_config() is None
    case.write_own(a={"command": "x"})
    assert case.find_config() == {"server_files": [str(case.own)]}
    case.write_project(b={"command": "x"})
    found = {
        "server_files": [str(case.own)],
        "project_servers": True,
        "state_folder": str(case.state),
    }
    config = case.find_config()
    assert {**config, "state_folder": str(Path(config["state_folder"]))} == found
    monkeypatch.setattr(settings, "find_spec", find_nothing)
    assert case.find_config() is None


# Holds: mcp-40
def test_files_of_the_command_line_are_added_to_any_plan(case: Case) -> None:
    file, other = case.project / "servers.json", {"module": "tool-search"}
    added = {"server_files": [str(file)]}
    named = NamedModules({"tools": [other]})
    with_servers = NamedModules({"tools": [{"module": SERVERS, "config": {"first_wait": 1}}]})

    assert case.find_config(server_files=(file,)) == added
    assert case.find_config(server_files=(file,), named=named) == added
    assert case.find_config(server_files=(file,), named=with_servers) == {**added, "first_wait": 1}
    assert case.find_config(named=named) is None


# Holds: mcp-40
@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "No such file or directory"), ("{}", "it has no object `mcpServers`")],
)
def test_a_file_of_the_command_line_that_cannot_be_used_is_wrong_usage(
    case: Case, capfd: pytest.CaptureFixture[str], content: str | None, said: str
) -> None:
    if content is not None:
        Path("servers.json").write_text(content)

    assert run_command(["run", "hi", "--mcp-config", "servers.json"]) == 2
    assert capfd.readouterr().err == (
        f"error: the file `servers.json` cannot be used: {said}; check the path given to"
        " `--mcp-config`\n"
    )


# Holds: mcp-40
def test_files_of_the_command_line_need_the_package(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "find_spec", find_nothing)

    with pytest.raises(Failure, match="the package `mcp` is missing"):
        case.plan(server_files=(case.project / "servers.json",))


# Holds: mcp-35
async def test_the_question_shows_all_of_a_server_and_no_value(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "secret-value")
    (case.project / "server.py").write_text("")
    case.write_project(
        local={
            "command": "python3",
            "args": ["server.py", "two words"],
            "cwd": "sub",
            "env": {"T": "${MY_TOKEN}", "D": "1"},
        },
        far={
            "url": "https://a.example/${TENANT}",
            "headers": {"Authorization": "Bearer ${MY_TOKEN}"},
        },
    )
    person = Person("Allow", "Deny")

    local, far = await case.ask(person)
    assert local.partition("may it be started, ")[::2] == (
        "the project has the MCP server `local`: ",
        local.partition("may it be started, ")[2],
    )
    assert local.splitlines()[1:] == [
        "| command: `python3`",
        "|   `server.py`",
        "|   `two words`",
        "| folder: `sub`",
        "| variable `T`: `${MY_TOKEN}`",
        "| variable `D`: `1`",
        "| gets your `MY_TOKEN`",
        "| file of the project: `server.py`",
    ]
    assert far.splitlines() == [
        "the project has the MCP server `far`: may it be connected, until it changes?",
        "| address: `https://a.example/${TENANT}`",
        "| header `Authorization`: `Bearer ${MY_TOKEN}`",
        "| gets your `TENANT`",
        "| gets your `MY_TOKEN`",
    ]


# Holds: mcp-35
async def test_a_person_is_asked_once_until_something_changes(case: Case) -> None:
    server = case.project / "server.py"
    asked: list[int] = []
    for args, content in (
        (["server.py"], "1"),
        (["server.py"], "1"),
        (["server.py"], "2"),
        ([], "2"),
    ):
        server.write_text(content)
        case.write_project(one={"command": "python3", "args": args})
        asked.append(len(await case.ask(Person("Deny"))))

    assert asked == [1, 0, 1, 1]


# Holds: mcp-35
async def test_nobody_is_asked_about_a_server_that_is_left_out(case: Case) -> None:
    case.write_own(one={"command": "mine"})
    case.write_project(one={"command": "theirs"})

    assert await case.ask(Person("Allow")) == []


# Holds: mcp-36
async def test_where_nobody_can_be_asked_one_line_says_what_to_do(
    case: Case, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(project_servers, "can_ask", lambda: False)
    case.write_project(one={"command": "x"}, two={"command": "y"})

    assert await case.ask(Person("Allow")) == []
    assert capfd.readouterr().err == (
        "the MCP servers `one`, `two` of `.mcp.json` are not connected until you agree: run"
        " `amplifier-core mcp ask` in its folder\n"
    )
    assert not case.state.exists()


# Holds: mcp-37
def test_a_server_is_added_to_a_file_that_only_the_user_reads(case: Case) -> None:
    case.own.parent.mkdir(parents=True)
    case.own.write_text('{"other": 1}')
    case.own.chmod(0o644)
    added = [
        case.run("add", "a", "--env", "K=v=w", "npx", "-y", "x", "--env", "z", "--header", "h"),
        case.run("add", "b", "npx -y 'x y'"),
        case.run("add", "c", "https://c.example/mcp", "--header", "A: b c"),
        case.run("add", "--env", "K=${HOME}", "d", "--", "run", "--env"),
    ]

    assert [each[0] for each in added] == [0, 0, 0, 0]
    assert added[0][1] == f"the server `a` is in `{case.own}`\n"
    assert json.loads(case.own.read_text()) == {
        "other": 1,
        "mcpServers": {
            "a": {
                "command": "npx",
                "args": ["-y", "x", "--env", "z", "--header", "h"],
                "env": {"K": "v=w"},
            },
            "b": {"command": "npx", "args": ["-y", "x y"]},
            "c": {"type": "http", "url": "https://c.example/mcp", "headers": {"A": "b c"}},
            "d": {"command": "run", "args": ["--env"], "env": {"K": "${HOME}"}},
        },
    }
    assert stat.S_IMODE(case.own.stat().st_mode) == 0o600
    assert [each.name for each in case.own.parent.iterdir()] == ["mcp.json"]


# Holds: mcp-37
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a b", "x"], "the name of a server has 1 to 64 letters, digits, `_`, `.` and `-`"),
        (["one", "x"], "you have a server `one`; `amplifier-core mcp remove one` first"),
        (["a", "--env", "s3cret", "x"], "`--env` is no `NAME=VALUE`"),
        (["a", "--header", "s3cret", "https://x.example"], "`--header` is no `NAME: VALUE`"),
        (["a", "--header", "A: b", "x"], "a server that is started has no `--header`"),
        (["a", "https://x.example", "y"], "a server with an address has no arguments"),
        (["a", "x 'y"], "the command cannot be read: No closing quotation"),
        (["a"], "missing argument"),
    ],
)
def test_what_is_no_server_is_not_added(case: Case, words: list[str], said: str) -> None:
    case.write_own(one={"command": "x"})

    code, out, err = case.run("add", *words)

    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert said in err
    assert "s3cret" not in err
    assert case.read_own() == {"one": {"command": "x"}}


# Holds: mcp-38
def test_a_server_is_removed(case: Case) -> None:
    case.write_own(one={"command": "x"}, two={"command": "y"})
    case.write_project(three={"command": "z"})

    assert case.run("remove", "one") == (0, f"the server `one` is no more in `{case.own}`\n", "")
    assert case.read_own() == {"two": {"command": "y"}}
    assert case.run("remove", "tow")[2] == "error: you have no server `tow`; did you mean `two`?\n"
    assert case.run("remove", "three")[2] == (
        "error: you have no server `three`; it is in `.mcp.json` of the project\n"
    )
    assert case.run("remove", "two")[0] == 0
    assert not case.own.exists()


# Holds: mcp-38
@pytest.mark.parametrize("words", [["list"], ["add", "x", "y"], ["remove", "x"], ["test", "x"]])
def test_a_file_that_cannot_be_read_is_left_as_it_is(case: Case, words: list[str]) -> None:
    case.own.parent.mkdir(parents=True)
    case.own.write_text('{"mcpServers": []}')

    code, _, err = case.run(*words)

    assert (code, err) == (
        1,
        f"error: `{case.own}` cannot be used: it has no object `mcpServers`; correct it\n",
    )
    assert case.own.read_text() == '{"mcpServers": []}'


# Holds: mcp-39
async def test_the_list_says_where_each_server_is_from_and_whether_it_counts(case: Case) -> None:
    case.write_own(
        one={"command": "npx", "args": ["-y", "x y"], "env": {"API_TOKEN": "s3cret-s3cret"}},
        two={"url": "https://me:s3cret@b.example/mcp?key=s3cret", "headers": {"X-Key": "s3cret"}},
        off={"command": "x", "disabled": True},
    )
    case.write_project(
        one={"command": "x"}, yes={"command": "y"}, no={"command": "n"}, bad={"command": 5}
    )
    await case.ask(Person("Allow", "Deny"))
    case.write_project(
        one={"command": "x"},
        yes={"command": "y"},
        no={"command": "n"},
        new={"command": "z"},
        bad={"command": 5},
    )

    code, out, err = case.run("list")

    assert (code, [line.split(maxsplit=3) for line in out.splitlines()[1:3]]) == (
        0,
        [
            ["one", "you", "enabled", "npx -y 'x y'"],
            ["two", "you", "enabled", "https://b.example/mcp?…"],
        ],
    )
    assert [line.split("  ")[0] for line in out.splitlines()] == [
        "NAME", "one", "two", "off", "one", "yes", "no", "new",
    ]  # fmt: skip
    states = {(each["from"], each["name"]): each["state"] for each in case_list(case)["servers"]}
    assert states == {
        ("you", "one"): "enabled",
        ("you", "two"): "enabled",
        ("you", "off"): "disabled",
        ("project", "one"): "left out",
        ("project", "yes"): "agreed",
        ("project", "no"): "not agreed",
        ("project", "new"): "not asked",
    }
    assert "the server `bad` of `.mcp.json` is never connected" in err
    assert "s3cret" not in out + err + case.run("list", "--json")[1]


def case_list(case: Case) -> Any:
    return json.loads(case.run("list", "--json")[1])


# Holds: mcp-41
def test_a_server_is_connected_and_says_what_it_offers(case: Case) -> None:
    pytest.importorskip("mcp")
    case.write_own(raw={"command": RUN_RAW[0], "args": [*RUN_RAW[1:], "tools=echo,ask"]})

    code, out, err = case.run("test", "raw")

    first, *others = out.splitlines()
    assert (code, err, first.partition(", connected in ")[0]) == (
        0,
        "",
        "raw works: raw 1, MCP 2025-11-25",
    )
    assert others == [
        "2 tools",
        "  echo  Does echo.",
        "  ask   Does ask.",
        "0 prompts",
        "0 resources",
    ]


# Holds: mcp-41
@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"command": "no-such-program"}, "does not answer: `no-such-program` cannot be started"),
        ({"command": "x", "env": {"A": "${NOT_SET}"}}, "the variable `NOT_SET` is not set"),
        (None, "there is no server `one`; see `amplifier-core mcp list`"),
    ],
)
def test_a_server_that_does_not_answer_is_a_failure(case: Case, entry: Any, said: str) -> None:
    pytest.importorskip("mcp")
    if entry is not None:
        case.write_own(one=entry)

    code, out, err = case.run("test", "one")

    assert (code, out) == (2 if entry is None else 1, "")
    assert said in err


# Holds: mcp-41
def test_a_server_of_a_project_is_not_connected_to_test_it(case: Case) -> None:
    pytest.importorskip("mcp")
    started = case.project / "started"
    case.write_project(one={"command": RUN_RAW[0], "args": [*RUN_RAW[1:], f"count={started}"]})

    code, out, err = case.run("test", "one")

    assert (code, out) == (1, "")
    assert err == (
        "error: you have not agreed to the server `one` of the project; `amplifier-core mcp ask`"
        " asks you\n"
    )
    assert not started.exists()


# Holds: mcp-42
def test_a_person_can_be_asked_again_about_what_was_denied(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    case.write_project(one={"command": "x"}, two={"command": "y"})
    assert case.run("ask")[2] == "error: nobody can be asked; run it in a terminal\n"

    def answer(*answers: str) -> Callable[[], Person]:
        return lambda: Person(*answers)

    monkeypatch.setattr(ask, "can_ask", lambda: True)
    monkeypatch.setattr(ask, "TerminalApproval", answer("Deny"))
    assert case.run("ask") == (0, "one: not agreed\ntwo: not agreed\n", "")
    monkeypatch.setattr(ask, "TerminalApproval", answer("Allow"))
    assert case.run("ask") == (0, "one: agreed\ntwo: agreed\n", "")
