"""``python -m examples.end_of_day.run``: a day's end on a stack of its own, counted.

Twelve jobs of four steps on real workers. Three steps do their work and stall, one never passes:
11 jobs complete, one is compensated, none is left half-finished. Exit codes: 0 all as promised, 1
something is not, 130 interrupted.
"""

import argparse
import json
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NoReturn

from examples.end_of_day.plans import Day, large_day, plans_of, seed_day
from examples.own_stack import OwnStack, ProcessEnded, own_stack
from tasks_app.core.dispatch.recovery import STEPS
from tasks_app.management.arguments import amount, seconds, whole_number

HANDLERS: Final = "examples.end_of_day.handlers"
SETTINGS: Final[Mapping[str, float | None]] = {
    "backlog": None,
    # A lease that nobody names is found within seconds. A worker that lives must not be taken for
    # dead on a busy machine: its work would be counted as stalled.
    "heartbeat_seconds": 0.5,
    "stale_after_seconds": 20.0,
}
LOOK_SECONDS: Final = 0.1
PROGRESS_SECONDS: Final = 5.0


class DayFailed(Exception):
    """The day cannot come to its end; the message is one sentence."""


def main() -> int:
    """Do the day that the command line asks for."""
    parser = _parser()
    asked = parser.parse_args()
    try:
        day = _day_of(asked)
    except ValueError as error:
        parser.error(str(error))
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        with tempfile.TemporaryDirectory(prefix="chargehand-day-") as folder:
            return _day_in(Path(folder), asked, day)
    except KeyboardInterrupt:
        _say("interrupted; everything has ended")
        return 130
    except (DayFailed, ProcessEnded) as error:
        _say(f"failed: {error}")
        return 1


def _day_of(asked: argparse.Namespace) -> Day:
    if asked.persistent is None and asked.stall is None:
        return seed_day(asked.jobs, asked.stall_at)
    return large_day(asked.jobs, asked.persistent or 0.0, asked.stall or 0.0, asked.stall_at)


def _day_in(folder: Path, asked: argparse.Namespace, day: Day) -> int:
    environment = {"END_OF_DAY_IGNORE_KEY": "1" if asked.ignore_key else ""}
    with own_stack(folder, HANDLERS, environment) as stack:
        from examples.end_of_day import report as reports

        _run(stack, asked, day)
        report = reports.read_report()
        errors = reports.count_errors()
        faults = [] if asked.no_sweep else reports.faults_of(report, day)
    print(json.dumps(report.as_json()) if asked.json else report, flush=True)
    if asked.no_sweep:
        _say(f"{report.half_finished} jobs will never end, and {errors} errors were seen anywhere")
    for fault in faults:
        _say(f"broken promise: {fault}")
    return 1 if faults else 0


def _run(stack: OwnStack, asked: argparse.Namespace, day: Day) -> None:
    """Start everything, submit, wait for the end."""
    from examples.end_of_day import books
    from examples.end_of_day.report import count_open, is_still
    from tasks_app.models import SupervisorSettings
    from tasks_app.services.jobs.jobs import submit_job
    from tasks_app.store.reads.dispatch.counts import count_by_status

    books.open_books()
    SupervisorSettings.objects.update(**SETTINGS)
    if asked.no_sweep:
        stack.start("blind", ["python", "-m", "examples.end_of_day.blind"])
    else:
        stack.start_supervisor()
    for number in range(1, asked.workers + 1):
        stack.start_worker(f"w{number}", asked.slots)
    give_up = time.monotonic() + asked.patience
    _wait(stack, lambda: _count_workers() == asked.workers, give_up, lambda: "workers register")
    for plan in plans_of(day):
        submit_job(plan, submitted_by="end of day")
    _say(f"{day.jobs} jobs of {len(STEPS)} steps submitted to {asked.workers} workers")
    _wait(
        stack,
        is_still if asked.no_sweep else lambda: count_open() == 0,
        give_up,
        lambda: ", ".join(f"{status} {n}" for status, n in count_by_status().items() if n),
    )


def _count_workers() -> int:
    from tasks_app.core.states import WorkerState
    from tasks_app.models import Worker

    return Worker.objects.filter(state=WorkerState.ACTIVE).count()


def _wait(
    stack: OwnStack, condition: Callable[[], bool], give_up: float, progress: Callable[[], str]
) -> None:
    """Return when the condition holds. Raises DayFailed, ProcessEnded."""
    progress_due = time.monotonic() + PROGRESS_SECONDS
    while not condition():
        stack.check()
        if time.monotonic() > give_up:
            raise DayFailed(f"its time is over; it stands at: {progress()}")
        if time.monotonic() > progress_due:
            progress_due = time.monotonic() + PROGRESS_SECONDS
            _say(progress())
        time.sleep(LOOK_SECONDS)


def _interrupt(_number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


def _say(words: str) -> None:
    print(f"day: {words}", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m examples.end_of_day.run")
    parser.add_argument(
        "--jobs", type=whole_number(1), default=12, help="sellers (default: %(default)s)"
    )
    parser.add_argument("--persistent", type=amount, help="share of jobs with a step never passing")
    parser.add_argument("--stall", type=amount, help="share of steps that stall once")
    parser.add_argument("--stall-at", choices=STEPS, help="have all stalls at this step")
    parser.add_argument("--ignore-key", action="store_true", help="invoice without its key")
    parser.add_argument("--no-sweep", action="store_true", help="hand out, and look for nothing")
    parser.add_argument("--workers", type=whole_number(1), default=3, help="worker processes")
    parser.add_argument("--slots", type=whole_number(1), default=8, help="tasks at once in each")
    parser.add_argument("--patience", type=seconds, default=900.0, help="seconds before it fails")
    parser.add_argument("--json", action="store_true", help="the report as one line of JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
