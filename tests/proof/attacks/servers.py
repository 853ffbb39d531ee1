"""Servers outside: they take whatever is sent to them, and the harness looks at what came."""

from __future__ import annotations

import os
import selectors
import socket
from pathlib import Path

LOCAL_VSOCK = 1
MPTCP = 262


class Servers:
    """Sockets of every kind that listen outside, served while the harness waits."""

    def __init__(
        self, folder: Path, project: Path, gnupg: Path, token: str, canary: Path, hidden: str
    ) -> None:
        self.variables: dict[str, str] = {}
        """Where they are, for the environment of attacks."""
        self._received: dict[str, list[str]] = {}
        self._sockets: dict[str, socket.socket] = {}
        self._accepted: list[socket.socket] = []
        self._canary = canary
        self.selector = selectors.DefaultSelector()
        stream, datagram, packets = socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET
        for name in ("server", "docker", "agent", "bus", "passing", "private"):
            self._listen(name, socket.AF_UNIX, stream, str(folder / f"{name}.sock"))
        self._listen("in-project", socket.AF_UNIX, stream, str(project / "server.sock"))
        self._listen("gpg", socket.AF_UNIX, stream, str(gnupg / "S.gpg-agent"))
        self._listen("datagram", socket.AF_UNIX, datagram, str(folder / "datagram.sock"))
        self._listen("packets", socket.AF_UNIX, packets, str(folder / "packets.sock"))
        self._listen("abstract", socket.AF_UNIX, stream, f"\0{token}-stream")
        self._listen("abstract-datagram", socket.AF_UNIX, datagram, f"\0{token}-datagram")
        self._listen("abstract-packets", socket.AF_UNIX, packets, f"\0{token}-packets")
        self._listen("abstract-named", socket.AF_UNIX, stream, f"\0{hidden}")
        self._listen("tcp", socket.AF_INET, stream, ("127.0.0.1", 0))
        self._listen("udp", socket.AF_INET, datagram, ("127.0.0.1", 0))
        self._listen("tcp6", socket.AF_INET6, stream, ("::1", 0))
        self._listen("udp6", socket.AF_INET6, datagram, ("::1", 0))
        if address := find_own_address():
            self.variables["OWN_ADDRESS"] = address
            self._listen("own-tcp", socket.AF_INET, stream, (address, 0))
            self._listen("own-udp", socket.AF_INET, datagram, (address, 0))
        try:
            self._listen("vsock", socket.AF_VSOCK, stream, (socket.VMADDR_CID_ANY, -1 & 0xFFFFFFFF))
        except OSError:
            self.variables["VSOCK"] = "1"

    def _listen(self, name: str, family: int, kind: int, address: object) -> None:
        opened = socket.socket(family, kind)
        opened.bind(address)  # type: ignore[arg-type]
        if kind != socket.SOCK_DGRAM:
            opened.listen(64)
        opened.setblocking(False)
        if isinstance(address, str) and address.startswith("/"):
            os.chmod(address, 0o777)
            self.variables[name.upper().replace("-", "_")] = address
        elif not isinstance(address, str):
            self.variables[name.upper().replace("-", "_")] = str(opened.getsockname()[1])
        self._received[f"messages/{name}"] = []
        self._sockets[name] = opened
        self.selector.register(opened, selectors.EVENT_READ, (name, kind != socket.SOCK_DGRAM))

    def serve(self, timeout: float) -> bool:
        """Take what has come; returns whether anything was ready that is not of the servers."""
        others = False
        for key, _ in self.selector.select(timeout):
            if key.data is None:
                others = True
                continue
            name, listens = key.data
            opened = key.fileobj
            assert isinstance(opened, socket.socket)
            try:
                self._take(name, listens, opened)
            except BlockingIOError:
                continue
        return others

    def _take(self, name: str, listens: bool, opened: socket.socket) -> None:
        if listens:
            connection, _ = opened.accept()
            self._received[f"messages/{name}"].append("connected")
            connection.setblocking(False)
            self._accepted.append(connection)
            self.selector.register(connection, selectors.EVENT_READ, (name, False))
            if name == "passing":
                self._pass_canary(connection)
            return
        try:
            data = opened.recv(4096)
        except ConnectionError:
            data = b""
        if data:
            self._received[f"messages/{name}"].append(data.decode(errors="replace"))
        elif opened in self._accepted:
            self.selector.unregister(opened)
            self._accepted.remove(opened)
            opened.close()

    def _pass_canary(self, connection: socket.socket) -> None:
        with open(self._canary, "r+b") as file:
            socket.send_fds(connection, [b"here"], [file.fileno()])

    def describe(self) -> dict[str, object]:
        """Return what each of them has received."""
        while self.selector.select(0) and not self.serve(0):
            pass
        return {name: list(messages) for name, messages in self._received.items()}

    def close(self) -> None:
        """Close all sockets."""
        for each in (*self._sockets.values(), *self._accepted):
            each.close()
        self.selector.close()


def find_own_address() -> str | None:
    """Return the address of this machine that is no loopback, if it has one; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        return str(probe.getsockname()[0])
