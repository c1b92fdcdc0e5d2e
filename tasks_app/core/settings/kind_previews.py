"""What a change of a kind's settings would do, told in sentences from what happened lately."""

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tasks_app.core.attempts.error_classes import ErrorClass, classify_error
from tasks_app.core.dispatch.breakers import SETTINGS as BREAKER
from tasks_app.core.facts import ErrorFacts, RetryPolicy
from tasks_app.core.figures import share, short
from tasks_app.core.settings.breaker_previews import preview_breaker
from tasks_app.core.settings.settings_changes import Settings
from tasks_app.core.states import FAILURES, DeadReason, Outcome
from tasks_app.core.words import say, side_by_side


@dataclass(frozen=True, slots=True)
class PastAttempt:
    """One attempt that began: how long it ran, how it ended, which attempt of its task it was.

    ``seconds`` is its run time and ``skill`` its worker's, so seconds * skill is what an estimate
    foretells. ``number`` is None for a task that was requeued. ``ended_at`` is in seconds.
    """

    seconds: float
    skill: float
    outcome: Outcome
    number: int | None
    ended_at: float
    error: ErrorFacts | None = None
    dead_reason: DeadReason | None = None

    @property
    def is_permanent(self) -> bool:
        """Whether its error can never pass."""
        return self.dead_reason is DeadReason.PERMANENT


@dataclass(frozen=True, slots=True)
class KindPast:
    """What is known of a kind: its latest attempts, of at most ``hours``, and its tasks now.

    ``downed`` tells of each task that took workers down within a day, how many.
    """

    attempts: Sequence[PastAttempt]
    hours: float
    waiting: int = 0
    in_flight: int = 0
    downed: Sequence[int] = ()


def preview_kind(past: KindPast, before: Settings, after: Settings) -> list[str]:
    """Say what each change would do, in the order of the table below; nothing for the rest."""
    said: list[str] = []
    for fields, effect in EFFECTS:
        if any(before.get(name) != after.get(name) for name in fields):
            said.extend(effect(past, before, after))
    return said


def _timeout(past: KindPast, before: Settings, after: Settings) -> Iterator[str]:
    new, old = after["timeout_seconds"], before["timeout_seconds"]
    whole = len(past.attempts)
    if not whole:
        yield say(
            "timeout %(new)s: no attempt of this kind ran lately, so nothing is known.",
            new=short(new),
        )
        return
    longer = sum(attempt.seconds > new for attempt in past.attempts)
    stopped = sum(attempt.outcome is Outcome.TIMEOUT for attempt in past.attempts)
    if new < old:
        yield say(
            "timeout %(new)s: %(longer)s of the %(whole)s attempts ran longer and would have "
            "been stopped.",
            new=short(new),
            longer=share(longer, whole),
            whole=f"{whole:,}",
        )
    else:
        yield say(
            "timeout %(new)s: %(stopped)s of the %(whole)s attempts were stopped at %(old)s; "
            "each would have had %(more)s more.",
            new=short(new),
            stopped=f"{stopped:,}",
            whole=f"{whole:,}",
            old=short(old),
            more=short(new - old),
        )


def _estimate(past: KindPast, before: Settings, after: Settings) -> Iterator[str]:
    done = [a.seconds * a.skill for a in past.attempts if a.outcome is Outcome.COMPLETED]
    new = after["estimate_seconds"]
    if not done:
        yield say(
            "estimate %(new)s: no attempt was completed lately to compare it with.", new=short(new)
        )
        return
    median = statistics.median(done)
    long = statistics.quantiles(done, n=10)[-1] if len(done) > 1 else median
    took = say(
        "estimate %(new)s: at skill 1 a completed attempt took %(median)s in the median and "
        "%(long)s at the 90th percentile.",
        new=short(new),
        median=short(median),
        long=short(long),
    )
    yield side_by_side(took, _judged(new, median))


def _judged(estimate: float, median: float) -> str:
    if median <= 0 or 0.5 <= estimate / median <= 2:
        return ""
    if estimate > median:
        return say("Queues would look longer than they are.")
    return say("Queues would look shorter than they are.")


def _max_attempts(past: KindPast, before: Settings, after: Settings) -> Iterator[str]:
    new, old = after["max_attempts"], before["max_attempts"]
    if new < old:
        done = [a.number for a in past.attempts if a.number and a.outcome is Outcome.COMPLETED]
        if not done:
            yield say(
                "max attempts %(new)s: none of the tasks that were completed needed more than "
                "%(new)s, and would be dead letters.",
                new=new,
            )
            return
        late = sum(number > new for number in done)
        yield say(
            "max attempts %(new)s: %(late)s of the %(done)s tasks that were completed needed "
            "more than "
            "%(new)s, and would be dead letters.",
            new=new,
            late=share(late, len(done)),
            done=f"{len(done):,}",
        )
    else:
        used_up = sum(a.dead_reason is DeadReason.EXHAUSTED for a in past.attempts)
        yield say(
            "max attempts %(new)s: %(used_up)s tasks died with their %(old)s attempts used "
            "up; each would have had %(more)s more.",
            new=new,
            used_up=f"{used_up:,}",
            old=old,
            more=new - old,
        )


def _backoff(past: KindPast, before: Settings, after: Settings) -> Iterator[str]:
    def delays(settings: Settings) -> list[float]:
        base, cap = settings["backoff_base_seconds"], settings["backoff_cap_seconds"]
        return [min(cap, base * 2.0**n) for n in range(min(settings["max_attempts"], 100) - 1)]

    new, old = delays(after), delays(before)
    if not new:
        yield say("backoff: one attempt only, so that there is no delay.")
        return
    first = ", ".join(map(short, new[:4])) + (" ..." if len(new) > 4 else "")
    yield say(
        "backoff: %(first)s before the retries, give or take %(backoff_jitter)s; a task that "
        "uses all attempts waits %(new)s in all (now %(old)s).",
        first=first,
        backoff_jitter=f"{after['backoff_jitter']:.0%}",
        new=short(sum(new)),
        old=short(sum(old)),
    )


def _errors(past: KindPast, before: Settings, after: Settings) -> Iterator[str]:
    def permanent(settings: Settings, error: ErrorFacts) -> bool:
        policy = RetryPolicy(
            permanent_errors=settings["permanent_errors"],
            retryable_errors=settings["retryable_errors"],
        )
        return classify_error(error, policy).error_class is ErrorClass.PERMANENT

    errors = [attempt.error for attempt in past.attempts if attempt.error]
    ended = sum(permanent(after, e) and not permanent(before, e) for e in errors)
    tried = sum(permanent(before, e) and not permanent(after, e) for e in errors)
    whole = len(errors)
    yield say(
        "retry table: of %(whole)s errors lately, %(ended)s would become permanent (dead at "
        "once) and %(tried)s would become worth another attempt.",
        whole=f"{whole:,}",
        ended=f"{ended:,}",
        tried=f"{tried:,}",
    )


def _breaker(past: KindPast, before: Settings, after: Settings) -> Iterator[str]:
    failed = ((a.ended_at, a.is_permanent) for a in past.attempts if a.outcome in FAILURES)
    yield preview_breaker(failed, after, say("the kind"))


def _retry_budget(past: KindPast, before: Settings, after: Settings) -> Iterator[str]:
    budget = after["retry_budget"]
    if budget is None:
        yield say("retry budget: none; every retry goes out when its backoff is over.")
        return
    firsts = sum(attempt.number == 1 for attempt in past.attempts)
    retries = sum((attempt.number or 1) > 1 for attempt in past.attempts)
    held = max(0, retries - int(budget * firsts))
    yield say(
        "retry budget %(budget)s: there were %(retries)s retries to %(firsts)s first "
        "attempts; %(held)s of them would have had to wait.",
        budget=f"{budget:g}",
        retries=f"{retries:,}",
        firsts=f"{firsts:,}",
        held=f"{held:,}",
    )


def _poison(past: KindPast, before: Settings, after: Settings) -> Iterator[str]:
    new, old = after["poison_after"], before["poison_after"]
    caught, now = (sum(workers >= each for workers in past.downed) for each in (new, old))
    yield say(
        "poison after %(new)s: %(caught)s of the %(all)s tasks that took workers down within a "
        "day would have been dead as poison (now %(now)s).",
        new=new,
        caught=f"{caught:,}",
        all=f"{len(past.downed):,}",
        now=f"{now:,}",
    )


def _pause(past: KindPast, before: Settings, after: Settings) -> Iterator[str]:
    if after["paused"]:
        yield say(
            "pause: %(waiting)s tasks that wait would stay where they are, and what is "
            "submitted joins them; %(in_flight)s in flight go on to their end.",
            waiting=f"{past.waiting:,}",
            in_flight=f"{past.in_flight:,}",
        )
    else:
        yield say(
            "resume: %(waiting)s tasks that wait may be handed out again.",
            waiting=f"{past.waiting:,}",
        )


Effect = Callable[[KindPast, Settings, Settings], Iterator[str]]

EFFECTS: Final[Sequence[tuple[tuple[str, ...], Effect]]] = (
    (("paused",), _pause),
    (("timeout_seconds",), _timeout),
    (("estimate_seconds",), _estimate),
    (("max_attempts",), _max_attempts),
    (
        ("backoff_base_seconds", "backoff_cap_seconds", "backoff_jitter", "max_attempts"),
        _backoff,
    ),
    (("permanent_errors", "retryable_errors"), _errors),
    (BREAKER, _breaker),
    (("retry_budget",), _retry_budget),
    (("poison_after",), _poison),
)
"""Which settings have an effect that the past can tell, and the function that tells it."""
