"""Lines of builtins with words that a shell may evaluate, and the installed shells that run them."""

from __future__ import annotations

import random
import shlex
import shutil
import subprocess
from pathlib import Path

from shell_tables import read_tables

from amplifier_guard import ShellDenied, ShellPolicy

LIST_BUILTINS = {
    "bash": "compgen -b",
    "zsh": "print -l ${(k)builtins}",
    "ksh": "builtin",
    "mksh": "",
    "dash": "",
}
"""How each shell is asked for its builtins, if it can be."""
SHELLS = [name for name in LIST_BUILTINS if shutil.which(name)]

WORDS = [
    "a", "PATH", "5", "-3", "0x1f", "", "x y", "'A", "-", "--", "-v", "-t", "-n", "=", "!=", "(", ")", "!",
    "-eq", "-lt", "-ge", "-ef", "-nt", "-a", "-o", "-f", "-z", "-x", "-p",
    "%d", "%s", "%s\\n", "%b", "%c", "%q", "%5d|%s", "%*s", "%.*f", "%-8s%x\\n", "%n", "%(%F)T", "%B", "%2$s",
    "%1$*2$s", "%%%d", "\\u0025d", "\\045d", "\\c%d", "%", "%'d", "%hhd", "%ld", "%5%d", "%b%i",
]  # fmt: skip
EVALUATED = [
    "a[$(id>{mark})]", "PATH[$(id>{mark})]", "_[`id>{mark}`]", "$(id>{mark})", "`id>{mark}`",
    "a[$(id>{mark})]=1", "argv[$(id>{mark})]", "RANDOM[0$(id>{mark})]", "PATH=5", "PATH++", "PATH+=7", "x,PATH=5",
]  # fmt: skip
"""Words that leave a mark or change `PATH` where a shell evaluates them. All are paths, too."""


def builtins_of(shell: str) -> set[str]:
    """The builtins of a shell that have a table here; a shell that cannot list them has them all."""
    tables = {name for name in read_tables() if not name.startswith("@")}
    if not (listing := LIST_BUILTINS[shell]):
        return tables & set().union(*(builtins_of(name) for name in SHELLS if LIST_BUILTINS[name]))
    ran = subprocess.run([shell, "-c", listing], capture_output=True, text=True, check=True)
    return tables & {line.rsplit("/", 1)[-1] for line in ran.stdout.split("\n")}


def make_lines(names: set[str], count: int, mark: Path, seed: int) -> list[str]:
    """Lines of these builtins, with words that a shell may evaluate among others."""
    picked = random.Random(seed)
    evaluated = [word.replace("{mark}", str(mark)) for word in EVALUATED]
    lines: list[str] = []
    for _ in range(count):
        words = picked.choices(WORDS, k=picked.randint(0, 4))
        words.insert(picked.randint(0, len(words)), picked.choice(evaluated))
        # These evaluate most.
        name = picked.choice([*sorted(names), "printf", "test", "printf", "test"])
        lines.append(shlex.join([name, *words]))
    return lines


def passing(lines: list[str], root: Path) -> list[str]:
    """The lines that run without a person if the names of their programs are allowed."""
    policy = ShellPolicy(sorted({line.split()[0] for line in lines}), root=root)

    def passes(line: str) -> bool:
        try:
            return bool(policy.check(line))
        except ShellDenied:
            return False

    return [line for line in lines if passes(line)]


def find_acting_lines(shell: str, lines: list[str], folder: Path, mark: Path) -> list[str]:
    """The lines that leave a mark or change `PATH` when `shell` runs them in `folder`."""
    # ksh runs subshells in its own process, and does not bear thousands of them.
    lots = [lines[start : start + 500] for start in range(0, len(lines), 500)]
    return [line for lot in lots for line in _run_lot(shell, lot, folder, mark)]


def _run_lot(shell: str, lines: list[str], folder: Path, mark: Path) -> list[str]:
    each = [
        f'( {line}\n[ "$PATH" = "$KEPT" ] || : > {mark}\n) < /dev/null > /dev/null 2>&1\n'
        f"if [ -e {mark} ]; then rm {mark}; echo {number}; fi\n"
        for number, line in enumerate(lines)
    ]
    ran = subprocess.run(
        [shell],
        input="KEPT=$PATH\n" + "".join(each),
        cwd=folder,
        env={"PATH": "/opt/ast/bin:/usr/bin:/bin", "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert ran.returncode == 0, ran.stderr
    return [lines[int(number)] for number in ran.stdout.split()]
