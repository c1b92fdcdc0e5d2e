"""Silence is judged by the record, and only while the record can be read."""

from django.db import OperationalError

from controlplane.silence import START_SECONDS, SilenceWatch

BEAT = 5.0
BEATS = 3


class Record:
    """The age of the last round as the watch reads it, on a clock that the test moves."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.age: float | None = 0.0
        self.reachable = True
        self.watch = SilenceWatch(BEATS, beat_seconds=BEAT, age=self.read, clock=lambda: self.now)

    def read(self) -> float | None:
        if not self.reachable:
            raise OperationalError("server closed the connection")
        return self.age

    def fault_after(self, seconds: int, running: float = 0.0) -> int | None:
        """Look once a second; return after how many seconds a fault was found."""
        for second in range(seconds):
            self.now += 1.0
            if self.watch.fault(running + second):
                return second
        return None


def test_rounds_on_record_keep_a_child() -> None:
    record = Record()
    record.age = BEATS * BEAT
    assert record.fault_after(300) is None


def test_a_record_silent_for_more_than_three_beats_replaces_the_child() -> None:
    record = Record()
    record.age = BEATS * BEAT + 1.0
    found = record.fault_after(300, running=1000.0)
    assert found is not None
    assert BEATS * BEAT <= found <= BEATS * BEAT + BEAT


def test_a_record_without_any_round_is_silent_too() -> None:
    record = Record()
    record.age = None
    assert record.fault_after(300) is not None


def test_a_new_child_is_given_time_to_start() -> None:
    record = Record()
    record.age = 1000.0
    found = record.fault_after(300)
    assert found is not None
    assert found >= START_SECONDS + BEATS * BEAT - BEAT


def test_an_outage_of_the_database_is_not_held_against_the_child() -> None:
    record = Record()
    record.fault_after(100, running=1000.0)
    record.reachable = False
    assert record.fault_after(100, running=1100.0) is None
    record.reachable = True
    record.age = 100.0
    # The child gets the whole time again to record a round after the outage.
    assert record.fault_after(int(BEATS * BEAT) - 1, running=1200.0) is None
    record.age = 0.5
    assert record.fault_after(100, running=1300.0) is None
