"""One execution has at most one report, whatever happens to it in whatever order."""

from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from tasks_app.sdk.effects import OwnRecord
from tasks_app.sdk.handlers import Handler
from tasks_app.sdk.in_flight import NEVER, Execution, InFlight
from tasks_app.sdk.link import Completion, Failure, Grant
from tasks_app.sdk.outcomes.outcomes import ABANDONED, Done, LetGo, Outcome, Report, Stop, Stopped

WORKER = uuid4()


def _execution(token: int = 1, timeout: float = 10.0, own: float | None = None) -> Execution:
    grant = Grant(uuid4(), token, "job", None, 1, "key", timeout)
    handler = Handler("job", lambda payload, ctx: None, timeout=own)
    return Execution(WORKER, grant, handler, OwnRecord())


def _table(now: float = 0.0) -> InFlight:
    return InFlight(4, lambda: now, lambda: None)


EVENTS = st.lists(
    st.one_of(st.sampled_from(["begin", "time out", "let go"]), st.sampled_from(Stop)), max_size=6
)


@given(EVENTS, st.sampled_from([Done("result"), Stopped()]))
def test_an_execution_is_reported_at_most_once(events: list[str], outcome: Outcome) -> None:
    table, execution = _table(), _execution()
    table.add([execution])
    reports: list[Report | None] = []
    for event in events:
        if isinstance(event, Stop):
            table.mark_stopped(execution, event, NEVER)
        elif event == "begin":
            table.begin(execution)
        elif event == "time out":
            reports.append(table.time_out(execution))
        else:
            reports += [report for _, report in table.let_go()]
    lost = execution.stop in ABANDONED
    before = [report for report in reports if report is not None]
    reports.append(table.end(execution, outcome))
    said = [report for report in reports if report is not None]
    assert len(said) <= 1
    assert table.free == 4
    assert table.unreported == len(said)
    # Whoever still holds the lease owes the control plane a word; a handler that gave way to the
    # loss of its lease owes none.
    assert said or lost or (outcome == Stopped() and execution.stop is None)
    # What was decided before the loss stays named until it is accepted; nothing else is.
    assert bool(table.names(WORKER)) == (bool(before) or (bool(said) and not lost))
    table.settle([execution.grant.token])
    assert table.names(WORKER) == []


def test_shorter_of_the_two_timeouts_counts() -> None:
    assert _execution(timeout=10, own=None).timeout == 10
    assert _execution(timeout=10, own=3).timeout == 3
    assert _execution(timeout=10, own=30).timeout == 10


def test_stopped_execution_does_not_begin() -> None:
    table, execution = _table(), _execution()
    table.add([execution])
    assert table.mark_stopped(execution, Stop.CANCEL, NEVER)
    assert not table.begin(execution)
    assert isinstance(table.end(execution, Stopped()), LetGo)


def test_timeout_of_what_never_began_lets_it_go() -> None:
    table = _table()
    begun, waiting = _execution(1), _execution(2)
    table.add([begun, waiting])
    table.begin(begun)
    assert isinstance(table.time_out(begun), Failure)
    assert isinstance(table.time_out(waiting), LetGo)
    assert table.zombies == 2


def test_result_of_a_lost_lease_is_said_but_not_named() -> None:
    table, execution = _table(), _execution()
    table.add([execution])
    table.begin(execution)
    table.mark_stopped(execution, Stop.LOST, NEVER)
    assert table.names(WORKER) == []
    assert isinstance(table.end(execution, Done(1)), Completion)
    assert table.names(WORKER) == []
    assert table.unreported == 1


def test_deadline_before_the_next_look_hurries_the_watch() -> None:
    hurried: list[bool] = []
    table = InFlight(1, lambda: 100.0, lambda: hurried.append(True))
    table.watched_until = 105.0
    late, soon = _execution(1, timeout=10.0), _execution(2, timeout=2.0)
    table.add([late, soon])
    table.begin(late)
    assert not hurried
    table.begin(soon)
    assert hurried == [True]
