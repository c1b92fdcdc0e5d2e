"""``manage.py submit``: good rows submitted, bad ones set aside by line, nothing twice."""

import io
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from controlplane.environment import ROOT
from tasks_app.models import Task
from tests.floor import Floor

TICKET = {
    "type": "object",
    "required": ["text"],
    "properties": {"text": {"type": "string", "minLength": 1}, "amount": {"type": "number"}},
}

Submit = Callable[..., tuple[int, str]]


@pytest.fixture
def submit(record: None, tmp_path: Path) -> Submit:
    """Run the command on a file of these contents; returns exit code and output."""
    Floor().kind("ticket", payload_schema=TICKET)
    Floor().kind("anything")

    def run(content: bytes | str, *args: str, name: str = "t.csv", kind: str = "ticket") -> Any:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        out = io.StringIO()
        try:
            call_command("submit", kind, str(path), *args, stdout=out)
        except SystemExit as left:
            return left.code, out.getvalue()
        return 0, out.getvalue()

    return run


@pytest.fixture
def rejects(tmp_path: Path) -> Callable[..., list[tuple[int, str]]]:
    """(line, field) of each rejected row."""

    def read(name: str = "t.csv") -> list[tuple[int, str]]:
        text = (tmp_path / f"{name}.rejects.jsonl").read_text()
        return [
            (entry["line"], fault["field"])
            for entry in map(json.loads, text.splitlines())
            for fault in entry["faults"]
        ]

    return read


def payloads() -> list[Any]:
    return list(Task.objects.order_by("id").values_list("payload", flat=True))


def test_each_row_of_a_csv_is_a_task_with_its_columns_as_payload(submit: Submit) -> None:
    code, out = submit('\ufeffid,text\r\n1,Grüezi\r\n2,"two\r\nlines"\r\n', "--priority", "3")
    assert (code, out) == (0, "2 rows: 2 submitted, 0 on record already\n")
    assert payloads() == [{"id": "1", "text": "Grüezi"}, {"id": "2", "text": "two\r\nlines"}]
    assert set(Task.objects.values_list("priority", flat=True)) == {3}


def test_columns_are_mapped_to_fields_with_types(submit: Submit) -> None:
    code, _ = submit(
        "Nr;The Text;Sum;More\n7;hello;12.5;[1]\n8;bye;;\n",
        *("--delimiter", ";", "--id-column", "Nr"),
        *("--map", "text=The Text", "--map", "amount:number=Sum", "--map", "more:json=More"),
        kind="anything",
    )
    assert code == 0
    assert payloads() == [
        {"text": "hello", "amount": 12.5, "more": [1]},
        {"text": "bye"},
    ]
    assert set(Task.objects.values_list("key", flat=True)) == {"7", "8"}


def test_columns_may_say_something_of_the_task_itself(
    submit: Submit, rejects: Callable[..., Any]
) -> None:
    code, _ = submit(
        "invoice,cost,start,due,urgent\n"
        "7,2.5,2030-01-01T00:00:00Z,2030-02-01T00:00:00+01:00,5\n"
        ",0.5,,,\n"
        "8,many,,,\n"
        "9,0,,tomorrow,\n"
        "10,-1,,2030-02-01T00:00:00,\n",
        *("--task", "lock_key=invoice", "--task", "weight=cost", "--task", "run_at=start"),
        *("--task", "deadline_at=due", "--task", "priority=urgent", "--priority", "1"),
        kind="anything",
    )
    assert code == 2
    told = Task.objects.order_by("-weight").values_list("lock_key", "weight", "priority")
    assert list(told) == [("7", 2.5, 5), (None, 0.5, 1)]
    due = Task.objects.get(lock_key="7").deadline_at
    assert due is not None
    assert due.isoformat() == "2030-01-31T23:00:00+00:00"
    assert rejects() == [(4, "cost"), (5, "due"), (6, "due")]


def test_a_column_of_the_task_must_be_one_of_its_fields(submit: Submit) -> None:
    with pytest.raises(CommandError, match="--task 'colour=id': write FIELD=Column; a field is"):
        submit("id,text\n1,a\n", "--task", "colour=id")


def test_bad_rows_are_set_aside_by_physical_line_and_the_good_ones_submitted(
    submit: Submit, rejects: Callable[..., Any], tmp_path: Path
) -> None:
    code, out = submit(
        b"id,text,amount\n"  # 1
        b'1,"two\nlines",\n'  # 2, 3
        b"2,,\n"  # 4: too short for the schema
        b"\n"  # 5
        b"3,few\n"  # 6
        b"4,many,1,2\n"  # 7
        b"5,\xe9\xff,\n"  # 8: no UTF-8
        b'6,"wrong"quote,\n'  # 9
        b"7,nul\x00,\n"  # 10
        b",no id,\n"  # 11
        b"8,x,ten\n"  # 12
        b'9,"multi\n\nline, bad number",x\n'  # 13 to 15
        b"10,good,5\n",  # 16
        *("--id-column", "id", "--map", "text=text", "--map", "amount:number=amount"),
    )
    assert code == 2
    assert out.startswith("11 rows: 2 submitted, 0 on record already, 9 rejected")
    assert rejects() == [
        (6, "row"),
        (7, "row"),
        (8, "row"),
        (9, "row"),
        (11, "id"),
        (12, "amount"),
        (13, "amount"),
        (4, "payload.text"),
        (10, "payload.text"),
    ]
    entries = [
        json.loads(line) for line in (tmp_path / "t.csv.rejects.jsonl").read_text().splitlines()
    ]
    assert entries[2]["row"] == "5,\\xe9\\xff,"
    assert entries[6]["row"] == '9,"multi\n\nline, bad number",x'
    assert payloads() == [{"text": "two\nlines"}, {"text": "good", "amount": 5.0}]


def test_a_quote_that_never_closes_costs_its_rows_and_not_the_file(
    submit: Submit, rejects: Callable[..., Any]
) -> None:
    rows = "".join(f"{n},row {n} {'x' * 80}\n" for n in range(6000))
    code, out = submit(f'id,text\n0,good\n1,"never closed\n{rows}', "--id-column", "id")
    assert code == 2
    assert rejects()[0] == (3, "row")
    assert 2000 < Task.objects.count() < 6000
    assert "1 rejected" in out or "2 rejected" in out


def test_json_lines_are_payloads_and_bad_lines_are_set_aside(
    submit: Submit, rejects: Callable[..., Any]
) -> None:
    code, _ = submit(
        '{"id": 1, "text": "a"}\n\n{"id": 2, "text": ""}\n{"id": 3, "text"\n[1]\n{"text": "b"}\n'
        '{"id": {}, "text": "c"}\n{"id": 4, "text": NaN}\n{"id": "x", "text": "d"}',
        *("--id-column", "id"),
        name="t.jsonl",
    )
    assert code == 2
    assert sorted(rejects("t.jsonl")) == [
        (3, "payload.text"),
        (4, "row"),
        (5, "row"),
        (6, "id"),
        (7, "id"),
        (8, "row"),
    ]
    assert payloads() == [{"id": 1, "text": "a"}, {"id": "x", "text": "d"}]


def test_the_same_file_again_creates_nothing_twice(submit: Submit, tmp_path: Path) -> None:
    content = "id,text\n" + "".join(f"{n},row\n" for n in range(2500)) + "7,row\n2499,row\n"
    assert submit(content, "--id-column", "id") == (
        0,
        "2,502 rows: 2,500 submitted, 2 on record already\n",
    )
    assert submit(content, "--id-column", "id")[1].startswith("2,502 rows: 0 submitted")
    assert Task.objects.count() == 2500
    assert not (tmp_path / "t.csv.rejects.jsonl").exists()


def test_a_dry_run_rejects_the_same_rows_and_submits_nothing(
    submit: Submit, rejects: Callable[..., Any]
) -> None:
    code, out = submit("id,text\n1,a\n2,\n", "--dry-run")
    assert code == 2
    assert out.startswith("2 rows: 1 would be submitted, 0 on record already, 1 rejected")
    assert rejects() == [(3, "payload.text")]
    assert not Task.objects.exists()


def test_a_reject_file_of_an_earlier_run_does_not_stay(submit: Submit, tmp_path: Path) -> None:
    assert submit('text\n""\n')[0] == 2
    assert (tmp_path / "t.csv.rejects.jsonl").exists()
    assert submit("text\nmended\n")[0] == 0
    assert not (tmp_path / "t.csv.rejects.jsonl").exists()


@pytest.mark.parametrize(
    ("content", "args", "said"),
    [
        (b"", (), "no header"),
        (b"a,a\n1,2\n", (), "2 columns have the name 'a'"),
        ("text\nä\n".encode("utf-16"), (), "UTF-16"),
        (b"text\na\n", ("--encoding", "klingon"), "klingon"),
        (b"text\na\n", ("--map", "text=Txt"), "no column 'Txt'"),
        (b"text\na\n", ("--map", "text=tex"), "did you mean 'text'"),
        (b"text\na\n", ("--map", "text"), "payload_field=Column"),
        (b"text\na\n", ("--map", "text:date=text"), "a type is one of"),
        (b"text\na\n", ("--id-column", "id"), "no column 'id'"),
        (b"text\na\n", ("--priority", "5000"), "--priority"),
        (b"text\na\n", ("--delimiter", ";;"), "--delimiter"),
    ],
)
def test_what_cannot_be_read_at_all_is_one_sentence(
    submit: Submit, content: bytes, args: tuple[str, ...], said: str
) -> None:
    with pytest.raises(CommandError, match=said) as raised:
        submit(content, *args)
    assert raised.value.returncode == 1
    assert not Task.objects.exists()


def test_utf_16_is_read_where_it_is_named(submit: Submit) -> None:
    assert submit("text\nä\n".encode("utf-16"), "--encoding", "utf-16")[0] == 0
    assert payloads() == [{"text": "ä"}]


def test_an_unknown_kind_or_file_is_told_before_anything_is_read(submit: Submit) -> None:
    with pytest.raises(CommandError, match="did you mean ticket"):
        submit("text\na\n", kind="tiket")
    with pytest.raises(CommandError, match="No such file"):
        call_command("submit", "ticket", "/nowhere/t.csv")
    with pytest.raises(CommandError, match="--format"):
        submit("text\na\n", name="t.txt")


def test_the_file_itself_is_never_its_own_reject_file(submit: Submit, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="overwritten"):
        submit("text\na\n", "--rejects", str(tmp_path / "t.csv"))
    assert (tmp_path / "t.csv").read_text() == "text\na\n"


def run_process(env: Mapping[str, str], *args: str, stdin: bytes = b"") -> tuple[int, str]:
    """Run the command in a process of its own: exit code and all that it says."""
    done = subprocess.run(
        [sys.executable, *args],
        cwd=ROOT,
        env=env,
        input=stdin,
        capture_output=True,
        check=False,
        timeout=110,
    )
    return done.returncode, done.stdout.decode() + done.stderr.decode()


def test_standard_input_is_read_and_exit_codes_reach_the_shell(
    process_env: Mapping[str, str], tmp_path: Path
) -> None:
    Floor().kind("ticket", payload_schema=TICKET)
    command = ("manage.py", "submit", "ticket", "-", "--format", "csv")
    args = (*command, "--rejects", str(tmp_path / "r.jsonl"))
    assert run_process(process_env, *args, stdin=b"text\na\n")[0] == 0
    code, out = run_process(process_env, *args, stdin=b'text\na\n""\n')
    assert (code, "1 rejected" in out) == (2, True)
    code, out = run_process(process_env, *args, stdin=b"")
    assert code == 1
    assert "Traceback" not in out


# Prints the peak of its own memory, in KiB, behind what the command says. Not getrusage's: that
# begins with what the process that started this one held.
MEASURED = """
import pathlib, re, sys
import manage
sys.argv = ["manage.py", *sys.argv[1:]]
manage.main()
print("peak", re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1])
"""


@pytest.mark.slow
def test_a_hundred_thousand_rows_take_no_more_memory_than_two_thousand(
    process_env: Mapping[str, str], tmp_path: Path
) -> None:
    Floor().kind("anything")
    peaks = {}
    for rows in (2_000, 100_000):
        path = tmp_path / f"{rows}.csv"
        with path.open("w") as file:
            file.write("id,text\n")
            file.writelines(f"{rows}-{n},{'some words of a ticket ' * 8}\n" for n in range(rows))
        args = ("-c", MEASURED, "submit", "anything", str(path), "--id-column", "id")
        code, out = run_process(process_env, *args)
        assert code == 0, out
        assert f"{rows:,} submitted" in out
        peaks[rows] = int(out.rsplit("peak", 1)[1])
    assert peaks[100_000] < peaks[2_000] + 8 * 1024, peaks
    assert Task.objects.count() == 102_000
