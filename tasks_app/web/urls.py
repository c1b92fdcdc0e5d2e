"""The pages' addresses: one list, one import a module of pages."""

from django.urls import URLPattern, URLResolver, path

from tasks_app.web.pages import (
    audit,
    dead_letters,
    inbox,
    jobs,
    overview,
    supervisor,
    task,
    tasks,
    workers,
)

app_name = "web"
urlpatterns: list[URLPattern | URLResolver] = [
    path("", overview.overview, name="overview"),
    path("series/", overview.overview_series, name="overview_series"),
    path("tasks/", tasks.tasks, name="tasks"),
    path("tasks/complete/", tasks.complete, name="complete"),
    path("tasks/export/", tasks.export, name="export_tasks"),
    path("tasks/<uuid:task_id>/", task.task, name="task"),
    path("tasks/<uuid:task_id>/cancel/", task.cancel, name="cancel"),
    path("jobs/", jobs.jobs, name="jobs"),
    path("jobs/<uuid:job_id>/", jobs.job, name="job"),
    *(
        path(f"jobs/<uuid:job_id>/{each}/", jobs.act, {"name": each}, name=f"{each}_job")
        for each in jobs.ACTS
    ),
    path("inbox/", inbox.inbox, name="inbox"),
    path("inbox/<uuid:task_id>/", inbox.step, name="step"),
    *(
        path(f"inbox/<uuid:task_id>/{each}/", act, name=f"{each}_step")
        for each, act in inbox.ACTS.items()
    ),
    path("dead-letters/", dead_letters.dead_letters, name="dead_letters"),
    path("dead-letters/requeue/", dead_letters.requeue, name="requeue"),
    path("dead-letters/dismiss/", dead_letters.dismiss, name="dismiss"),
    path("audit/", audit.audit, name="audit"),
    path("audit/export/", audit.export, name="audit_export"),
    path("audit/<int:number>/", audit.entry, name="audit_entry"),
    path("supervisor/", supervisor.supervisor, name="supervisor"),
    path("workers/", workers.workers, name="workers"),
    path("workers/<uuid:worker_id>/", workers.worker, name="worker"),
    path("workers/<uuid:worker_id>/drain/", workers.drain, name="drain"),
    path("workers/<uuid:worker_id>/resume/", workers.resume, name="resume"),
]
