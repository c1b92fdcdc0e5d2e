"""A made-up record is a sound one, and none is laid over a real one."""

import pytest
from django.core.management import CommandError, call_command

from tasks_app.models import Attempt, Death, Job, Lease, Sample
from tests.floor import Floor


@pytest.fixture
def floor(record: None) -> Floor:
    return Floor()


def test_a_seeded_record_holds_every_invariant_and_counts_what_is_there(floor: Floor) -> None:
    call_command("seed-load", tasks=10_000, verbosity=0)
    floor.assert_counts_are_true()
    floor.assert_invariants()
    for filled in (Attempt, Death, Job, Lease, Sample):
        assert filled.objects.exists(), filled


def test_a_record_that_holds_tasks_is_left_alone(floor: Floor) -> None:
    floor.submit()
    with pytest.raises(CommandError, match="holds tasks already"):
        call_command("seed-load", tasks=10, verbosity=0)
