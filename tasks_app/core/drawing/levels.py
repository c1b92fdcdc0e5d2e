"""How far each node of a graph is from its starts: one look at each node and each edge."""

from collections.abc import Mapping, Sequence


def levels_of(needs: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """The longest way from a start to each name; ``needs`` are its names' predecessors.

    The names come by their level and, within one, in the order of ``needs``; there is no cycle.

    >>> levels_of({"c": ["a", "b"], "b": ["a"], "a": [], "d": []})
    {'a': 0, 'd': 0, 'b': 1, 'c': 2}
    """
    after: dict[str, list[str]] = {name: [] for name in needs}
    missing = {name: len(wanted) for name, wanted in needs.items()}
    for name, wanted in needs.items():
        for need in wanted:
            after[need].append(name)
    levels = {name: 0 for name, count in missing.items() if not count}
    ready = list(levels)
    for name in ready:
        for each in after[name]:
            missing[each] -= 1
            levels[each] = max(levels.get(each, 0), levels[name] + 1)
            if not missing[each]:
                ready.append(each)
    assert len(ready) == len(needs), "a plan that was checked has no cycle"
    places = {name: place for place, name in enumerate(needs)}
    return dict(sorted(levels.items(), key=lambda each: (each[1], places[each[0]])))
