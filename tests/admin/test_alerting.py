"""Channels and rules of alerts in the admin and in a file; the secret is taken in and kept in."""

import io
from pathlib import Path

import pytest
import yaml
from django.core import mail
from django.core.management import call_command
from django.test import Client

from tasks_app.core.alerts.notification import AlertName
from tasks_app.models import AlertChannel, AlertRule, AuditEntry
from tests.pages import page

CHANNELS = "/admin/tasks_app/alertchannel"
SECRET = "made-up-for-these-tests"
MAIL = {"name": "night shift", "kind": "mail", "address": "night@example.org", "enabled": "on"}
HOOK = {"name": "hook", "kind": "webhook", "address": "https://example.org/x", "enabled": "on"}


def test_a_secret_is_kept_and_shown_nowhere_again(admin: Client, tmp_path: Path) -> None:
    assert "field-signed" not in page(admin.get(f"{CHANNELS}/add/"))
    admin.post(f"{CHANNELS}/add/", {**HOOK, "new_secret": SECRET, "_reason": "nights"})
    channel = AlertChannel.objects.get()
    assert channel.secret == SECRET
    admin.post(f"{CHANNELS}/hook/change/", {**HOOK, "enabled": "", "new_secret": ""})
    channel.refresh_from_db()
    assert (channel.secret, channel.enabled) == (SECRET, False)
    assert "field-signed" in page(admin.get(f"{CHANNELS}/hook/change/"))
    told = io.StringIO()
    call_command("config", "export", stdout=told)
    shown = [
        told.getvalue(),
        page(admin.get(f"{CHANNELS}/")),
        page(admin.get(f"{CHANNELS}/hook/change/")),
        page(admin.get(f"{CHANNELS}/hook/history/")),
        page(admin.get("/audit/")),
        *(str(vars(entry)) for entry in AuditEntry.objects.all()),
    ]
    assert not [each for each in shown if SECRET in each]
    acts = list(AuditEntry.objects.order_by("id").values_list("action", flat=True))
    assert acts == ["add alert channel", "set alert secret", "change alert channel"]


@pytest.mark.parametrize(
    ("form", "fault"),
    [
        ({**HOOK, "address": "http://example.org/x"}, "The address must begin with https://"),
        ({**MAIL, "address": "a@example.org, nobody"}, "is no mail address"),
        ({**HOOK, "new_secret": "short"}, "at least 16 characters"),
    ],
)
def test_what_cannot_be_a_channel_is_refused_with_the_reason(
    admin: Client, form: dict[str, str], fault: str
) -> None:
    assert fault in page(admin.post(f"{CHANNELS}/add/", form))
    assert not AlertChannel.objects.exists()


def test_a_test_is_sent_at_once_and_its_fate_is_told(admin: Client) -> None:
    admin.post(f"{CHANNELS}/add/", MAIL)
    form = page(admin.get(f"{CHANNELS}/night%20shift/change/"))
    assert "night%20shift/test/" in form
    told = page(admin.post(f"{CHANNELS}/night%20shift/test/", follow=True))
    assert "The test was sent." in told
    assert [each.subject for each in mail.outbox] == ["[Chargehand] A test"]
    admin.post(f"{CHANNELS}/add/", {**HOOK, "address": "https://127.0.0.1/x"})
    told = page(admin.post(f"{CHANNELS}/hook/test/", follow=True))
    assert "The test did not arrive: the address 127.0.0.1 is not a public address." in told
    assert admin.get(f"{CHANNELS}/hook/test/").status_code == 405
    told = page(admin.post(f"{CHANNELS}/nobody/test/", follow=True))
    assert "there is no channel nobody" in told


def test_every_alert_has_a_rule_that_can_be_changed_and_not_deleted(admin: Client) -> None:
    AlertRule.objects.bulk_create(
        [AlertRule(name=name) for name in AlertName], ignore_conflicts=True
    )
    assert admin.get("/admin/tasks_app/alertrule/add/").status_code == 403
    assert admin.get("/admin/tasks_app/alertrule/silent/delete/").status_code == 403
    admin.post("/admin/tasks_app/alertrule/silent/change/", {"repeat_minutes": "5"})
    rule = AlertRule.objects.get(name="silent")
    assert (rule.sent, rule.repeat_minutes) == (False, 5.0)
    assert AuditEntry.objects.get().subject == "silent"


def test_channels_and_rules_can_live_in_a_file(record: None, tmp_path: Path) -> None:
    file = tmp_path / "chargehand.yaml"
    file.write_text(
        "alert_rules: {pinned: {sent: false}}\n"
        "alert_channels: {ops: {kind: mail, address: ops@example.org}}\n"
    )
    call_command("config", "apply", str(file), stdout=io.StringIO())
    assert AlertRule.objects.get(name="pinned").sent is False
    assert AlertChannel.objects.get().address == "ops@example.org"
    told = io.StringIO()
    call_command("config", "export", stdout=told)
    written = yaml.safe_load(told.getvalue())["alert_channels"]
    assert written == {"ops": {"kind": "mail", "address": "ops@example.org", "enabled": True}}
    for wrong, fault in {
        "alert_rules: {nothing: {sent: false}}": "There are only",
        "alert_channels: {x: {kind: webhook, address: 'ftp://x'}}": "write it as https://",
        "alert_channels: {x: {secret: abc}}": "there is no such setting",
    }.items():
        file.write_text(wrong)
        with pytest.raises(Exception, match=fault):
            call_command("config", "apply", str(file), stdout=io.StringIO())
