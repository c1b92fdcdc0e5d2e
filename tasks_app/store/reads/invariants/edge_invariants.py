"""What must hold of dependencies and of tasks that wait."""

from typing import Final

from tasks_app.store.reads.invariants.invariant import Invariant

# The inbox holds an entry by which this edge of t to p will still be judged.
ANNOUNCED: Final = """EXISTS (
               SELECT FROM settled s
                WHERE s.task_id = p.id AND NOT s.own AND coalesce(s.only_id, t.id) = t.id
                  AND coalesce(s.after_id < t.id, true)
                   OR s.task_id = t.id AND s.own AND coalesce(s.after_id < p.id, true))"""

EDGE_INVARIANTS: Final = (
    Invariant(
        "edges_are_counted",
        "A PENDING or DEAD task waits for exactly its holds and the dependencies that are not met.",
        """
        SELECT t.id::text
          FROM task t LEFT JOIN dependency d
            ON d.task_id = t.id AND d.state IN ('waiting', 'blocked')
         WHERE t.status IN ('PENDING', 'DEAD') AND (t.waiting_on > 0 OR d.task_id IS NOT NULL)
         GROUP BY t.id, t.waiting_on
        HAVING count(d.task_id) + t.holds <> t.waiting_on
        """,
    ),
    Invariant(
        "no_end_is_forgotten",
        "A dependency that ended is carried over to its dependents, or waits in the inbox.",
        f"""
        SELECT d.task_id::text
          FROM dependency d
          JOIN task p ON p.id = d.depends_on_id
          JOIN task t ON t.id = d.task_id
         WHERE t.status = 'PENDING' AND NOT {ANNOUNCED}
           AND (d.state = 'waiting'
                    AND p.status IN ('COMPLETED', 'DEAD', 'DISMISSED', 'CANCELLED', 'SKIPPED')
                OR d.state = 'blocked' AND p.status <> 'DEAD')
        """,  # noqa: S608  a constant
    ),
    Invariant(
        "waits_can_end",
        "A PENDING task that waits does so for a task that has not ended, for its items or a pause,"
        " or an inbox will have it looked at.",
        """
        SELECT t.id::text FROM task t
         WHERE t.status = 'PENDING' AND t.waiting_on > 0
           AND (t.waiting_on > t.holds OR t.job_id IS NOT NULL)
           AND t.id NOT IN (
               SELECT d.task_id FROM dependency d JOIN task p ON p.id = d.depends_on_id
                WHERE d.state IN ('waiting', 'blocked')
                  AND p.status IN ('PENDING', 'FAILED', 'ASSIGNED', 'RUNNING', 'DEAD'))
           AND t.id NOT IN (SELECT task_id FROM settled WHERE own)
           AND t.id NOT IN (
               SELECT d.task_id FROM settled s JOIN dependency d ON d.depends_on_id = s.task_id)
           AND (t.job_id IS NULL
                OR t.job_id NOT IN (
                    SELECT id FROM job WHERE paused
                    UNION ALL SELECT job_id FROM job_news
                    UNION ALL SELECT u.job_id FROM settled s JOIN task u ON u.id = s.task_id
                               WHERE u.job_id IS NOT NULL)
               AND t.id NOT IN (
                    SELECT j.task_id
                      FROM (SELECT DISTINCT u.job_id, i.place
                              FROM step_task i JOIN task u ON u.id = i.task_id
                             WHERE i.role = 'item'
                               AND u.status IN ('PENDING', 'FAILED', 'ASSIGNED', 'RUNNING')) going
                      JOIN task q ON q.job_id = going.job_id
                      JOIN step_task j ON j.task_id = q.id AND j.place = going.place
                                      AND j.role = 'join'))
        """,
    ),
    Invariant(
        "dependencies_came_first",
        "No task was begun before what it depends on had ended.",
        """
        SELECT d.task_id::text
          FROM dependency d
          JOIN task p ON p.id = d.depends_on_id
          JOIN (SELECT task_id, min(assigned_at) AS began
                  FROM (SELECT task_id, assigned_at FROM attempt
                        UNION ALL SELECT task_id, assigned_at FROM lease) h
                 GROUP BY task_id) b ON b.task_id = d.task_id
         WHERE d.state = 'met' AND p.finished_at > b.began
        """,
    ),
)
