"""Many short nights in which everything goes wrong at once, each replayable by its seed."""

from collections import Counter
from collections.abc import Iterable

import pytest

from tests.simulation.world import simulate

FAILED_ONCE: tuple[int, ...] = ()
"""Seeds that found a fault, kept for good."""


def run(seeds: Iterable[int]) -> Counter[str]:
    """Run seeds, naming the one that fails; count how their tasks ended."""
    ended: Counter[str] = Counter()
    for seed in seeds:
        try:
            _, outcome = simulate(seed)
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
        ended.update(status for status, _, _ in outcome)
    return ended


def test_the_same_seed_replays_the_same_run(record: None) -> None:
    for seed in (7, 8):
        assert simulate(seed) == simulate(seed)
    assert simulate(7) != simulate(8)


@pytest.mark.timeout(400)
def test_fifty_nights_of_faults_break_no_promise(record: None) -> None:
    ended = run((*FAILED_ONCE, *range(50)))
    assert ended.keys() >= {"COMPLETED", "DEAD", "CANCELLED", "DISMISSED", "PENDING"}
    assert ended["COMPLETED"] > 100, "they did get work done"


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_two_thousand_nights_of_faults_break_no_promise(record: None) -> None:
    run(range(50, 2050))
