"""``manage.py submit-job``: plans from files."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tasks_app.models import Job, Task
from tests.jobs import JobFloor

YAML_PLAN = """
name: from a file
on_dead: compensate
steps:
  - name: one
    kind: a
    payload: {n: 1}
    compensation: undo_a
  - name: two
    kind: b
    payload:
      n: {$result: one.n}
"""


@pytest.fixture(autouse=True)
def floor(record: None) -> JobFloor:
    made = JobFloor()
    made.hire("w1", slots=4)
    return made


def submit(*arguments: str) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command("submit-job", *arguments, stdout=out, stderr=err)
    return out.getvalue().strip(), err.getvalue()


def test_a_plan_in_yaml_becomes_a_job_and_its_id_is_printed(tmp_path: Path) -> None:
    file = tmp_path / "plan.yaml"
    file.write_text(YAML_PLAN)
    out, _ = submit(str(file))
    job = Job.objects.get()
    assert out == str(job.id)
    assert job.name == "from a file"
    assert job.submitted_by.endswith("at the command line")
    assert Task.objects.filter(job=job).count() == 2


def test_a_key_never_makes_two_jobs(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_text(json.dumps({"steps": [{"name": "x", "kind": "a"}]}))
    first, _ = submit(str(file), "--key", "k")
    second, said = submit(str(file), "--key", "k")
    assert first == second
    assert "on record already" in said
    assert Job.objects.count() == 1


def test_a_dry_run_checks_and_writes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "plan.yml"
    file.write_text(YAML_PLAN)
    assert "2 steps, no fault" in submit(str(file), "--dry-run")[1]
    assert Job.objects.count() == 0


@pytest.mark.parametrize("dry_run", [(), ("--dry-run",)])
def test_every_fault_of_a_plan_is_told_with_its_place(
    tmp_path: Path, dry_run: tuple[str, ...]
) -> None:
    file = tmp_path / "plan.json"
    file.write_text(json.dumps({"steps": [{"name": "x", "kind": "zz", "depends_on": ["y"]}]}))
    with pytest.raises(CommandError) as refused:
        submit(str(file), *dry_run)
    told = str(refused.value)
    assert "steps[0].kind: no such kind" in told
    assert "steps[0].depends_on[0]: no such step" in told


BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("p.json", '{"steps": [', "line 1 column"),
        ("p.yaml", "steps: [", "no valid YAML"),
        ("p.yaml", BOMB, "more than 50,000 values"),
        ("p.yaml", "steps: [{name: x, kind: a, payload: {at: .nan}}]", "NaN is no JSON number"),
        ("p.yaml", "steps: []\nname: a\nsteps: [{name: x, kind: a}]", "line 3: .*steps.*line 1"),
        ("p.yaml", "steps: [{name: x, kind: a, payload: 1, payload: 2}]", "payload"),
        ("p.yaml", "steps: [{name: x, kind: a, payload: {1: x}}]", "line 1: the key 1 is not text"),
        ("p.json", '{"steps": [],\n "steps": []}', "line 2: the key .steps. .* line 1"),
    ],
)
def test_a_file_that_cannot_be_a_plan_is_refused_in_one_sentence(
    tmp_path: Path, name: str, text: str, told: str
) -> None:
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(CommandError, match=told):
        submit(str(file))
