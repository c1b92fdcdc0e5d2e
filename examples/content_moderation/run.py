"""``python -m examples.content_moderation.run``: made-up posts on a stack of its own, judged.

Where image and text analysis agree, their verdict stands; where they do not, the reviewers are
alerted and a step waits in the inbox. ``--decide`` has one of them complete these steps, through
the service that the browser uses. Exit codes: 0 all as promised, 1 something is not, 130
interrupted.
"""

import argparse
import json
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NoReturn

from examples.content_moderation.handlers import FOLDER
from examples.content_moderation.kinds import APPROVE, MACHINES, REJECT, REVIEW, REVIEW_KIND
from examples.content_moderation.plans import plan_of
from examples.content_moderation.posts import POSTS, paint
from examples.own_stack import OwnStack, ProcessEnded, own_stack
from tasks_app.management.arguments import seconds, whole_number

HANDLERS: Final = "examples.content_moderation.handlers"
REVIEWER: Final = "reviewer"
LOOK_SECONDS: Final = 0.1
ANSWERS: Final[Mapping[str, Mapping[str, str]]] = {
    APPROVE: {"decision": APPROVE},
    REJECT: {"decision": REJECT, "reason": "Against our rules."},
}


class RunFailed(Exception):
    """The run cannot come to its end; the message is one sentence."""


def main() -> int:
    """Do the run that the command line asks for."""
    asked = _parse()
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        with tempfile.TemporaryDirectory(prefix="chargehand-moderation-") as folder:
            return _run_in(Path(folder), asked)
    except KeyboardInterrupt:
        _say("interrupted; everything has ended")
        return 130
    except (RunFailed, ProcessEnded) as error:
        _say(f"failed: {error}")
        return 1


def _run_in(folder: Path, asked: argparse.Namespace) -> int:
    with own_stack(folder, HANDLERS, {FOLDER: str(folder)}) as stack:
        from examples.content_moderation import report as reports

        give_up = time.monotonic() + asked.patience
        _moderate(stack, folder, asked.workers, give_up)
        if asked.decide:
            _decide(asked.decide)
            _wait(
                stack, lambda: reports.count_moving() == 0, give_up, "the decisions to be settled"
            )
        posts, report = reports.read_posts(), reports.read_report(folder)
        faults = reports.faults_of(report, decided=bool(asked.decide))
    if asked.json:
        print(json.dumps(report.as_json()), flush=True)
    else:
        print("\n".join(map(str, posts)), flush=True)
        print(f"{report.agreed} agreed, {report.disagreed} not: {report.alerts} alerts", flush=True)
    for fault in faults:
        _say(f"broken promise: {fault}")
    return 1 if faults else 0


def _moderate(stack: OwnStack, folder: Path, workers: int, give_up: float) -> None:
    """Start everything, submit the posts, wait until machines can do no more."""
    from examples.content_moderation.report import count_moving
    from tasks_app.models import Kind
    from tasks_app.services.jobs.jobs import submit_job
    from tasks_app.store.reads.settings.configuration import kind_doors

    Kind.objects.update_or_create(name=REVIEW, defaults=REVIEW_KIND)
    stack.start_supervisor()
    for number in range(1, workers + 1):
        stack.start_worker(f"w{number}", slots=4)
    _wait(stack, lambda: {*MACHINES} <= kind_doors().keys(), give_up, "a worker to register")
    for post in POSTS:
        picture = folder / f"{post.id}.png"
        paint(post.motif, picture)
        submit_job(plan_of(post, str(picture)), submitted_by="content moderation")
    _say(f"{len(POSTS)} posts submitted to {workers} workers")
    _wait(stack, lambda: count_moving() == 0, give_up, "the machines to have done their part")


def _decide(decision: str) -> None:
    """Have a reviewer take and complete every step that waits."""
    from django.contrib.auth.models import User

    from examples.content_moderation.report import waiting_steps
    from tasks_app.services.jobs.human_steps import Claimed, claim_step, complete_step
    from tasks_app.services.people.people import Actor, Role

    user, _ = User.objects.get_or_create(username=REVIEWER)
    actor = Actor(REVIEWER, via="content moderation", role=Role.OPERATOR)
    answer: Mapping[str, Any] = ANSWERS[decision]
    for step in waiting_steps():
        claimed = claim_step(step.id, user.pk, actor)
        if not isinstance(claimed, Claimed):
            raise RunFailed(f"{step.job} could not be taken: {claimed.reason}")
        if not complete_step(step.id, claimed.token, dict(answer), user.pk, actor).done:
            raise RunFailed(f"{step.job} could not be completed.")
        _say(f"{REVIEWER} decided {step.job}: {decision}")


def _wait(stack: OwnStack, condition: Callable[[], bool], give_up: float, what: str) -> None:
    """Return when the condition holds. Raises RunFailed, ProcessEnded."""
    while not condition():
        stack.check()
        if time.monotonic() > give_up:
            raise RunFailed(f"its time is over; it waited for {what}")
        time.sleep(LOOK_SECONDS)


def _interrupt(_number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


def _say(words: str) -> None:
    print(f"moderation: {words}", file=sys.stderr, flush=True)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m examples.content_moderation.run")
    parser.add_argument("--decide", choices=(APPROVE, REJECT), help="have a reviewer decide so")
    parser.add_argument("--workers", type=whole_number(1), default=2, help="worker processes")
    parser.add_argument("--patience", type=seconds, default=120.0, help="seconds before it fails")
    parser.add_argument("--json", action="store_true", help="the figures as one line of JSON")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
