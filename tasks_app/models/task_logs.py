"""What handlers logged, apart from the tasks: most handlers log nothing."""

from django.db import models

from tasks_app.models.tasks import Task


class TaskLog(models.Model):
    """The latest lines that a handler logged in one attempt: [[seconds, level, text], ...]."""

    token = models.BigIntegerField(primary_key=True)
    task = models.ForeignKey(Task, models.CASCADE, related_name="+")
    lines = models.JSONField()

    class Meta:
        db_table = "task_log"
