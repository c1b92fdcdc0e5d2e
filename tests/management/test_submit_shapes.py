"""Files of other people: what cannot be a file of rows is refused with what to add."""

import json
from pathlib import Path
from typing import Any

import pytest

from tasks_app.management import json_rows
from tasks_app.management.json_rows import array_rows
from tasks_app.models import Task
from tests.floor import Floor
from tests.management.submitting import Desk, payloads


@pytest.fixture
def desk(record: None, tmp_path: Path) -> Desk:
    Floor().kind("anything")
    return Desk(tmp_path)


@pytest.mark.parametrize(
    ("content", "said", "remedy"),
    [
        ("id;text\n1;Müller\n", "1 column", "--delimiter ';'"),
        ("id\ttext\n1\tMüller\n", "1 column", "--delimiter tab"),
        ("id|text\n1|Müller\n", "1 column", "--delimiter '|'"),
        ("id;na,me;text\n1;a;b\n", "2 columns", "--delimiter ';'"),
        ("\ufeffid;text\n1;a\n", "1 column", "--delimiter ';'"),
        ("sep=;\nid;text\n1;a\n", "sep=;", "--delimiter ';'"),
        ("1,Müller\n2,Meier\n", "line 1 looks like data", "--no-header"),
        ("2030-01-31,a\n", "looks like data", "--no-header"),
        ("Müller,a@example.org\n", "looks like data", "--no-header"),
        ("name,https://example.org/\n", "looks like data", "--trust-header"),
        ('[\n{"id": 1}\n]\n', "JSON array", "--format json"),
        ('{"id": 1}\n{"id": 2}\n', "JSON", "--format jsonl"),
        ("<html><table>\n", "HTML", "CSV"),
        (b"PK\x03\x04\x14\x00\x06\x00\n", "NUL|workbook", "CSV"),
        ("id,text\n1,a\n".encode("utf-16-le"), "NUL", "--encoding"),
        ("id,text\n1,a\n".encode("utf-16"), "UTF-16", "--encoding utf-16"),
        ("id,text\n1,a\n".encode("utf-32"), "UTF-32", "--encoding utf-32"),
        ("id,größe\n1,a\n".encode("latin-1"), "no text in this encoding", "--encoding"),
        ("a,b,a\n1,2,3\n", "2 columns have the name 'a'", "--map"),
        (b"", "no header", "first line names"),
    ],
)
def test_an_implausible_header_is_refused_with_what_to_add(
    desk: Desk, content: bytes | str, said: str, remedy: str
) -> None:
    told = desk.submit(content)
    assert told.code == 1
    assert any(part in told.out for part in said.split("|"))
    assert remedy in told.out
    assert not Task.objects.exists()
    assert desk.names == ["t.csv"]


def test_a_delimiter_that_splits_nothing_is_doubted_although_it_was_given(desk: Desk) -> None:
    told = desk.submit("id,text\n1,a\n", "--delimiter", ";")
    assert (told.code, "--delimiter ','" in told.out) == (1, True)
    assert desk.submit("id;text\n1;a,b\n", "--delimiter", ";").code == 0


@pytest.mark.parametrize(
    ("content", "args", "name", "expected"),
    [
        ("1,Müller\n2,Meier\n", ["--no-header"], "t.csv", {"column1": "1", "column2": "Müller"}),
        ("1,a\n", ["--no-header", "--map", "n:integer=column1"], "t.csv", {"n": 1}),
        ("country,2019\nCH,8\n", ["--trust-header"], "t.csv", {"country": "CH", "2019": "8"}),
        ("country,2019\nCH,8\n", ["--map", "n=2019"], "t.csv", {"n": "8"}),
        ("a;b\n1\n", ["--trust-header"], "t.csv", {"a;b": "1"}),
        ("id\ttext\n1\ta\n", [], "t.tsv", {"id": "1", "text": "a"}),
        ("id;text\n1;a\n", ["--delimiter", ";"], "t.csv", {"id": "1", "text": "a"}),
        ("\ufeffid,text\n1,a\n", ["--encoding", "utf-8"], "t.csv", {"id": "1", "text": "a"}),
        ("\n\nid,text\n1,a\n", [], "t.csv", {"id": "1", "text": "a"}),
        ("id,text,\n1,a,\n", [], "t.csv", {"id": "1", "text": "a"}),
    ],
)
def test_what_was_added_is_enough(
    desk: Desk, content: str, args: list[str], name: str, expected: dict[str, Any]
) -> None:
    assert desk.submit(content, *args, name=name).code == 0
    assert payloads()[0] == expected


def test_names_that_clash_matter_only_where_they_are_used(desk: Desk) -> None:
    header = "Key," + ",".join(["Sprint"] * 18) + ",Summary\n"
    row = "J-1," + ",".join("x" * 18) + ",a\n"
    told = desk.submit(header + row, "--map", "text=Summary", "--id-column", "Key")
    assert told.code == 0
    assert payloads() == [{"text": "a"}]
    for args in (["--map", "s=Sprint"], ["--id-column", "Sprint"], []):
        told = desk.submit(header + row, *args)
        assert (told.code, "18 columns have the name 'Sprint'" in told.out) == (1, True)


def test_blank_rows_are_skipped_and_counted_and_an_empty_text_is_none(desk: Desk) -> None:
    told = desk.submit("id,text\n1,a\n,\n\n , \n2,b\n,\n")
    assert told.out.startswith("2 rows: 2 submitted, 0 on record already; 4 blank rows skipped")
    assert desk.submit('text\na\n""\n').out.startswith("2 rows: 2 submitted")
    told = desk.submit('{"id": 1}\n\n  \n{"id": 2}\n', name="t.jsonl")
    assert told.out.startswith("2 rows: 2 submitted, 0 on record already; 2 blank rows skipped")


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("id,text\n", "t.csv"),
        ("id,text", "t.csv"),
        ("", "t.jsonl"),
        ("[]", "t.json"),
        ("[ ]\n", "t.json"),
    ],
)
def test_a_file_without_rows_is_no_failure(desk: Desk, content: str, name: str) -> None:
    told = desk.submit(content, name=name)
    assert (told.code, told.out) == (0, "0 rows: 0 submitted, 0 on record already\n")


def test_a_value_in_a_column_without_a_name_is_not_lost_without_a_word(desk: Desk) -> None:
    told = desk.submit("id,text,\n1,a,\n2,b,x\n")
    assert (told.code, payloads()) == (2, [{"id": "1", "text": "a"}])
    assert "a column without a name" in desk.rejects()[0]["faults"][0]["message"]
    assert desk.submit("id,text,\n2,b,x\n", "--map", "id=id").code == 0


def test_an_open_quote_tells_the_lines_that_it_swallowed(desk: Desk) -> None:
    rows = [f"{n},row {n}" for n in range(1, 101)]
    rows[49] = '50,"5 inch,pvc'
    told = desk.submit("\n".join(["id,text", *rows, ""]))
    assert told.code == 2
    assert "lines 51 to 101" in told.out
    assert "a quote opens here and does not close" in told.out
    (entry,) = desk.rejects()
    assert (entry["line"], entry["last_line"]) == (51, 101)
    assert Task.objects.count() == 49


def test_a_field_of_many_lines_is_questioned_and_taken_where_that_is_meant(desk: Desk) -> None:
    swallowed = "\n".join(f"{n},row" for n in range(501))
    few = '1,"few\nline\nbreaks"'
    content = f'id,text\n{few}\n2,"5 inch,\n{swallowed}"\n3,x\n'
    told = desk.submit(content)
    assert told.code == 2
    assert "lines 5 to 506: row: the field 'text' holds 501 line breaks" in told.out
    assert "--line-breaks 501" in told.out
    assert [each["id"] for each in payloads()] == ["1", "3"]
    Task.objects.all().delete()
    assert desk.submit(content, "--line-breaks", "501").code == 0
    assert Task.objects.count() == 3


ELEMENTS = [{"id": 1, "text": 'a "]}, {[' * 3}, {"id": 2, "more": [[], {"b": "\\"}]}, {"id": 3}]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("chunk", [1, 7, 65536])
def test_an_array_is_read_as_a_stream_whatever_its_pieces(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, indent: int | None, chunk: int
) -> None:
    monkeypatch.setattr(json_rows, "CHUNK", chunk)
    told = desk.submit(json.dumps(ELEMENTS, indent=indent), name="t.json")
    assert told.code == 0
    assert payloads() == ELEMENTS


def test_bad_elements_of_an_array_are_set_aside_by_their_lines(desk: Desk) -> None:
    text = '[\n{"id": 1},\n7,\n{"id": 2,\n "id": 3},\n{"id": nope},\n"a",\n{"id": 4}\n,]'
    told = desk.submit(text, name="t.json")
    assert told.code == 2
    entries = desk.rejects("t.json.rejects.jsonl")
    places = [(e["line"], e.get("last_line")) for e in entries]
    assert places == [(3, None), (4, 5), (6, None), (7, None), (9, None)]
    assert "this is a number" in entries[0]["faults"][0]["message"]
    assert '"id" stands twice' in entries[1]["faults"][0]["message"]
    assert payloads() == [{"id": 1}, {"id": 4}]


@pytest.mark.parametrize(
    ("text", "said", "count"),
    [
        ('{"id": 1}', "put it into [ ]", 0),
        ("7", "there is no JSON array", 0),
        ("id,text\n", "there is no JSON array", 0),
        ("", "there is no JSON array", 0),
        ('[{"id": 1}] [2]', "something follows the array", 0),
        ('[{"id": 1}]]', "something follows the array", 0),
        ('[{"id": 1}, {"id": 2', "the file ends before its array does", 1),
    ],
)
def test_what_is_no_whole_array_is_told(desk: Desk, text: str, said: str, count: int) -> None:
    told = desk.submit(text, name="t.json")
    assert told.code in (1, 2)
    assert said in told.out
    assert Task.objects.count() == count


def test_an_element_that_is_too_long_takes_no_memory_and_costs_only_itself(desk: Desk) -> None:
    long = '{"a": "' + "x" * 2_000_000 + '"}'
    told = desk.submit(f'[{{"id": 1}}, {long}, {{"id": 2}}]', name="t.json")
    assert told.code == 2
    assert payloads() == [{"id": 1}, {"id": 2}]
    assert "a row of more than" in told.out


@pytest.mark.parametrize("text", ["[\n  42.070206,\n  7\n]", '[{"id": 1}]', "\n\n[\n"])
def test_an_array_among_lines_is_told_its_format(desk: Desk, text: str) -> None:
    told = desk.submit(text, name="t.jsonl")
    assert (told.code, "this is a JSON array; use --format json" in told.out) == (1, True)
    assert not Task.objects.exists()


def test_rows_that_are_no_object_are_set_aside_unless_they_are_meant(desk: Desk) -> None:
    text = '{"id": 1}\n42.070206\n"a"\nnull\ntrue\n[1]\n'
    assert desk.submit(text, name="t.jsonl").code == 2
    assert payloads() == [{"id": 1}]
    assert len(desk.rejects("t.jsonl.rejects.jsonl")) == 5
    assert desk.submit("[1]\n2\n", "--any-json", name="t.jsonl").code == 0
    assert payloads()[1:] == [[1], 2]


def test_another_format_under_the_name_of_json_lines_is_told(desk: Desk) -> None:
    assert "--format csv" in desk.submit("id,text\n1,a\n", name="t.jsonl").out
    assert "one object a line" in desk.submit('{\n "id": 1\n}\n', name="t.jsonl").out
    assert not Task.objects.exists()


def test_a_key_that_stands_twice_in_a_row_is_set_aside(desk: Desk) -> None:
    assert desk.submit('{"a": 1, "a": 2}\n{"a": 3}\n', name="t.jsonl").code == 2
    assert payloads() == [{"a": 3}]
    content = 'id,j\n1,"{""a"":1,""a"":2}"\n'
    assert desk.submit(content, "--map", "j:json=j").code == 2


def test_a_fault_in_a_json_row_names_the_line_of_the_file(desk: Desk) -> None:
    told = desk.submit('{"b": 3}\n{"a": 1, "a": 2}\n{"a": }\n', name="t.jsonl").out
    assert 'line 2: row: line 2: the key "a" stands twice in one object, first on line 2' in told
    assert "line 3: row: line 3 column 7: no valid JSON" in told
    array = '[\n{"b": 3},\n{"a": 1,\n "a": 2}]\n'
    told = desk.submit(array, name="t.json").out
    assert 'line 4: the key "a" stands twice in one object, first on line 3' in told


def test_lines_of_an_array_are_counted_over_its_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    monkeypatch.setattr(json_rows, "CHUNK", 3)
    text = '\n\n[\n1\n,\n\n {\n"a":\n2}\n ]\n'
    rows = list(array_rows(io.StringIO(text), any_value=True))
    assert [(row.line, row.end) for row in rows] == [(4, 4), (7, 9)]
