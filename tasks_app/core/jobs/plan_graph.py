"""What the steps of a plan say of one another: names that exist, an order that is possible."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final

from tasks_app.core.faults import Fault
from tasks_app.core.intake.new_tasks import shown
from tasks_app.core.jobs.conditions import check_condition
from tasks_app.core.jobs.references import Reference, find_references

MOST_CYCLES: Final = 20

Found = Iterator[tuple[str, Reference | Fault]]


@dataclass(frozen=True, slots=True)
class _Names:
    """Where each step stands; the first one where a name stands twice."""

    places: Mapping[str, int]

    def unknown(self, name: str) -> str:
        """The sentence for a name that no step has."""
        return f"no such step: {shown(name)}; there are {', '.join(list(self.places)[:20])}"


def check_edges(steps: Sequence[Any], result: Any) -> Iterator[Fault]:
    """Unknown, self and forward references, steps named twice, and every cycle step by step.

    Malformed steps are passed over: what is wrong with them is said elsewhere.
    """
    places: dict[str, int] = {}
    for index, step in enumerate(steps):
        if isinstance(step, dict) and isinstance(step.get("name"), str):
            places.setdefault(step["name"], index)
    names = _Names(places)
    graph: dict[str, set[str]] = {name: set() for name in places}
    for index, step in enumerate(steps):
        if isinstance(step, dict):
            yield from _faults_of_needs(index, step, names, graph)
            yield from _faults_of_references(index, step, names, graph)
    yield from _cycles(graph)
    for place, each in find_references(result, "result"):
        if isinstance(each, Fault):
            yield each
        elif each.step is None:
            yield Fault(place, "a job's result has no item")
        elif each.step not in places:
            yield Fault(place, names.unknown(each.step))


def _faults_of_needs(
    index: int, step: Mapping[str, Any], names: _Names, graph: dict[str, set[str]]
) -> Iterator[Fault]:
    declared = step.get("depends_on", [])
    seen: set[str] = set()
    for place, need in enumerate(declared if isinstance(declared, list) else []):
        on = need.get("on") if isinstance(need, dict) else need
        at = f"steps[{index}].depends_on[{place}]"
        if not isinstance(on, str):
            continue
        if on == step.get("name"):
            yield Fault(at, f"{on} cannot wait for itself")
        elif on not in names.places:
            yield Fault(at, names.unknown(on))
        elif on in seen:
            yield Fault(at, f"waits for {on} twice; name it once")
        elif step.get("name") in graph:
            graph[step["name"]].add(on)
        seen.add(on)


def _faults_of_references(
    index: int, step: Mapping[str, Any], names: _Names, graph: dict[str, set[str]]
) -> Iterator[Fault]:
    own = step.get("name")
    fans_out = step.get("for_each") is not None
    for place, each in _references_of(step, f"steps[{index}]"):
        undoes = ".compensation." in place
        if isinstance(each, Fault) or (each.step == own and undoes):
            continue
        if each.step is None:
            # The list itself and the condition are looked at before there is an item.
            if not fans_out or not (".payload" in place or place.endswith(".lock_key")):
                only = "in the payload and lock_key of a step with for_each"
                yield Fault(place, f"there is an item only {only}")
        elif each.step == own:
            yield Fault(place, f"{own} cannot use its own result")
        elif each.step not in names.places:
            yield Fault(place, names.unknown(each.step))
        elif names.places[each.step] > index:
            yield Fault(place, f"{each.step} stands later in the plan; move it before {own}")
        elif not undoes and own in graph:
            graph[own].add(each.step)


def _references_of(step: Mapping[str, Any], place: str) -> Found:
    yield from find_references(step.get("payload"), f"{place}.payload")
    yield from find_references(step.get("for_each"), f"{place}.for_each")
    yield from find_references(step.get("lock_key"), f"{place}.lock_key")
    if step.get("when") is not None:
        yield from check_condition(step["when"], f"{place}.when")
    undo = step.get("compensation")
    if isinstance(undo, dict):
        yield from find_references(undo.get("payload"), f"{place}.compensation.payload")


def _cycles(graph: dict[str, set[str]]) -> Iterator[Fault]:
    """One fault for each circle; an edge of each is taken out to find the next."""
    for _ in range(MOST_CYCLES):
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            # graphlib tells it from a step to the one that waits for it.
            circle: list[str] = list(reversed(error.args[1]))
            path = " -> ".join(circle)
            yield Fault("steps", f"these wait for one another in a circle: {path}")
            graph[circle[0]].discard(circle[1])
        else:
            return
