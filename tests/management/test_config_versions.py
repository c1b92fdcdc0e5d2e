"""``manage.py config``: a file is held against the state it was exported from, and foretells."""

import re
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tasks_app.models import Kind, Task
from tasks_app.services.people.people import Actor, Role
from tasks_app.services.settings.configuration_files import apply_settings
from tests.floor import Floor
from tests.management.test_config import config, file, floor

__all__ = ["file", "floor"]

BEA = Actor("bea", role=Role.ADMIN)


def test_a_file_is_refused_over_what_others_changed_since_its_export(
    floor: Floor, file: Path
) -> None:
    floor.kind("job")
    floor.kind("mail")
    config("export", file)
    file.write_text(file.read_text().replace("max_attempts: 3", "max_attempts: 5", 1))
    apply_settings({"kinds": {"job": {"timeout_seconds": 60}, "letter": {}}}, BEA)
    apply_settings({"supervisor": {"tick_seconds": 0.5}}, BEA)
    for command in (("apply", file), ("apply", file, "--dry-run")):
        with pytest.raises(CommandError) as refused:
            config(*command, "--if-unchanged")
        told = str(refused.value)
        assert "nothing was changed" in told
        who = r" \(bea, 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC\)"
        assert re.search(r"kinds\.job\.timeout_seconds: .*900\.0 -> 60" + who, told)
        assert re.search(r"kinds\.letter: changed meanwhile: new" + who, told)
        assert re.search(r"supervisor\.tick_seconds: .*1\.0 -> 0\.5" + who, told)
    assert Kind.objects.get(name="job").timeout_seconds == 60
    config("apply", file)
    assert Kind.objects.get(name="job").timeout_seconds == 900, "unless it is asked for"


def test_a_file_whose_state_is_the_exported_one_is_applied(floor: Floor, file: Path) -> None:
    floor.kind("job")
    config("export", file)
    file.write_text(file.read_text().replace("max_attempts: 3", "max_attempts: 5", 1))
    call_command("pause", "kind", "job", "--reason", "a pause is the day's")
    apply_settings({"kinds": {"job": {"timeout_seconds": 60}}}, BEA)
    apply_settings({"kinds": {"job": {"timeout_seconds": 900}}}, BEA)
    config("apply", file, "--if-unchanged")
    assert Kind.objects.get().max_attempts == 5
    with pytest.raises(CommandError, match=r"kinds\.job\.max_attempts: .*3 -> 5"):
        config("apply", file, "--if-unchanged")


def test_a_change_that_the_audit_does_not_know_is_refused_too(floor: Floor, file: Path) -> None:
    floor.kind("job")
    config("export", file)
    Kind.objects.update(max_attempts=4)
    with pytest.raises(CommandError, match="the audit does not tell how they differ"):
        config("apply", file, "--if-unchanged")


def test_a_file_without_its_version_is_refused_where_it_is_needed(floor: Floor, file: Path) -> None:
    file.write_text("kinds: {job: }\n")
    with pytest.raises(CommandError, match="does not say which version"):
        config("apply", file, "--if-unchanged")
    assert not Kind.objects.exists()


def test_what_a_schema_would_refuse_is_told_by_diff_and_apply(floor: Floor, file: Path) -> None:
    floor.kind("job")
    floor.submit(200)
    Task.objects.update(payload={"n": "many"})
    file.write_text(
        "kinds: {job: {payload_schema: {properties: {n: {type: integer}}}}}\n", encoding="utf-8"
    )
    said = "# kinds.job: payload schema: 200 of the latest 200 payloads would be refused"
    dry = config("apply", file, "--dry-run")
    assert said in dry
    assert config("apply", file) == dry
    assert Kind.objects.get().payload_schema is not None
    assert config("apply", file) == ""
