"""``python -m examples.ticket_triage.night``: a night of tickets on a stack of its own, judged.

With ``--chaos`` a worker and the supervisor are killed meanwhile, and the night must come to the
same end. Exit codes: 0 all promises kept, 1 one was broken, 130 interrupted.
"""

import argparse
import json
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NoReturn

from controlplane.embedded import EmbeddedError
from examples.own_stack import OwnStack, ProcessEnded, own_stack
from examples.ticket_triage import settings as triage
from examples.ticket_triage.tickets import Ticket, TicketsError, read_tickets
from tasks_app.management.arguments import amount, seconds, whole_number

NIGHT: Final = "night"
HANDLERS: Final = "examples.ticket_triage.handlers"
NEEDED_IN_FLIGHT: Final = 900
NEEDED_SHARE: Final = 0.3
"""Of the tickets, in flight when the supervisor is killed, where there are fewer than 3,000."""

SETTINGS: Final[Mapping[str, float | None]] = {
    # Workers may be assigned everything that is ready, as in the seeds.
    "backlog": None,
    # A death is noticed in seconds, so that the night is short. Six beats, because the machine is
    # fully loaded and a worker that lives must not be taken for dead.
    "heartbeat_seconds": 1.0,
    "stale_after_seconds": 6.0,
    "leader_lease_seconds": 3.0,
}
LOOK_SECONDS: Final = 0.1
PROGRESS_SECONDS: Final = 5.0


class NightFailed(Exception):
    """The night cannot come to its end; the message is one sentence."""


def main() -> int:
    """Do the night that the command line asks for."""
    asked = _parse()
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        tickets = _tickets(asked)
        # Read here too, because a worker would learn only at its first ticket that it cannot be.
        read_tickets(asked.history)
        if asked.folder:
            return _night_in(asked.folder.absolute(), asked, tickets)
        with tempfile.TemporaryDirectory(prefix="chargehand-night-") as folder:
            return _night_in(Path(folder), asked, tickets)
    except KeyboardInterrupt:
        _say("interrupted; everything has ended")
        return 130
    except (EmbeddedError, NightFailed, ProcessEnded, TicketsError) as error:
        _say(f"failed: {error}")
        return 1


def _night_in(folder: Path, asked: argparse.Namespace, tickets: Sequence[Ticket]) -> int:
    environment = {
        triage.HISTORY: str(asked.history.absolute()),
        triage.FOLDER: str(folder),
        triage.LATENCY: asked.latency,
        triage.TRANSIENT_SHARE: str(asked.transient),
    }
    needed = min(NEEDED_IN_FLIGHT, int(NEEDED_SHARE * len(tickets))) if asked.chaos else 0
    with own_stack(folder, HANDLERS, environment) as stack:
        from examples.ticket_triage import report as reports

        handlers = triage.from_environment()
        in_flight = _run(stack, asked, tickets, needed)
        report = reports.read_report(tickets, NIGHT, handlers, in_flight)
        faults = reports.faults_of(report, tickets, handlers, needed)
    print(json.dumps(report.as_json()) if asked.json else report, flush=True)
    for fault in faults:
        _say(f"broken promise: {fault}")
    return 1 if faults else 0


def _run(
    stack: OwnStack, asked: argparse.Namespace, tickets: Sequence[Ticket], needed: int
) -> int | None:
    """Start everything, submit, kill what is to be killed, wait for the end.

    Returns how many tasks were in flight when the supervisor was started again.
    """
    from examples.ticket_triage import chaos, steps
    from examples.ticket_triage.report import count_open
    from tasks_app.models import SupervisorSettings

    SupervisorSettings.objects.update(**SETTINGS)
    patience = Patience(stack, asked.patience)
    stack.start_supervisor()
    pids = {f"w{n}": stack.start_worker(f"w{n}", asked.slots) for n in range(1, asked.workers + 1)}
    patience.wait_until(lambda: _count_workers() == len(pids), "all workers to register")
    created = steps.submit_tickets(tickets, NIGHT)
    _say(f"{created} tasks of {len(tickets)} tickets submitted to {len(pids)} workers")
    in_flight = None
    if asked.chaos:
        slots = asked.workers * asked.slots
        in_flight = chaos.kill_supervisor(stack, needed, slots, patience.unless_over(count_open))
        _say(f"supervisor killed and started again with {in_flight} tasks in flight")
        victim, pid = next(iter(pids.items()))
        sent = triage.from_environment().outbox_without_key
        chaos.kill_worker(stack, victim, pid, sent, patience.unless_over(count_open))
        _say(f"worker {victim} killed between a reply and its report; it stays away")
    patience.wait_until(lambda: count_open() == 0, "every task to end")
    return in_flight


class Patience:
    """Waits for conditions, tells how the night goes, and ends it when it takes too long."""

    def __init__(self, stack: OwnStack, seconds: float) -> None:
        self._stack = stack
        self._seconds = seconds
        self._give_up = time.monotonic() + seconds
        self._progress_due = time.monotonic() + PROGRESS_SECONDS

    def wait_until(self, condition: Callable[[], bool], what: str) -> None:
        """Return when the condition holds. Raises NightFailed, ProcessEnded."""
        while not condition():
            self._stack.check()
            now = time.monotonic()
            if now > self._give_up:
                raise NightFailed(f"after {self._seconds:g} s it still waited for {what}.")
            if now > self._progress_due:
                self._progress_due = now + PROGRESS_SECONDS
                _say(_progress())
            time.sleep(LOOK_SECONDS)

    def unless_over(
        self, count_open: Callable[[], int]
    ) -> Callable[[Callable[[], bool], str], None]:
        """Return a way to wait that also ends when nothing can happen any more."""

        def wait(condition: Callable[[], bool], what: str) -> None:
            def watched() -> bool:
                if condition():
                    return True
                if count_open() == 0:
                    raise NightFailed(
                        f"the night was over before it came to this: {what}. Try more tickets, or "
                        "a longer --latency."
                    )
                return False

            self.wait_until(watched, what)

        return wait


def _count_workers() -> int:
    from tasks_app.core.states import WorkerState
    from tasks_app.models import Worker

    return Worker.objects.filter(state=WorkerState.ACTIVE).count()


def _progress() -> str:
    from tasks_app.store.reads.dispatch.counts import count_by_status

    counts = count_by_status()
    return ", ".join(f"{status} {count}" for status, count in counts.items() if count)


def _tickets(asked: argparse.Namespace) -> Sequence[Ticket]:
    malformed = [Ticket(f"malformed-{n:03}", "") for n in range(1, asked.malformed + 1)]
    return [*read_tickets(asked.tickets)[: asked.limit], *malformed]


def _interrupt(_number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


def _say(words: str) -> None:
    print(f"night: {words}", file=sys.stderr, flush=True)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m examples.ticket_triage.night")
    add = parser.add_argument
    add("--tickets", type=Path, default=triage.OWN_TICKETS, help="CSV of tickets")
    add("--history", type=Path, default=triage.OWN_HISTORY, help="CSV to learn labels from")
    add("--limit", type=whole_number(0), help="the first so many tickets only")
    add("--malformed", type=whole_number(0), default=20, help="tickets without a text to add")
    add("--workers", type=whole_number(0), default=8, help="worker processes")
    add("--slots", type=whole_number(0), default=8, help="tasks at once in each of them")
    add("--chaos", action="store_true", help="kill a worker and the supervisor meanwhile")
    add("--latency", default="0-0.2", help="seconds that each step waits, from-to")
    add("--transient", type=amount, default=0.05, help="share of first attempts that fail")
    add("--patience", type=seconds, default=900.0, help="seconds after which it has failed")
    add("--folder", type=Path, help="a new folder that keeps database, logs and outboxes")
    add("--json", action="store_true", help="report as one line of JSON")
    asked = parser.parse_args()
    if asked.workers < (2 if asked.chaos else 1):
        parser.error("--workers: one at least, and with --chaos a second one that survives")
    if asked.folder and asked.folder.exists() and any(asked.folder.iterdir()):
        parser.error(f"--folder: {asked.folder} is not empty, and a night begins with nothing")
    return asked


if __name__ == "__main__":
    sys.exit(main())
