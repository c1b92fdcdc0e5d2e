"""What a change of the supervisor's settings, a strategy or a limit would do, told in sentences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from tasks_app.core.dispatch import plan_dispatch
from tasks_app.core.facts import KindPolicy, Snapshot, StrategyName
from tasks_app.core.previews import Settings, preview_breaker, short

BREAKER: Final = ("breaker_failures", "breaker_window_seconds", "breaker_open_seconds")


@dataclass(frozen=True, slots=True)
class HandOut:
    """Who would get how many tasks, and the longest queue that comes of it, in seconds."""

    tasks: Mapping[str, int]
    longest: float

    def __str__(self) -> str:
        """Write the busiest workers first.

        >>> str(HandOut({"w1": 2, "w2": 7, "w3": 0}, 14.0))
        'w2 7, w1 2, w3 0 (longest queue 14 s)'
        """
        most = sorted(self.tasks.items(), key=lambda each: (-each[1], each[0]))
        told = ", ".join(f"{name} {count:,}" for name, count in most[:6])
        rest = f" and {len(most) - 6} others" if len(most) > 6 else ""
        return f"{told}{rest} (longest queue {short(self.longest)})"


def hand_out(snapshot: Snapshot, policies: Mapping[str, KindPolicy]) -> HandOut:
    """Hand out all that is ready at once, by the round's own code."""
    plan = plan_dispatch(replace(snapshot, kinds=policies, backlog=None))
    names = {worker.id: worker.name for worker in snapshot.workers}
    queued: dict[UUID, float] = {worker.id: worker.queued_seconds for worker in snapshot.workers}
    tasks = {worker.name: 0 for worker in snapshot.workers}
    for each in plan.assignments:
        tasks[names[each.worker_id]] += 1
        queued[each.worker_id] += each.expected
    return HandOut(tasks, max(queued.values(), default=0.0))


def preview_strategy(
    snapshot: Snapshot, kinds: Sequence[str], after: StrategyName, *, made_up: bool
) -> Iterator[str]:
    """Say how the ready tasks of these kinds would be spread, now and with another strategy.

    ``made_up``: none is ready, the snapshot holds the run times of the latest attempts instead.
    """
    word = after.value.replace("_", " ")
    only = replace(snapshot, ready=[task for task in snapshot.ready if task.kind in kinds])
    if not only.workers:
        yield f"strategy {word}: no worker is there, so nothing can be compared."
        return
    if not only.ready:
        yield f"strategy {word}: nothing is ready and nothing ran lately to compare it with."
        return
    policies = dict(snapshot.kinds)
    now = hand_out(only, policies)
    for kind in kinds:
        if kind in policies:
            policies[kind] = replace(policies[kind], strategy=after, cursor=0)
    then = hand_out(only, policies)
    what = "tasks that ran last" if made_up else "tasks that are ready"
    yield f"strategy {word}: the {len(only.ready):,} {what} would go to {then}; now to {now}."


@dataclass(frozen=True, slots=True)
class Silences:
    """How long workers were silent: the gap of each live one now, and near misses on record.

    ``near_misses`` are silences beyond four fifths of what was then allowed, of ``hours``.
    """

    gaps: Sequence[float]
    near_misses: Sequence[float]
    hours: float


def preview_stale_after(silences: Silences, before: Settings, after: Settings) -> Iterator[str]:
    """Say which silences would cost a worker its leases."""
    new = after["stale_after_seconds"]
    lost = sum(gap > new for gap in silences.gaps)
    close = sum(gap > new for gap in silences.near_misses)
    longest = max(silences.gaps, default=0.0)
    yield (
        f"stale after {short(new)}: of {len(silences.gaps)} workers {lost} are silent for longer "
        f"right now (the longest for {short(longest)}); {close} of {len(silences.near_misses)} "
        f"near misses of the last {short(3600 * silences.hours)} would have lost their leases."
    )
    beats = new / after["heartbeat_seconds"]
    if beats < 3:
        yield (
            f"stale after {short(new)} is {beats:.1f} heartbeats: one that is lost and one that is "
            "late would be enough to lose leases; 3 to 5 are usual."
        )


def preview_heartbeat(workers: int, after: Settings) -> str:
    """Say what the rhythm costs the record."""
    rate = workers / after["heartbeat_seconds"]
    return (
        f"heartbeat {short(after['heartbeat_seconds'])}: {workers} workers make {rate:.2g} writes "
        "a second; a worker takes it up when it next registers."
    )


@dataclass(frozen=True, slots=True)
class LimitPast:
    """What is known of a limit: the weight in flight under it, ready, and handed out lately.

    ``failed_at`` are the instants of its kinds' failures within a day, in seconds, in order.
    """

    in_flight: float
    ready: float
    started: float
    hours: float
    failed_at: Sequence[float] = ()


def preview_limit(past: LimitPast, before: Settings, after: Settings) -> list[str]:
    """Say what the caps would do to what is there now, and a breaker to what was."""
    said: list[str] = []
    most, rate = after["max_concurrent"], after["rate_per_second"]
    if before["max_concurrent"] != most:
        over = past.in_flight - most if most is not None else 0
        said.append(
            "at most: no cap."
            if most is None
            else f"at most {most:g}: {past.in_flight:g} are in flight now"
            + (f", so {over:g} must end before anything starts." if over > 0 else ".")
        )
    if before["rate_per_second"] != rate:
        average = past.started / (3600 * past.hours) if past.hours else 0.0
        said.append(
            "rate: no cap."
            if rate is None
            else f"rate {rate:g} a second: {average:.2g} a second were handed out on average of "
            f"late; what is ready ({past.ready:g}) takes {short(past.ready / rate)}."
        )
    if any(before[name] != after[name] for name in BREAKER):
        said.append(preview_breaker(past.failed_at, after, "its kinds"))
    return said


def preview_alerts(
    dead: int, oldest_age: float | None, before: Settings, after: Settings
) -> Iterator[str]:
    """Say which alerts would stand right now."""
    most, allowed = after["dead_at_least"], after["oldest_seconds"]
    if before["dead_at_least"] != most:
        stands = "would stand" if dead >= most else "would not stand"
        yield f"dead at least {most}: there are {dead:,} dead letters, so the alert {stands} now."
    if before["oldest_seconds"] != allowed:
        if allowed is None:
            yield "oldest: no alert, however long a task waits."
        elif oldest_age is None:
            yield f"oldest {short(allowed)}: nothing is unfinished now."
        else:
            stands = "would stand" if oldest_age > allowed else "would not stand"
            yield (
                f"oldest {short(allowed)}: the oldest task has waited for {short(oldest_age)}, so "
                f"the alert {stands} now."
            )
