"""What people and programs did and may do: the audit and API tokens."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now


class AuditEntry(models.Model):
    """One act of a person: one row even for a bulk, with the count and the ids it touched."""

    id = models.BigAutoField(primary_key=True)
    at = models.DateTimeField(db_default=Now())
    actor = models.CharField(max_length=150)
    address = models.CharField(max_length=64, db_default="")
    action = models.CharField(max_length=50)
    subject = models.CharField(max_length=200)
    count = models.IntegerField(db_default=1)
    reason = models.TextField(db_default="")
    detail = models.JSONField(db_default={})

    class Meta:
        db_table = "audit_entry"
        verbose_name_plural = "audit entries"
        indexes = [models.Index(name="audit_newest", fields=["-id"])]


class ApiToken(models.Model):
    """A program's right to use the HTTP API; only the SHA-256 of the secret is kept."""

    id = models.BigAutoField(primary_key=True)
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=16, unique=True)
    digest = models.CharField(max_length=64)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "api_token"
        verbose_name = "API token"
