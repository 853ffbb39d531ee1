"""Calls of Windows about files that the extension has no safe way to make."""

from __future__ import annotations

import sys

if sys.platform != "win32":
    raise ImportError("these calls are those of Windows")

import ctypes
import os
from collections.abc import Generator
from contextlib import contextmanager
from ctypes import wintypes
from importlib import import_module
from typing import Any

# Of unknown type: what is published as theirs takes handles for numbers, and lists for nothing.
pywintypes: Any = import_module("pywintypes")
win32file: Any = import_module("win32file")
win32security: Any = import_module("win32security")

# Not that of `pywin32`, which takes its first two arguments in the order opposite to their names.
_replace_file = ctypes.WinDLL("kernel32", use_last_error=True).ReplaceFileW
_replace_file.argtypes = [
    wintypes.LPCWSTR,
    wintypes.LPCWSTR,
    wintypes.LPCWSTR,
    wintypes.DWORD,
    wintypes.LPVOID,
    wintypes.LPVOID,
]
_replace_file.restype = wintypes.BOOL


def copy_access(old: str, new: str) -> None:
    """Give a file the owner, the access list and the attributes of another one.

    Raises:
        OSError: It cannot have them.
    """
    parts = win32security.OWNER_SECURITY_INFORMATION | win32security.DACL_SECURITY_INFORMATION
    kind = win32security.SE_FILE_OBJECT
    with _as_os_error(new):
        wanted = win32security.GetNamedSecurityInfo(old, kind, parts)
        found = win32security.GetNamedSecurityInfo(new, kind, parts)
        control, _ = wanted.GetSecurityDescriptorControl()
        # Whether it has no entries from the folder, which would come back else.
        if control & win32security.SE_DACL_PROTECTED:
            changed = win32security.PROTECTED_DACL_SECURITY_INFORMATION
        else:
            changed = win32security.UNPROTECTED_DACL_SECURITY_INFORMATION
        changed |= win32security.DACL_SECURITY_INFORMATION
        owner = wanted.GetSecurityDescriptorOwner()
        if owner != found.GetSecurityDescriptorOwner():
            changed |= win32security.OWNER_SECURITY_INFORMATION
        win32security.SetNamedSecurityInfo(
            new, kind, changed, owner, None, wanted.GetSecurityDescriptorDacl(), None
        )
        win32file.SetFileAttributesW(new, win32file.GetFileAttributesW(old))


def replace_file(old: str, new: str, aside: str) -> None:
    """Put a file in the place of another one, whose other streams and access list it gets, too.

    Args:
        old: The other one.
        new: The file.
        aside: A name that the other one gets, in the same folder.

    Raises:
        OSError: It cannot be, or something cannot be kept.
    """
    if not _replace_file(old, new, aside, 0, None, None):
        raise ctypes.WinError(ctypes.get_last_error())


def rename_file(old: str, new: str) -> None:
    """Give a file another name.

    Raises:
        OSError: It cannot have it, or another one has it.
    """
    os.rename(old, new)


@contextmanager
def _as_os_error(path: str) -> Generator[None]:
    try:
        yield
    except pywintypes.error as error:
        raise OSError(None, error.strerror, path, error.winerror) from error
