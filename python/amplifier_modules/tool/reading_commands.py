"""The commands of a shell that only read, whatever their arguments are that `ShellPolicy` lets pass."""

READING = (
    "cat",
    "cut",
    "diff",
    "echo",
    "file",
    "find",
    "git blame",
    "git diff",
    "git log",
    "git show",
    "git status",
    "grep",
    "head",
    "ls",
    "pwd",
    "rg",
    "sort",
    "stat",
    "tail",
    "tree",
    "uniq",
    "wc",
    "which",
)
"""Commands that only read."""
