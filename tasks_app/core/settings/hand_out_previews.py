"""What a change of the supervisor's settings, a strategy or a limit would do, told in sentences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from tasks_app.core.dispatch.breakers import SETTINGS as BREAKER
from tasks_app.core.dispatch.dispatch import plan_dispatch
from tasks_app.core.facts import KindPolicy, Snapshot, StrategyName
from tasks_app.core.figures import short
from tasks_app.core.settings.breaker_previews import preview_breaker
from tasks_app.core.settings.settings_changes import Settings
from tasks_app.core.words import say


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
        longest = short(self.longest)
        if len(most) <= 6:
            return say("%(told)s (longest queue %(longest)s)", told=told, longest=longest)
        return say(
            "%(told)s and %(rest)s others (longest queue %(longest)s)",
            told=told,
            rest=len(most) - 6,
            longest=longest,
        )


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
        yield say("strategy %(word)s: no worker is there, so nothing can be compared.", word=word)
        return
    if not only.ready:
        yield say(
            "strategy %(word)s: nothing is ready and nothing ran lately to compare it with.",
            word=word,
        )
        return
    policies = dict(snapshot.kinds)
    now = hand_out(only, policies)
    for kind in kinds:
        if kind in policies:
            policies[kind] = replace(policies[kind], strategy=after, cursor=0)
    then = hand_out(only, policies)
    told = {"word": word, "ready": f"{len(only.ready):,}", "then": str(then), "now": str(now)}
    yield (
        say(
            "strategy %(word)s: the %(ready)s tasks that ran last would go to %(then)s; "
            "now to %(now)s.",
            **told,
        )
        if made_up
        else say(
            "strategy %(word)s: the %(ready)s tasks that are ready would go to %(then)s; "
            "now to %(now)s.",
            **told,
        )
    )


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
    yield say(
        "stale after %(new)s: of %(gaps)s workers %(lost)s are silent for longer right now "
        "(the longest for %(longest)s); %(close)s of %(near_misses)s near misses of the last "
        "%(span)s would have lost their leases.",
        new=short(new),
        gaps=len(silences.gaps),
        lost=lost,
        longest=short(longest),
        close=close,
        near_misses=len(silences.near_misses),
        span=short(3600 * silences.hours),
    )
    beats = new / after["heartbeat_seconds"]
    if beats < 3:
        yield say(
            "stale after %(new)s is %(beats)s heartbeats: one that is lost and one that is "
            "late would be enough to lose leases; 3 to 5 are usual.",
            new=short(new),
            beats=f"{beats:.1f}",
        )


def preview_heartbeat(workers: int, after: Settings) -> str:
    """Say what the rhythm costs the record."""
    rate = workers / after["heartbeat_seconds"]
    return say(
        "heartbeat %(heartbeat_seconds)s: %(workers)s workers make %(rate)s writes a second; a "
        "worker takes it up when it next registers.",
        heartbeat_seconds=short(after["heartbeat_seconds"]),
        workers=workers,
        rate=f"{rate:.2g}",
    )


@dataclass(frozen=True, slots=True)
class LimitPast:
    """What is known of a limit: the weight in flight under it, ready, and handed out lately.

    ``failed`` are its kinds' failures within a day: when, in seconds, and whether permanent.
    """

    in_flight: float
    ready: float
    started: float
    hours: float
    failed: Sequence[tuple[float, bool]] = ()


def preview_limit(past: LimitPast, before: Settings, after: Settings) -> list[str]:
    """Say what the caps would do to what is there now, and a breaker to what was."""
    said: list[str] = []
    most, rate = after["max_concurrent"], after["rate_per_second"]
    if before["max_concurrent"] != most:
        said.append(_at_most(past.in_flight, most))
    if before["rate_per_second"] != rate:
        average = past.started / (3600 * past.hours) if past.hours else 0.0
        said.append(
            say("rate: no cap.")
            if rate is None
            else say(
                "rate %(rate)s a second: %(average)s a second were handed out on average of "
                "late; what is ready (%(ready)s) takes %(span)s.",
                rate=f"{rate:g}",
                average=f"{average:.2g}",
                ready=f"{past.ready:g}",
                span=short(past.ready / rate),
            )
        )
    if any(before[name] != after[name] for name in BREAKER):
        said.append(preview_breaker(past.failed, after, say("its kinds")))
    return said


def _at_most(in_flight: float, most: float | None) -> str:
    if most is None:
        return say("at most: no cap.")
    told = {"most": f"{most:g}", "in_flight": f"{in_flight:g}", "over": f"{in_flight - most:g}"}
    if in_flight <= most:
        return say("at most %(most)s: %(in_flight)s are in flight now.", **told)
    return say(
        "at most %(most)s: %(in_flight)s are in flight now, so %(over)s must end before "
        "anything starts.",
        **told,
    )
