"""Keys of providers in the keyring of the system, by the package `keyring` where it is installed."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from amplifier_app.late_imports.keyring_presence import can_have_keyring
from amplifier_app.late_imports.lazy_keyring import find_keyring
from amplifier_app.notice import show_notice

if TYPE_CHECKING:
    import queue

SERVICE = "amplifier-core"
"""The name under which the keyring has the keys; the user name of each is that of its provider."""
EXTRA = "amplifier-core[keyring]"
SECONDS = 30.0
"""How long the keyring may take: it may have to ask a person for its password."""
_SECONDS_IN_SILENCE = 2.0


class KeyringProblem(Exception):
    """The keyring cannot be used; the text says why."""

    def __init__(self, message: str, *, is_absent: bool = False) -> None:
        super().__init__(message)
        self.is_absent = is_absent
        """Whether there is no keyring at all, in which case it holds no key either."""


class SystemKeyring:
    """The keys in the keyring; each is read once, and nothing is imported before the first.

    The keyring runs in a thread of its own: some wait for ever, such as that of a desktop where
    nobody sees its question.

    Args:
        seconds: How long it may take.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._keys: dict[str, str] = {}
        self._lock = threading.Lock()
        self.problem: KeyringProblem | None = None
        """Why the keyring cannot be used, once that is known: it is not asked again."""
        self.in_use: set[str] = set()
        """The providers that got their keys from it."""

    @property
    def is_installed(self) -> bool:
        """Whether there is the package `keyring`."""
        return find_spec("keyring") is not None

    def read(self, provider: str) -> str:
        """Return the key of a provider, empty if there is none.

        Raises:
            KeyringProblem: The keyring cannot be used.
        """
        with self._lock:
            if provider not in self._keys and self.is_installed:
                found: object = self._ask(lambda ring: ring.get_password(SERVICE, provider))
                if found is not None and not isinstance(found, str):
                    raise self._remember_problem(f"it answered with a `{type(found).__name__}`")
                self._keys[provider] = (found or "").strip()
            return self._keys.get(provider, "")

    def write(self, provider: str, key: str) -> None:
        """Keep a key in the place of the one that is there.

        Raises:
            KeyringProblem: The keyring cannot be used.
        """

        def is_kept(ring: Any) -> bool:
            ring.set_password(SERVICE, provider, key)
            return ring.get_password(SERVICE, provider) == key

        with self._lock:
            # A keyring that is turned off takes a key without a word.
            if not self._ask(is_kept, secret=key):
                raise self._remember_problem("it did not keep the key")
            self._keys[provider] = key

    def remove(self, provider: str) -> None:
        """Remove the key of a provider.

        Raises:
            KeyringProblem: The keyring cannot be used.
        """
        with self._lock:
            self._ask(lambda ring: ring.delete_password(SERVICE, provider))
            self._keys[provider] = ""

    def _ask(self, question: Callable[[Any], object], secret: str = "") -> object:
        """Put a question to the keyring, unless it is known that it cannot be used.

        Args:
            question: Asks a backend.
            secret: What no error may show.
        """
        if self.problem is not None:
            raise self.problem
        # Whoever has imported it may have chosen a backend, too.
        is_fresh = self.is_installed and "keyring" not in sys.modules
        if is_fresh and not can_have_keyring(os.environ):
            self.problem = _no_keyring()
            raise self.problem
        import queue

        answers: queue.SimpleQueue[tuple[object, BaseException | None]] = queue.SimpleQueue()

        def ask_keyring() -> None:
            try:
                answers.put((question(find_keyring()), None))
            except BaseException as error:  # noqa: BLE001 - a backend may raise, or exit, as it likes
                answers.put((None, error))

        threading.Thread(target=ask_keyring, name="keyring", daemon=True).start()
        answer, error = self._wait(answers)
        if error is not None:
            raise self._problem_of(error, secret) from (None if secret else error)
        return answer

    def _wait(
        self, answers: queue.SimpleQueue[tuple[object, BaseException | None]]
    ) -> tuple[object, BaseException | None]:
        import queue

        silent = min(_SECONDS_IN_SILENCE, self._seconds)
        try:
            return answers.get(timeout=silent)
        except queue.Empty:
            pass
        if silent < self._seconds:
            show_notice("waiting for the system keyring, which may ask for its password")
        try:
            return answers.get(timeout=max(0.0, self._seconds - silent))
        except queue.Empty:
            raise self._remember_problem(f"it did not answer within {self._seconds:g} s") from None

    def _problem_of(self, error: BaseException, secret: str) -> KeyringProblem:
        names = {ancestor.__name__ for ancestor in type(error).__mro__}
        if isinstance(error, ModuleNotFoundError) and error.name == "keyring":
            message = f"`keyring` is not installed: `pip install '{EXTRA}'`"
            self.problem = KeyringProblem(message, is_absent=True)
            return self.problem
        if "NoKeyringError" in names:
            self.problem = _no_keyring()
            return self.problem
        if "KeyringLocked" in names:
            return self._remember_problem("it is locked")
        line = str(error).strip().partition("\n")[0]
        line = line.replace(secret, "…") if secret else line
        return self._remember_problem(
            f"{type(error).__name__}: {line}" if line else type(error).__name__
        )

    def _remember_problem(self, why: str) -> KeyringProblem:
        self.problem = KeyringProblem(f"the system keyring cannot be used: {why}")
        return self.problem


def _no_keyring() -> KeyringProblem:
    return KeyringProblem("this system has no keyring", is_absent=True)


KEYRING = SystemKeyring()
"""The keyring of this process."""
