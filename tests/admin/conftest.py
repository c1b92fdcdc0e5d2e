"""What tests of the admin begin with."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.floor import Floor


@pytest.fixture
def floor(record: None) -> Floor:
    """A shop floor whose writes commit."""
    return Floor()


@pytest.fixture
def admin(record: None) -> Client:
    """Signed in as a superuser."""
    client = Client()
    client.force_login(User.objects.create_superuser("root", "root@example.org", "x"))
    return client


def kind_form(**changes: Any) -> dict[str, Any]:
    """What the form of a kind sends."""
    return {
        "name": "job",
        "description": "",
        "strategy": "",
        "order": "fifo",
        "load": "seconds",
        "estimate_seconds": "1",
        "limit": "",
        "timeout_seconds": "900",
        "max_attempts": "3",
        "backoff_base_seconds": "2",
        "backoff_cap_seconds": "60",
        "backoff_jitter": "0.25",
        "retry_budget": "",
        "poison_after": "3",
        "permanent_errors": "",
        "retryable_errors": "",
        "breaker_failures": "",
        "breaker_window_seconds": "60",
        "breaker_open_seconds": "30",
        "payload_schema": "",
        **changes,
    }
