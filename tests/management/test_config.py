"""``manage.py config``: a file that is compared and applied whole, or refused with every place."""

import io
from pathlib import Path

import pytest
import yaml
from django.contrib.auth.models import Group
from django.core.management import CommandError, call_command

from tasks_app.models import AuditEntry, Kind, Limit, SupervisorSettings
from tests.floor import Floor


@pytest.fixture
def floor(record: None) -> Floor:
    """A shop floor whose writes commit."""
    floor = Floor()
    for name in ("viewer", "operator", "admin"):
        Group.objects.get_or_create(name=name)
    return floor


def config(*words: str | Path) -> str:
    """The standard output of the command."""
    out = io.StringIO()
    call_command("config", *map(str, words), stdout=out, stderr=io.StringIO())
    return out.getvalue()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "chargehand.yaml"


def test_an_export_is_the_record_and_applies_to_nothing(floor: Floor, file: Path) -> None:
    Limit.objects.create(name="mail", max_concurrent=3)
    floor.kind("letter", limit_id="mail", permanent_errors=["ValueError"], payload_schema={})
    floor.kind("classify", strategy="capability", description="ünïcode: # no comment")
    config("export", file)
    written = yaml.safe_load(file.read_text())
    assert list(written) == [
        "limits",
        "kinds",
        "supervisor",
        "alerts",
        "alert_rules",
        "alert_channels",
        "retention",
        "groups",
    ]
    assert written["kinds"]["letter"]["limit"] == "mail"
    assert "paused" not in written["kinds"]["letter"], "a pause is the day's, not the file's"
    assert config("diff", file) == ""
    assert config("apply", file) == ""
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize("precious", ["precious\n", "a: 1\n", "- kinds\n", "kinds: {\n", "\xff"])
def test_an_export_replaces_no_file_that_is_no_configuration(
    floor: Floor, file: Path, precious: str
) -> None:
    file.write_text(precious, encoding="latin-1")
    with pytest.raises(CommandError, match="is no configuration; give another path"):
        config("export", file)
    assert file.read_text(encoding="latin-1") == precious


@pytest.mark.parametrize("earlier", ["", "\n", "kinds: {}\n", "groups: {}\nlimits: {}\n"])
def test_an_export_replaces_an_earlier_configuration(
    floor: Floor, file: Path, earlier: str
) -> None:
    file.write_text(earlier)
    for _ in range(2):
        config("export", file)
        assert config("diff", file) == ""


def test_an_export_rebuilds_an_empty_record(floor: Floor, file: Path) -> None:
    Limit.objects.create(name="mail", rate_per_second=2.5)
    floor.kind("letter", limit_id="mail", max_attempts=7, retry_budget=0.2)
    floor.settings(tick_seconds=0.5)
    config("export", file)
    before = file.read_text()
    Kind.objects.all().delete()
    Limit.objects.all().delete()
    floor.settings(tick_seconds=1.0)
    config("apply", file)
    assert config("export") == before


@pytest.mark.parametrize("text", [None, "kinds: [", "kinds: {letter: {max_attempts: many}}"])
def test_a_diff_that_cannot_compare_ends_otherwise_than_one_that_differs(
    floor: Floor, file: Path, text: str | None
) -> None:
    if text is not None:
        file.write_text(text)
    with pytest.raises(CommandError) as refused:
        config("diff", file)
    assert refused.value.returncode == 2
    with pytest.raises(CommandError) as refused:
        config("apply", file)
    assert refused.value.returncode == 1


def test_what_a_file_changes_is_shown_applied_and_audited_once(floor: Floor, file: Path) -> None:
    floor.kind("letter", max_attempts=7)
    file.write_text(
        "limits: {mail: {max_concurrent: 2}}\n"
        "kinds: {letter: {timeout_seconds: 15, limit: mail}, new_kind: }\n"
        "supervisor: {tick_seconds: 0.5}\n"
    )
    with pytest.raises(SystemExit) as left:
        config("diff", file)
    assert left.value.code == 1
    wanted = [
        "limits.mail: new",
        "kinds.letter.timeout_seconds: 900.0 -> 15",
        'kinds.letter.limit: null -> "mail"',
        "kinds.new_kind: new",
        "supervisor.tick_seconds: 1.0 -> 0.5",
    ]
    dry = config("apply", file, "--dry-run")
    assert set(wanted) <= set(dry.splitlines())
    assert Kind.objects.count() == 1, "a dry run changes nothing"
    assert config("apply", file, "--reason", "letters hang") == dry
    kind = Kind.objects.get(name="letter")
    assert (kind.timeout_seconds, kind.limit_id, kind.max_attempts) == (15.0, "mail", 7)
    assert SupervisorSettings.objects.get().tick_seconds == 0.5
    acts = list(AuditEntry.objects.order_by("id").values_list("action", "subject", "reason"))
    assert acts == [
        ("add limit", "mail", "letters hang"),
        ("change kind", "letter", "letters hang"),
        ("add kind", "new_kind", "letters hang"),
        ("change supervisor settings", "supervisor settings", "letters hang"),
    ]
    assert config("apply", file) == "", "a second time there is nothing to do"


def test_a_strategy_from_a_file_is_in_force_in_the_next_round(floor: Floor, file: Path) -> None:
    floor.settings(backlog=None)
    floor.kind()
    for name in ("w1", "w2"):
        floor.worker(name, skills={"job": 2.0 if name == "w2" else 1.0})
    floor.submit(2)
    file.write_text("kinds: {job: {strategy: capability}}")
    config("apply", file)
    floor.round()
    assert [len(floor.claim(name)) for name in ("w1", "w2")] == [0, 2]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "kinds: {job: {timeout_secs: 1}}",
            "kinds.job.timeout_secs: there is no such setting; did you mean timeout_seconds?",
        ),
        (
            "kinds: {job: {timeout_seconds: -1}}",
            "kinds.job.timeout_seconds: -1: Ensure this value is greater",
        ),
        (
            "kinds: {job: {timeout_seconds: 1.0e+15}}",
            "timeout_seconds: 1000000000000000.0: Ensure this value is less than or equal to 3162",
        ),
        (
            "limits: {mail: {rate_per_second: 1.0e+308}}",
            "limits.mail.rate_per_second: 1e+308: Ensure this value is less than or equal to 10",
        ),
        ("kinds: {job: {timeout_seconds: 15s}}", "kinds.job.timeout_seconds: '15s': give a number"),
        ("kinds: {job: {timeout_seconds: .nan}}", "kinds.job.timeout_seconds: nan: give a number"),
        ("kinds: {job: {timeout_seconds: true}}", "kinds.job.timeout_seconds: True: give a number"),
        ("kinds: {job: {timeout_seconds: }}", "kinds.job.timeout_seconds: empty; give a value"),
        ("kinds: {job: {max_attempts: 2.5}}", "kinds.job.max_attempts: 2.5: give a whole number"),
        ("kinds: {job: {paused: 1}}", "kinds.job.paused: 1: give true or false"),
        (
            "kinds: {job: {strategy: best}}",
            "kinds.job.strategy: 'best': give one of round_robin, least_loaded, capability",
        ),
        ("kinds: {job: {limit: mail}}", "kinds.job.limit: there is no limit 'mail'"),
        (
            "kinds: {job: {permanent_errors: ValueError}}",
            "kinds.job.permanent_errors: 'ValueError': give a list of texts",
        ),
        (
            "kinds: {job: {permanent_errors: [HTTP 4x]}}",
            "kinds.job.permanent_errors[0]: 'HTTP 4x' is neither",
        ),
        (
            "kinds: {job: {payload_schema: {type: objekt}}}",
            "kinds.job.payload_schema: No valid JSON Schema: at $.type",
        ),
        (
            "kinds: {job: {backoff_cap_seconds: 1}}",
            "kinds.job.backoff_cap_seconds: must be at least",
        ),
        (
            "kinds: {job: {quarantined_at: null}}",
            "kinds.job.quarantined_at: there is no such setting",
        ),
        ("kinds: {' job': }", "kinds. job: give a name"),
        ("kinds: [job]", "kinds: give a mapping"),
        ("kinds: {job: 1}", "kinds.job: give a mapping of settings"),
        ("kind: {job: }", "kind: there is no such section; did you mean kinds?"),
        (
            "supervisor: {stale_after_seconds: 5}",
            "supervisor.stale_after_seconds: must be above heartbeat_seconds",
        ),
        ("supervisor: {leader_lease_seconds: 5}", "cuts off a frozen leader"),
        (
            "groups: {operator: {permissions: [tasks_app.fly]}}",
            "groups.operator.permissions[0]: there is no permission",
        ),
        ("- a", "the document: give a mapping of"),
        ("", "the document: give a mapping of"),
        ("kinds: {job: {}, job: {}}", "a key stands twice"),
        (
            "kinds:\n  job:\n    max_attempts: 3\n    max_attempts: 4\n",
            'line 4: a key stands twice in one mapping: "max_attempts", first on line 3',
        ),
        ("kinds: {job: {max_attempts: 1_0}}", "kinds.job.max_attempts: '1_0': give a whole number"),
        ("kinds: {job: {payload_schema: {default: .nan}}}", "$.default: NaN is no JSON number"),
        ("kinds: {job: {paused: NO}}", "kinds.job.paused: 'NO': give true or false"),
        ("kinds: {job", "no valid YAML"),
        ("!!python/object/apply:os.system [ls]", "no valid YAML"),
    ],
)
def test_a_fault_is_told_with_its_place_and_nothing_changes(
    floor: Floor, file: Path, text: str, said: str
) -> None:
    floor.kind()
    file.write_text(text)
    with pytest.raises(CommandError) as refused:
        config("apply", file)
    assert said in str(refused.value)


def test_numbers_and_merge_keys_mean_what_yaml_1_2_says(floor: Floor, file: Path) -> None:
    floor.kind("letter")
    file.write_text(
        "kinds:\n  parcel: &base {timeout_seconds: 010, description: NO}\n"
        "  letter:\n    <<: *base\n    timeout_seconds: 20\n"
    )
    config("apply", file)
    told = {kind.name: (kind.timeout_seconds, kind.description) for kind in Kind.objects.all()}
    assert told == {"parcel": (10.0, "NO"), "letter": (20.0, "NO")}


def test_every_fault_is_told_at_once_and_the_good_part_is_not_applied(
    floor: Floor, file: Path
) -> None:
    floor.kind()
    file.write_text(
        "limits: {good: {max_concurrent: 2}, bad: {burst: 0}}\nkinds: {job: {max_attempts: 0}}"
    )
    with pytest.raises(CommandError) as refused:
        config("apply", file)
    assert all(place in str(refused.value) for place in ("limits.bad.burst", "kinds.job.max_att"))
    assert not Limit.objects.exists()
    assert not AuditEntry.objects.exists()


def test_groups_get_exactly_the_rights_of_the_file(floor: Floor, file: Path) -> None:
    file.write_text("groups: {night: {permissions: [tasks_app.see_payloads]}}")
    config("apply", file)
    night = Group.objects.get(name="night").permissions
    assert [right.codename for right in night.all()] == ["see_payloads"]
    config("export", file)
    assert "- tasks_app.see_payloads" in file.read_text()
    file.write_text("groups: {night: {permissions: []}}")
    config("apply", file)
    assert not night.exists()
