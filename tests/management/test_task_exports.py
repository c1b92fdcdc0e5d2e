"""What ``manage.py tasks`` writes to files and pipes: all of it, or a word on standard error."""

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from controlplane.environment import ROOT
from tasks_app.models import Task
from tasks_app.services.intake.submission import NewTask, submit_tasks
from tasks_app.store.reads.search import task_lists
from tests.floor import Floor
from tests.management.submitting import Desk


class Terminal(io.StringIO):
    """Where a person looks."""

    def isatty(self) -> bool:
        return True


@dataclass(frozen=True)
class Written:
    """How an export ended and what it wrote on each output."""

    code: int
    out: str
    err: str


def export(*words: str, out: io.StringIO | None = None) -> Written:
    out, err = out or io.StringIO(), io.StringIO()
    code = 0
    try:
        call_command("tasks", *words, stdout=out, stderr=err)
    except SystemExit as left:
        code = int(left.code or 0)
    return Written(code, out.getvalue(), err.getvalue())


@pytest.fixture
def floor(record: None) -> Floor:
    floor = Floor()
    floor.kind("job")
    return floor


@pytest.mark.parametrize("form", ["--csv", "--json", None])
@pytest.mark.parametrize("order", ["age", "-age", "priority", "-priority"])
def test_all_tasks_are_written_where_the_output_is_no_terminal(
    floor: Floor, form: str | None, order: str
) -> None:
    ids = {str(task) for task in floor.submit(1500)}
    done = export(*([form] if form else []), f"--sort={order}")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()[1 if form == "--csv" else 0 :]
    assert len(lines) == 1500
    assert {each for each in ids if each in done.out} == ids


def test_a_terminal_is_shown_fifty_and_told_that_there_are_more(floor: Floor) -> None:
    floor.submit(50)
    assert export(out=Terminal()).code == 0
    floor.submit(1)
    done = export(out=Terminal())
    assert (done.code, len(done.out.splitlines())) == (3, 50)
    assert "50 tasks written, and more match: give --limit N" in done.err


def test_a_number_that_was_asked_for_is_no_cut_but_told(floor: Floor) -> None:
    floor.submit(5)
    for limit, said in ((5, ""), (6, ""), (4, "more match")):
        done = export("--csv", f"--limit={limit}")
        assert (done.code, said in done.err) == (0, True)
        assert len(done.out.splitlines()) == 1 + min(limit, 5)
    assert export("--csv", "--limit=5").err == ""


def test_an_order_that_ends_with_its_window_is_told(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_lists, "LOOKED_AT", 10)
    floor.submit(30)
    done = export("--csv", "--sort=priority")
    assert done.code == 3
    assert "only tasks submitted since" in done.err
    assert export("--csv", "kind:job").out.count("\n") == 31, "by age every window follows"


DUE = datetime(2030, 1, 31, 8, 0, 0, 1, tzinfo=UTC)
TASKS = [
    NewTask("job", {"text": 'Grüezi, "you"\nthere', "n": 2**63 + 1, "x": 0.1}, key="=1+1"),
    NewTask("job", {}, key="'=already"),
    NewTask("job", {"a": [None, True, {"b": "-"}]}, key="-7", priority=5, lock_key="@lock"),
    NewTask("job", None, key="null"),
    NewTask("job", -5, key="number", weight=2.5),
    NewTask("job", "=text", key="text"),
    NewTask("job", "'=text", key="quoted", deadline_at=DUE),
    NewTask("job", [1], key=" spaced "),
    NewTask("job", False),
    NewTask("job", {"no": "key"}),
]


def of_record() -> list[tuple[Any, ...]]:
    rows = Task.objects.values_list(
        "key", "payload", "priority", "lock_key", "weight", "deadline_at"
    )
    return sorted(rows, key=repr)


@pytest.mark.parametrize("args", [["--csv"], ["--csv", "--bom"], ["--json"]])
def test_an_export_with_payloads_can_be_submitted_again(
    floor: Floor, tmp_path: Path, args: list[str]
) -> None:
    submit_tasks(TASKS)
    before = of_record()
    done = export(*args, "--with-payload")
    assert done.code == 0
    assert done.out.startswith("\ufeff") == ("--bom" in args)
    desk, name = Desk(tmp_path), "t.csv" if "--csv" in args else "t.jsonl"
    path = desk.folder / name
    path.write_bytes(done.out.encode())
    again = desk.run(path, "--exported", kind="job")
    assert again.out.startswith("10 rows: 2 submitted, 8 on record already"), again.out
    Task.objects.all().delete()
    assert desk.run(path, "--exported", kind="job").code == 0
    assert of_record() == before


def test_cells_of_an_export_are_safe_in_a_spreadsheet(floor: Floor) -> None:
    submit_tasks(TASKS)
    for row in csv.reader(io.StringIO(export("--csv", "--with-payload").out)):
        assert not any(cell.startswith(("=", "+", "-", "@")) for cell in row)


def test_rows_of_another_kind_in_an_export_are_set_aside(floor: Floor, tmp_path: Path) -> None:
    floor.kind("other")
    submit_tasks([NewTask("job", {"n": 1}), NewTask("other", {"n": 2})])
    desk = Desk(tmp_path)
    desk.write(export("--csv", "--with-payload").out)
    told = desk.run(desk.folder / "t.csv", "--exported", kind="job")
    assert (told.code, "kind: a task of another kind" in told.out) == (2, True)


def test_options_that_mean_nothing_together_are_refused(floor: Floor, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="--bom is for --csv"):
        export("--bom")
    with pytest.raises(CommandError, match="--with-payload is for --csv and --json"):
        export("--with-payload")
    desk = Desk(tmp_path)
    assert (
        "--exported names the columns itself"
        in desk.submit("id\n1\n", "--exported", "--id-column", "id", kind="job").out
    )


def test_a_whole_payload_is_taken_from_one_column(floor: Floor, tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    content = 'nr,body\n1,"{""a"": [1, 2.5]}"\n2,"{""a"": 1, ""a"": 2}"\n3,text\n'
    told = desk.submit(content, "--payload-column", "body", "--id-column", "nr", kind="job")
    assert told.code == 2
    assert list(Task.objects.values_list("key", "payload")) == [("1", {"a": [1, 2.5]})]
    assert [entry["line"] for entry in desk.rejects()] == [3, 4]


COMMANDS = [
    ["tasks", "--csv"],
    ["tasks", "--json"],
    ["tasks"],
    ["config", "export"],
    ["audit-invariants"],
    ["token", "list"],
    ["submit", "--help"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_reader_that_has_gone_ends_a_command_without_a_word(
    process_env: Mapping[str, str], words: list[str]
) -> None:
    Floor().kind("job")
    submit_tasks([NewTask("job", {"n": n}) for n in range(300)])
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=ROOT,
            env=process_env,
            stdout=writing,
            stderr=subprocess.PIPE,
            check=False,
            timeout=110,
        )
    finally:
        os.close(writing)
    assert done.stderr.decode() == ""
    assert done.returncode in (0, 141)


def test_json_lines_hold_the_payload_as_it_is(floor: Floor) -> None:
    submit_tasks([NewTask("job", {"n": [1, {"a": "=x"}]})])
    (line,) = export("--json", "--with-payload").out.splitlines()
    assert json.loads(line)["payload"] == {"n": [1, {"a": "=x"}]}
