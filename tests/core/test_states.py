"""The state machine: what may follow what."""

from tasks_app.core.states import ACTIVE, FINAL, TRANSITIONS, UNFINISHED, Status, is_legal


def test_every_status_has_its_transitions() -> None:
    assert set(TRANSITIONS) == set(Status)


def test_nothing_leaves_a_final_status_and_everything_else_can_go_on() -> None:
    assert {status for status in Status if not TRANSITIONS[status]} == FINAL


def test_no_status_follows_itself() -> None:
    assert not any(is_legal(status, status) for status in Status)


def test_only_a_dead_task_comes_back_from_what_is_not_unfinished() -> None:
    over = set(Status) - UNFINISHED
    assert {before for before in over for after in UNFINISHED if is_legal(before, after)} == {
        Status.DEAD
    }


def test_an_active_task_can_always_be_taken_back() -> None:
    assert all(is_legal(status, Status.PENDING) for status in ACTIVE)


def test_every_status_can_be_reached_from_the_first() -> None:
    reached: set[Status] = set()
    pending = [Status.PENDING]
    while pending:
        status = pending.pop()
        if status not in reached:
            reached.add(status)
            pending += TRANSITIONS[status]
    assert reached == set(Status)


def test_work_completes_only_from_running_and_a_join_from_pending() -> None:
    completing = [status for status in Status if is_legal(status, Status.COMPLETED)]
    assert completing == [Status.PENDING, Status.RUNNING]
