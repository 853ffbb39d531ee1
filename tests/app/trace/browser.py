"""Chromium without a window, driven through its debugging pipe."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any, Self

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
"""Where Chromium is; None where it is not installed."""


class Browser:
    """A page in Chromium."""

    def __init__(self, profile: Path, *, dark: bool = False) -> None:
        """Start it.

        Args:
            profile: A new folder for what it stores.
            dark: Whether the user wants dark pages.
        """
        assert PROGRAM is not None
        theirs, self._write = os.pipe()
        self._read, back = os.pipe()
        # The pipe is at the numbers 3 and 4 by the protocol; the shell puts it there.
        line = f'exec "$@" 3<&{theirs} 4>&{back}'
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"]
        if dark:
            options.append("--blink-settings=preferredColorScheme=0")
        self._process = subprocess.Popen(
            ["/bin/bash", "-c", line, "bash", PROGRAM, *options, f"--user-data-dir={profile}"],
            pass_fds=(theirs, back),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs)
        os.close(back)
        self._pending = b""
        self._number = 0
        self.problems: list[str] = []
        """What the page's script or its policy complained of."""
        self._page: str | None = None
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        attached = self._call("Target.attachToTarget", targetId=target, flatten=True)
        self._page = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._write)
        os.close(self._read)

    def open(self, file: Path) -> None:
        """Open a file, and wait until it is shown."""
        self._call("Page.navigate", url=file.as_uri())
        self.evaluate("new Promise(done => document.readyState === 'complete' ? done()"
                      " : addEventListener('load', () => done()))")  # fmt: skip

    def evaluate(self, expression: str) -> Any:
        """Return what JavaScript on the page comes to."""
        options = {"returnByValue": True, "awaitPromise": True}
        answer = self._call("Runtime.evaluate", expression=expression, **options)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def type(self, text: str) -> None:
        """Press a key for each letter."""
        for letter in text:
            self.press(letter, text=letter)

    def press(self, key: str, **more: str) -> None:
        """Press a key."""
        self._call("Input.dispatchKeyEvent", type="keyDown", key=key, **more)
        self._call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def draw(self, width: int, height: int) -> bytes:
        """Return a picture of the page as PNG."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._call("Emulation.setDeviceMetricsOverride", **size)
        return base64.b64decode(self._call("Page.captureScreenshot")["data"])

    def _call(self, method: str, **parameters: Any) -> Any:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._page is not None:
            message["sessionId"] = self._page
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read_message()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]
            if answer.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.problems.append(json.dumps(answer["params"]))
            elif answer.get("method") == "Network.requestWillBeSent":
                url = answer["params"]["request"]["url"]
                if not url.startswith("file:"):
                    self.problems.append(f"asks for {url}")

    def _read_message(self) -> dict[str, Any]:
        while b"\0" not in self._pending:
            piece = os.read(self._read, 65536)
            assert piece, "the browser has ended"
            self._pending += piece
        message, _, self._pending = self._pending.partition(b"\0")
        return json.loads(message)
