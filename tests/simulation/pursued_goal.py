"""The goal of a session: it is pursued until a judge says that it is reached, and no further."""

from __future__ import annotations

import json

from broken import BrokenPromiseError

REACHED = json.dumps({"reached": True, "reason": "it is there"})
NOT_REACHED = json.dumps({"reached": False, "reason": "something is missing"})


class PursuedGoal:
    """What judges have said in the running turn of one session."""

    def __init__(self) -> None:
        """Begin with no turn."""
        self.is_reached = False
        """Whether the last judge said so."""
        self._rounds = 1

    def begin_turn(self) -> None:
        """Begin a turn."""
        self.is_reached, self._rounds = False, 1

    def note_judgement(self, answer: str) -> None:
        """Note what a judge has said."""
        self.is_reached = answer == REACHED

    def note_round(self, most: int) -> None:
        """Note that the model is told to go on.

        Args:
            most: How many answers may be judged.

        Raises:
            BrokenPromiseError: It is told so once too often.
        """
        self._rounds += 1
        if self._rounds > most:
            raise BrokenPromiseError(f"round {self._rounds} of a goal, which may have {most}")

    def check_request(self) -> None:
        """Check that the conversation may go on.

        Raises:
            BrokenPromiseError: The goal is reached.
        """
        if self.is_reached:
            raise BrokenPromiseError("a model is asked to go on, and the goal is reached")

    def check_end(self, verdict: str) -> None:
        """Check the verdict of the result.

        Raises:
            BrokenPromiseError: It is `reached`, and no judge said so.
        """
        if verdict == "reached" and not self.is_reached:
            raise BrokenPromiseError("a goal is told to be reached, and no judge said so")
