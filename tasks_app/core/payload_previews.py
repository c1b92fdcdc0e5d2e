"""What a change of a kind's payload schema would do, told from its latest payloads."""

from collections.abc import Sequence

from tasks_app.core.words import Words, say


def preview_schema(looked_at: int, places: Sequence[str]) -> Words:
    """Say how many of the latest payloads a schema would refuse, and where the latest is wrong.

    ``places`` has one for each that is refused, the latest first.
    """
    if not looked_at:
        return say("payload schema: no task of this kind was submitted lately to hold against it.")
    count = f"{looked_at:,}"
    if not places:
        return say(
            "payload schema: it would refuse none of the latest %(count)s payloads.", count=count
        )
    return say(
        "payload schema: %(refused)s of the latest %(count)s payloads would be refused, the latest "
        "for %(place)s.",
        refused=f"{len(places):,}",
        count=count,
        place=places[0],
    )
