"""How a shell is told to run a text, and to say where it is at its end."""

from __future__ import annotations

from shutil import which

DIRECTORY_FD = 250
"""The file descriptor that it writes its working folder to: a number that scripts do not use.

`sh` knows only numbers of one digit, and does not say.
"""
_SAY_DIRECTORY = f"trap 'pwd -P >&{DIRECTORY_FD}' EXIT; "


def shell_arguments(text: str) -> list[str]:
    """Return the program and arguments that run a text without any file of settings."""
    bash = which("bash")
    if bash is None:
        return ["/bin/sh", "-c", text]
    # On the same line: the shell counts the lines of a text in its messages.
    return [bash, "--noprofile", "--norc", "-c", _SAY_DIRECTORY + text]
