"""One turn of a session for the command line, from the mount plan to the exit code."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

from amplifier_app.attached.attaching import make_prompt
from amplifier_app.commands.conversation import Conversation
from amplifier_app.commands.turn import Turn
from amplifier_app.failure import Failure, outcome_of_error, report
from amplifier_app.interrupt import leave
from amplifier_app.notice import show_notice
from amplifier_app.outcome import READER_GONE, Outcome, outcome_of_signal
from amplifier_app.sessions.keeping import describe_queue, show_way_back
from amplifier_app.sessions.mail import watch_mail

if TYPE_CHECKING:
    from amplifier_app.commands.model_choice import AnsweringProvider
    from amplifier_app.commands.order import Order
    from amplifier_app.commands.outcome_line import OutcomeLine
    from amplifier_app.output import Output


async def run_turn(
    order: Order, answering: AnsweringProvider, output: Output, line: OutcomeLine
) -> int:
    """Run one prompt and return the exit code; errors are written to standard error.

    Args:
        order: What to run.
        answering: The provider that answers.
        output: What shows it.
        line: Takes the outcome.

    Returns:
        The exit code. The session is always cleaned up, and an interrupted turn leaves a valid
        history.
    """

    def leave_at_once(exit_code: int) -> NoReturn:
        line.write(outcome_of_signal(turn.interruption.reason, exit_code))
        leave(exit_code)

    session_id = None if order.stored is None else order.stored.id
    conversation = Conversation(order, answering, output, session_id=session_id, is_one_turn=True)
    turn = Turn(
        conversation,
        None if order.goes_on else make_prompt(order.prompt, order.attached),
        leave_at_once,
    )
    output.call_on_failure(turn.stop)
    mail = watch_mail(conversation, lambda: turn)
    with turn.interruption.listen_to_signals():
        outcome = await turn.end()
        mail.cancel()
        queue = await describe_queue(conversation.journal)
        await conversation.close()
        if outcome.has_answer:
            conversation.output.answer(outcome.text)
        conversation.output.finish()
        outcome = _report_outcome(outcome, turn, output.failure)
        line.write(outcome)
    if queue:
        show_notice(queue)
    if output.shows_blocks:
        show_way_back(conversation.stored_id)
    if turn.is_stuck:
        leave(outcome.exit_code)
    return outcome.exit_code


def _report_outcome(outcome: Outcome, turn: Turn, failure: OSError | None) -> Outcome:
    """Report what went wrong, if something did, and return the outcome with it."""
    problem = turn.problem
    if turn.interruption.exit_code and outcome.status == "cancelled":
        return outcome
    if isinstance(failure, BrokenPipeError):
        return replace(outcome_of_signal("standard output was closed"), exit_code=READER_GONE)
    if failure is not None:
        hint = "check where it is redirected to"
        problem = Failure(f"standard output cannot be written: {failure.strerror}", hint=hint)
        outcome = outcome_of_error(problem)
    if problem is not None:
        report(problem)
    return outcome
