"""The pages' addresses: one list, one import a module of pages."""

from django.urls import URLPattern, URLResolver, path

from tasks_app.web.pages import (
    account,
    acts,
    audit,
    bulks,
    dead_letters,
    inbox,
    jobs,
    kinds,
    list_exports,
    overview,
    payload_edit,
    searches,
    supervisor,
    task,
    tasks,
    words,
    workers,
)

app_name = "web"
urlpatterns: list[URLPattern | URLResolver] = [
    path("", overview.overview, name="overview"),
    path("words.js", words.words, name="words"),
    path("series/", overview.overview_series, name="overview_series"),
    path("account/", account.account, name="account"),
    path("account/password/", account.ChangePassword.as_view(), name="change_password"),
    path("account/log-out-elsewhere/", account.log_out_elsewhere, name="log_out_elsewhere"),
    path("password/reset/", account.AskReset.as_view(), name="ask_reset"),
    path("password/reset/sent/", account.reset_sent, name="reset_sent"),
    path("password/reset/<uidb64>/<token>/", account.SetPassword.as_view(), name="set_password"),
    path("tasks/", tasks.tasks, name="tasks"),
    path("tasks/searches/", searches.searches, name="searches"),
    path("tasks/searches/save/", searches.save, name="save_search"),
    path("tasks/searches/<int:search_id>/pin/", searches.pin, name="pin_search"),
    path("tasks/searches/<int:search_id>/unpin/", searches.unpin, name="unpin_search"),
    path("tasks/searches/<int:search_id>/delete/", searches.delete, name="delete_search"),
    path("tasks/complete/", tasks.complete, name="complete"),
    path("tasks/export/", tasks.export, name="export_tasks"),
    path("tasks/late-reports/export/", list_exports.export_late_reports, name="export_late"),
    path("tasks/<uuid:task_id>/", task.task, name="task"),
    path("tasks/<uuid:task_id>/<str:part>.json", task.task_json, name="task_json"),
    path("tasks/<uuid:task_id>/cancel/", task.cancel, name="cancel"),
    path("tasks/<uuid:task_id>/edit/", payload_edit.edit_payload, name="edit_payload"),
    path("jobs/", jobs.jobs, name="jobs"),
    path("jobs/export/", list_exports.export_jobs, name="export_jobs"),
    path("jobs/<uuid:job_id>/", jobs.job, name="job"),
    *(
        path(f"jobs/<uuid:job_id>/{each}/", jobs.act, {"name": each}, name=f"{each}_job")
        for each in jobs.ACTS
    ),
    path("inbox/", inbox.inbox, name="inbox"),
    path("inbox/export/", list_exports.export_inbox, name="export_inbox"),
    path("inbox/<uuid:task_id>/", inbox.step, name="step"),
    *(
        path(f"inbox/<uuid:task_id>/{each}/", act, name=f"{each}_step")
        for each, act in inbox.ACTS.items()
    ),
    path("dead-letters/", dead_letters.dead_letters, name="dead_letters"),
    path("dead-letters/requeue/", acts.act, {"action": "requeue"}, name="requeue"),
    path("dead-letters/dismiss/", acts.act, {"action": "dismiss"}, name="dismiss"),
    path("dead-letters/errors/export/", list_exports.export_causes, name="export_causes"),
    path("dead-letters/<slug:fingerprint>/", dead_letters.dead_group, name="dead_group"),
    path("dead-letters/<slug:fingerprint>/assign/", dead_letters.assign_group, name="assign_group"),
    path("dead-letters/<slug:fingerprint>/note/", dead_letters.note_group, name="note_group"),
    path("acts/", bulks.bulks, name="bulks"),
    path("acts/export/", list_exports.export_bulks, name="export_bulks"),
    path("acts/<uuid:bulk_id>/", bulks.bulk, name="bulk"),
    path("acts/<uuid:bulk_id>/export/", list_exports.export_bulk, name="export_bulk"),
    path("acts/<uuid:bulk_id>/undo/", bulks.undo, name="bulk_undo"),
    path("acts/<uuid:bulk_id>/abort/", bulks.abort, name="bulk_abort"),
    path("acts/<str:action>/", acts.act, name="act"),
    path("audit/", audit.audit, name="audit"),
    path("audit/export/", audit.export, name="audit_export"),
    path("audit/<int:number>/", audit.entry, name="audit_entry"),
    path("kinds/switch/", kinds.switch, name="switch_strategy"),
    path("supervisor/", supervisor.supervisor, name="supervisor"),
    path("supervisor/shifts/export/", list_exports.export_shifts, name="export_shifts"),
    path("kinds/", kinds.kinds, name="kinds"),
    path("kinds/times/", kinds.times, name="kind_times"),
    path("kinds/export/", list_exports.export_kinds, name="export_kinds"),
    *(
        path(f"kinds/{each}/", kinds.act, {"name": each}, name=f"{each}_kind")
        for each in kinds.ACTS
    ),
    path("workers/", workers.workers, name="workers"),
    path("workers/export/", list_exports.export_workers, name="export_workers"),
    path("workers/ended/export/", list_exports.export_boots, name="export_boots"),
    path("workers/near-misses/export/", list_exports.export_near_misses, name="export_near_misses"),
    path("workers/<uuid:worker_id>/", workers.worker, name="worker"),
    path("workers/<uuid:worker_id>/drain/", workers.drain, name="drain"),
    path("workers/<uuid:worker_id>/evict/", workers.evict, name="evict"),
    path("workers/<uuid:worker_id>/resume/", workers.resume, name="resume"),
]
