"""A port of a command that is reached from this machine, and nothing else by it."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from urllib.request import urlopen

import pytest
from echo_server import echoing, serving
from sandbox_world import World, run

from amplifier_modules.sandbox.command import ForwardError, Tier
from amplifier_modules.sandbox.sandbox import Sandbox
from amplifier_modules.sandbox.unconfined import UnconfinedRunner


def call(port: int, sent: bytes) -> bytes:
    """Send bytes and their end, and return all that comes back."""
    with socket.create_connection(("127.0.0.1", port)) as client:
        sender = threading.Thread(target=lambda: (client.sendall(sent), client.shutdown(1)))
        sender.start()
        received = b"".join(iter(lambda: client.recv(65_536), b""))
        sender.join()
        return received


def find_free_port() -> int:
    """Return a port that is free on this machine."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


# Holds: sandbox-80
def test_a_page_of_a_command_is_read_at_the_same_port_of_this_machine(networked: World) -> None:
    (networked.project / "page.txt").write_text("a page")
    serve = (
        "from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer\n"
        "import sys\n"
        "server = ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), SimpleHTTPRequestHandler)\n"
        "print(server.server_port, flush=True)\n"
        "server.serve_forever()\n"
    )
    (networked.project / "serve.py").write_text(serve)
    with (
        closing(networked.open()) as sandbox,
        serving(sandbox, networked.project, f"serve.py {find_free_port()}") as (_, port),
        closing(sandbox.forward_port(port)) as forward,
    ):
        assert (forward.port, forward.is_answered()) == (port, True)
        with urlopen(f"http://127.0.0.1:{port}/page.txt") as answer:
            assert answer.read() == b"a page"


# Holds: sandbox-80
def test_another_port_is_taken_where_that_is_not_free(networked: World) -> None:
    with (
        closing(networked.open()) as sandbox,
        socket.create_server(("127.0.0.1", 0)) as taken,
        echoing(sandbox, networked.project, port=taken.getsockname()[1]) as (_, port),
        closing(sandbox.forward_port(port)) as forward,
    ):
        assert forward.port != port
        assert call(forward.port, b"hello") == b"helloover"


# Holds: sandbox-80
def test_many_connections_move_bytes_at_once_and_each_direction_ends_alone(
    networked: World,
) -> None:
    sent = [bytes([number]) * 300_000 for number in range(20)]
    received: dict[int, bytes] = {}
    with (
        closing(networked.open()) as sandbox,
        echoing(sandbox, networked.project) as (_, port),
        closing(sandbox.forward_port(port)) as forward,
    ):
        clients = [
            threading.Thread(
                target=lambda n=number: received.update({n: call(forward.port, sent[n])})
            )
            for number in range(20)
        ]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
    assert received == {number: sent[number] + b"over" for number in range(20)}


# Holds: sandbox-80
def test_a_server_that_listens_at_the_other_loopback_is_reached(networked: World) -> None:
    with (
        closing(networked.open()) as sandbox,
        echoing(sandbox, networked.project, "::1") as (_, port),
        closing(sandbox.forward_port(port)) as forward,
    ):
        assert call(forward.port, b"six") == b"sixover"


# Holds: sandbox-81
def test_a_forward_that_is_closed_leaves_no_connection_port_thread_process_or_file(
    networked: World,
) -> None:
    before = (set(threading.enumerate()), find_launchers(), os.listdir("/proc/self/fd"))
    with closing(networked.open()) as sandbox, echoing(sandbox, networked.project) as (_, port):
        forward = sandbox.forward_port(port)
        with socket.create_connection(("127.0.0.1", forward.port)) as client:
            client.sendall(b"a")
            assert client.recv(1) == b"a"
            forward.close()
            forward.close()
            assert client.recv(1) == b""
        with pytest.raises(ConnectionRefusedError):
            call(forward.port, b"")
    assert (set(threading.enumerate()), find_launchers(), os.listdir("/proc/self/fd")) == before


# Holds: sandbox-82
def test_where_nothing_listens_a_connection_is_closed_and_others_are_served(
    networked: World,
) -> None:
    with (
        closing(networked.open()) as sandbox,
        echoing(sandbox, networked.project) as (server, port),
        closing(sandbox.forward_port(port)) as forward,
    ):
        server.kill()
        server.wait()
        assert not forward.is_answered()
        assert call(forward.port, b"") == b""
        with echoing(sandbox, networked.project, port=port):
            assert call(forward.port, b"x") == b"xover"


# Holds: sandbox-83
def test_no_command_sees_or_ends_what_makes_the_sockets(networked: World) -> None:
    with (
        closing(networked.open()) as sandbox,
        echoing(sandbox, networked.project) as (_, port),
        closing(sandbox.forward_port(port)) as forward,
    ):
        ran = run(sandbox, "cat /proc/net/unix | wc -l; ls /proc", str(networked.project))
        sockets, *listed = ran.output.split()
        # A heading and no socket; the first process, the shell and `ls`.
        assert (sockets, sum(each.isdecimal() for each in listed)) == ("1", 3)
        run(sandbox, "kill -KILL -1", str(networked.project))
        assert call(forward.port, b"x") == b"xover"


# Holds: sandbox-83
def test_what_makes_the_sockets_is_restricted_as_commands_are(networked: World) -> None:
    before = find_launchers()
    with closing(networked.open()) as sandbox, closing(sandbox.forward_port(80)):
        [launcher] = find_launchers() - before
        [first] = list_children(launcher)
        [maker] = list_children(first)
        status = dict(
            line.split(":\t", 1) for line in Path(f"/proc/{maker}/status").read_text().splitlines()
        )
    names = ("NoNewPrivs", "Seccomp", "CapEff", "CapPrm", "CapBnd")
    nothing = "0" * 16
    assert [status[name] for name in names] == ["1", "2", nothing, nothing, nothing]
    assert len(status["NSpid"].split()) > 1


# Holds: sandbox-81
def test_what_makes_the_sockets_ends_with_the_agent(networked: World) -> None:
    program = (
        "import sys, threading\n"
        "from amplifier_modules.sandbox.command import Tier\n"
        "from amplifier_modules.sandbox.sandbox import Sandbox\n"
        "forward = Sandbox(sys.argv[1], sys.argv[2], Tier.NAMESPACES).forward_port(80)\n"
        "print(forward.port, flush=True)\n"
        "threading.Event().wait()\n"
    )
    folders = [str(networked.project), str(networked.temporary)]
    with subprocess.Popen(
        [sys.executable, "-c", program, *folders], stdout=subprocess.PIPE
    ) as agent:
        assert agent.stdout is not None
        port = int(agent.stdout.readline())
        [launcher] = list_children(agent.pid)
        with os.fdopen(os.pidfd_open(launcher), "rb", buffering=0) as ended:
            agent.kill()
            assert select.select([ended], [], [], 60)[0]
    with pytest.raises(ConnectionRefusedError):
        call(port, b"")


# Holds: sandbox-84
def test_a_port_that_cannot_be_forwarded_is_an_error_that_says_why(tmp_path: Path) -> None:
    why = {
        "bubblewrap": "`bubblewrap` gives each command a network of its own, which cannot be reached",
        "landlock": "in the sandbox of this machine no command can listen",
    }
    folder = str(tmp_path)
    runners = {
        "bubblewrap": Sandbox(folder, folder, Tier.NAMESPACES, bubblewrap="/usr/bin/bwrap"),
        "landlock": Sandbox(folder, folder, Tier.LANDLOCK),
    }
    for name, runner in runners.items():
        for attempt in (runner.check_forward, runner.forward_port):
            with pytest.raises(ForwardError) as raised:
                attempt(8000)
            assert str(raised.value) == f"port 8000 cannot be forwarded: {why[name]}"
    with pytest.raises(ForwardError) as raised:
        UnconfinedRunner().forward_port(8000)
    assert str(raised.value) == (
        "port 8000 needs no forward: the job runs without a sandbox, and is reached directly at"
        " http://127.0.0.1:8000/"
    )


# Holds: sandbox-84
def test_a_forward_that_cannot_be_started_is_an_error(
    networked: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(networked.open()) as sandbox:
        run(sandbox, ":", str(networked.project))
        monkeypatch.setattr(sys, "executable", str(networked.folder / "none"))
        with pytest.raises(ForwardError, match="port 80 cannot be forwarded: cannot start"):
            sandbox.forward_port(80)


def find_launchers() -> set[int]:
    """Return the launchers that this process has started and that have not ended."""
    return {
        child
        for child in list_children(os.getpid())
        if b"start(plan)" in Path(f"/proc/{child}/cmdline").read_bytes()
    }


def list_children(process: int) -> list[int]:
    tasks = Path(f"/proc/{process}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]
