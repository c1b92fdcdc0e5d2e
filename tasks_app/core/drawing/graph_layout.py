"""Where the steps of a graph stand and how its edges run: layers from left to right, few crossings.

The layer is the longest way from a start; an edge over several layers gets a bend in each between.
Order within a layer is that of the neighbours' mean, and the height the nearest one that it allows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from tasks_app.core.drawing.levels import levels_of

SWEEPS: Final = 6
"""Passes that order the layers; the crossings hardly fall after a few."""

MOST_BENDS: Final = 4_000
"""Bends in all; past that the longest edges run straight, so that no plan is slow to draw."""


MOST_PULLS: Final = 6_000
"""Edges, the shortest, that decide where steps stand; the others run as it comes."""


@dataclass(frozen=True, slots=True)
class Route:
    """One edge with its points: (layer, height) of its source, its bends and its target."""

    source: str
    target: str
    points: Sequence[tuple[int, float]]


@dataclass(frozen=True, slots=True)
class Layout:
    """The whole picture, in layers and rows: ``places`` has each step's (layer, height).

    Heights are 0 at the least, and two steps of a layer are one row apart at the least.
    """

    places: Mapping[str, tuple[int, float]]
    routes: Sequence[Route]
    layers: int
    rows: float


@lru_cache(maxsize=64)
def lay_out(steps: Sequence[tuple[str, Sequence[str]]]) -> Layout:
    """Lay out steps, each (name, names that it needs); hashable, so that a job is laid out once.

    >>> lay_out((("a", ()), ("b", ("a",)), ("c", ("a",)))).places
    {'a': (0, 0.5), 'b': (1, 0.0), 'c': (1, 1.0)}
    """
    layers = levels_of(dict(steps))
    chains = _chains(steps, layers)
    grid, before, after = _grid(steps, layers, chains)
    for sweep in range(SWEEPS):
        _order(grid, before, forward=True)
        if sweep < SWEEPS - 1:
            _order(grid, after, forward=False)
    heights = _heights(grid, before, after)
    lowest = min(heights.values(), default=0.0)
    where = {node: height - lowest for node, height in heights.items()}
    return Layout(
        places={name: (layers[name], where[name, layers[name]]) for name, _ in steps},
        routes=[
            Route(source, target, [(layer, where[key, layer]) for key, layer in chain])
            for (source, target), chain in chains.items()
        ],
        layers=len(grid),
        rows=max(where.values(), default=-1.0) + 1,
    )


Node = tuple[object, int]
"""A step's name or an edge, and its layer."""


def _chains(
    steps: Sequence[tuple[str, Sequence[str]]], layers: Mapping[str, int]
) -> dict[tuple[str, str], list[Node]]:
    """Each edge as the nodes that it runs through; the short edges get their bends first."""
    edges = [(need, name) for name, needs in steps for need in needs]
    chains: dict[tuple[str, str], list[Node]] = {}
    bends = 0
    for edge in sorted(edges, key=lambda each: layers[each[1]] - layers[each[0]]):
        first, last = layers[edge[0]], layers[edge[1]]
        bends += last - first - 1
        inner = range(first + 1, last) if bends <= MOST_BENDS else ()
        between: list[Node] = [(edge, layer) for layer in inner]
        chains[edge] = [(edge[0], first), *between, (edge[1], last)]
    return {edge: chains[edge] for edge in edges}


def _grid(
    steps: Sequence[tuple[str, Sequence[str]]],
    layers: Mapping[str, int],
    chains: Mapping[tuple[str, str], Sequence[Node]],
) -> tuple[list[list[Node]], dict[Node, list[Node]], dict[Node, list[Node]]]:
    """The nodes of each layer, and for each its neighbours before and after."""
    nodes: list[Node] = [(name, layers[name]) for name, _ in steps]
    nodes += [node for chain in chains.values() for node in chain[1:-1]]
    grid: list[list[Node]] = [[] for _ in range(max(layers.values(), default=-1) + 1)]
    for node in nodes:
        grid[node[1]].append(node)
    before: dict[Node, list[Node]] = {node: [] for node in nodes}
    after: dict[Node, list[Node]] = {node: [] for node in nodes}
    shortest = sorted(chains.values(), key=lambda chain: chain[-1][1] - chain[0][1])
    for chain in shortest[:MOST_PULLS]:
        for one, next_one in pairwise(chain):
            before[next_one].append(one)
            after[one].append(next_one)
    return grid, before, after


def _order(
    grid: list[list[Node]], neighbours: Mapping[Node, Sequence[Node]], *, forward: bool
) -> None:
    """Sort each layer by where its neighbours stand; one without any keeps its place."""
    at = {node: index for layer in grid for index, node in enumerate(layer)}
    for layer in grid if forward else reversed(grid):
        means = {
            node: sum(at[each] for each in found) / len(found)
            if (found := neighbours[node])
            else float(at[node])
            for node in layer
        }
        layer.sort(key=lambda node: means[node])
        at.update({node: index for index, node in enumerate(layer)})


def _heights(
    grid: Sequence[Sequence[Node]],
    before: Mapping[Node, Sequence[Node]],
    after: Mapping[Node, Sequence[Node]],
) -> dict[Node, float]:
    heights = {node: float(index) for layer in grid for index, node in enumerate(layer)}
    for sweep in range(SWEEPS):
        neighbours = after if sweep % 2 == 0 else before
        for layer in reversed(grid) if sweep % 2 == 0 else grid:
            wanted = [
                sum(heights[each] for each in found) / len(found)
                if (found := neighbours[node])
                else heights[node]
                for node in layer
            ]
            heights.update(zip(layer, apart(wanted), strict=True))
    return heights


def apart(wanted: Sequence[float]) -> list[float]:
    """The heights nearest to those wanted (least squares) in this order, one row apart or more.

    >>> apart([1.0, 1.0, 5.0])
    [0.5, 1.5, 5.0]
    """
    # Less its index, a height must not fall: blocks that would are merged to their mean.
    blocks: list[tuple[float, int]] = []
    for index, height in enumerate(wanted):
        total, count = height - index, 1
        while blocks and blocks[-1][0] * count >= total * blocks[-1][1]:
            before = blocks.pop()
            total, count = total + before[0], count + before[1]
        blocks.append((total, count))
    flat = [total / count for total, count in blocks for _ in range(count)]
    return [height + index for index, height in enumerate(flat)]
