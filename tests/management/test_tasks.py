"""``manage.py tasks``."""

import csv
import io
import json

import pytest
from django.core.management import CommandError, call_command

from tests.floor import Floor


@pytest.fixture
def floor(record: None) -> Floor:
    floor = Floor()
    floor.submit(2, kind="job")
    floor.submit(1, kind="mail", key="=letter")
    return floor


def run(*words: str) -> str:
    out = io.StringIO()
    call_command("tasks", *words, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def test_a_query_is_answered_with_one_line_a_task(floor: Floor) -> None:
    assert len(run().splitlines()) == 3
    (line,) = run("kind:mail", "status:pending").splitlines()
    assert line.startswith("PENDING")
    assert "=letter" in line


def test_json_lines_and_csv_hold_the_same(floor: Floor) -> None:
    (found,) = [json.loads(line) for line in run("kind:mail", "--json").splitlines()]
    (row,) = csv.DictReader(io.StringIO(run("kind:mail", "--csv")))
    assert found["id"] == row["id"]
    assert found["key"] == "=letter"
    assert row["key"] == "'=letter", "a spreadsheet would run it"


def test_a_cause_is_found_here_too(floor: Floor) -> None:
    assert len(run("cause:none").splitlines()) == 3
    with pytest.raises(CommandError, match="fingerprint"):
        run("cause:KeyError")


def test_a_limit_and_an_order_are_kept(floor: Floor) -> None:
    (first,) = run("--limit", "1", "--sort=-age", "--json").splitlines()
    assert json.loads(first)["kind"] == "job"
    with pytest.raises(CommandError, match="--limit: 0"):
        run("--limit", "0")


def test_a_wrong_query_is_underlined_with_its_remedy(floor: Floor) -> None:
    with pytest.raises(CommandError) as refused:
        run("kind:job", "status:ded")
    first, *lines = f"CommandError: {refused.value}".splitlines()
    assert first == "CommandError: "
    assert lines[0] == "kind:job status:ded"
    assert lines[1] == " " * 16 + "^^^"
    assert "  try: kind:job status:dead" in lines
