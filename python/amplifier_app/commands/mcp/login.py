"""`amplifier-core mcp login` and `logout`: a person's part of a login, in the browser or without one."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import webbrowser
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import anyio.to_thread

from amplifier_app.commands.report import Report
from amplifier_app.failure import Failure
from amplifier_app.notice import show_notice, write_notice
from amplifier_app.outcome import WRONG_USAGE

if TYPE_CHECKING:
    from amplifier_modules.tools.mcp.login.login_flow import KnownClient
    from amplifier_modules.tools.mcp.server_entry import Address

CLIENT_SECRET = "MCP_CLIENT_SECRET"
"""The variable with the secret of a client that was registered by hand."""
_MAX_ADDRESS_CHARS = 8_192


def keep_login(
    report: Report,
    address: Address,
    *,
    opens_browser: bool,
    client_id: str | None,
    port: int,
    scope: str = "",
    allows_private: bool = False,
) -> None:
    """Log in to a server, and keep its tokens.

    Raises:
        Failure: The login has failed, or the server needs none.
    """
    from amplifier_modules.tools.mcp.login.login_errors import LoginError
    from amplifier_modules.tools.mcp.login.login_flow import Person, log_in
    from amplifier_modules.tools.mcp.login.login_store import LoginStore

    name = address.name
    if address.has_own_key:
        hint = "take `Authorization` out of its `headers` to use a login"
        raise Failure(f"the MCP server `{name}` has a key of its own", hint=hint)
    screen = _Screen(name, opens_browser=opens_browser and _has_browser(os.environ))
    client = _find_client(client_id, os.environ)
    logging_in = log_in(
        address,
        LoginStore(),
        Person(screen.show_address, screen.read_answer),
        client=client,
        port=port,
        scope=scope,
        allows_private=allows_private,
    )
    try:
        is_in_keyring = asyncio.run(logging_in)
    except LoginError as error:
        hint = None
        if "registers no client" in str(error):
            hint = "register one there by hand, and give its id: `--client-id ID`"
        raise Failure(f"the MCP server `{name}`: {error}", hint=hint) from None
    place = "the system keyring" if is_in_keyring else "a file that only you can read"
    report.write_lines([f"logged in to `{name}`; its tokens are in {place}"])


def drop_login(report: Report, address: Address) -> None:
    """Forget the login to a server.

    Raises:
        Failure: There is none, or it cannot be removed.
    """
    from amplifier_modules.tools.mcp.login.login_flow import log_out
    from amplifier_modules.tools.mcp.login.login_store import LoginStore

    if not asyncio.run(log_out(address.url, LoginStore())):
        raise Failure(f"there is no login to `{address.name}`")
    report.write_lines([f"logged out of `{address.name}`"])


def _find_client(client_id: str | None, environment: Mapping[str, str]) -> KnownClient | None:
    """Return the client that a person has registered; None for none.

    Raises:
        Failure: It is not to be understood.
    """
    from amplifier_modules.tools.mcp.login.login_flow import KnownClient

    if client_id is None:
        return None
    if not client_id.isprintable() or not client_id.strip():
        raise Failure("`--client-id` is no id of a client", exit_code=WRONG_USAGE)
    return KnownClient(client_id.strip(), environment.get(CLIENT_SECRET) or None)


def _has_browser(environment: Mapping[str, str]) -> bool:
    """Whether a browser can be opened that does not take the terminal away."""
    if sys.platform in ("win32", "darwin") or environment.get("BROWSER"):
        return True
    return bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


class _Screen:
    """What a person sees of a login, and types."""

    def __init__(self, name: str, *, opens_browser: bool) -> None:
        self._name = name
        self._opens_browser = opens_browser

    async def show_address(self, url: str) -> None:
        from amplifier_guard import TerminalText

        if self._opens_browser:
            show_notice(f"the browser opens to log in to `{self._name}`; if it does not, open:")
        else:
            show_notice(f"to log in to `{self._name}`, open in a browser:")
        # As it is: what looks like a key in it is for the person.
        write_notice(f"\n{TerminalText.line(url, _MAX_ADDRESS_CHARS)}\n")
        if self._takes_answer:
            show_notice("if the page that it ends at cannot be shown, paste its address here:")
        if self._opens_browser:
            open_browser = partial(webbrowser.open, url)
            # Some browsers end only with their page.
            if not await anyio.to_thread.run_sync(open_browser, abandon_on_cancel=True):
                show_notice("no browser could be opened")

    async def read_answer(self) -> str:
        """Return a line that is typed; wait for ever where nobody types."""
        if self._takes_answer:
            while line := await _read_line():
                if line.strip():
                    return line
        return await asyncio.get_running_loop().create_future()

    @property
    def _takes_answer(self) -> bool:
        if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]  # closed at start
            return False
        return not self._opens_browser or sys.stdin.isatty()


async def _read_line() -> str:
    """Return the next line of standard input, in a thread that nobody waits for; empty at the end."""
    loop = asyncio.get_running_loop()
    line: asyncio.Future[str] = loop.create_future()

    def hand_on(text: str) -> None:
        if not line.done():
            line.set_result(text)

    def read() -> None:
        try:
            text = sys.stdin.readline()
        except (OSError, ValueError):
            text = ""
        try:
            loop.call_soon_threadsafe(hand_on, text)
        except RuntimeError:
            return  # the login has ended otherwise

    threading.Thread(target=read, name="answer", daemon=True).start()
    return await line
