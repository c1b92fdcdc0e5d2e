"""What a change of a kind's settings would do, told in sentences from what happened lately."""

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tasks_app.core.errors import ErrorClass, classify_error
from tasks_app.core.facts import ErrorFacts, RetryPolicy
from tasks_app.core.states import FAILURES, DeadReason, Outcome

Settings = Mapping[str, Any]


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


def share(part: int, whole: int) -> str:
    """Write a share in percent, exact where it is small.

    >>> share(9, 500), share(1, 3), share(1, 2000), share(0, 7)
    ('1.8 %', '33 %', '0.05 %', '0 %')
    """
    percent = 100 * part / whole
    if percent == 0 or percent >= 10:
        return f"{percent:.0f} %"
    return f"{percent:.1f} %" if percent >= 0.1 else f"{percent:.2g} %"


def short(seconds: float) -> str:
    """Write seconds short.

    >>> short(15), short(2.345), short(300), short(7200)
    ('15 s', '2.3 s', '5 min', '2 h')
    """
    for size, unit in ((3600.0, "h"), (60.0, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"


def _timeout(past: KindPast, before: Settings, after: Settings) -> Iterator[str]:
    new, old = after["timeout_seconds"], before["timeout_seconds"]
    whole = len(past.attempts)
    if not whole:
        yield f"timeout {short(new)}: no attempt of this kind ran lately, so nothing is known."
        return
    longer = sum(attempt.seconds > new for attempt in past.attempts)
    stopped = sum(attempt.outcome is Outcome.TIMEOUT for attempt in past.attempts)
    if new < old:
        yield (
            f"timeout {short(new)}: {share(longer, whole)} of the {whole:,} attempts ran longer "
            "and would have been stopped."
        )
    else:
        yield (
            f"timeout {short(new)}: {stopped:,} of the {whole:,} attempts were stopped at "
            f"{short(old)}; each would have had {short(new - old)} more."
        )


def _estimate(past: KindPast, before: Settings, after: Settings) -> Iterator[str]:
    done = [a.seconds * a.skill for a in past.attempts if a.outcome is Outcome.COMPLETED]
    new = after["estimate_seconds"]
    if not done:
        yield f"estimate {short(new)}: no attempt was completed lately to compare it with."
        return
    median = statistics.median(done)
    long = statistics.quantiles(done, n=10)[-1] if len(done) > 1 else median
    yield (
        f"estimate {short(new)}: at skill 1 a completed attempt took {short(median)} in the median "
        f"and {short(long)} at the 90th percentile{_judged(new, median)}"
    )


def _judged(estimate: float, median: float) -> str:
    if median <= 0 or 0.5 <= estimate / median <= 2:
        return "."
    if estimate > median:
        return ": queues would look longer than they are."
    return ": queues would look shorter than they are."


def _max_attempts(past: KindPast, before: Settings, after: Settings) -> Iterator[str]:
    new, old = after["max_attempts"], before["max_attempts"]
    if new < old:
        done = [a.number for a in past.attempts if a.number and a.outcome is Outcome.COMPLETED]
        late = sum(number > new for number in done)
        told = f"{share(late, len(done))} of the {len(done):,}" if done else "none of the"
        yield (
            f"max attempts {new}: {told} tasks that were completed needed more than {new}, and "
            "would be dead letters."
        )
    else:
        used_up = sum(a.dead_reason is DeadReason.EXHAUSTED for a in past.attempts)
        yield (
            f"max attempts {new}: {used_up:,} tasks died with their {old} attempts used up; each "
            f"would have had {new - old} more."
        )


def _backoff(past: KindPast, before: Settings, after: Settings) -> Iterator[str]:
    def delays(settings: Settings) -> list[float]:
        base, cap = settings["backoff_base_seconds"], settings["backoff_cap_seconds"]
        return [min(cap, base * 2.0**n) for n in range(min(settings["max_attempts"], 100) - 1)]

    new, old = delays(after), delays(before)
    if not new:
        yield "backoff: one attempt only, so that there is no delay."
        return
    first = ", ".join(map(short, new[:4])) + (" ..." if len(new) > 4 else "")
    yield (
        f"backoff: {first} before the retries, give or take {after['backoff_jitter']:.0%}; a task "
        f"that uses all attempts waits {short(sum(new))} in all (now {short(sum(old))})."
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
    yield (
        f"retry table: of {whole:,} errors lately, {ended:,} would become permanent (dead at once) "
        f"and {tried:,} would become worth another attempt."
    )


def _breaker(past: KindPast, before: Settings, after: Settings) -> Iterator[str]:
    at = sorted(a.ended_at for a in past.attempts if a.outcome in FAILURES)
    yield preview_breaker(at, after, "the kind")


def preview_breaker(failed_at: Sequence[float], after: Settings, guarded: str) -> str:
    """Say how often a breaker would have opened by failures at these instants, in order."""
    failures = after["breaker_failures"]
    if failures is None:
        return f"breaker: none; failures never pause {guarded}."
    window, open_for = after["breaker_window_seconds"], after["breaker_open_seconds"]
    opened = openings(failed_at, failures, window, open_for)
    return (
        f"breaker {failures} in {short(window)}: by the {len(failed_at):,} "
        f"failures lately it would have opened {opened:,} times."
    )


def openings(failed_at: Sequence[float], failures: int, window: float, open_for: float) -> int:
    """How often a breaker would have opened; instants in seconds, in order.

    What fails while it is open would not have run, and is not counted.

    >>> openings([0, 1, 2, 3, 50, 51, 52], failures=3, window=10, open_for=30)
    2
    """
    opened, until = 0, float("-inf")
    recent: list[float] = []
    for at in failed_at:
        if at < until:
            continue
        recent = [each for each in recent if each > at - window] + [at]
        if len(recent) >= failures:
            opened, recent, until = opened + 1, [], at + open_for
    return opened


def _retry_budget(past: KindPast, before: Settings, after: Settings) -> Iterator[str]:
    budget = after["retry_budget"]
    if budget is None:
        yield "retry budget: none; every retry goes out when its backoff is over."
        return
    firsts = sum(attempt.number == 1 for attempt in past.attempts)
    retries = sum((attempt.number or 1) > 1 for attempt in past.attempts)
    held = max(0, retries - int(budget * firsts))
    yield (
        f"retry budget {budget:g}: there were {retries:,} retries to {firsts:,} first attempts; "
        f"{held:,} of them would have had to wait."
    )


def _poison(past: KindPast, before: Settings, after: Settings) -> Iterator[str]:
    new, old = after["poison_after"], before["poison_after"]
    caught, now = (sum(workers >= each for workers in past.downed) for each in (new, old))
    yield (
        f"poison after {new}: {caught:,} of the {len(past.downed):,} tasks that took workers down "
        f"within a day would have been dead as poison (now {now:,})."
    )


def _pause(past: KindPast, before: Settings, after: Settings) -> Iterator[str]:
    if after["paused"]:
        yield (
            f"pause: {past.waiting:,} tasks that wait would stay where they are, and what is "
            f"submitted joins them; {past.in_flight:,} in flight go on to their end."
        )
    else:
        yield f"resume: {past.waiting:,} tasks that wait may be handed out again."


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
    (("breaker_failures", "breaker_window_seconds", "breaker_open_seconds"), _breaker),
    (("retry_budget",), _retry_budget),
    (("poison_after",), _poison),
)
"""Which settings have an effect that the past can tell, and the function that tells it."""
