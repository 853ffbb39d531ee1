"""What is raised where a session cannot be stored or read."""

from __future__ import annotations


class StoreError(Exception):
    """The store cannot do what it was asked."""


class UnknownSessionError(StoreError):
    """There is no such session."""

    def __init__(self, session_id: str) -> None:
        """Name the session."""
        super().__init__(f"no session `{session_id}` is stored")
        self.session_id = session_id


class SessionExistsError(StoreError):
    """There is a session of this id already."""

    def __init__(self, session_id: str) -> None:
        """Name the session."""
        super().__init__(f"a session `{session_id}` is stored already (must be a new id)")
        self.session_id = session_id


class StaleOwnerError(StoreError):
    """Somebody else has claimed the session since: this owner may write no more."""

    def __init__(self, session_id: str, epoch: int, found: int) -> None:
        """Name the session.

        Args:
            session_id: Its id.
            epoch: That of the claim which is over.
            found: That of the claim which holds now.
        """
        super().__init__(
            f"session `{session_id}` was taken over: this process claimed it as number {epoch},"
            f" and number {found} holds it now"
        )
        self.session_id = session_id
        self.epoch = epoch


class DamagedSessionError(StoreError):
    """What is stored of a session is not what was written."""

    def __init__(self, session_id: str, number: int, problem: str) -> None:
        """Name the session, the first event that cannot be used, and the way out.

        Args:
            session_id: Its id.
            number: The number of the event; 0 where the session itself cannot be read.
            problem: What is wrong.
        """
        where = f" at event {number}" if number else ""
        command = f"amplifier-core session verify {session_id}` says all that is wrong"
        if number > 1:
            command = (
                f"amplifier-core session export {session_id} --until {number - 1}` writes what is"
                " before it"
            )
        super().__init__(f"session `{session_id}` is damaged{where}: {problem}; `{command}")
        self.session_id = session_id
        self.number = number
        self.problem = problem


class NewerStoreError(StoreError):
    """A newer version has written this."""

    def __init__(self, place: str, found: int, known: int) -> None:
        """Name the file or database.

        Args:
            place: Where it is.
            found: The number of its schema.
            known: The last number that this version can read.
        """
        super().__init__(
            f"`{place}` has schema {found}, and this version reads up to {known}: it was written by"
            " a newer one, which can read it"
        )


class UnreachableStoreError(StoreError):
    """The server of the store cannot be reached, or does not answer."""


class RefusedStoreError(UnreachableStoreError):
    """The server of the store does not let this user in, or has no such database."""


class MissingSchemaError(StoreError):
    """The database has no tables for sessions, or older ones."""
