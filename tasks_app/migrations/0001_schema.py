"""The schema: every table, constraint and index that the models declare."""

import django.contrib.postgres.fields
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.functions.datetime
import tasks_app.models.ids
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    # Databases made before these two migrations have applied all of those.
    replaces = [
        ("tasks_app", "0001_record"),
        ("tasks_app", "0002_record_parts"),
        ("tasks_app", "0003_limits_and_cancel"),
        ("tasks_app", "0004_jobs"),
        ("tasks_app", "0005_effects"),
        ("tasks_app", "0006_groups"),
        ("tasks_app", "0007_names"),
        ("tasks_app", "0008_audit_chain"),
        ("tasks_app", "0009_fingerprints"),
        ("tasks_app", "0010_token_scopes"),
        ("tasks_app", "0011_people"),
        ("tasks_app", "0012_job_turns"),
        ("tasks_app", "0013_searching"),
        ("tasks_app", "0014_bulks"),
        ("tasks_app", "0015_settings_history"),
        ("tasks_app", "0016_supervision_history"),
        ("tasks_app", "0017_limit_breakers"),
        ("tasks_app", "0018_alert_settings"),
        ("tasks_app", "0019_task_logs"),
        ("tasks_app", "0020_breaker_words"),
        ("tasks_app", "0021_bulk_watch"),
        ("tasks_app", "0022_request_rates"),
        ("tasks_app", "0023_retention"),
        ("tasks_app", "0024_bulk_items"),
        ("tasks_app", "0025_alerting"),
        ("tasks_app", "0026_labels"),
        ("tasks_app", "0027_sample_gone"),
        ("tasks_app", "0028_retention_bounds"),
        ("tasks_app", "0029_setting_bounds"),
        ("tasks_app", "0030_repeat_bound"),
        ("tasks_app", "0031_settling_portions"),
        ("tasks_app", "0032_breaker_permanent"),
        ("tasks_app", "0033_submitted_content"),
        ("tasks_app", "0034_origins"),
        ("tasks_app", "0035_start_of_work"),
        ("tasks_app", "0036_served_since"),
        ("tasks_app", "0037_ready_at"),
        ("tasks_app", "0038_boot_ending"),
        ("tasks_app", "0039_sampled_until"),
        ("tasks_app", "0040_bounded_jobs"),
        ("tasks_app", "0041_audit_restore"),
    ]

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='AlertState',
            fields=[
                ('key', models.CharField(max_length=200, primary_key=True, serialize=False)),
                ('name', models.CharField(choices=[('off_duty', 'Off duty'), ('unserved', 'Unserved'), ('new_error', 'New error'), ('error_back', 'Error back'), ('overdue', 'Overdue'), ('silent', 'Silent'), ('held_kind', 'Held kind'), ('snapshot_held', 'Snapshot held'), ('pinned', 'Pinned'), ('dead_waiting', 'Dead waiting')], max_length=20)),
                ('began_at', models.DateTimeField()),
                ('told', models.BooleanField(db_default=False)),
                ('sent_at', models.DateTimeField(null=True)),
                ('missing_since', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('title', models.CharField(db_default='', max_length=300)),
            ],
            options={
                'db_table': 'alert_state',
            },
        ),
        migrations.CreateModel(
            name='DeadGroup',
            fields=[
                ('fingerprint', models.CharField(max_length=16, primary_key=True, serialize=False)),
                ('assigned_to', models.CharField(db_default='', max_length=150)),
                ('note', models.TextField(db_default='')),
                ('dismissed_at', models.DateTimeField(null=True)),
            ],
            options={
                'db_table': 'dead_group',
            },
        ),
        migrations.CreateModel(
            name='Worker',
            fields=[
                ('id', models.UUIDField(default=tasks_app.models.ids.new_id, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=100)),
                ('host', models.CharField(db_default='', max_length=200)),
                ('pid', models.IntegerField(db_default=0)),
                ('version', models.CharField(db_default='', max_length=100)),
                ('slots', models.IntegerField()),
                ('state', models.CharField(choices=[('active', 'Active'), ('draining', 'Draining'), ('stopped', 'Stopped'), ('lost', 'Lost'), ('person', 'Person')], db_default='active', max_length=10)),
                ('drain_asked', models.BooleanField(db_default=False)),
                ('registered_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('ended_at', models.DateTimeField(null=True)),
                ('ending', models.CharField(choices=[('left', 'Left'), ('draining', 'Draining'), ('silent', 'Silent'), ('replaced', 'Replaced'), ('evicted', 'Evicted')], max_length=10, null=True)),
                ('user', models.OneToOneField(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'worker',
            },
        ),
        migrations.CreateModel(
            name='JobNews',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('job_id', models.UUIDField()),
            ],
            options={
                'db_table': 'job_news',
            },
        ),
        migrations.CreateModel(
            name='Kind',
            fields=[
                ('breaker_failures', models.PositiveIntegerField(blank=True, help_text="So many failures within the window open the breaker; a limit's counts those of all its kinds. Empty: no breaker.", null=True, validators=[django.core.validators.MinValueValidator(1)], verbose_name='breaker failures')),
                ('breaker_window_seconds', models.FloatField(db_default=60.0, default=60.0, help_text='The window in which failures are counted, in seconds.', validators=[django.core.validators.MinValueValidator(0.001), django.core.validators.MaxValueValidator(31622400.0)], verbose_name='breaker window seconds')),
                ('breaker_open_seconds', models.FloatField(db_default=30.0, default=30.0, help_text='How long an open breaker pauses its kinds before one probe, in seconds.', validators=[django.core.validators.MinValueValidator(0.001), django.core.validators.MaxValueValidator(31622400.0)], verbose_name='breaker open seconds')),
                ('breaker_counts_permanent', models.BooleanField(db_default=False, default=False, help_text="Count permanent errors (HTTP 401, 403, a handler's PermanentError) as failures. For kinds whose permanent errors come from the service that they call, not the payload.", verbose_name='breaker counts permanent errors')),
                ('name', models.CharField(help_text='What handlers and submitters call it, such as classify_ticket.', max_length=100, primary_key=True, serialize=False, verbose_name='name')),
                ('description', models.CharField(blank=True, db_default='', help_text='One line for operators.', max_length=300, verbose_name='description')),
                ('strategy', models.CharField(blank=True, choices=[('round_robin', 'Round robin'), ('least_loaded', 'Least loaded'), ('capability', 'Capability'), ('capable_least_loaded', 'Capable least loaded'), ('two_choices', 'Two choices')], db_default='', help_text='How a worker is picked. Empty: the default of the supervisor settings.', max_length=30, verbose_name='strategy')),
                ('order', models.CharField(choices=[('fifo', 'Fifo'), ('longest_first', 'Longest first')], db_default='fifo', default='fifo', help_text='Order within a priority: first in first out, or the longest estimate first.', max_length=20, verbose_name='order')),
                ('load', models.CharField(choices=[('seconds', 'Seconds'), ('count', 'Count')], db_default='seconds', default='seconds', help_text='What least-loaded compares: estimated seconds of queued work, or a count.', max_length=10, verbose_name='load')),
                ('paused', models.BooleanField(db_default=False, default=False, help_text='Nothing of this kind is handed out.', verbose_name='paused')),
                ('estimate_seconds', models.FloatField(db_default=1.0, default=1.0, help_text='Expected run time at skill 1, in seconds; a task may carry its own.', validators=[django.core.validators.MinValueValidator(0.001), django.core.validators.MaxValueValidator(31622400.0)], verbose_name='estimate seconds')),
                ('timeout_seconds', models.FloatField(db_default=900.0, default=900.0, help_text='An attempt that runs longer is stopped, in seconds.', validators=[django.core.validators.MinValueValidator(0.001), django.core.validators.MaxValueValidator(31622400.0)], verbose_name='timeout seconds')),
                ('max_attempts', models.PositiveSmallIntegerField(db_default=3, default=3, help_text='Attempts before the task is DEAD; a requeue starts a new count.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(100)], verbose_name='max attempts')),
                ('backoff_base_seconds', models.FloatField(db_default=2.0, default=2.0, help_text='Delay before the second attempt; doubles with each further one.', validators=[django.core.validators.MinValueValidator(0.001), django.core.validators.MaxValueValidator(31622400.0)], verbose_name='backoff base seconds')),
                ('backoff_cap_seconds', models.FloatField(db_default=60.0, default=60.0, help_text='The longest delay between two attempts, in seconds.', validators=[django.core.validators.MinValueValidator(0.001), django.core.validators.MaxValueValidator(31622400.0)], verbose_name='backoff cap seconds')),
                ('backoff_jitter', models.FloatField(db_default=0.25, default=0.25, help_text='Share by which a delay varies either way, so that retries do not come at once.', validators=[django.core.validators.MinValueValidator(0.0), django.core.validators.MaxValueValidator(1.0)], verbose_name='backoff jitter')),
                ('poison_after', models.PositiveSmallIntegerField(db_default=3, default=3, help_text='A task that was running on so many workers as they died is DEAD as poison.', validators=[django.core.validators.MinValueValidator(1)], verbose_name='poison after')),
                ('permanent_errors', models.JSONField(blank=True, db_default=[], default=list, help_text='Error classes never retried, beside the built-in table: a list of names.', verbose_name='permanent errors')),
                ('retryable_errors', models.JSONField(blank=True, db_default=[], default=list, help_text='Error classes always retried, whatever the built-in table says.', verbose_name='retryable errors')),
                ('retry_budget', models.FloatField(blank=True, help_text='Retries at most this share of first attempts, such as 0.2. Empty: no budget.', null=True, validators=[django.core.validators.MinValueValidator(0.0), django.core.validators.MaxValueValidator(1000000000.0)], verbose_name='retry budget')),
                ('quarantined_at', models.DateTimeField(blank=True, editable=False, help_text='Set when its tasks repeatedly took workers down; an operator frees it.', null=True, verbose_name='quarantined at')),
                ('quarantine_freed_at', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='quarantine freed at')),
                ('payload_schema', models.JSONField(blank=True, help_text='JSON Schema that a payload must satisfy at the door. Empty: anything.', null=True, verbose_name='payload schema')),
                ('by_people', models.BooleanField(db_default=False, default=False, help_text='Somebody takes it from the inbox; no worker ever gets it.', verbose_name='done by people')),
                ('person_lease_seconds', models.FloatField(blank=True, help_text='How long a person has it, in seconds, before it goes back to the inbox; they can extend it. Empty: the default of the supervisor settings.', null=True, validators=[django.core.validators.MinValueValidator(0.001), django.core.validators.MaxValueValidator(31622400.0)], verbose_name='person lease seconds')),
                ('result_schema', models.JSONField(blank=True, help_text='JSON Schema of the result of a kind done by people: its form is made from it.', null=True, verbose_name='result schema')),
                ('searchable_paths', models.JSONField(blank=True, db_default=[], default=list, help_text='Payload paths with an index of their own, such as payload.customer.id.', verbose_name='searchable paths')),
                ('redacted_keys', models.JSONField(blank=True, db_default=[], default=list, help_text='Keys whose values in payloads and results only some people may see.', verbose_name='redacted keys')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False, verbose_name='created at')),
            ],
            options={
                'verbose_name': 'kind',
                'verbose_name_plural': 'kinds',
                'db_table': 'kind',
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='LateResult',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('task_id', models.UUIDField(db_index=True)),
                ('worker_id', models.UUIDField()),
                ('token_held', models.BigIntegerField()),
                ('token_now', models.BigIntegerField(null=True)),
                ('overlap_seconds', models.FloatField(null=True)),
                ('outcome', models.CharField(choices=[('completed', 'Completed'), ('error', 'Error'), ('timeout', 'Timeout'), ('worker_lost', 'Worker lost'), ('not_named', 'Not named'), ('released', 'Released'), ('cancelled', 'Cancelled'), ('crashed', 'Crashed'), ('deadline', 'Deadline'), ('expired', 'Expired'), ('replaced', 'Replaced'), ('stopped', 'Stopped')], max_length=20)),
                ('result', models.JSONField(null=True)),
                ('received_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'db_table': 'late_result',
            },
        ),
        migrations.CreateModel(
            name='Task',
            fields=[
                ('id', models.UUIDField(default=tasks_app.models.ids.new_id, primary_key=True, serialize=False)),
                ('status', models.CharField(choices=[('PENDING', 'Pending'), ('ASSIGNED', 'Assigned'), ('RUNNING', 'Running'), ('COMPLETED', 'Completed'), ('FAILED', 'Failed'), ('DEAD', 'Dead'), ('DISMISSED', 'Dismissed'), ('CANCELLED', 'Cancelled'), ('SKIPPED', 'Skipped')], db_default='PENDING', max_length=10)),
                ('payload', models.JSONField()),
                ('origins', models.JSONField(null=True)),
                ('key', models.CharField(max_length=200, null=True)),
                ('submitted', models.BigIntegerField(null=True)),
                ('priority', models.SmallIntegerField(db_default=0)),
                ('estimate_seconds', models.FloatField()),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('run_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('queue_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('ready_at', models.DateTimeField(null=True)),
                ('deadline_at', models.DateTimeField(null=True)),
                ('lock_key', models.CharField(max_length=200, null=True)),
                ('weight', models.FloatField(db_default=1.0)),
                ('cancel_asked', models.BooleanField(db_default=False)),
                ('holds', models.SmallIntegerField(db_default=0)),
                ('unprepared', models.BooleanField(db_default=False)),
                ('waiting_on', models.IntegerField(db_default=0)),
                ('dependency_count', models.IntegerField(db_default=0)),
                ('has_dependents', models.BooleanField(db_default=False)),
                ('token', models.BigIntegerField(null=True)),
                ('attempts', models.IntegerField(db_default=0)),
                ('max_attempts', models.SmallIntegerField()),
                ('total_attempts', models.IntegerField(db_default=0)),
                ('requeues', models.IntegerField(db_default=0)),
                ('free_reclaims', models.IntegerField(db_default=0)),
                ('result', models.JSONField(null=True)),
                ('error', models.JSONField(null=True)),
                ('dead_reason', models.CharField(choices=[('permanent', 'Permanent'), ('exhausted', 'Exhausted'), ('poison', 'Poison'), ('deadline', 'Deadline'), ('dependency', 'Dependency'), ('unroutable', 'Unroutable')], max_length=20, null=True)),
                ('fingerprint', models.CharField(max_length=16, null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('assigned_to', models.ForeignKey(db_column='assigned_to', db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='tasks_app.worker')),
            ],
            options={
                'db_table': 'task',
                'permissions': [('see_payloads', 'May see payloads whole, redacted keys included')],
            },
        ),
        migrations.CreateModel(
            name='Limit',
            fields=[
                ('breaker_failures', models.PositiveIntegerField(blank=True, help_text="So many failures within the window open the breaker; a limit's counts those of all its kinds. Empty: no breaker.", null=True, validators=[django.core.validators.MinValueValidator(1)], verbose_name='breaker failures')),
                ('breaker_window_seconds', models.FloatField(db_default=60.0, default=60.0, help_text='The window in which failures are counted, in seconds.', validators=[django.core.validators.MinValueValidator(0.001), django.core.validators.MaxValueValidator(31622400.0)], verbose_name='breaker window seconds')),
                ('breaker_open_seconds', models.FloatField(db_default=30.0, default=30.0, help_text='How long an open breaker pauses its kinds before one probe, in seconds.', validators=[django.core.validators.MinValueValidator(0.001), django.core.validators.MaxValueValidator(31622400.0)], verbose_name='breaker open seconds')),
                ('breaker_counts_permanent', models.BooleanField(db_default=False, default=False, help_text="Count permanent errors (HTTP 401, 403, a handler's PermanentError) as failures. For kinds whose permanent errors come from the service that they call, not the payload.", verbose_name='breaker counts permanent errors')),
                ('name', models.CharField(max_length=100, primary_key=True, serialize=False, verbose_name='name')),
                ('description', models.CharField(blank=True, db_default='', max_length=300, verbose_name='description')),
                ('max_concurrent', models.FloatField(blank=True, help_text='Weight in flight at most; a task weighs 1 unless it says otherwise.', null=True, validators=[django.core.validators.MinValueValidator(0.001), django.core.validators.MaxValueValidator(1000000000.0)], verbose_name='max concurrent')),
                ('rate_per_second', models.FloatField(blank=True, help_text='Weight handed out a second on average. Empty: no rate.', null=True, validators=[django.core.validators.MinValueValidator(0.001), django.core.validators.MaxValueValidator(1000000000.0)], verbose_name='rate per second')),
                ('burst', models.FloatField(db_default=1.0, default=1.0, help_text='Weight that may go out at once after a pause.', validators=[django.core.validators.MinValueValidator(0.001), django.core.validators.MaxValueValidator(1000000000.0)], verbose_name='burst')),
            ],
            options={
                'verbose_name': 'limit',
                'verbose_name_plural': 'limits',
                'db_table': 'shared_limit',
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='NearMiss',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('leases', models.IntegerField()),
                ('silent_seconds', models.FloatField()),
                ('stale_after_seconds', models.FloatField()),
            ],
            options={
                'db_table': 'near_miss',
            },
        ),
        migrations.CreateModel(
            name='Pruned',
            fields=[
                ('pk', models.CompositePrimaryKey('hour', 'what', blank=True, editable=False, primary_key=True, serialize=False)),
                ('hour', models.DateTimeField()),
                ('what', models.CharField(choices=[('completed', 'Completed'), ('closed', 'Closed'), ('dead', 'Dead'), ('job', 'Job'), ('history', 'History')], max_length=10)),
                ('rows', models.BigIntegerField()),
                ('seconds', models.FloatField()),
            ],
            options={
                'db_table': 'pruned',
            },
        ),
        migrations.CreateModel(
            name='Replica',
            fields=[
                ('holder', models.CharField(max_length=200, primary_key=True, serialize=False)),
                ('seen_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'db_table': 'replica',
            },
        ),
        migrations.CreateModel(
            name='RequestRate',
            fields=[
                ('subject', models.CharField(max_length=100, primary_key=True, serialize=False)),
                ('remaining', models.FloatField()),
                ('at', models.DateTimeField()),
            ],
            options={
                'db_table': 'request_rate',
            },
        ),
        migrations.CreateModel(
            name='RetentionSettings',
            fields=[
                ('id', models.SmallIntegerField(default=1, editable=False, primary_key=True, serialize=False)),
                ('completed_days', models.PositiveIntegerField(blank=True, help_text='Completed tasks, with their attempts, logs and effects. What an unfinished or dead task depends on stays. Once a task has gone its key may be submitted again.', null=True, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(36500)], verbose_name='completed days')),
                ('closed_days', models.PositiveIntegerField(blank=True, help_text='Dismissed, cancelled and skipped tasks, likewise.', null=True, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(36500)], verbose_name='closed days')),
                ('dead_days', models.PositiveIntegerField(blank=True, help_text='Dead letters that nobody has decided about. Empty is best: what goes can be neither requeued nor dismissed any more.', null=True, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(36500)], verbose_name='dead days')),
                ('job_days', models.PositiveIntegerField(blank=True, help_text='Jobs that have ended, with all their tasks: these follow their job and none of the settings above.', null=True, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(36500)], verbose_name='job days')),
                ('history_days', models.PositiveIntegerField(blank=True, help_text='What is on record beside tasks: acts on many tasks that have ended, deaths (by which an error is known to have come back), late results and near misses.', null=True, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(36500)], verbose_name='history days')),
            ],
            options={
                'verbose_name': 'retention',
                'verbose_name_plural': 'retention',
                'db_table': 'retention_settings',
            },
        ),
        migrations.CreateModel(
            name='Sample',
            fields=[
                ('pk', models.CompositePrimaryKey('resolution', 'at', blank=True, editable=False, primary_key=True, serialize=False)),
                ('resolution', models.SmallIntegerField(db_default=1)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('by_status', models.JSONField(db_default={})),
                ('active', models.JSONField(db_default={})),
                ('oldest_created_at', models.DateTimeField(null=True)),
                ('rounds', models.IntegerField(db_default=0)),
                ('dispatched', models.IntegerField(db_default=0)),
                ('completed', models.IntegerField(db_default=0)),
                ('busy_seconds', models.FloatField(db_default=0.0)),
                ('dispatch_seconds', models.FloatField(db_default=0.0)),
                ('longest_round_seconds', models.FloatField(db_default=0.0)),
                ('reclaimed', models.IntegerField(db_default=0)),
                ('promoted', models.IntegerField(db_default=0)),
                ('lengths', django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), db_default=[], size=None)),
                ('unplaced', models.JSONField(db_default=[])),
                ('gone', models.BigIntegerField(db_default=0)),
            ],
            options={
                'db_table': 'sample',
            },
        ),
        migrations.CreateModel(
            name='SavedSearch',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=60)),
                ('query', models.CharField(db_default='', max_length=1000)),
                ('address', models.CharField(db_default='', max_length=300)),
                ('shared', models.BooleanField(db_default=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'saved_search',
            },
        ),
        migrations.CreateModel(
            name='SearchPin',
            fields=[
                ('pk', models.CompositePrimaryKey('user_id', 'search_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('search', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pins', to='tasks_app.savedsearch')),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'search_pin',
            },
        ),
        migrations.CreateModel(
            name='Settled',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('task_id', models.UUIDField()),
                ('own', models.BooleanField(db_default=False)),
                ('only_id', models.UUIDField(null=True)),
                ('after_id', models.UUIDField(null=True)),
            ],
            options={
                'db_table': 'settled',
            },
        ),
        migrations.CreateModel(
            name='Shift',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('epoch', models.BigIntegerField()),
                ('holder', models.CharField(max_length=200)),
                ('began_at', models.DateTimeField(db_index=True)),
                ('silent_seconds', models.FloatField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('ending', models.CharField(choices=[('over', 'Over'), ('stopped', 'Stopped'), ('lost', 'Lost')], max_length=10, null=True)),
                ('rounds', models.IntegerField(null=True)),
                ('dispatched', models.BigIntegerField(null=True)),
            ],
            options={
                'db_table': 'shift',
            },
        ),
        migrations.CreateModel(
            name='StatusCount',
            fields=[
                ('pk', models.CompositePrimaryKey('kind', 'status', blank=True, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(max_length=100)),
                ('status', models.CharField(max_length=10)),
                ('count', models.BigIntegerField()),
                ('busy_seconds', models.FloatField(db_default=0.0)),
                ('gone', models.BigIntegerField(db_default=0)),
            ],
            options={
                'db_table': 'status_count',
            },
        ),
        migrations.CreateModel(
            name='StatusDelta',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('kind', models.CharField(max_length=100)),
                ('status', models.CharField(max_length=10)),
                ('change', models.IntegerField()),
                ('busy_seconds', models.FloatField(db_default=0.0)),
                ('gone', models.IntegerField(db_default=0)),
            ],
            options={
                'db_table': 'status_delta',
            },
        ),
        migrations.CreateModel(
            name='SupervisorSettings',
            fields=[
                ('id', models.SmallIntegerField(default=1, editable=False, primary_key=True, serialize=False)),
                ('default_strategy', models.CharField(choices=[('round_robin', 'Round robin'), ('least_loaded', 'Least loaded'), ('capability', 'Capability'), ('capable_least_loaded', 'Capable least loaded'), ('two_choices', 'Two choices')], db_default='capable_least_loaded', default='capable_least_loaded', help_text='For kinds that name no strategy of their own.', max_length=30, verbose_name='default strategy')),
                ('backlog', models.FloatField(blank=True, db_default=1.0, default=1.0, help_text='How far ahead of its slots a worker may be assigned, as a multiple of its slots: 0 = free slots only, 1 = its slots once more, empty = unlimited.', null=True, validators=[django.core.validators.MinValueValidator(0.0), django.core.validators.MaxValueValidator(1000000000.0)], verbose_name='backlog')),
                ('tick_seconds', models.FloatField(db_default=1.0, default=1.0, help_text='The longest wait between two rounds when nothing happens, in seconds.', validators=[django.core.validators.MinValueValidator(0.05), django.core.validators.MaxValueValidator(31622400.0)], verbose_name='tick seconds')),
                ('leader_lease_seconds', models.FloatField(db_default=10.0, default=10.0, help_text='A leader that shows no sign of life for so long is replaced, in seconds.', validators=[django.core.validators.MinValueValidator(0.5), django.core.validators.MaxValueValidator(31622400.0)], verbose_name='leader lease seconds')),
                ('shift_seconds', models.FloatField(db_default=30.0, default=30.0, help_text='How long one run stays on duty before it frees the lease, in seconds.', validators=[django.core.validators.MinValueValidator(1.0), django.core.validators.MaxValueValidator(31622400.0)], verbose_name='shift seconds')),
                ('heartbeat_seconds', models.FloatField(db_default=10.0, default=10.0, help_text='How often a worker gives a sign of life, in seconds.', validators=[django.core.validators.MinValueValidator(0.05), django.core.validators.MaxValueValidator(31622400.0)], verbose_name='heartbeat seconds')),
                ('stale_after_seconds', models.FloatField(db_default=90.0, default=90.0, help_text='A worker silent for longer has lost its leases, in seconds. Three to five times the 99th percentile of run times is a good value.', validators=[django.core.validators.MinValueValidator(0.1), django.core.validators.MaxValueValidator(31622400.0)], verbose_name='stale after seconds')),
                ('timeout_grace_seconds', models.FloatField(db_default=10.0, default=10.0, help_text="How long past a kind's timeout the supervisor leaves it to the worker to stop the attempt, in seconds.", validators=[django.core.validators.MinValueValidator(0.0), django.core.validators.MaxValueValidator(31622400.0)], verbose_name='timeout grace seconds')),
                ('priority_head_start_seconds', models.FloatField(db_default=60.0, default=60.0, help_text='What one step of priority is worth in the queue, in seconds; nothing starves.', validators=[django.core.validators.MinValueValidator(0.0), django.core.validators.MaxValueValidator(31622400.0)], verbose_name='priority head start seconds')),
                ('window', models.PositiveIntegerField(db_default=2000, default=2000, help_text='How many ready tasks of a kind one round looks at.', validators=[django.core.validators.MinValueValidator(1)], verbose_name='window')),
                ('unroutable_grace_seconds', models.FloatField(db_default=86400.0, default=86400.0, help_text='A ready task that no worker ever could do is DEAD after so long, in seconds.', validators=[django.core.validators.MinValueValidator(0.0), django.core.validators.MaxValueValidator(31622400.0)], verbose_name='unroutable grace seconds')),
                ('person_lease_seconds', models.FloatField(db_default=1800.0, default=1800.0, help_text='How long a person has a step that they took from the inbox, in seconds; they can extend it. For kinds that say nothing else.', validators=[django.core.validators.MinValueValidator(1.0), django.core.validators.MaxValueValidator(31622400.0)], verbose_name='person lease seconds')),
                ('quarantine_after', models.PositiveSmallIntegerField(db_default=3, default=3, help_text='So many poison tasks of a kind within the window quarantine the kind.', validators=[django.core.validators.MinValueValidator(1)], verbose_name='quarantine after')),
                ('quarantine_window_seconds', models.FloatField(db_default=3600.0, default=3600.0, help_text='The window in which poison tasks are counted, in seconds.', validators=[django.core.validators.MinValueValidator(1.0), django.core.validators.MaxValueValidator(31622400.0)], verbose_name='quarantine window seconds')),
            ],
            options={
                'verbose_name': 'supervisor settings',
                'verbose_name_plural': 'supervisor settings',
                'db_table': 'supervisor_settings',
            },
        ),
        migrations.CreateModel(
            name='TaskLog',
            fields=[
                ('token', models.BigIntegerField(primary_key=True, serialize=False)),
                ('lines', models.JSONField()),
            ],
            options={
                'db_table': 'task_log',
            },
        ),
        migrations.CreateModel(
            name='AlertChannel',
            fields=[
                ('name', models.CharField(max_length=100, primary_key=True, serialize=False, verbose_name='name')),
                ('kind', models.CharField(choices=[('mail', 'Mail'), ('webhook', 'Webhook')], default='mail', help_text='Mail, or a webhook: a POST of JSON.', max_length=10, verbose_name='kind')),
                ('address', models.CharField(help_text='Mail addresses with commas between them, or the https address of the webhook. The audit keeps it: what is secret belongs into the secret below.', max_length=500, verbose_name='address')),
                ('enabled', models.BooleanField(db_default=True, default=True, verbose_name='enabled')),
                ('secret', models.CharField(db_default='', editable=False, max_length=200, verbose_name='secret')),
            ],
            options={
                'verbose_name': 'alert channel',
                'verbose_name_plural': 'alert channels',
                'db_table': 'alert_channel',
                'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['mail', 'webhook'])), name='alert_channel_kind_known')],
            },
        ),
        migrations.CreateModel(
            name='AlertDelivery',
            fields=[
                ('id', models.UUIDField(default=tasks_app.models.ids.new_id, primary_key=True, serialize=False)),
                ('key', models.CharField(max_length=200)),
                ('event', models.CharField(choices=[('began', 'Began'), ('ended', 'Ended'), ('test', 'Test')], max_length=10)),
                ('began_at', models.DateTimeField()),
                ('body', models.JSONField()),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('sent', 'Sent'), ('given_up', 'Given up')], db_default='waiting', max_length=10)),
                ('tries', models.SmallIntegerField(db_default=0)),
                ('fault', models.CharField(db_default='', max_length=300)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('next_try_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('sent_at', models.DateTimeField(null=True)),
                ('channel', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tasks_app.alertchannel')),
            ],
            options={
                'db_table': 'alert_delivery',
            },
        ),
        migrations.CreateModel(
            name='AlertRule',
            fields=[
                ('name', models.CharField(choices=[('off_duty', 'Off duty'), ('unserved', 'Unserved'), ('new_error', 'New error'), ('error_back', 'Error back'), ('overdue', 'Overdue'), ('silent', 'Silent'), ('held_kind', 'Held kind'), ('snapshot_held', 'Snapshot held'), ('pinned', 'Pinned'), ('dead_waiting', 'Dead waiting')], max_length=20, primary_key=True, serialize=False, verbose_name='name')),
                ('sent', models.BooleanField(db_default=True, default=True, help_text='Whether it is sent to the channels.', verbose_name='sent')),
                ('repeat_minutes', models.FloatField(db_default=60.0, default=60.0, help_text='If it ends and begins again, about the same worker, kind or error, it is not sent anew for so long, in minutes.', validators=[django.core.validators.MinValueValidator(0.0), django.core.validators.MaxValueValidator(10080.0)], verbose_name='repeat minutes')),
            ],
            options={
                'verbose_name': 'alert rule',
                'verbose_name_plural': 'alert rules',
                'db_table': 'alert_rule',
                'constraints': [models.CheckConstraint(condition=models.Q(('name__in', ['dead_waiting', 'error_back', 'held_kind', 'new_error', 'off_duty', 'overdue', 'pinned', 'silent', 'snapshot_held', 'unserved'])), name='alert_rule_name_known', violation_error_message='There are only off_duty, unserved, new_error, error_back, overdue, silent, held_kind, snapshot_held, pinned, dead_waiting.')],
            },
        ),
        migrations.CreateModel(
            name='AlertSettings',
            fields=[
                ('id', models.SmallIntegerField(default=1, editable=False, primary_key=True, serialize=False)),
                ('dead_at_least', models.PositiveIntegerField(db_default=1, default=1, help_text='So many dead letters are an alert.', validators=[django.core.validators.MinValueValidator(1)], verbose_name='dead at least')),
                ('oldest_seconds', models.FloatField(blank=True, help_text='The oldest unfinished task may wait for so long before it is an alert, in seconds. Empty: for ever.', null=True, validators=[django.core.validators.MinValueValidator(0.0)], verbose_name='oldest seconds')),
                ('pinned_seconds', models.FloatField(db_default=0.0, default=0.0, help_text='A worker with so much queued work while its peers are idle is an alert, in seconds.', validators=[django.core.validators.MinValueValidator(0.0)], verbose_name='pinned seconds')),
                ('snapshot_seconds', models.FloatField(db_default=60.0, default=60.0, help_text='A transaction that is open for so long is an alert, in seconds: PostgreSQL cannot clean up behind the queue meanwhile.', validators=[django.core.validators.MinValueValidator(1.0)], verbose_name='snapshot seconds')),
            ],
            options={
                'verbose_name': 'alert thresholds',
                'verbose_name_plural': 'alert thresholds',
                'db_table': 'alert_settings',
                'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='alert_settings_one_row')],
            },
        ),
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=100, verbose_name='name')),
                ('prefix', models.CharField(max_length=16, unique=True, verbose_name='prefix')),
                ('digest', models.CharField(max_length=64, verbose_name='digest')),
                ('scopes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=30), db_default=[], size=None, verbose_name='scopes')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), verbose_name='created at')),
                ('expires_at', models.DateTimeField(null=True, verbose_name='expires at')),
                ('revoked_at', models.DateTimeField(null=True, verbose_name='revoked at')),
                ('last_used_at', models.DateTimeField(null=True, verbose_name='last used at')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL, verbose_name='user')),
            ],
            options={
                'verbose_name': 'API token',
                'verbose_name_plural': 'API tokens',
                'db_table': 'api_token',
            },
        ),
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), verbose_name='at')),
                ('actor', models.CharField(max_length=150, verbose_name='actor')),
                ('address', models.CharField(db_default='', max_length=64, verbose_name='address')),
                ('via', models.CharField(db_default='', max_length=200, verbose_name='via')),
                ('action', models.CharField(max_length=50, verbose_name='action')),
                ('subject', models.CharField(max_length=200, verbose_name='subject')),
                ('wanted', models.CharField(db_default='', max_length=1000, verbose_name='wanted')),
                ('count', models.IntegerField(db_default=1, verbose_name='count')),
                ('reason', models.TextField(db_default='', verbose_name='reason')),
                ('before', models.JSONField(null=True, verbose_name='before')),
                ('after', models.JSONField(null=True, verbose_name='after')),
                ('detail', models.JSONField(db_default={}, verbose_name='detail')),
                ('digest', models.BinaryField(db_default=b'', verbose_name='digest')),
            ],
            options={
                'verbose_name': 'audit entry',
                'verbose_name_plural': 'audit entries',
                'db_table': 'audit_entry',
                'indexes': [models.Index(fields=['-id'], name='audit_newest'), models.Index(fields=['subject', '-id'], name='audit_subject')],
            },
        ),
        migrations.CreateModel(
            name='AuditHead',
            fields=[
                ('id', models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                ('last', models.BigIntegerField(db_default=0)),
                ('digest', models.BinaryField(db_default=b'')),
            ],
            options={
                'db_table': 'audit_head',
                'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='audit_head_one_row')],
            },
        ),
        migrations.CreateModel(
            name='BreakerState',
            fields=[
                ('pk', models.CompositePrimaryKey('scope', 'name', blank=True, editable=False, primary_key=True, serialize=False)),
                ('scope', models.CharField(choices=[('kind', 'Kind'), ('limit', 'Limit')], max_length=10)),
                ('name', models.CharField(max_length=100)),
                ('state', models.CharField(choices=[('closed', 'Closed'), ('open', 'Open'), ('half_open', 'Half open')], max_length=10)),
                ('since', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('probe', models.UUIDField(null=True)),
                ('probe_token', models.BigIntegerField(null=True)),
            ],
            options={
                'db_table': 'breaker_state',
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['closed', 'half_open', 'open'])), name='breaker_state_known'), models.CheckConstraint(condition=models.Q(('scope__in', ['kind', 'limit'])), name='breaker_scope_known')],
            },
        ),
        migrations.CreateModel(
            name='Bulk',
            fields=[
                ('id', models.UUIDField(default=tasks_app.models.ids.new_id, primary_key=True, serialize=False)),
                ('key', models.CharField(max_length=64, unique=True)),
                ('action', models.CharField(choices=[('requeue', 'Requeue'), ('dismiss', 'Dismiss'), ('cancel', 'Cancel'), ('priority', 'Priority'), ('deadline', 'Deadline')], max_length=10)),
                ('params', models.JSONField(db_default={})),
                ('canary', models.BooleanField(db_default=False)),
                ('state', models.CharField(choices=[('held', 'Held'), ('running', 'Running'), ('done', 'Done'), ('undone', 'Undone'), ('aborted', 'Aborted'), ('stopped', 'Stopped'), ('came_back', 'Came back')], db_default='held', max_length=10)),
                ('actor', models.CharField(max_length=150)),
                ('reason', models.TextField(db_default='')),
                ('wanted', models.CharField(db_default='', max_length=1000)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('begins_at', models.DateTimeField()),
                ('look_at', models.DateTimeField()),
                ('finished_at', models.DateTimeField(null=True)),
                ('total', models.IntegerField(db_default=0)),
                ('place', models.IntegerField(db_default=0)),
                ('moved', models.IntegerField(db_default=0)),
                ('watched', models.IntegerField(db_default=0)),
                ('sent_at', models.DateTimeField(null=True)),
                ('ended', models.TextField(db_default='')),
            ],
            options={
                'db_table': 'bulk',
                'indexes': [models.Index(condition=models.Q(('state__in', ['held', 'running'])), fields=['look_at'], name='bulk_due')],
                'constraints': [models.CheckConstraint(condition=models.Q(('action__in', ['cancel', 'deadline', 'dismiss', 'priority', 'requeue'])), name='bulk_action_known'), models.CheckConstraint(condition=models.Q(('state__in', ['aborted', 'came_back', 'done', 'held', 'running', 'stopped', 'undone'])), name='bulk_state_known'), models.CheckConstraint(condition=models.Q(('place__gte', 0), ('place__lte', models.F('total')), ('moved__gte', 0), ('moved__lte', models.F('place'))), name='bulk_within_itself'), models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', True), ('state__in', ['held', 'running'])), models.Q(models.Q(('state__in', ['held', 'running']), _negated=True), ('finished_at__isnull', False)), _connector='OR'), name='bulk_open_or_finished')],
            },
        ),
        migrations.CreateModel(
            name='BulkItem',
            fields=[
                ('pk', models.CompositePrimaryKey('bulk_id', 'place', blank=True, editable=False, primary_key=True, serialize=False)),
                ('place', models.IntegerField()),
                ('task_id', models.UUIDField()),
                ('requeues', models.IntegerField()),
                ('fingerprint', models.CharField(max_length=16, null=True)),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('moved', 'Moved'), ('refused', 'Refused')], db_default='waiting', max_length=10)),
                ('why', models.CharField(db_default='', max_length=200)),
                ('bulk', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='items', to='tasks_app.bulk')),
            ],
            options={
                'db_table': 'bulk_item',
            },
        ),
        migrations.CreateModel(
            name='Death',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('task_id', models.UUIDField()),
                ('kind', models.CharField(max_length=100)),
                ('fingerprint', models.CharField(max_length=16)),
                ('worker_id', models.UUIDField(null=True)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'db_table': 'death',
                'indexes': [models.Index(fields=['fingerprint', 'at'], name='death_alike')],
            },
        ),
        migrations.CreateModel(
            name='Heartbeat',
            fields=[
                ('worker', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='heartbeat', serialize=False, to='tasks_app.worker')),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('previous_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('held', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), db_default=[], size=None)),
                ('progress', models.JSONField(db_default={})),
            ],
            options={
                'db_table': 'heartbeat',
            },
        ),
        migrations.CreateModel(
            name='Capability',
            fields=[
                ('pk', models.CompositePrimaryKey('worker_id', 'kind', blank=True, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(db_index=True, max_length=100)),
                ('skill', models.FloatField(db_default=1.0)),
                ('worker', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='capabilities', to='tasks_app.worker')),
            ],
            options={
                'db_table': 'capability',
            },
        ),
        migrations.CreateModel(
            name='Job',
            fields=[
                ('id', models.UUIDField(default=tasks_app.models.ids.new_id, primary_key=True, serialize=False)),
                ('name', models.CharField(db_default='', max_length=200)),
                ('key', models.CharField(max_length=200, null=True, unique=True)),
                ('status', models.CharField(choices=[('RUNNING', 'Running'), ('COMPLETED', 'Completed'), ('COMPENSATING', 'Compensating'), ('COMPENSATED', 'Compensated'), ('DEAD', 'Dead'), ('CANCELLED', 'Cancelled')], db_default='RUNNING', max_length=12)),
                ('plan', models.JSONField()),
                ('paused', models.BooleanField(db_default=False)),
                ('cancel_asked', models.BooleanField(db_default=False)),
                ('undone_to', models.DateTimeField(null=True)),
                ('undone_id', models.UUIDField(null=True)),
                ('result', models.JSONField(null=True)),
                ('submitted_by', models.CharField(db_default='', max_length=150)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('finished_at', models.DateTimeField(null=True)),
            ],
            options={
                'db_table': 'job',
                'indexes': [models.Index(condition=models.Q(('status__in', ['CANCELLED', 'COMPENSATED', 'COMPLETED']), _negated=True), fields=['status', 'id'], name='job_open'), models.Index(condition=models.Q(('finished_at__isnull', False)), fields=['finished_at', 'id'], name='job_ended')],
                'constraints': [models.CheckConstraint(condition=models.Q(('status__in', ['CANCELLED', 'COMPENSATED', 'COMPENSATING', 'COMPLETED', 'DEAD', 'RUNNING'])), name='job_status_known'), models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', False), ('status__in', ['CANCELLED', 'COMPENSATED', 'COMPLETED'])), models.Q(models.Q(('status__in', ['CANCELLED', 'COMPENSATED', 'COMPLETED']), _negated=True), ('finished_at__isnull', True)), _connector='OR'), name='job_ended_has_its_time')],
            },
        ),
        migrations.CreateModel(
            name='RetryCredit',
            fields=[
                ('kind', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to='tasks_app.kind')),
                ('credit', models.FloatField()),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'db_table': 'retry_credit',
            },
        ),
        migrations.CreateModel(
            name='RoundRobinCursor',
            fields=[
                ('kind', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to='tasks_app.kind')),
                ('position', models.BigIntegerField(db_default=0)),
            ],
            options={
                'db_table': 'round_robin_cursor',
            },
        ),
        migrations.CreateModel(
            name='JobTurn',
            fields=[
                ('pk', models.CompositePrimaryKey('kind_id', 'priority', 'job_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('priority', models.SmallIntegerField()),
                ('job_id', models.UUIDField()),
                ('at', models.DateTimeField()),
                ('kind', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tasks_app.kind')),
            ],
            options={
                'db_table': 'job_turn',
            },
        ),
        migrations.CreateModel(
            name='Leader',
            fields=[
                ('id', models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                ('epoch', models.BigIntegerField(db_default=0)),
                ('holder', models.CharField(db_default='', max_length=200)),
                ('since', models.DateTimeField(null=True)),
                ('expires_at', models.DateTimeField(null=True)),
                ('last_round_at', models.DateTimeField(null=True)),
                ('served_since', models.DateTimeField(null=True)),
                ('sampled_completed', models.BigIntegerField(null=True)),
                ('sampled_busy_seconds', models.FloatField(null=True)),
            ],
            options={
                'db_table': 'leader',
                'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='leader_one_row')],
            },
        ),
        migrations.CreateModel(
            name='Lease',
            fields=[
                ('task', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to='tasks_app.task')),
                ('kind', models.CharField(max_length=100)),
                ('token', models.BigIntegerField()),
                ('expected_seconds', models.FloatField()),
                ('lock_key', models.CharField(max_length=200, null=True)),
                ('weight', models.FloatField(db_default=1.0)),
                ('assigned_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('started_at', models.DateTimeField(null=True)),
                ('held_until', models.DateTimeField(null=True)),
            ],
            options={
                'db_table': 'lease',
            },
        ),
        migrations.CreateModel(
            name='StepTask',
            fields=[
                ('task', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='step', serialize=False, to='tasks_app.task')),
                ('place', models.SmallIntegerField()),
                ('role', models.CharField(choices=[('step', 'Step'), ('join', 'Join'), ('item', 'Item'), ('compensation', 'Compensation')], max_length=12)),
                ('item', models.IntegerField(null=True)),
                ('job_id', models.UUIDField(null=True)),
                ('join_id', models.UUIDField(null=True)),
                ('counted_as', models.CharField(choices=[('open', 'Open'), ('completed', 'Completed'), ('lost', 'Lost')], max_length=9, null=True)),
                ('items', models.IntegerField(db_default=0)),
                ('items_completed', models.IntegerField(db_default=0)),
                ('items_open', models.IntegerField(db_default=0)),
            ],
            options={
                'db_table': 'step_task',
            },
        ),
        migrations.AddField(
            model_name='task',
            name='job',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='tasks', to='tasks_app.job'),
        ),
        migrations.AddField(
            model_name='task',
            name='kind',
            field=models.ForeignKey(db_column='kind', db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tasks_app.kind'),
        ),
        migrations.CreateModel(
            name='Effect',
            fields=[
                ('pk', models.CompositePrimaryKey('task_id', 'name', blank=True, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=100)),
                ('state', models.CharField(choices=[('started', 'Started'), ('done', 'Done')], db_default='started', max_length=10)),
                ('token', models.BigIntegerField()),
                ('repeats', models.IntegerField(db_default=0)),
                ('result', models.JSONField(null=True)),
                ('started_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('finished_at', models.DateTimeField(null=True)),
                ('task', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='effects', to='tasks_app.task')),
            ],
            options={
                'db_table': 'effect',
            },
        ),
        migrations.CreateModel(
            name='Dependency',
            fields=[
                ('pk', models.CompositePrimaryKey('task_id', 'depends_on_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=100)),
                ('on_dead', models.CharField(choices=[('wait', 'Wait'), ('fail', 'Fail'), ('continue', 'Continue')], db_default='wait', max_length=10)),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('blocked', 'Blocked'), ('met', 'Met'), ('void', 'Void')], max_length=10)),
                ('depends_on', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='dependents', to='tasks_app.task')),
                ('task', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='dependencies', to='tasks_app.task')),
            ],
            options={
                'db_table': 'dependency',
            },
        ),
        migrations.CreateModel(
            name='Attempt',
            fields=[
                ('token', models.BigIntegerField(primary_key=True, serialize=False)),
                ('kind', models.CharField(max_length=100)),
                ('number', models.IntegerField()),
                ('requeues', models.IntegerField(db_default=0)),
                ('assigned_at', models.DateTimeField()),
                ('started_at', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('outcome', models.CharField(choices=[('completed', 'Completed'), ('error', 'Error'), ('timeout', 'Timeout'), ('worker_lost', 'Worker lost'), ('not_named', 'Not named'), ('released', 'Released'), ('cancelled', 'Cancelled'), ('crashed', 'Crashed'), ('deadline', 'Deadline'), ('expired', 'Expired'), ('replaced', 'Replaced'), ('stopped', 'Stopped')], max_length=20)),
                ('error', models.JSONField(null=True)),
                ('dead_reason', models.CharField(choices=[('permanent', 'Permanent'), ('exhausted', 'Exhausted'), ('poison', 'Poison'), ('deadline', 'Deadline'), ('dependency', 'Dependency'), ('unroutable', 'Unroutable')], max_length=20, null=True)),
                ('next_run_at', models.DateTimeField(null=True)),
                ('worker', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='tasks_app.worker')),
                ('task', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='history', to='tasks_app.task')),
            ],
            options={
                'db_table': 'attempt',
            },
        ),
        migrations.CreateModel(
            name='LimitState',
            fields=[
                ('limit', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to='tasks_app.limit')),
                ('tokens', models.FloatField()),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('start_tokens', models.FloatField(null=True)),
                ('start_at', models.DateTimeField(null=True)),
                ('paused_until', models.DateTimeField(null=True)),
            ],
            options={
                'db_table': 'limit_state',
            },
        ),
        migrations.AddConstraint(
            model_name='limit',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('breaker_failures__isnull', True), ('breaker_failures__gte', 1), _connector='OR'), ('breaker_open_seconds__gt', 0), ('breaker_window_seconds__gt', 0)), name='limit_breaker_sound'),
        ),
        migrations.AddField(
            model_name='kind',
            name='limit',
            field=models.ForeignKey(blank=True, db_column='limit_name', help_text='A shared limit that tasks of this kind count against.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='kinds', to='tasks_app.limit', verbose_name='limit'),
        ),
        migrations.AddField(
            model_name='nearmiss',
            name='worker',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tasks_app.worker'),
        ),
        migrations.AddConstraint(
            model_name='pruned',
            constraint=models.CheckConstraint(condition=models.Q(('what__in', ['closed', 'completed', 'dead', 'history', 'job'])), name='pruned_what_known'),
        ),
        migrations.AddConstraint(
            model_name='retentionsettings',
            constraint=models.CheckConstraint(condition=models.Q(('id', 1)), name='retention_settings_one_row'),
        ),
        migrations.AddIndex(
            model_name='shift',
            index=models.Index(condition=models.Q(('ended_at__isnull', True)), fields=['epoch'], name='shift_open'),
        ),
        migrations.AddConstraint(
            model_name='shift',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('ended_at__isnull', True), ('ending__isnull', True)), models.Q(('ended_at__isnull', False), ('ending__in', ['lost', 'over', 'stopped'])), _connector='OR'), name='shift_ending_known'),
        ),
        migrations.AddConstraint(
            model_name='supervisorsettings',
            constraint=models.CheckConstraint(condition=models.Q(('id', 1)), name='settings_one_row'),
        ),
        migrations.AddConstraint(
            model_name='supervisorsettings',
            constraint=models.CheckConstraint(condition=models.Q(('default_strategy__in', ['capability', 'capable_least_loaded', 'least_loaded', 'round_robin', 'two_choices'])), name='settings_strategy_known'),
        ),
        migrations.AddConstraint(
            model_name='supervisorsettings',
            constraint=models.CheckConstraint(condition=models.Q(('stale_after_seconds__gt', models.F('heartbeat_seconds'))), name='settings_stale_after_heartbeats', violation_error_message='Stale after must be longer than the time between two heartbeats.'),
        ),
        migrations.AddField(
            model_name='tasklog',
            name='task',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tasks_app.task'),
        ),
        migrations.AddIndex(
            model_name='alertdelivery',
            index=models.Index(condition=models.Q(('state', 'waiting')), fields=['next_try_at'], name='alert_delivery_due'),
        ),
        migrations.AddIndex(
            model_name='alertdelivery',
            index=models.Index(fields=['channel', '-created_at'], name='alert_delivery_newest'),
        ),
        migrations.AddConstraint(
            model_name='alertdelivery',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['given_up', 'sent', 'waiting'])), name='alert_delivery_state_known'),
        ),
        migrations.AddConstraint(
            model_name='alertdelivery',
            constraint=models.UniqueConstraint(fields=('channel', 'key', 'event', 'began_at'), name='alert_delivery_once'),
        ),
        migrations.AddIndex(
            model_name='bulkitem',
            index=models.Index(fields=['task_id'], name='bulk_item_task'),
        ),
        migrations.AddIndex(
            model_name='bulkitem',
            index=models.Index(condition=models.Q(('state', 'refused')), fields=['bulk', 'place'], name='bulk_item_refused'),
        ),
        migrations.AddConstraint(
            model_name='bulkitem',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['moved', 'refused', 'waiting'])), name='bulk_item_state_known'),
        ),
        migrations.AddIndex(
            model_name='worker',
            index=models.Index(fields=['name', '-registered_at'], name='worker_newest'),
        ),
        migrations.AddConstraint(
            model_name='worker',
            constraint=models.CheckConstraint(condition=models.Q(('slots__gte', 1)), name='worker_slots_min'),
        ),
        migrations.AddConstraint(
            model_name='worker',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['active', 'draining', 'lost', 'person', 'stopped'])), name='worker_state_known'),
        ),
        migrations.AddConstraint(
            model_name='worker',
            constraint=models.CheckConstraint(condition=models.Q(('ending__in', ['draining', 'evicted', 'left', 'replaced', 'silent'])), name='worker_ending_known'),
        ),
        migrations.AddConstraint(
            model_name='worker',
            constraint=models.CheckConstraint(condition=models.Q(('user__isnull', True), ('state', 'person'), _connector='OR'), name='worker_user_is_person'),
        ),
        migrations.AddConstraint(
            model_name='worker',
            constraint=models.UniqueConstraint(condition=models.Q(('state__in', ['active', 'draining'])), fields=('name',), name='worker_name_live_once'),
        ),
        migrations.AddConstraint(
            model_name='capability',
            constraint=models.CheckConstraint(condition=models.Q(('skill__gt', 0)), name='capability_skill_min'),
        ),
        migrations.AddIndex(
            model_name='jobturn',
            index=models.Index(fields=['kind', '-at'], name='job_turn_latest'),
        ),
        migrations.AddField(
            model_name='lease',
            name='worker',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='leases', to='tasks_app.worker'),
        ),
        migrations.AddField(
            model_name='steptask',
            name='undoes',
            field=models.OneToOneField(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='undone_by', to='tasks_app.task'),
        ),
        migrations.AddIndex(
            model_name='task',
            index=models.Index(condition=models.Q(('status', 'PENDING'), ('waiting_on', 0)), fields=['kind', 'queue_at', 'id', 'run_at'], name='task_ready'),
        ),
        migrations.AddIndex(
            model_name='task',
            index=models.Index(condition=models.Q(('job__isnull', False), ('status', 'PENDING'), ('waiting_on', 0)), fields=['kind', 'job', 'queue_at', 'id', 'run_at'], name='task_ready_of_job'),
        ),
        migrations.AddIndex(
            model_name='task',
            index=models.Index(condition=models.Q(('status', 'FAILED')), fields=['kind', 'run_at'], name='task_retry_due'),
        ),
        migrations.AddIndex(
            model_name='task',
            index=models.Index(django.db.models.functions.comparison.Coalesce('ready_at', 'created_at'), condition=models.Q(('status__in', ['ASSIGNED', 'FAILED', 'PENDING', 'RUNNING']), ('waiting_on', 0)), name='task_oldest'),
        ),
        migrations.AddIndex(
            model_name='task',
            index=models.Index(condition=models.Q(('deadline_at__isnull', False), ('status__in', ['ASSIGNED', 'FAILED', 'PENDING', 'RUNNING'])), fields=['deadline_at'], name='task_deadline'),
        ),
        migrations.AddIndex(
            model_name='task',
            index=models.Index(condition=models.Q(('dead_reason', 'poison')), fields=['kind', 'finished_at'], name='task_poisoned'),
        ),
        migrations.AddIndex(
            model_name='task',
            index=models.Index(condition=models.Q(('job__isnull', False)), fields=['job', 'id'], name='task_of_job'),
        ),
        migrations.AddIndex(
            model_name='task',
            index=models.Index(condition=models.Q(('job__isnull', False), ('status__in', ['ASSIGNED', 'DEAD', 'FAILED', 'PENDING', 'RUNNING'])), fields=['job', 'cancel_asked', 'id'], name='task_of_job_open'),
        ),
        migrations.AddIndex(
            model_name='task',
            index=models.Index(condition=models.Q(('job__isnull', False), ('status', 'COMPLETED')), fields=['job', 'finished_at', 'id'], name='task_of_job_done'),
        ),
        migrations.AddIndex(
            model_name='task',
            index=models.Index(condition=models.Q(('status', 'DEAD')), fields=['finished_at', 'id'], name='task_dead'),
        ),
        migrations.AddIndex(
            model_name='task',
            index=models.Index(condition=models.Q(('job__isnull', True), ('status', 'COMPLETED')), fields=['finished_at', 'id'], name='task_completed'),
        ),
        migrations.AddIndex(
            model_name='task',
            index=models.Index(condition=models.Q(('job__isnull', True), ('status__in', ['CANCELLED', 'DISMISSED', 'SKIPPED'])), fields=['finished_at', 'id'], name='task_closed'),
        ),
        migrations.AddIndex(
            model_name='task',
            index=models.Index(condition=models.Q(('status', 'DEAD')), fields=['fingerprint', 'finished_at', 'id'], name='task_dead_alike'),
        ),
        migrations.AddIndex(
            model_name='task',
            index=models.Index(condition=models.Q(('fingerprint__isnull', False)), fields=['fingerprint', 'id'], name='task_alike'),
        ),
        migrations.AddConstraint(
            model_name='task',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['ASSIGNED', 'CANCELLED', 'COMPLETED', 'DEAD', 'DISMISSED', 'FAILED', 'PENDING', 'RUNNING', 'SKIPPED'])), name='task_status_known'),
        ),
        migrations.AddConstraint(
            model_name='task',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('dead_reason__isnull', False), ('status', 'DEAD')), models.Q(('status', 'DEAD'), _negated=True), _connector='OR'), name='task_dead_has_reason'),
        ),
        migrations.AddConstraint(
            model_name='task',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('status__in', ['ASSIGNED', 'RUNNING']), _negated=True), models.Q(('assigned_to__isnull', False), ('token__isnull', False)), _connector='OR'), name='task_active_has_worker'),
        ),
        migrations.AddConstraint(
            model_name='task',
            constraint=models.CheckConstraint(condition=models.Q(('attempts__lte', models.F('max_attempts'))), name='task_attempts_in_budget'),
        ),
        migrations.AddConstraint(
            model_name='task',
            constraint=models.CheckConstraint(condition=models.Q(('waiting_on__gte', 0)), name='task_waiting_on_min'),
        ),
        migrations.AddConstraint(
            model_name='task',
            constraint=models.CheckConstraint(condition=models.Q(('holds__gte', 0)), name='task_holds_min'),
        ),
        migrations.AddConstraint(
            model_name='task',
            constraint=models.CheckConstraint(condition=models.Q(('estimate_seconds__gt', 0)), name='task_estimate_min'),
        ),
        migrations.AddConstraint(
            model_name='task',
            constraint=models.CheckConstraint(condition=models.Q(('weight__gt', 0)), name='task_weight_min'),
        ),
        migrations.AddConstraint(
            model_name='task',
            constraint=models.UniqueConstraint(condition=models.Q(('key__isnull', False)), fields=('kind', 'key'), name='task_key_once'),
        ),
        migrations.AddConstraint(
            model_name='effect',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['done', 'started'])), name='effect_state_known'),
        ),
        migrations.AddConstraint(
            model_name='effect',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', False), ('state', 'done')), models.Q(('finished_at__isnull', True), ('state', 'started')), _connector='OR'), name='effect_done_has_its_time'),
        ),
        migrations.AddIndex(
            model_name='dependency',
            index=models.Index(models.F('depends_on'), models.Func(models.F('task'), function='uuid_send'), name='dependency_of'),
        ),
        migrations.AddConstraint(
            model_name='dependency',
            constraint=models.CheckConstraint(condition=models.Q(('task', models.F('depends_on')), _negated=True), name='dependency_not_itself'),
        ),
        migrations.AddConstraint(
            model_name='dependency',
            constraint=models.CheckConstraint(condition=models.Q(('on_dead__in', ['continue', 'fail', 'wait'])), name='dependency_on_dead_known'),
        ),
        migrations.AddConstraint(
            model_name='dependency',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['blocked', 'met', 'void', 'waiting'])), name='dependency_state_known'),
        ),
        migrations.AddConstraint(
            model_name='dependency',
            constraint=models.UniqueConstraint(fields=('task', 'name'), name='dependency_name_once'),
        ),
        migrations.AddIndex(
            model_name='attempt',
            index=models.Index(condition=models.Q(('outcome__in', ['crashed', 'error', 'timeout'])), fields=['kind', 'ended_at'], name='attempt_failed'),
        ),
        migrations.AddConstraint(
            model_name='attempt',
            constraint=models.CheckConstraint(condition=models.Q(('outcome__in', ['cancelled', 'completed', 'crashed', 'deadline', 'error', 'expired', 'not_named', 'released', 'replaced', 'stopped', 'timeout', 'worker_lost'])), name='attempt_outcome_known'),
        ),
        migrations.AddConstraint(
            model_name='kind',
            constraint=models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='kind_name_filled'),
        ),
        migrations.AddConstraint(
            model_name='kind',
            constraint=models.CheckConstraint(condition=models.Q(('strategy__in', ['capability', 'capable_least_loaded', 'least_loaded', 'round_robin', 'two_choices']), ('strategy', ''), _connector='OR'), name='kind_strategy_known'),
        ),
        migrations.AddConstraint(
            model_name='kind',
            constraint=models.CheckConstraint(condition=models.Q(('order__in', ['fifo', 'longest_first'])), name='kind_order_known'),
        ),
        migrations.AddConstraint(
            model_name='kind',
            constraint=models.CheckConstraint(condition=models.Q(('load__in', ['count', 'seconds'])), name='kind_load_known'),
        ),
        migrations.AddConstraint(
            model_name='kind',
            constraint=models.CheckConstraint(condition=models.Q(('estimate_seconds__gt', 0), ('timeout_seconds__gt', 0), ('backoff_base_seconds__gt', 0), ('backoff_cap_seconds__gt', 0)), name='kind_seconds_positive'),
        ),
        migrations.AddConstraint(
            model_name='kind',
            constraint=models.CheckConstraint(condition=models.Q(('max_attempts__gte', 1)), name='kind_attempts_min'),
        ),
        migrations.AddConstraint(
            model_name='kind',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('breaker_failures__isnull', True), ('breaker_failures__gte', 1), _connector='OR'), ('breaker_open_seconds__gt', 0), ('breaker_window_seconds__gt', 0)), name='kind_breaker_sound'),
        ),
        migrations.AddConstraint(
            model_name='kind',
            constraint=models.CheckConstraint(condition=models.Q(('person_lease_seconds__isnull', True), ('person_lease_seconds__gt', 0), _connector='OR'), name='kind_person_lease_positive'),
        ),
        migrations.AddConstraint(
            model_name='kind',
            constraint=models.CheckConstraint(condition=models.Q(('by_people', False), ('limit__isnull', True), _connector='OR'), name='kind_people_need_no_limit', violation_error_message='A kind done by people has no shared limit.'),
        ),
        migrations.AddConstraint(
            model_name='savedsearch',
            constraint=models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='saved_search_name_filled'),
        ),
        migrations.AddConstraint(
            model_name='savedsearch',
            constraint=models.UniqueConstraint(fields=('owner', 'name'), name='saved_search_name_once'),
        ),
        migrations.AddIndex(
            model_name='lease',
            index=models.Index(condition=models.Q(('started_at__isnull', True)), fields=['worker', 'token'], name='lease_claimable'),
        ),
        migrations.AddIndex(
            model_name='lease',
            index=models.Index(condition=models.Q(('held_until__isnull', False)), fields=['held_until'], name='lease_of_person'),
        ),
        migrations.AddConstraint(
            model_name='lease',
            constraint=models.UniqueConstraint(condition=models.Q(('lock_key__isnull', False)), fields=('lock_key',), name='lease_lock_once'),
        ),
        migrations.AddIndex(
            model_name='steptask',
            index=models.Index(condition=models.Q(('role__in', ['step', 'join'])), fields=['job_id', 'place'], name='step_of_job'),
        ),
        migrations.AddIndex(
            model_name='steptask',
            index=models.Index(condition=models.Q(('role', 'item')), fields=['join_id', 'item'], name='item_of_join'),
        ),
        migrations.AddConstraint(
            model_name='steptask',
            constraint=models.CheckConstraint(condition=models.Q(('role__in', ['compensation', 'item', 'join', 'step'])), name='step_task_role_known'),
        ),
        migrations.AddConstraint(
            model_name='steptask',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('role', 'compensation'), ('undoes__isnull', False)), models.Q(models.Q(('role', 'compensation'), _negated=True), ('undoes__isnull', True)), _connector='OR'), name='step_task_undoes_if_compensation'),
        ),
        migrations.AddConstraint(
            model_name='steptask',
            constraint=models.CheckConstraint(condition=models.Q(('counted_as__isnull', True), ('counted_as__in', ['completed', 'lost', 'open']), _connector='OR'), name='step_task_counted_as_known'),
        ),
    ]
