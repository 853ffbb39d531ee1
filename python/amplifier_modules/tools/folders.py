"""The paths of tools: those of the project, and of folders that a person has added."""

from __future__ import annotations

import os
from typing import Any

from amplifier_guard import PathDenied, PathPolicy

from .added_folders import AddedFolders


class Folders:
    """Judges each path by the `PathPolicy` of the folder that it lies in; has the methods of one.

    Paths in an added folder are absolute, in what it takes and in what it returns; all others are
    those of the project.
    """

    def __init__(
        self, project: PathPolicy, added: AddedFolders, *, with_secrets: bool = False
    ) -> None:
        """Judge by this policy, and by one for each added folder.

        Args:
            project: That of the project.
            added: The folders, which may become more.
            with_secrets: Whether files with secrets are read, too.
        """
        self._project = project.with_secrets() if with_secrets else project
        self._added = added
        self._with_secrets = with_secrets
        self._policies: dict[str, PathPolicy] = {}

    @property
    def root(self) -> str:
        """The canonical path of the project."""
        return self._project.root

    def with_secrets(self) -> Folders:
        """Return the same that also reads files that hold secrets."""
        return Folders(self._project, self._added, with_secrets=True)

    def rename(self, path: str, new_path: str, **options: Any) -> str:
        """Give a file another path in the same folder; see `PathPolicy.rename`."""
        (policy, folder, old), (other, _, new) = self._find(path), self._find(new_path)
        if policy is not other:
            raise PathDenied(f"`{path}` cannot be moved to another folder: write `{new_path}` anew")
        return _name_in(folder, policy.rename(old, new, **options))

    def walk(self, path: str = ".", **options: Any) -> Any:
        """Return the files beneath a path; see `PathPolicy.walk`."""
        policy, folder, inner = self._find(path)
        return _Found(policy.walk(inner, **options), folder)

    def search(self, expression: str, path: str = ".", **options: Any) -> Any:
        """Search the lines of the files beneath a path; see `PathPolicy.search`."""
        policy, folder, inner = self._find(path)
        return _Found(policy.search(expression, inner, **options), folder)

    def __getattr__(self, name: str) -> Any:
        """Return another method of `PathPolicy`, whose first argument is a path."""
        if name.startswith("_"):
            raise AttributeError(name)

        def call(path: str = ".", *arguments: Any, **options: Any) -> Any:
            policy, folder, inner = self._find(path)
            found = getattr(policy, name)(inner, *arguments, **options)
            return _name_in(folder, found) if isinstance(found, str) else found

        return call

    def _find(self, path: str) -> tuple[PathPolicy, str, str]:
        """Return the policy of a path, the added folder that it lies in, and what to ask that for."""
        text = os.fspath(path)
        whole = os.path.normpath(os.path.join(self.root, text))
        for folder in self._added.paths:
            if whole == folder or whole.startswith(f"{folder}{os.sep}"):
                if folder not in self._policies:
                    policy = PathPolicy(folder)
                    self._policies[folder] = policy.with_secrets() if self._with_secrets else policy
                return self._policies[folder], folder, whole
        return self._project, "", text


class _Found:
    """What was found in an added folder, with absolute paths."""

    def __init__(self, found: Any, folder: str) -> None:
        self._found = found
        self._folder = folder

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._found, name)
        if name not in ("files", "lines") or not self._folder:
            return value
        return [(_name_in(self._folder, each[0]), *each[1:]) for each in value]


def _name_in(folder: str, path: str) -> str:
    return os.path.normpath(os.path.join(folder, path)) if folder else path
