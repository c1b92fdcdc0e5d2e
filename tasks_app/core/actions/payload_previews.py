"""What a change of a kind's schemas would do, told from its latest payloads and results."""

from collections.abc import Sequence

from tasks_app.core.words import Words, say, say_count


def preview_schema(looked_at: int, faults: Sequence[str]) -> Words:
    """Say how many of the latest payloads a schema would refuse, and where the latest is wrong.

    ``faults`` has one for each that is refused, the latest first: its place and what is wrong.
    """
    if not looked_at:
        return say("payload schema: no task of this kind was submitted lately to hold against it.")
    count = f"{looked_at:,}"
    if not faults:
        return say(
            "payload schema: it would refuse none of the latest %(count)s payloads.", count=count
        )
    return say(
        "payload schema: %(refused)s of the latest %(count)s payloads would be refused, the "
        "latest: %(fault)s.",
        refused=f"{len(faults):,}",
        count=count,
        fault=faults[0],
    )


def preview_conditions(jobs: Sequence[str]) -> Words:
    """Say which of the latest jobs decide by hidden values whether a step runs.

    >>> preview_conditions(["night run"]).partition(":")[0]
    'redacted keys'
    """
    return say(
        "redacted keys: %(jobs)s of the latest jobs decide by a hidden value whether a step runs, "
        "such as %(name)s. The status of that step, COMPLETED or SKIPPED, tells everybody whether "
        "the condition holds; the value that it compares with is hidden.",
        jobs=f"{len(jobs):,}",
        name=jobs[0],
    )


def preview_result_schema(looked_at: int, faults: Sequence[str]) -> Words:
    """Say how many results of a day the form in the inbox would not have taken, and why.

    ``faults`` has one for each that is refused, the latest first: its field and what is wrong.

    >>> preview_result_schema(3, ["approved: Fill this in"]).partition(",")[0]
    'result schema: 1 of 3 results of the last day would not have been taken'
    """
    if not looked_at:
        return say("result schema: no task of this kind got a result within a day.")
    results = say_count("%(count)s result", "%(count)s results", looked_at)
    if not faults:
        return say(
            "result schema: it would take all of the %(results)s of the last day.", results=results
        )
    return say(
        "result schema: %(refused)s of %(results)s of the last day would not have been taken, the "
        "latest: %(fault)s.",
        refused=f"{len(faults):,}",
        results=results,
        fault=faults[0],
    )
