"""The tier of macOS: its rules as text, and its launches with Landlock in the place of Seatbelt.

`nono-py` applies Landlock on Linux, and ignores the rules that only Seatbelt has: what is hidden and
what of git stays is shown by those rules alone.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sandbox_world import PATH, Ran, run

from amplifier_modules.sandbox import seatbelt, tiers
from amplifier_modules.sandbox.command import Command, Ending, ForwardError, LaunchError, Tier
from amplifier_modules.sandbox.network.rules import AnyHost
from amplifier_modules.sandbox.seatbelt import SeatbeltRunner, find_nono
from amplifier_modules.sandbox.seatbelt_launch import write_rules
from amplifier_modules.sandbox.tiers import FoundTier, find_tier

Open = Callable[..., SeatbeltRunner]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("project", "temporary", "outside"):
        (tmp_path / name).mkdir()
    return tmp_path / "project"


@pytest.fixture
def open_runner(project: Path) -> Open:
    """Return a runner on a project; skip where `nono-py` is not installed, but fail in CI."""
    if find_nono() is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("`nono-py` is not installed")
    temporary = str(project.parent / "temporary")
    return lambda **settings: SeatbeltRunner(str(project), temporary, **settings)


def run_in(runner: SeatbeltRunner, text: str, project: Path, **settings: Any) -> Ran:
    with closing(runner):
        return run(runner, text, str(project), **settings)


# Holds: sandbox-50
def test_the_rules_take_back_what_is_hidden_and_what_git_runs() -> None:
    plan = {
        "writable": ["/a/project", "/var/t"],
        "hidden": ["/home/me/.ssh", '/a/project/b/"x\\.env'],
        "read_only": ["/a/project/.git/hooks"],
        "kept": ["/a/project/.git"],
    }

    def resolve(path: str) -> str:
        return path.replace("/var/", "/private/var/").replace("/a/", "/A/")

    first, *rules = write_rules(plan, resolve)
    assert first == "(deny mach-lookup)"
    assert rules[0].startswith('(allow mach-lookup (global-name "com.apple.')
    assert not re.search("securityd|secd|keychain|SecurityServer|launchservices", rules[0])
    assert rules[1:] == [
        "(allow ipc-posix-sem*)",
        "(deny file-write-setugid)",
        '(deny file-read-data file-write* file-ioctl (subpath "/dev"))',
        (
            '(allow file-read-data file-write-data file-ioctl (literal "/dev/null") (literal'
            ' "/dev/zero") (literal "/dev/random") (literal "/dev/urandom") (literal'
            ' "/dev/dtracehelper") (subpath "/dev/fd"))'
        ),
        '(deny file-write-unlink (literal "/A/project"))',
        '(deny file-write-unlink (literal "/A/project/.git"))',
        '(deny file-write-unlink (literal "/A/project/b"))',
        '(deny file-write-unlink (literal "/a/project"))',
        '(deny file-write-unlink (literal "/a/project/.git"))',
        '(deny file-write-unlink (literal "/a/project/b"))',
        '(deny file-write-unlink (literal "/a/project/.git"))',
        '(deny file-write-unlink (literal "/A/project/.git"))',
        '(deny file-write* (subpath "/a/project/.git/hooks"))',
        '(deny file-write* (subpath "/A/project/.git/hooks"))',
        '(deny file-read* file-write* (subpath "/home/me/.ssh"))',
        '(deny file-read* file-write* (subpath "/a/project/b/\\"x\\\\.env"))',
        '(deny file-read* file-write* (subpath "/A/project/b/\\"x\\\\.env"))',
    ]


# Holds: sandbox-50
def test_a_path_that_no_rule_can_name_is_an_error() -> None:
    plan = {"writable": [], "hidden": ["/a\n/.env"], "read_only": [], "kept": []}
    with pytest.raises(ValueError, match=r"'/a\\n/\.env' cannot be written as a rule of Seatbelt"):
        write_rules(plan, str)


# Holds: sandbox-51
def test_a_command_changes_the_project_and_temporary_files_and_nothing_else(
    open_runner: Open, project: Path
) -> None:
    kept = project.parent / "outside" / "kept"
    kept.write_text("kept\n")
    text = (
        f'mkdir a; cd a; echo b > b; echo t > "$TMPDIR/t"; cat {kept} b; echo > /dev/null;'
        f"( echo x > {kept}; rm {kept}; touch {kept}-2 ) 2> /dev/null; exit 3"
    )
    ran = run_in(open_runner(), text, project)
    assert ran == Ran("kept\nb\n", Ending(3, directory=str(project / "a")))
    assert (project / "a" / "b").read_text() == "b\n"
    assert (project.parent / "temporary" / "t").read_text() == "t\n"
    assert [(each.name, each.read_text()) for each in kept.parent.iterdir()] == [("kept", "kept\n")]

    ran = run_in(open_runner(profile="read-only"), "cat a/b; rm a/b 2> /dev/null", project)
    assert ran == Ran("b\n", Ending(1, directory=str(project)))
    assert (project / "a" / "b").exists()


# Holds: sandbox-51
def test_a_command_has_nothing_of_the_agent(
    open_runner: Open, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_KEY", "secret")
    text = f"cat; env; ls /proc/self/fd | wc -w; kill -0 {os.getpid()} 2> /dev/null || echo refused"
    written = run_in(open_runner(), text, project, GIVEN="1").output.splitlines()
    names = {row.partition("=")[0] for row in written[:-2]}
    assert names == {"PATH", "GIVEN", "TMPDIR", "PWD", "SHLVL", "_"}
    # Its input, its two outputs, the pipe for the folder, and what `ls` itself has open.
    assert written[-2:] == ["5", "refused"]


# Holds: sandbox-52
def test_a_command_has_no_network_but_a_proxy_to_the_hosts_that_are_allowed(
    open_runner: Open, project: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        reach = f"( : < /dev/tcp/127.0.0.1/{port} ) 2> /dev/null || echo refused"
        runner = open_runner()
        assert runner.reaches_hosts is False
        assert run_in(runner, reach + '; echo "[$http_proxy]"', project).output == "refused\n[]\n"

        runner = open_runner(rules=AnyHost())
        assert runner.reaches_hosts is True
        asked = (
            'exec 4<>"/dev/tcp/127.0.0.1/${http_proxy##*:}";'
            f"printf 'CONNECT 127.0.0.1:{port} HTTP/1.1\\r\\n\\r\\n' >&4; read -r line <&4; echo $line"
        )
        ran = run_in(runner, f"{reach}; {asked}", project)
    assert ran.output == "refused\nHTTP/1.1 403 127.0.0.1 is not allowed\r\n"
    (refused,) = ran.ending.refused
    assert refused.endswith(f"to allow it, set `network` to a list with `127.0.0.1:{port}`")
    with pytest.raises(ForwardError, match="no command can listen"):
        runner.check_forward(80)


# Holds: sandbox-51
@pytest.mark.parametrize("ends_by", ["its end", "its time", "a kill"])
def test_the_process_group_of_a_command_ends_with_it(
    open_runner: Open, project: Path, ends_by: str
) -> None:
    os.mkfifo(project / "pipe")
    text = "sleep 1000 > pipe & echo begun > pipe; [ -e stop ] || wait"
    if ends_by == "its end":
        (project / "stop").touch()
    # A writer of its own, so that a time that is up before the command has begun ends this, too.
    held = os.open(project / "pipe", os.O_RDWR)
    with closing(open_runner()) as runner, (project / "pipe").open() as pipe:
        timeout = 0.5 if ends_by == "its time" else None
        command = Command(text, str(project), {"PATH": PATH}, timeout)
        running = runner.start(command, 2)
        if ends_by == "a kill":
            assert pipe.readline() == "begun\n"
            running.kill()
        running.wait()
        os.close(held)
        # It is read to its end when nobody has it open.
        assert pipe.read() in ("", "begun\n")
        endings = {
            "its end": Ending(0, directory=str(project)),
            "its time": Ending(None, signal.SIGKILL, timed_out=True),
            "a kill": Ending(None, signal.SIGKILL),
        }
        assert running.wait() == running.wait() == endings[ends_by]


# Holds: sandbox-53
def test_a_command_that_cannot_be_kept_to_the_project_does_not_start(
    open_runner: Open, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> list[str]:
        raise PermissionError("the folder is closed")

    command = Command("touch begun", str(project), {"PATH": PATH})
    before = os.listdir("/proc/self/fd")
    for settings, said in [
        ({"find_hidden": fail}, "cannot look for what to hide: the folder is closed"),
        ({"find_hidden": lambda: ["/a\n/b"]}, "cannot be written as a rule of Seatbelt"),
        ({"writable": [str(project / "none")]}, "none"),
    ]:
        with pytest.raises(LaunchError, match=said):
            open_runner(**settings).start(command, 2).wait()
    with pytest.raises(LaunchError, match="No such file or directory"):
        open_runner().start(Command(":", str(project / "none"), {}), 2).wait()
    monkeypatch.setattr(seatbelt, "find_nono", lambda: __file__)
    with pytest.raises(LaunchError, match=r"test_seatbelt\.py"):
        open_runner().start(command, 2).wait()
    monkeypatch.setattr(seatbelt, "find_nono", lambda: None)
    with pytest.raises(LaunchError, match="the package `nono-py` is not installed"):
        open_runner().start(command, 2)
    monkeypatch.undo()
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    with pytest.raises(LaunchError, match="cannot start `/nonexistent/python`"):
        open_runner().start(command, 2)
    assert len(os.listdir("/proc/self/fd")) == len(before)
    assert list(project.iterdir()) == []


# Holds: sandbox-53
def test_macos_has_the_tier_only_where_a_trial_saw_all_that_it_promises(
    open_runner: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Landlock, which hides nothing that may be read, stands in for a Seatbelt with other rules."""
    monkeypatch.setattr(sys, "platform", "darwin")
    fault = "seatbelt: a command in it can read hidden files, write hooks of git, move the folder of git"
    assert find_tier.__wrapped__() == FoundTier(Tier.NONE, reasons=(fault,))
    monkeypatch.setattr(tiers, "_TRIAL", ":")
    assert find_tier.__wrapped__() == FoundTier(Tier.SEATBELT)
    monkeypatch.setattr(tiers, "find_nono", lambda: None)
    missing = "seatbelt: the package `nono-py` is not installed"
    assert find_tier.__wrapped__() == FoundTier(Tier.NONE, reasons=(missing,))
