"""How long a job still takes, and lanes of bars."""

from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.drawing.time_lanes import pack, ticks
from tasks_app.core.jobs.job_times import StepTime, time_left

spans = st.lists(
    st.tuples(st.floats(0, 100), st.floats(0.01, 50)).map(lambda t: (t[0], t[0] + t[1])),
    max_size=30,
)


def test_the_longest_way_decides_and_what_is_done_costs_nothing() -> None:
    steps = [
        StepTime("a", (), 10, left=0),
        StepTime("b", ("a",), 3, left=1),
        StepTime("c", ("a",), 2, left=6, lanes=2),
        StepTime("d", ("b", "c"), 4, left=1),
    ]
    assert time_left(steps).seconds == 2 * 3 + 4
    assert time_left(steps).path == ("c", "d")


def test_what_runs_too_long_is_about_to_end() -> None:
    assert time_left([StepTime("a", (), 5, left=1, elapsed=60)]).seconds == 0


def test_a_step_that_will_fan_out_makes_it_a_lower_bound() -> None:
    assert time_left([StepTime("a", (), 5, left=1, unknown=True)]).at_least
    assert time_left([]).path == ()


@given(st.lists(st.tuples(st.floats(0, 50), st.integers(0, 5), st.integers(1, 3)), max_size=8))
def test_more_work_left_never_ends_sooner(chain: list[tuple[float, int, int]]) -> None:
    def steps(more: int) -> list[StepTime]:
        return [
            StepTime(f"s{n}", (f"s{n - 1}",) if n else (), seconds, left + more, lanes)
            for n, (seconds, left, lanes) in enumerate(chain)
        ]

    assert time_left(steps(1)).seconds >= time_left(steps(0)).seconds


@given(spans)
def test_no_two_bars_of_a_lane_overlap_and_no_lane_is_wasted(
    bars: list[tuple[float, float]],
) -> None:
    lanes = pack(bars)
    for i, one in enumerate(bars):
        for j, other in enumerate(bars[:i]):
            if lanes[i] == lanes[j]:
                assert one[1] <= other[0] or other[1] <= one[0]
    most = max((sum(b[0] <= at < b[1] for b in bars) for at, _ in bars), default=0)
    assert len(set(lanes)) == most


@given(st.floats(0.001, 1e9), st.integers(1, 20))
def test_an_axis_has_no_more_lines_than_asked_for(seconds: float, most: int) -> None:
    lines = ticks(seconds, most)
    assert lines[0] == 0
    assert len(lines) <= most + 1
    assert lines[-1] <= seconds * (1 + 1e-9)
