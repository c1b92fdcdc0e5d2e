"""How the supervisor's leader works bulks through: a batch a round, in a fenced transaction.

What became of a batch is written with the batch, so a leader that dies leaves it undone as a whole,
and its successor goes on where the record says.
"""

from typing import Final

from tasks_app.core.actions.bulks import (
    LAST_WATCH_SECONDS,
    OPEN,
    BulkAction,
    BulkState,
    Verdict,
    cut_by_edges,
    judge_wave,
    next_batch,
    to_watch,
    watch_pause,
    wave_end,
    wave_of,
)
from tasks_app.services.actions.batch_actions import act
from tasks_app.services.isolation import apart
from tasks_app.store.actions import bulks
from tasks_app.store.actions.bulks import BulkTurn
from tasks_app.store.reads.actions.bulks import any_completed, first_back, list_sent

BUSY_SECONDS: Final = 1.0
"""Until the next look at a bulk of whose next tasks somebody else has locked each."""

ANOTHER_LIFE: Final = "It was requeued by somebody else meanwhile, and is left as it is now."
GONE: Final = "There is no such task any more."
NOT_POSSIBLE: Final = "The database refused the change. The supervisor's log has the error."
NOT_BACK: Final = "Every wave was watched to its end: the same error did not come back."
NONE_COMPLETED: Final = "The same error did not come back, but nothing of the last wave completed."
NOT_ENDED: Final = (
    "The same error has not come back, but some of the last wave had not ended after an hour."
)


def advance_bulk() -> int:
    """Take the bulk whose turn it is one batch further; return how many tasks it dealt with.

    What a canary finds ended counts as dealt with too.
    """
    turn = bulks.take_due()
    if turn is None:
        return 0
    if turn.canary and turn.place:
        goes_on, found = _watch(turn)
        if not goes_on:
            return found
    end = _free_batch(turn)
    if end == turn.place:
        bulks.look_later(turn.id, BUSY_SECONDS)
        return 0
    _deal(turn, end)
    # A canary ends when its last wave has been watched as well.
    if end == turn.total and not turn.canary:
        bulks.finish(turn.id, BulkState.DONE, "", sorted(OPEN))
    return end - turn.place


def _watch(turn: BulkTurn) -> tuple[bool, int]:
    """Whether to send another batch, and how many tasks were found ended first."""
    is_out = turn.place == turn.total
    look = to_watch(turn.place, turn.watched, turn.total)
    sent = list_sent(turn.id, *look) if look else first_back(turn.id, turn.place)
    verdict, why = judge_wave(sent, last=is_out or look is None)
    if verdict is Verdict.STOP:
        state = BulkState.CAME_BACK if is_out else BulkState.STOPPED
        bulks.finish(turn.id, state, why, sorted(OPEN))
        return False, 0
    if verdict is Verdict.WAIT:
        _wait(turn)
        return False, 0
    if look is not None:
        bulks.watched_to(turn.id, look[1])
    seen = look is None or look[1] == turn.place
    if is_out and seen:
        bulks.finish(turn.id, BulkState.DONE, _well(turn), sorted(OPEN))
    return seen and not is_out, look[1] - look[0] if look else 0


def _wait(turn: BulkTurn) -> None:
    if turn.sent_for is not None and turn.sent_for > LAST_WATCH_SECONDS:
        bulks.finish(turn.id, BulkState.DONE, NOT_ENDED, sorted(OPEN))
    else:
        bulks.look_later(turn.id, watch_pause(turn.sent_for))


def _well(turn: BulkTurn) -> str:
    last = wave_of(turn.total - 1)
    first = wave_end(last - 1, turn.total) if last else 0
    return NOT_BACK if any_completed(turn.id, first) else NONE_COMPLETED


def _free_batch(turn: BulkTurn) -> int:
    """The place behind the next batch; tasks that somebody else has locked stand behind it."""
    end = next_batch(turn.place, turn.total, canary=turn.canary)
    items = bulks.lock_items(turn.id, turn.place, end)
    if turn.action is BulkAction.REQUEUE:
        end = cut_by_edges(end, [(item.place, item.edges) for item in items])
    busy = {item.place for item in items if item.place < end and not item.locked}
    if busy:
        bulks.move_behind(turn.id, turn.place, end, busy)
    return end - len(busy)


def _deal(turn: BulkTurn, end: int) -> None:
    locked = bulks.lock_items(turn.id, turn.place, end)
    outcomes: dict[int, str | None] = dict.fromkeys(range(turn.place, end), GONE)
    outcomes |= {item.place: ANOTHER_LIFE for item in locked if not item.as_it_was}
    meant = {item.task_id: item.place for item in locked if item.as_it_was}
    # What cannot be changed is said on the bulk's page, and the log has why.
    outcomes |= dict.fromkeys(meant.values(), NOT_POSSIBLE)
    parts = apart(
        f"bulk {turn.id}: task", list(meant), lambda some: act(turn.action, some, turn.params), str
    )
    for moved, refused in parts:
        outcomes |= {meant[task_id]: None for task_id in moved}
        outcomes |= {meant[task_id]: why for task_id, why in refused.items()}
    bulks.advance(turn.id, turn.place, [outcomes[place] for place in range(turn.place, end)])
