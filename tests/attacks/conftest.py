"""What attacks begin with: strangers, people, and a count of the hashes that they cost."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.db import connection

from tests.floor import Floor


@dataclass
class Hashes:
    """Each hash that was computed, with whether a database connection was held meanwhile."""

    held: list[bool] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How many there were."""
        return len(self.held)


@pytest.fixture
def hashes(monkeypatch: pytest.MonkeyPatch) -> Hashes:
    """Counts hashes, which take no time here."""
    found = Hashes()

    def encode(self: Any, password: str, salt: str, iterations: int | None = None) -> str:
        found.held.append(connection.connection is not None)
        return f"pbkdf2_sha256${iterations or self.iterations}${salt}${password[::-1]}"

    monkeypatch.setattr(PBKDF2PasswordHasher, "encode", encode)
    return found


@pytest.fixture
def floor(record: None) -> Floor:
    """A shop floor with its supervisor on duty."""
    floor = Floor()
    floor.lead()
    return floor
