"""A night in miniature: kinds, workers and tasks on the real record, moved by hand."""

from collections.abc import Iterator

import pytest

from tests.floor import Floor


@pytest.fixture
def floor(record: None) -> Iterator[Floor]:
    """A shop floor whose writes commit; whatever a test did, the invariants hold afterwards."""
    floor = Floor()
    yield floor
    floor.assert_invariants()
