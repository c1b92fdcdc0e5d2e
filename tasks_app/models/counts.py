"""How many tasks stand where: the rollup, kept by deltas."""

from django.db import models


class StatusDelta(models.Model):
    """One change of the counts; appended, so that no hot row serialises completions."""

    id = models.BigAutoField(primary_key=True)
    kind = models.CharField(max_length=100)
    status = models.CharField(max_length=10)
    change = models.IntegerField()
    busy_seconds = models.FloatField(db_default=0.0)
    gone = models.IntegerField(db_default=0)

    class Meta:
        db_table = "status_delta"


class StatusCount(models.Model):
    """Tasks by kind and status up to the last fold; add the deltas for the truth of now.

    ``gone`` counts those that were pruned in this status, so that all that ever ended is known.
    """

    pk = models.CompositePrimaryKey("kind", "status")
    kind = models.CharField(max_length=100)
    status = models.CharField(max_length=10)
    count = models.BigIntegerField()
    busy_seconds = models.FloatField(db_default=0.0)
    gone = models.BigIntegerField(db_default=0)

    class Meta:
        db_table = "status_count"
