"""What ``manage.py submit`` replaces and says: no foreign file, and at every end what stands."""

import errno
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection

from tasks_app.management import file_submission as intakes
from tasks_app.management.file_rows import FileUnreadable, Row
from tasks_app.management.interrupts import Interrupts
from tasks_app.management.reject_file import RejectFile
from tasks_app.models import Task
from tasks_app.services.intake.submission import submit_tasks
from tests.floor import Floor
from tests.management.submitting import Desk

BAD = "id,text\n1,a\n2\n"
PRECIOUS = "precious\n"


@pytest.fixture
def desk(record: None, tmp_path: Path) -> Desk:
    Floor().kind("anything")
    return Desk(tmp_path)


@pytest.mark.parametrize("content", ["id,text\n", BAD, "id,text\n1,a\n"])
def test_a_file_that_is_no_reject_file_is_never_replaced(desk: Desk, content: str) -> None:
    entry = '{"line": 1, "faults": [], "row": ""}\n'
    for precious in (PRECIOUS, '{"line": 1}\n', entry + PRECIOUS):
        path = desk.write(precious, "p.txt")
        told = desk.submit(content, "--rejects", str(path))
        assert told.code == 1
        assert "not the reject file of an earlier run" in told.out
        assert "Nothing was submitted" in told.out
        assert path.read_text() == precious
    assert not Task.objects.exists()
    assert desk.names == ["p.txt", "t.csv"]


def test_folders_links_pipes_and_devices_are_refused_as_they_are(desk: Desk) -> None:
    folder, link, dangling = desk.folder / "d", desk.folder / "l", desk.folder / "n"
    pipe, target = desk.folder / "f", desk.write("", "target")
    folder.mkdir()
    link.symlink_to(target)
    dangling.symlink_to(desk.folder / "nowhere")
    os.mkfifo(pipe)
    for path in (folder, link, dangling, pipe, Path("/dev/full"), Path("/dev/null"), Path("/")):
        before = path.lstat().st_mode
        told = desk.submit(BAD, "--rejects", str(path))
        assert (told.code, path.lstat().st_mode) == (1, before)
        assert "give the path of a file of its own" in told.out
    assert not (desk.folder / "nowhere").exists()
    for unnamed in (".", ""):
        told = desk.submit(BAD, "--rejects", unnamed)
        assert told.code == 1
        assert ". is a folder; give the path of a file of its own" in told.out
    assert not Task.objects.exists()


def test_the_file_itself_is_refused_under_any_name(desk: Desk) -> None:
    path = desk.write('{"line": 1, "faults": [], "row": "x"}\n', "t.jsonl")
    other = desk.folder / "other"
    other.hardlink_to(path)
    for name in (path, other, desk.folder / "." / "t.jsonl"):
        told = desk.run(path, "--rejects", str(name))
        assert (told.code, "overwritten" in told.out) == (1, True)
    assert path.read_text().startswith('{"line": 1')
    assert not Task.objects.exists()


@pytest.mark.parametrize("where", ["missing/r.jsonl", "t.csv/r.jsonl"])
def test_a_path_that_cannot_be_written_is_told_before_the_first_row(desk: Desk, where: str) -> None:
    told = desk.submit(BAD, "--rejects", str(desk.folder / where))
    assert (told.code, Task.objects.exists()) == (1, False)
    assert "give another path" in told.out


@pytest.mark.parametrize(
    "args",
    [
        ["--map", "text=nope"],
        ["--map", "text"],
        ["--task", "colour=id"],
        ["--id-column", "nope"],
        ["--delimiter", ";;"],
        ["--encoding", "klingon"],
        ["--priority", "1_0"],
        ["--priority", "5000"],
        ["--format", "json"],
        ["--dry-run"],
        ["--payload-column", "id", "--map", "a=id"],
    ],
)
def test_an_earlier_reject_file_outlives_a_wrong_option_and_a_dry_run(
    desk: Desk, args: list[str]
) -> None:
    assert desk.submit(BAD).code == 2
    before = desk.rejects()
    Task.objects.all().delete()
    assert desk.submit("id,text\n1\n", *args).code in (1, 2)
    assert desk.rejects() == before
    assert not Task.objects.exists()


def test_a_database_that_takes_no_tasks_is_told_before_the_first_row(desk: Desk) -> None:
    desk.submit(BAD)
    before = desk.rejects()
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
        try:
            told = desk.submit("id,text\n1\n")
        finally:
            cursor.execute("RESET default_transaction_read_only")
    assert told.code == 1
    assert "is read-only here" in told.out
    assert "Nothing was submitted" in told.out
    assert desk.rejects() == before


def test_a_run_replaces_the_earlier_reject_file_once_its_first_row_is_there(desk: Desk) -> None:
    desk.submit(BAD)
    assert desk.submit("id,text\n").code == 0, "no row, so no run"
    assert len(desk.rejects()) == 1
    desk.submit("id,text\n1\n2\n")
    assert [entry["line"] for entry in desk.rejects()] == [2, 3]
    assert desk.submit("id,text\n1,a\n").code == 0
    assert desk.names == ["t.csv"]


def test_the_reject_file_of_a_run_that_a_full_disk_ended_can_be_replaced(desk: Desk) -> None:
    desk.submit(BAD)
    path = desk.folder / "t.csv.rejects.jsonl"
    path.write_text(path.read_text() + '{"line": 7, "fau')
    assert desk.submit(BAD).code == 2
    assert len(desk.rejects()) == 1


def test_only_a_run_tells_to_submit_the_rejected_rows_alone(desk: Desk) -> None:
    alone = "submit them alone"
    rehearsed = desk.submit(BAD, "--dry-run").out
    assert alone not in rehearsed
    assert "Nothing was submitted: correct these rows in the file" in rehearsed
    assert alone in desk.submit(BAD).out


def test_a_dry_run_writes_its_rejects_beside_those_of_a_run(desk: Desk) -> None:
    desk.submit(BAD, "--dry-run")
    assert desk.names == ["t.csv", "t.csv.rejects.jsonl"]
    desk.submit(BAD, "--dry-run")
    assert "t.csv.rejects.jsonl.dry-run" in desk.names


ROWS = "id,text\n" + "".join(f"{n},row {n}\n" for n in range(1, 41))


@pytest.fixture
def batches_of_ten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intakes, "BATCH", 10)


@pytest.fixture
def third_batch(monkeypatch: pytest.MonkeyPatch, batches_of_ten: None) -> Iterator[list[Any]]:
    """What happens as the third batch is submitted: raise it, or call it."""
    events: list[Any] = []
    submit, count = submit_tasks, iter(range(100))

    def meet(*args: Any, **options: Any) -> Any:
        if next(count) == 2 and events:
            event = events.pop()
            if isinstance(event, BaseException):
                raise event
            event()
        return submit(*args, **options)

    monkeypatch.setattr(intakes, "submit_tasks", meet)
    return iter([events])


@pytest.mark.parametrize("ids", [True, False])
@pytest.mark.parametrize(
    "event", [OperationalError("the server is away"), OSError(errno.ENOSPC, "No space left")]
)
def test_a_run_that_ends_in_the_midst_says_what_stands_and_goes_on_without_doubles(
    desk: Desk, third_batch: Iterator[list[Any]], event: BaseException, ids: bool
) -> None:
    next(third_batch).append(event)
    args = ["--id-column", "id"] if ids else []
    told = desk.submit(ROWS, *args)
    assert told.code == 1
    assert "20 submitted, 0 on record already: these rows stand, up to line 21." in told.out
    assert Task.objects.count() == 20
    if not ids:
        assert ("Lines 22 to 31 were being submitted" in told.out) == (
            isinstance(event, OperationalError)
        )
        assert "--from-line 22" in told.out
        args = ["--from-line", "22"]
    assert desk.submit(ROWS, *args).code == 0
    assert Task.objects.count() == 40


def test_an_end_that_nobody_foresaw_says_what_stands_too(
    desk: Desk, third_batch: Iterator[list[Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    next(third_batch).append(MemoryError())
    with pytest.raises(MemoryError):
        desk.submit(ROWS)
    assert Task.objects.count() == 20
    assert "t.csv.rejects.jsonl" not in desk.names


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_in_the_midst_of_a_batch_ends_the_run_behind_it(
    desk: Desk, third_batch: Iterator[list[Any]], number: signal.Signals
) -> None:
    next(third_batch).append(lambda: os.kill(os.getpid(), number))
    before = signal.getsignal(number)
    told = desk.submit(ROWS)
    assert told.code == 128 + number
    assert "30 submitted, 0 on record already: these rows stand, up to line 31." in told.out
    assert Task.objects.count() == 30
    assert signal.getsignal(number) is before


def test_a_second_signal_does_not_wait_for_the_batch() -> None:
    interrupts = Interrupts()

    def twice() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        raise AssertionError("the second one was waited for")

    with interrupts, pytest.raises(KeyboardInterrupt):
        interrupts.guard(twice)
    assert threading.current_thread() is threading.main_thread()


def test_a_reject_file_that_the_disk_refuses_ends_the_run_before_its_batch(
    desk: Desk, batches_of_ten: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: RejectFile, row: Row, faults: list[dict[str, str]]) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(RejectFile, "add", full)
    told = desk.submit(ROWS.replace("15,row 15", "15"))
    assert told.code == 1
    assert "No space left on device" in told.out
    assert "10 submitted, 0 on record already: these rows stand, up to line 11." in told.out
    assert Task.objects.count() == 10


def test_the_draft_of_a_reject_file_is_gone_whatever_happens(tmp_path: Path) -> None:
    with RejectFile(tmp_path / "r"):
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []
    with RejectFile(tmp_path / "r") as file:
        (tmp_path / "r").write_text(PRECIOUS)
        with pytest.raises(FileUnreadable):
            file.begin()
    assert (tmp_path / "r").read_text() == PRECIOUS
    assert [path.name for path in tmp_path.iterdir()] == ["r"]


def test_the_reject_file_of_a_run_that_still_writes_is_not_replaced(desk: Desk) -> None:
    path = desk.folder / "t.csv.rejects.jsonl"
    with RejectFile(path) as running:
        running.begin()
        running.add(Row(7, "x"), [])
        told = desk.submit(BAD)
        assert (told.code, "another run is writing" in told.out) == (1, True)
        running.add(Row(8, "y"), [])
    assert [entry["line"] for entry in desk.rejects()] == [7, 8]
    assert desk.submit(BAD).code == 2


def test_a_dry_run_refuses_a_reject_file_that_the_run_would_refuse(desk: Desk) -> None:
    path = desk.write(PRECIOUS, "p.txt")
    told = desk.submit(BAD, "--dry-run", "--rejects", str(path))
    assert (told.code, desk.names) == (1, ["p.txt", "t.csv"])


def test_other_content_under_an_id_is_set_aside_by_line_and_told_apart(desk: Desk) -> None:
    content = "Name,Email,Item,Qty\n#A1,a@x,Shirt,1\n#A1,,Mug,2\n#A2,b@x,Cap,1\n#A2,b@x,Cap,1\n"
    told = desk.submit(content, "--id-column", "Name")
    assert told.code == 2
    assert "4 rows: 2 submitted, 1 on record already, 1 with other content under an id" in told.out
    (entry,) = desk.rejects()
    assert (entry["line"], entry["row"]) == (3, "#A1,,Mug,2")
    assert "the key of line 2, which has other content" in entry["faults"][0]["message"]
    again = desk.submit(content, "--id-column", "Name")
    assert "4 rows: 0 submitted, 3 on record already, 1 with other content" in again.out
    assert "as task" in desk.rejects()[0]["faults"][0]["message"]


@pytest.mark.parametrize("between", [1, 2000])
def test_a_dry_run_gives_the_figures_of_the_run(desk: Desk, between: int) -> None:
    once = [f"{n},row {n}" for n in range(1, 1501)]
    other = [f"{n},other" for n in range(1, 1501, 500)]
    bad = ["only one", ",no id"]
    Floor().kind("anything")
    desk.submit("id,text\n7,row 7\n8,before\n", "--id-column", "id")
    content = "\n".join(["id,text", *once, *bad, *other, *once[:between], ",,", *once, ""])
    counts = [
        desk.submit(content, "--id-column", "id", *args).out.split(":", 1)[1].split(", see")[0]
        for args in (["--dry-run"], [], ["--dry-run"])
    ]
    dry, run, after = counts
    assert dry.replace("would be submitted", "submitted") == run
    assert after.startswith(" 0 would be submitted")
    assert Task.objects.count() == 1500


def test_repeats_of_a_file_cost_no_statement_each(desk: Desk) -> None:
    from django.test.utils import CaptureQueriesContext

    def statements(rows: list[str]) -> int:
        with CaptureQueriesContext(connection) as asked:
            assert desk.submit("\n".join(["id,text", *rows, ""]), "--id-column", "id").code == 0
        return len(asked)

    plain = statements([f"a{n},x" for n in range(900)])
    assert statements([f"b{n // 2},x" for n in range(900)]) <= plain + 1
