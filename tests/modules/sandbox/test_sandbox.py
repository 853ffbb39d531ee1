"""What a command can do in a sandbox, and what it leaves.

Holds: sandbox-1
"""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sandbox_world import Ran, World, run

from amplifier_modules.sandbox.command import Command, Ending, LaunchError, Tier
from amplifier_modules.sandbox.tiers import find_tier

HOLD = (
    "setsid sh -c 'exec flock lock sh -c \"echo held > ready; exec sleep 1000\"' > /dev/null 2>&1 &"
)
"""Leaves a process behind, in a session of its own, that holds a lock as long as it lives."""
WAIT_UNTIL_HELD = "until [ -e ready ]; do :; done"


# Holds: sandbox-7
def test_the_tier_is_found_by_starting_a_command() -> None:
    assert find_tier() is find_tier()
    assert find_tier().tier is not Tier.NONE or find_tier().reasons


def test_a_command_ends_with_its_code_and_its_folder(world: World) -> None:
    (world.project / "src").mkdir()
    ran = world.run("cd src; echo out; echo err >&2; exit 3")
    assert ran == Ran("out\nerr\n", Ending(3, directory=str(world.project / "src")))


def test_a_command_that_a_signal_ends_has_no_code(world: World) -> None:
    ending = world.run("kill -KILL $$").ending
    # Bubblewrap says it as shells do.
    by_bubblewrap = Ending(128 + signal.SIGKILL)
    assert (
        ending == by_bubblewrap
        if world.settings.get("bubblewrap")
        else Ending(None, signal.SIGKILL)
    )


def test_the_project_and_temporary_files_can_be_written(world: World) -> None:
    ran = world.run('echo a > a; mkdir b; mv a b; echo c > "$TMPDIR/c"; cat "$TMPDIR/c" b/a')
    assert (ran.output, ran.ending.exit_code) == ("c\na\n", 0)
    assert (world.project / "b" / "a").read_text() == "a\n"
    assert (world.temporary / "c").read_text() == "c\n"


def test_nothing_else_can_be_written(world: World) -> None:
    kept = world.outside / "kept"
    kept.write_text("kept")
    attempts = [f"echo x > {kept}", f"rm {kept}", f"ln {kept} link", f"touch {world.outside}/new"]
    assert list_successes(world, attempts) == []
    assert [(each.name, each.read_text()) for each in world.outside.iterdir()] == [("kept", "kept")]
    assert list(world.project.iterdir()) == []


def test_of_a_project_that_is_only_read_nothing_can_be_written(world: World) -> None:
    (world.project / "a").write_text("a")
    ran = world.run("cat a && echo b > b", profile="read-only")
    assert ran.output.startswith("a")
    assert ran.ending.exit_code != 0
    assert [each.name for each in world.project.iterdir()] == ["a"]


# Holds: sandbox-2
def test_hidden_files_and_folders_cannot_be_read(world: World) -> None:
    key, keys = world.outside / "key", world.outside / "keys"
    key.write_text("secret-1")
    keys.mkdir()
    (keys / "one").write_text("secret-2")
    (world.outside / "link").symlink_to(key)
    hidden = [str(key), str(keys), str(world.outside / "none")]
    text = f"cat {key}; cat {keys}/one; cat {world.outside}/link; cat /proc/self/root{key}"
    ran = world.run(text, find_hidden=lambda: hidden)
    assert "secret" not in ran.output
    assert ran.ending.exit_code != 0


# Holds: sandbox-3
def test_a_command_has_only_the_variables_that_it_was_given(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_KEY", "secret")
    with closing(world.open()) as sandbox:
        ran = run(sandbox, "env", str(world.project), GIVEN="1", BASH_ENV="/dev/stdin")
    names = {row.partition("=")[0] for row in ran.output.splitlines()}
    assert names == {"PATH", "GIVEN", "BASH_ENV", "TMPDIR", "PWD", "SHLVL", "_"}


# Holds: sandbox-3
def test_a_command_has_no_input(world: World) -> None:
    assert world.run("cat; echo done").output == "done\n"


# Holds: sandbox-3
def test_the_agent_cannot_be_read_or_met(world: World) -> None:
    agent = os.getpid()
    text = f"cat /proc/{agent}/environ /proc/{agent}/maps; kill -0 {agent}; echo $?"
    ran = world.run(text + "; ls /proc/self/fd")
    assert "PATH=" not in ran.output
    *_, killed, files = ran.output.partition("\n1\n")
    assert killed == "\n1\n" or killed == ""
    assert set(files.split()) <= {"0", "1", "2", "3", "250"}


# Holds: sandbox-4
def test_nothing_that_a_command_began_is_left_at_its_end(world: World) -> None:
    ran = world.run(f"{HOLD} {WAIT_UNTIL_HELD}")
    assert ran.ending.exit_code == 0
    assert_free(world.project / "lock")


# Holds: sandbox-4
def test_a_killed_command_is_ended_with_all_that_it_began(world: World) -> None:
    read, write = os.pipe()
    with closing(world.open()) as sandbox, os.fdopen(read, "rb") as output:
        text = f"{HOLD} {WAIT_UNTIL_HELD}; echo begun; sleep 1000"
        running = sandbox.start(
            Command(text, str(world.project), {"PATH": os.environ["PATH"]}), write
        )
        os.close(write)
        assert output.readline() == b"begun\n"
        running.kill()
        assert running.wait() == running.wait() == Ending(None, signal.SIGKILL)
        running.kill()
    assert_free(world.project / "lock")


PROGRAM = """
import sys
from amplifier_modules.sandbox.command import Command, Tier
from amplifier_modules.sandbox.sandbox import Sandbox
project, temporary, tier, bubblewrap, text, path = sys.argv[1:]
sandbox = Sandbox(project, temporary, Tier(tier), bubblewrap=bubblewrap or None)
command = Command(text, project, {"PATH": path}, 1.0 if "1.0" in text else None)
print(sandbox.start(command, 1).wait())
"""
"""An agent that runs one command, and says how it ended."""


def start_agent(world: World, text: str) -> subprocess.Popen[bytes]:
    bubblewrap = world.settings.get("bubblewrap") or ""
    arguments = [world.project, world.temporary, world.tier, bubblewrap, text, os.environ["PATH"]]
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE
    )


# Holds: sandbox-4
def test_a_command_ends_with_the_agent(world: World) -> None:
    with start_agent(world, f"{HOLD} {WAIT_UNTIL_HELD}; echo begun; sleep 1000") as agent:
        assert agent.stdout is not None
        assert agent.stdout.readline() == b"begun\n"
        agent.kill()
    wait_until_free(world.project / "lock")


# Holds: sandbox-4
def test_a_command_that_takes_too_long_is_ended_with_all_that_it_began_by_no_agent(
    world: World,
) -> None:
    with start_agent(world, f"{HOLD} {WAIT_UNTIL_HELD}; echo begun 1.0; sleep 1000") as agent:
        assert agent.stdout is not None
        assert agent.stdout.readline() == b"begun 1.0\n"
        # So that it is not the agent that ends it.
        agent.send_signal(signal.SIGSTOP)
        wait_until_free(world.project / "lock")
        agent.send_signal(signal.SIGCONT)
        assert agent.stdout.read().decode() == f"{Ending(None, timed_out=True)}\n"


# Holds: sandbox-5
def test_there_is_no_way_to_the_network_or_to_sockets_of_others(world: World) -> None:
    path = world.outside / "socket"
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as listener,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        listener.bind(str(path))
        listener.listen()
        abstract.bind(f"\0{path}")
        abstract.listen()
        program = (
            "import socket, sys\n"
            "for family, address in [(socket.AF_INET, ('127.0.0.1', int(sys.argv[1]))),"
            " (socket.AF_UNIX, sys.argv[2]), (socket.AF_UNIX, '\\0' + sys.argv[2])]:\n"
            "    try:\n"
            "        socket.socket(family).connect(address)\n"
            "        print('connected to', address)\n"
            "    except OSError: print('refused')\n"
        )
        (world.project / "connect.py").write_text(program)
        ran = world.run(f"{sys.executable} connect.py {server.getsockname()[1]} {path}")
    assert ran == Ran("refused\n" * 3, Ending(0, directory=str(world.project)))


# Holds: sandbox-5
def test_commands_of_a_session_meet_on_loopback(inside: World) -> None:
    serve = (
        "import socket, sys\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "print(server.getsockname()[1], flush=True)\n"
        "server.accept()[0].sendall(b'hello')\n"
    )
    (inside.project / "serve.py").write_text(serve)
    read, write = os.pipe()
    with closing(inside.open()) as sandbox, os.fdopen(read, "rb") as output:
        text = f"exec {sys.executable} serve.py"
        server = sandbox.start(
            Command(text, str(inside.project), {"PATH": os.environ["PATH"]}), write
        )
        os.close(write)
        port = int(output.readline())
        ran = run(sandbox, f"exec 3<>/dev/tcp/127.0.0.1/{port}; cat <&3", str(inside.project))
        assert (ran.output, server.wait().exit_code) == ("hello", 0)


# Holds: sandbox-6
def test_what_decides_what_git_runs_stays_as_it_is(inside: World) -> None:
    subprocess.run(["git", "init", "--quiet", "."], cwd=inside.project, check=True)
    config = (inside.project / ".git" / "config").read_text()
    attempts = [
        "git config core.fsmonitor ./run",
        "echo x > .git/config",
        "echo x > .git/hooks/pre-commit",
        "rm -rf .git/hooks",
        "mv .git git && cp -r git .git",
    ]
    assert list_successes(inside, attempts) == []
    assert (inside.project / ".git" / "config").read_text() == config
    assert not (inside.project / ".git" / "hooks" / "pre-commit").exists()
    ran = inside.run("cp -r .git elsewhere; echo ../elsewhere > .git/commondir")
    assert ran.ending.removed == (str(inside.project / ".git" / "commondir"),)
    assert not (inside.project / ".git" / "commondir").exists()
    commit = "touch a; git add a; git -c user.name=n -c user.email=e commit --quiet -m a; git log --format=%s"
    assert inside.run(commit).output == "a\n"


# Holds: sandbox-6
def test_the_links_of_submodules_and_worktrees_stay_as_they_are(inside: World) -> None:
    git = "git -c user.name=n -c user.email=e -c protocol.file.allow=always"
    made = (
        f"git init -q ../outside/one; {git} -C ../outside/one commit -q --allow-empty -m a;"
        f"git init -q; {git} submodule --quiet add ../outside/one sub; {git} commit -q -m a;"
        f"{git} worktree add -q tree"
    )
    subprocess.run(["bash", "-c", made], cwd=inside.project, check=True, capture_output=True)
    links = ["sub/.git", "tree/.git", ".git/worktrees/tree/commondir", ".git/modules/sub/config"]
    before = [(inside.project / link).read_text() for link in links]
    attempts = [
        attempt
        for link in links
        for attempt in (f"echo x > {link}", f"rm {link}", f"mv {Path(link).parent} moved")
    ]
    assert list_successes(inside, attempts) == []
    assert [(inside.project / link).read_text() for link in links] == before


# Holds: sandbox-1
def test_no_file_lends_the_rights_of_its_owner(world: World) -> None:
    attempts = [
        "cp /bin/true t; chmod u+s t",
        "cp /bin/true t; chmod 2755 t",
        "install -m 4755 /bin/true t",
        f"{sys.executable} -c 'import os; os.open(\"t\", os.O_CREAT, 0o4755)'",
        f"{sys.executable} -c 'import os; os.mknod(\"t\", 0o104755)'",
    ]
    assert list_successes(world, [f"umask 0; {attempt}" for attempt in attempts]) == []
    modes = [each.stat().st_mode for each in world.project.iterdir()]
    assert not [mode for mode in modes if mode & 0o6000]


# Holds: sandbox-7
def test_a_command_in_a_folder_that_is_not_there_does_not_start(world: World) -> None:
    with closing(world.open()) as sandbox, pytest.raises(LaunchError, match="No such file"):
        run(sandbox, ":", str(world.project / "none"))


# Holds: sandbox-7
def test_a_command_does_not_start_if_what_to_hide_is_not_known(world: World) -> None:
    def fail() -> list[str]:
        raise PermissionError("the folder is closed")

    said = "cannot look for what to hide: the folder is closed"
    with closing(world.open(find_hidden=fail)) as sandbox, pytest.raises(LaunchError, match=said):
        run(sandbox, "echo begun", str(world.project))


def list_successes(world: World, attempts: list[str]) -> list[str]:
    """Return those of several attempts that succeed, all made by one command."""
    tried = [
        f"( {attempt} ) > /dev/null 2>&1 && echo {number}"
        for number, attempt in enumerate(attempts)
    ]
    ran = world.run("\n".join([*tried, "echo all"]))
    *succeeded, last = ran.output.splitlines()
    assert last == "all"
    return [attempts[int(number)] for number in succeeded]


def assert_free(lock: Path) -> None:
    """Check that nobody holds a lock."""
    with lock.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def wait_until_free(lock: Path) -> None:
    """Wait until nobody holds a lock."""
    with lock.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
