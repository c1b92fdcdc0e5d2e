"""What must hold of jobs and of the way back."""

from typing import Final

from tasks_app.store.reads.invariants.invariant import Invariant

JOB_INVARIANTS: Final = (
    Invariant(
        "ended_jobs_rest",
        "No task of a job that has ended may move any more.",
        """
        SELECT t.id::text FROM job j JOIN task t ON t.job_id = j.id
         WHERE j.status IN ('COMPLETED', 'COMPENSATED', 'CANCELLED')
           AND t.status NOT IN ('COMPLETED', 'DISMISSED', 'CANCELLED', 'SKIPPED')
        """,
    ),
    Invariant(
        "open_jobs_go_on",
        "A job that has not ended has a task that can move, one a human must decide, or news.",
        """
        SELECT j.id::text FROM job j
         WHERE j.status NOT IN ('COMPLETED', 'COMPENSATED', 'CANCELLED')
           AND NOT EXISTS (
               SELECT FROM task t WHERE t.job_id = j.id
                  AND t.status IN ('PENDING', 'FAILED', 'ASSIGNED', 'RUNNING', 'DEAD'))
           AND NOT EXISTS (SELECT FROM job_news n WHERE n.job_id = j.id)
           AND NOT EXISTS (
               SELECT FROM settled s JOIN task t ON t.id = s.task_id WHERE t.job_id = j.id)
        """,
    ),
    Invariant(
        "items_are_counted",
        "A join counts its items as each is counted, and each is counted as it is, or is about to.",
        """
        (SELECT task_id::text FROM (
            SELECT task_id, items, items_completed, items_open FROM step_task
             WHERE role = 'join' AND items > 0
            EXCEPT
            SELECT join_id, count(*), count(*) FILTER (WHERE counted_as = 'completed'),
                   count(*) FILTER (WHERE counted_as = 'open')
              FROM step_task WHERE role = 'item' GROUP BY join_id) miscounted)
        UNION ALL
        SELECT t.id::text FROM step_task s JOIN task t ON t.id = s.task_id
         WHERE s.role = 'item'
           AND s.counted_as <> CASE
               WHEN t.status = 'COMPLETED' THEN 'completed'
               WHEN t.status IN ('PENDING', 'FAILED', 'ASSIGNED', 'RUNNING') THEN 'open'
               ELSE 'lost' END
           AND t.id NOT IN (SELECT task_id FROM settled)
        """,
    ),
    Invariant(
        "jobs_can_end",
        "Of a job that is not paused and has unfinished tasks one can move, or a human must decide,"
        " or an inbox will have it looked at.",
        """
        SELECT j.id::text FROM job j
         WHERE j.status NOT IN ('COMPLETED', 'COMPENSATED', 'CANCELLED') AND NOT j.paused
           AND j.id IN (SELECT job_id FROM task WHERE status = 'PENDING')
           AND j.id NOT IN (
               SELECT job_id FROM task
                WHERE job_id IS NOT NULL
                  AND (status IN ('FAILED', 'ASSIGNED', 'RUNNING', 'DEAD')
                       OR status = 'PENDING' AND waiting_on = 0)
               UNION ALL SELECT job_id FROM job_news
               UNION ALL SELECT t.job_id FROM settled s JOIN task t ON t.id = s.task_id
                          WHERE t.job_id IS NOT NULL)
        """,
    ),
    Invariant(
        "pauses_hold",
        "A task that may still move has a hold of its job's pause exactly while the job is paused,"
        " or the pause or resumption is still being carried over to the tasks.",
        """
        SELECT t.id::text FROM task t JOIN job j ON j.id = t.job_id
         WHERE t.status IN ('PENDING', 'FAILED', 'ASSIGNED', 'RUNNING', 'DEAD')
           AND j.status NOT IN ('COMPLETED', 'COMPENSATED', 'CANCELLED')
           AND t.holds - (t.unprepared OR t.kind = 'join')::int <> j.paused::int
           AND (j.held_to IS NULL OR j.id NOT IN (SELECT job_id FROM job_news))
        """,
    ),
    Invariant(
        "undone_in_reverse",
        "Compensations are for completed tasks only, in the reverse order of completion (I10).",
        """
        SELECT task_id::text FROM (
            SELECT s.task_id, u.status, u.finished_at,
                   lag(u.finished_at) OVER (PARTITION BY u.job_id ORDER BY s.task_id) AS before
              FROM step_task s JOIN task u ON u.id = s.undoes_id
        ) undone
         WHERE status <> 'COMPLETED' OR finished_at > before
        """,
    ),
    Invariant(
        "undone_jobs_are_undone",
        "Every completed step of a COMPENSATED job that can be undone has been (I10).",
        """
        SELECT t.id::text
          FROM job j
          JOIN task t ON t.job_id = j.id AND t.status = 'COMPLETED'
          JOIN step_task s ON s.task_id = t.id AND s.role IN ('step', 'item')
         WHERE j.status = 'COMPENSATED'
           AND j.plan -> 'steps' -> s.place::int -> 'compensation' IS NOT NULL
           AND j.plan -> 'steps' -> s.place::int -> 'compensation' <> 'null'
           AND NOT EXISTS (
               SELECT FROM step_task c JOIN task k ON k.id = c.task_id
                WHERE c.undoes_id = t.id
                  AND k.status IN ('COMPLETED', 'DISMISSED', 'CANCELLED'))
        """,
    ),
)
