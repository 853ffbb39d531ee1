"""What the installed programs themselves say about their options."""

from __future__ import annotations

import os
import re
import subprocess

from amplifier_guard import child_environment

_BY_HELP = [
    "ls",
    "cat",
    "head",
    "tail",
    "wc",
    "stat",
    "file",
    "du",
    "df",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "md5sum",
    "sha256sum",
    "hexdump",
    "od",
    "tree",
    "tar",
    "sort",
    "uniq",
    "cut",
    "cmp",
    "comm",
    "paste",
    "fold",
    "base64",
    "id",
    "free",
    "tr",
    "nl",
    "diff",
    "sed",
    "jq",
    "grep",
    "rg",
    "fd",
    "date",
    "uname",
    "make",
    "pytest",
    "mypy",
    "python3",
]
_OF_GIT = [
    "status",
    "log",
    "show",
    "diff",
    "blame",
    "grep",
    "ls-files",
    "branch",
    "tag",
    "remote",
    "rev-list",
    "describe",
    "shortlog",
    "cat-file",
    "for-each-ref",
    "ls-tree",
    "merge-base",
]
_OF_CARGO = ["check", "build", "test", "clippy", "tree", "metadata", "doc", "fmt"]
_OF_GH = [
    "pr list",
    "pr view",
    "pr status",
    "pr diff",
    "pr checks",
    "run list",
    "run view",
    "issue list",
    "issue view",
]

HELP = {
    **{name: [name, "--help"] for name in _BY_HELP},
    **{f"git {name}": ["git", name, "-h"] for name in _OF_GIT},
    **{f"cargo {name}": ["cargo", name, "--help"] for name in _OF_CARGO},
    **{f"gh {name}": ["gh", *name.split(), "--help"] for name in _OF_GH},
    "curl": ["curl", "--help", "all"],
    "find": ["find", "--help"],
    "xxd": ["xxd", "-h"],
    "ps": ["ps", "--help", "all"],
    "go test": ["go", "help", "testflag"],
    "go build": ["go", "help", "build"],
    "npm ls": ["npm", "ls", "--help"],
    "npm test": ["npm", "test", "--help"],
    "npm run": ["npm", "run", "--help"],
    "ruff check": ["ruff", "check", "--help"],
    "ruff format": ["ruff", "format", "--help"],
    "docker ps": ["docker", "ps", "--help"],
    "kubectl get": ["kubectl", "get", "--help"],
}
"""How each program, or a sub-command of it, is asked for its options."""


_ROW = re.compile(r"^[ \t]*(-{1,2}[A-Za-z0-9?#@.].*)$", re.MULTILINE)
_OPTION = re.compile(r"(?<![\w=\[<'\"(-])(--?[A-Za-z0-9?#](?:[\w.-]*\w)?)(=(?!false)| <)?")


def options_of(command: str) -> dict[str, bool]:
    """The options that a program names at the beginning of a line, and whether a value must follow.

    Raises:
        FileNotFoundError: The program is not installed.
    """
    ran = subprocess.run(
        HELP[command],
        capture_output=True,
        text=True,
        errors="replace",
        env=child_environment(os.environ) | {"LC_ALL": "C", "COLUMNS": "500"},
        stdin=subprocess.DEVNULL,
        check=False,
        timeout=60,
    )
    found: dict[str, bool] = {}
    for row in _ROW.findall((ran.stdout + ran.stderr).replace("--[no-]", "--")):
        # What is said about an option stands behind two blanks or a tab.
        for name, mark in _OPTION.findall(re.split(r"  |\t", row)[0]):
            found[name] = bool(mark) or found.get(name, False)
    return found
