"""`amplifier-core serve`: its tokens, where it listens, and its end."""

from __future__ import annotations

import getpass
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from amplifier_app.commands.serve.place import find_store, make_say, run_until_signal
from amplifier_app.failure import Failure
from amplifier_app.notice import write_notice
from amplifier_app.outcome import WRONG_USAGE
from amplifier_serve.http.tokens import OneToken, TokenFile, TokenFileError, find_token_file

if TYPE_CHECKING:
    from amplifier_app.commands.report import Report


def serve_sessions(
    report: Report,
    host: str,
    port: int,
    place: str | None,
    folders: Sequence[str],
    names: Sequence[str],
    token_file: str | None,
) -> None:
    """Serve until a signal comes.

    Raises:
        Failure: The tokens, the address or the store cannot be used, or a package is missing.
    """
    try:
        from amplifier_serve.http.access import is_loopback
        from amplifier_serve.http.server import Server
    except ModuleNotFoundError as error:
        raise Failure(
            f"the package `{error.name}` is missing",
            hint="install it: `pip install 'amplifier-core[serve]'`",
        ) from error
    say = make_say(report)
    file = find_token_file(os.environ) if token_file is None else Path(token_file).expanduser()
    tokens: TokenFile | OneToken = TokenFile(file)
    try:
        if not tokens.list_tokens() and is_loopback(host):
            tokens = OneToken(_find_user())
    except TokenFileError as error:
        raise Failure(str(error), hint="check `--token-file`", exit_code=WRONG_USAGE) from error
    roots = [str(Path(each).expanduser().resolve()) for each in folders]
    server = Server(find_store(place), tokens, names=names, folders=roots, say=say)
    if isinstance(tokens, OneToken):
        write_notice(f"the token, for as long as this runs: {tokens.token}")
    if not is_loopback(host):
        write_notice("warning: others can reach this server, and tokens are sent in the clear")
    try:
        run_until_signal(lambda: server.run(host, port), server.stop)
    except ValueError as error:
        raise Failure(str(error), exit_code=WRONG_USAGE) from error
    except OSError as error:
        reason = error.strerror or str(error)
        message = f"nothing can listen at `{host}:{port}`: {reason}"
        raise Failure(message, hint="choose another `--port`") from error


def _find_user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "local"
