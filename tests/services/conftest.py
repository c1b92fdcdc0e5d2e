"""A night in miniature: kinds, workers and tasks on the real record, moved by hand."""

import pytest

from tests.floor import Floor


@pytest.fixture
def floor(record: None) -> Floor:
    """A shop floor whose writes commit."""
    return Floor()
