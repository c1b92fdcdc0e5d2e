"""How the supervisor's leader works bulks through: a batch a round, in a fenced transaction.

What became of a batch is written with the batch, so a leader that dies leaves it undone as a whole,
and its successor goes on where the record says.
"""

from typing import Final

from tasks_app.core.bulks import (
    OPEN,
    WATCH_SECONDS,
    WAVES,
    BulkState,
    Verdict,
    judge_wave,
    next_batch,
    wave_end,
    wave_of,
)
from tasks_app.services.bulk_acts import act
from tasks_app.store import bulks
from tasks_app.store.bulks import BulkTurn
from tasks_app.store.reads.bulks import first_back, list_sent

ANOTHER_LIFE: Final = "It was requeued by somebody else meanwhile, and is left as it is now."
GONE: Final = "There is no such task any more."


def advance_bulk() -> int:
    """Take the bulk whose turn it is one batch further; return how many tasks it dealt with."""
    turn = bulks.take_due()
    if turn is None:
        return 0
    if turn.canary and turn.place and not _may_go_on(turn):
        return 0
    end = next_batch(turn.place, turn.total, canary=turn.canary)
    _deal(turn, end)
    # A canary's last look is when its last wave has gone out: what dies later is seen as ever.
    if end == turn.total:
        bulks.finish(turn.id, BulkState.DONE, "", sorted(OPEN))
    return end - turn.place


def _may_go_on(turn: BulkTurn) -> bool:
    wave = wave_of(turn.place)
    last = wave == len(WAVES) and turn.place > wave_end(wave - 1, turn.total)
    if last:
        sent = first_back(turn.id, turn.place)
    else:
        first = wave_end(wave - 2, turn.total) if wave > 1 else 0
        sent = list_sent(turn.id, first, turn.place)
    verdict, why = judge_wave(sent, last=last)
    if verdict is Verdict.STOP:
        bulks.finish(turn.id, BulkState.STOPPED, why, sorted(OPEN))
    elif verdict is Verdict.WAIT:
        bulks.look_later(turn.id, WATCH_SECONDS)
    return verdict is Verdict.GO_ON


def _deal(turn: BulkTurn, end: int) -> None:
    locked = bulks.lock_items(turn.id, turn.place, end)
    outcomes: dict[int, str | None] = dict.fromkeys(range(turn.place, end), GONE)
    outcomes |= {place: ANOTHER_LIFE for place, _, as_it_was in locked if not as_it_was}
    meant = {task_id: place for place, task_id, as_it_was in locked if as_it_was}
    moved, refused = act(turn.action, list(meant), turn.params)
    outcomes |= {meant[task_id]: None for task_id in moved}
    outcomes |= {meant[task_id]: why for task_id, why in refused.items()}
    bulks.advance(turn.id, end, outcomes)
