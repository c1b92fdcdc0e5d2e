"""Nights in which transactions meet at every statement, each replayable by its seed."""

from collections import Counter
from collections.abc import Iterable, Iterator

import pytest

from tests.simulation.interleaved import interleave
from tests.simulation.virtual_record import virtual_clock

FAILED_ONCE: tuple[int, ...] = ()
"""Seeds that found a fault, kept for good."""


@pytest.fixture
def clock(record: None) -> Iterator[None]:
    """The record on a virtual clock."""
    with virtual_clock():
        yield


def run(seeds: Iterable[int]) -> Counter[str]:
    """Run seeds, naming the one that fails; count what happened in them."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        try:
            _, outcome, stage = interleave(seed)
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
        seen.update(status for status, _, _ in outcome)
        seen.update({"waits": stage.waits, "cuts": stage.cuts, "deadlocks": stage.deadlocks})
    return seen


def test_the_same_seed_replays_the_same_meetings(clock: None) -> None:
    assert interleave(3)[:2] == interleave(3)[:2]


@pytest.mark.timeout(300)
def test_nights_whose_transactions_meet_at_every_statement_break_no_promise(clock: None) -> None:
    seen = run((*FAILED_ONCE, *range(8)))
    assert seen["COMPLETED"] > 20, "they did get work done"
    assert seen["waits"] > 3, "statements did wait for locks of others, but those of whoever leads"
    assert seen["cuts"] > 0, "transactions were cut off in the middle"


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_many_nights_whose_transactions_meet_break_no_promise(clock: None) -> None:
    run(range(8, 408))
