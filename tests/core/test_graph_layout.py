"""Where a graph's steps stand, whatever the graph."""

import time
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.drawing.graph_layout import apart, lay_out

Steps = tuple[tuple[str, tuple[str, ...]], ...]


@st.composite
def graphs(draw: st.DrawFn) -> Steps:
    """Steps that need only steps before them, up to a dozen."""
    count = draw(st.integers(0, 12))
    steps = []
    for index in range(count):
        needs = draw(st.sets(st.integers(0, index - 1), max_size=4)) if index else set()
        steps.append((f"s{index}", tuple(f"s{need}" for need in sorted(needs))))
    return tuple(draw(st.permutations(steps)))


@given(graphs())
def test_every_step_stands_right_of_all_that_it_needs(steps: Steps) -> None:
    places = lay_out(steps).places
    assert places.keys() == {name for name, _ in steps}
    for name, needs in steps:
        assert all(places[need][0] < places[name][0] for need in needs)


@given(graphs())
def test_no_two_steps_stand_on_one_another(steps: Steps) -> None:
    layout = lay_out(steps)
    for layer in range(layout.layers):
        heights = sorted(y for x, y in layout.places.values() if x == layer)
        assert all(upper - lower >= 1 - 1e-9 for lower, upper in pairwise(heights))
        assert all(-1e-9 <= y <= layout.rows - 1 + 1e-9 for y in heights)


@given(graphs())
def test_every_edge_runs_from_its_source_to_its_target_and_under_no_step(steps: Steps) -> None:
    layout = lay_out(steps)
    assert {(r.source, r.target) for r in layout.routes} == {
        (need, name) for name, needs in steps for need in needs
    }
    for route in layout.routes:
        assert route.points[0] == layout.places[route.source]
        assert route.points[-1] == layout.places[route.target]
        for layer, height in route.points[1:-1]:
            near = [y for x, y in layout.places.values() if x == layer and abs(y - height) < 0.999]
            assert not near


@given(st.lists(st.floats(-100, 100), max_size=20))
def test_heights_keep_their_order_and_their_distance(wanted: list[float]) -> None:
    found = apart(wanted)
    assert all(upper - lower >= 1 - 1e-9 for lower, upper in pairwise(found))
    if all(upper - lower >= 1 for lower, upper in pairwise(wanted)):
        assert all(abs(one - other) < 1e-6 for one, other in zip(found, wanted, strict=True))


def test_a_diamond_has_no_crossing() -> None:
    layout = lay_out((("a", ()), ("c", ("a",)), ("b", ("a",)), ("c2", ("c",)), ("b2", ("b",))))
    rows = {name: height for name, (_, height) in layout.places.items()}
    assert (rows["b"] < rows["c"]) == (rows["b2"] < rows["c2"])


def test_the_largest_plan_is_laid_out_in_seconds() -> None:
    steps = tuple(
        (f"s{n}", tuple(f"s{need}" for need in range(max(0, n - 90), n))) for n in range(500)
    )
    began = time.perf_counter()
    lay_out(steps)
    assert time.perf_counter() - began < 8
