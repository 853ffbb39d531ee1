"""What modules do to the process of the command: they print, and they may end it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Generator

from amplifier_app.failure import Failure


@contextlib.contextmanager
def contained() -> Generator[None]:
    """Send what modules print to standard error, and turn `sys.exit` of a module into an error.

    Standard output holds the answer, or the JSON lines, and nothing else.

    Raises:
        Failure: A module called `sys.exit`.
    """
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    except SystemExit as error:
        from amplifier_core._kernel.import_failure import describe_failure

        message = f"a module ended the program: {describe_failure(error)}"
        hint = "remove the module, or its call of `sys.exit`"
        raise Failure(message, hint=hint) from error
