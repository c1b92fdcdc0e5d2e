"""An outbox that many processes write at once."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

from controlplane.environment import ROOT
from examples.ticket_triage.outbox import KeyedOutbox, append, read

WRITER = """
import sys
from pathlib import Path
from examples.ticket_triage.outbox import KeyedOutbox, append
folder, name = Path(sys.argv[1]), sys.argv[2]
box = KeyedOutbox(folder / "keyed")
sys.stdin.read()
for n in range(200):
    append(folder / "open", {"key": n, "by": name})
    box.append_once(f"k{n}", {"by": name})
"""


def test_of_four_processes_with_the_same_keys_one_writes_each_key(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), name], cwd=ROOT, stdin=subprocess.PIPE
        )
        for name in "abcd"
    ]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.close()
    assert [writer.wait(30) for writer in writers] == [0, 0, 0, 0]
    assert Counter(entry["key"] for entry in read(tmp_path / "keyed")) == {
        f"k{n}": 1 for n in range(200)
    }
    assert Counter(entry["key"] for entry in read(tmp_path / "open")) == dict.fromkeys(
        range(200), 4
    )


def test_a_key_that_an_earlier_process_wrote_is_known(tmp_path: Path) -> None:
    path = tmp_path / "outbox"
    assert KeyedOutbox(path).append_once("one", {"n": 1})
    later = KeyedOutbox(path)
    assert not later.append_once("one", {"n": 2})
    assert later.append_once("two", {"n": 3})
    assert list(read(path)) == [{"key": "one", "n": 1}, {"key": "two", "n": 3}]


def test_what_a_writer_left_torn_counts_as_never_sent(tmp_path: Path) -> None:
    path = tmp_path / "outbox"
    box = KeyedOutbox(path)
    box.append_once("one", {})
    with path.open("ab") as file:
        file.write(b'{"key": "two", "rep')
    assert [entry["key"] for entry in read(path)] == ["one"]
    assert box.append_once("two", {})
    assert [json.loads(line)["key"] for line in path.read_text().splitlines()] == ["one", "two"]


def test_a_file_that_does_not_exist_yet_has_no_entries(tmp_path: Path) -> None:
    assert list(read(tmp_path / "none")) == []
    append(tmp_path / "none", {"n": 1})
    assert list(read(tmp_path / "none")) == [{"n": 1}]
