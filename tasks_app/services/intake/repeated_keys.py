"""Keys that come again: the same content is on record already, other content is a conflict."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tasks_app.core.intake.new_tasks import KeyConflict, NewTask, shown
from tasks_app.core.intake.submitted_content import options_text
from tasks_app.services.intake.admission import Admission
from tasks_app.store.intake import submission as store
from tasks_app.store.intake.submission import Content, KeyHolder

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Repeat:
    """An item whose key is on record, or that of an item before it in the batch."""

    index: int
    first: int
    holder: KeyHolder | None


def conflicts_of(
    tasks: Sequence[NewTask], admission: Admission, holders: Mapping[Pair, KeyHolder]
) -> list[KeyConflict]:
    """The items that have the key of another task and other content.

    One statement for all of them, and none where no key comes again.
    """
    repeats = list(_repeats_of(tasks, admission, holders))
    looked_at = sorted(
        {repeat.index for repeat in repeats}
        | {repeat.first for repeat in repeats if repeat.holder is None}
    )
    contents = dict(zip(looked_at, contents_of(tasks, admission, looked_at), strict=True))
    found = []
    for repeat in repeats:
        content, holder = contents[repeat.index], repeat.holder
        if holder is None:
            if content != contents[repeat.first]:
                message = f"the key of item {repeat.first}, which has other content"
                found.append(_conflict(repeat.index, tasks, message))
        elif not holder.has(content):
            message = f"on record already with other content, as task {holder.id}"
            found.append(_conflict(repeat.index, tasks, message))
    return found


def contents_of(
    tasks: Sequence[NewTask], admission: Admission, indexes: Sequence[int]
) -> list[Content]:
    """The content of some items, in their order."""
    return store.read_contents(
        [(admission.payloads[index], options_text(tasks[index], tasks)) for index in indexes]
    )


def _conflict(index: int, tasks: Sequence[NewTask], message: str) -> KeyConflict:
    remedy = "give it a key of its own, or send what was sent before"
    return KeyConflict(index, "key", shown(tasks[index].key), f"{message}; {remedy}")


def _repeats_of(
    tasks: Sequence[NewTask], admission: Admission, holders: Mapping[Pair, KeyHolder]
) -> Iterator[_Repeat]:
    if not holders and not admission.repeats:
        return
    for index, task in enumerate(tasks):
        if task.key is None or index in admission.broken:
            continue
        holder, first = holders.get((task.kind, task.key)), admission.repeats.get(index)
        if holder is not None or first is not None:
            yield _Repeat(index, index if first is None else first, holder)
