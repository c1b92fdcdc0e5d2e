"""The floor, for tests of single statements."""

import pytest

from tests.floor import Floor


@pytest.fixture
def floor(record: None) -> Floor:
    """A shop floor whose writes commit."""
    return Floor()
