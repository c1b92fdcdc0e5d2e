"""What people and programs did and may do: the audit and API tokens."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class AuditEntry(models.Model):
    """One act of a person: one row even for a bulk, with the count and the ids it touched.

    ``via`` is the session, token or command that it came through, ``wanted`` the filter it was done
    on. Rows are appended only: triggers number them, chain them by ``digest``, and refuse the rest.
    """

    id = models.BigAutoField(primary_key=True)
    at = models.DateTimeField(_("at"), db_default=Now())
    actor = models.CharField(_("actor"), max_length=150)
    address = models.CharField(_("address"), max_length=64, db_default="")
    via = models.CharField(_("via"), max_length=200, db_default="")
    action = models.CharField(_("action"), max_length=50)
    subject = models.CharField(_("subject"), max_length=200)
    wanted = models.CharField(_("wanted"), max_length=1000, db_default="")
    count = models.IntegerField(_("count"), db_default=1)
    reason = models.TextField(_("reason"), db_default="")
    before = models.JSONField(_("before"), null=True)
    after = models.JSONField(_("after"), null=True)
    detail = models.JSONField(_("detail"), db_default={})
    digest = models.BinaryField(_("digest"), db_default=b"")

    class Meta:
        verbose_name = _("audit entry")
        db_table = "audit_entry"
        verbose_name_plural = _("audit entries")
        indexes = [
            models.Index(name="audit_newest", fields=["-id"]),
            models.Index(name="audit_subject", fields=["subject", "-id"]),
        ]

    def __str__(self) -> str:
        return f"{self.action}: {self.subject}"


class AuditHead(models.Model):
    """The last entry's number and digest: one row, under whose lock entries are appended."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    last = models.BigIntegerField(db_default=0)
    digest = models.BinaryField(db_default=b"")

    class Meta:
        db_table = "audit_head"
        constraints = [models.CheckConstraint(name="audit_head_one_row", condition=models.Q(id=1))]


class RequestRate(models.Model):
    """What is left of a rate of requests, as of ``at``; ``subject`` is a token or an address.

    The table is not logged: a crash empties it, and a request costs no write to the log.
    """

    subject = models.CharField(max_length=100, primary_key=True)
    remaining = models.FloatField()
    at = models.DateTimeField()

    class Meta:
        db_table = "request_rate"


class ApiToken(models.Model):
    """A program's right to use the HTTP API; only the SHA-256 of the secret is kept."""

    id = models.BigAutoField(primary_key=True)
    name = models.CharField(_("name"), max_length=100)
    prefix = models.CharField(_("prefix"), max_length=16, unique=True)
    digest = models.CharField(_("digest"), max_length=64)
    scopes = ArrayField(models.CharField(max_length=30), verbose_name=_("scopes"), db_default=[])
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, verbose_name=_("user"), null=True
    )
    created_at = models.DateTimeField(_("created at"), db_default=Now())
    expires_at = models.DateTimeField(_("expires at"), null=True)
    revoked_at = models.DateTimeField(_("revoked at"), null=True)
    last_used_at = models.DateTimeField(_("last used at"), null=True)

    class Meta:
        verbose_name_plural = _("API tokens")
        db_table = "api_token"
        verbose_name = _("API token")

    def __str__(self) -> str:
        return f"{self.name} {self.prefix}"
