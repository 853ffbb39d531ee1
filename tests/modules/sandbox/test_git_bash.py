"""Which bash runs commands on Windows."""

from __future__ import annotations

import pytest

from amplifier_modules.sandbox.git_bash import GitBash, find_git_bash

GIT = r"C:\Program Files\Git"
TOOLS = (GIT + r"\mingw64\bin", GIT + r"\usr\bin")
WSL = [
    r"C:\Windows\System32\bash.exe",
    r"C:\WINDOWS\Sysnative\bash.exe",
    r"C:\Users\a\AppData\Local\Microsoft\WindowsApps\bash.exe",
]
INSTALLED = [GIT + r"\cmd\git.exe", GIT + r"\bin\bash.exe", GIT + r"\usr\bin\bash.exe"]
PROGRAMS = {"PROGRAMFILES": r"C:\Program Files", "SYSTEMROOT": r"C:\Windows"}


def find(path: str, files: list[str], **more: str) -> GitBash | None:
    known = {each.lower() for each in files}
    environment = {"PATH": path, **PROGRAMS, **more}
    return find_git_bash(environment, lambda path: path.lower() in known)


# Holds: sandbox-101
@pytest.mark.parametrize(
    "path",
    [
        GIT + r"\bin",
        r"C:\tools;" + GIT + r"\cmd",
        f'"{GIT}\\cmd"',
        GIT + r"\mingw64\bin",
        r"C:\Windows\System32",
        "",
    ],
    ids=["its folder", "git", "quoted", "git itself", "installed", "nothing"],
)
def test_bash_is_that_of_git_for_windows(path: str) -> None:
    files = [*INSTALLED, *WSL, GIT + r"\mingw64\bin\git.exe"]
    assert find(path, files) == GitBash(GIT + r"\bin\bash.exe", TOOLS)


# Holds: sandbox-101
def test_bash_of_wsl_is_never_taken() -> None:
    folders = ";".join(each.removesuffix(r"\bash.exe") for each in WSL)
    assert find(folders, WSL) is None
    assert find(folders + ";" + GIT + r"\usr\bin", [*WSL, *INSTALLED]) == GitBash(
        GIT + r"\usr\bin\bash.exe", TOOLS
    )


# Holds: sandbox-101
@pytest.mark.parametrize("path", [".", "", r"tools", r"\tools", "C:", r"bin;.\bin"])
def test_bash_is_never_looked_for_in_the_project(path: str) -> None:
    files = ["bash.exe", r".\bash.exe", r"tools\bash.exe", r"\tools\bash.exe", r"bin\bash.exe"]
    assert find(path, [*files, "C:bash.exe"]) is None


def test_a_user_may_have_one_alone() -> None:
    place = r"C:\Users\a\AppData\Local"
    program = place + r"\Programs\Git\bin\bash.exe"
    assert find("", [program], LOCALAPPDATA=place) == GitBash(program)


# Holds: sandbox-101
def test_its_programs_are_found_before_those_of_windows() -> None:
    assert GitBash("bash.exe", TOOLS).extend_path(r"C:\Windows") == ";".join(
        [*TOOLS, r"C:\Windows"]
    )
    assert GitBash("bash.exe").extend_path("") == ""
