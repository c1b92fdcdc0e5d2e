"""Ways to break a promise, each with the tests that must notice it."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Patch:
    """A textual change of one file; ``old`` must stand there exactly once."""

    path: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Mutant:
    """A broken promise: its patches, and the tests of which at least one must fail."""

    name: str
    patches: tuple[Patch, ...]
    tests: tuple[str, ...]


LEASES: Final = "tasks_app/store/attempts/leases.py"
SWEEP: Final = "tasks_app/store/attempts/sweep.py"
WORKERS: Final = "tasks_app/store/workers.py"
ROUNDS: Final = "tasks_app/services/dispatch/rounds.py"

MUTANTS: Final = (
    Mutant(
        "no token check",
        (
            Patch(
                LEASES,
                "WHERE t.id = i.task_id AND t.token = i.token\n"
                "           AND t.status = 'RUNNING' AND t.assigned_to = %(worker)s\n",
                "WHERE t.id = i.task_id\n"
                "           AND t.status = 'RUNNING' AND t.assigned_to = %(worker)s\n",
            ),
        ),
        (
            "tests/services/attempts/test_leases.py::test_a_worker_cannot_report_under_an_older_token_of_its_own",
        ),
    ),
    Mutant(
        "sweep by id only",
        (
            Patch(
                SWEEP,
                " ORDER BY lost.task_id\n LIMIT %(limit)s\n   FOR NO KEY UPDATE OF t SKIP LOCKED\n",
                " ORDER BY lost.task_id\n LIMIT %(limit)s\n",
            ),
            Patch(
                LEASES,
                "WHERE l.task_id = ANY (ARRAY[k.id]) AND l.token + 0 = k.token\n"
                "    RETURNING l.worker_id, l.assigned_at",
                "WHERE l.task_id = ANY (ARRAY[k.id])\n    RETURNING l.worker_id, l.assigned_at",
            ),
            Patch(
                LEASES,
                "WHERE t.id = i.task_id AND t.token = i.token"
                " AND t.status IN ('ASSIGNED', 'RUNNING')\n",
                "WHERE t.id = i.task_id\n",
            ),
        ),
        ("tests/races/test_races.py::test_a_sweep_passes_over_what_is_being_completed",),
    ),
    Mutant(
        "expiry by the client's clock",
        (
            Patch(
                WORKERS,
                "h.at < statement_timestamp() - %(stale_after)s",
                "h.at < to_timestamp(%(now)s) - %(stale_after)s",
            ),
            Patch(
                WORKERS,
                'MARK_LOST, {"stale_after": stale_after}',
                'MARK_LOST, {"stale_after": stale_after, "now": __import__("time").time()}',
            ),
        ),
        (
            "tests/services/dispatch/test_clocks.py::test_a_supervisor_whose_clock_is_wrong_judges_as_any_other",
        ),
    ),
    Mutant(
        "no epoch fence",
        (
            Patch(
                "tasks_app/store/dispatch/leader.py",
                "       last_round_at = statement_timestamp()\n WHERE id = 1 AND epoch = %(epoch)s",
                "       last_round_at = statement_timestamp()\n WHERE id = 1",
            ),
        ),
        (
            "tests/services/dispatch/test_shift.py::test_a_round_of_a_deposed_leader_changes_nothing",
            "tests/races/test_races.py::test_a_round_that_meets_a_take_over_comes_to_nothing",
        ),
    ),
    Mutant(
        "a started attempt not counted on reclaim",
        (
            Patch(
                "tasks_app/services/attempts/lease_ends.py",
                "        refund=free,\n",
                "        refund=True,\n",
            ),
        ),
        (
            (
                "tests/services/attempts/test_leases.py"
                "::test_a_silent_worker_is_lost_and_a_started_task_pays_one_attempt"
            ),
        ),
    ),
    Mutant(
        "unlock before commit",
        (Patch(ROUNDS, "@transactional\ndef _round(", "def _round("),),
        (
            "tests/services/dispatch/test_shift.py::test_a_round_of_a_deposed_leader_changes_nothing",
            (
                "tests/races/test_races.py"
                "::test_a_take_over_waits_for_the_commit_of_a_round_that_has_passed_its_fence"
            ),
        ),
    ),
    Mutant(
        "a drain takes what was just begun",
        (
            Patch(
                "tasks_app/store/attempts/lease_locks.py",
                "AND (t.status = 'ASSIGNED' OR %(begun)s AND t.status = 'RUNNING')",
                "AND t.status IN ('ASSIGNED', 'RUNNING')",
            ),
        ),
        (
            (
                "tests/races/test_races.py"
                "::test_a_drain_that_waited_for_a_claim_leaves_what_was_begun"
            ),
        ),
    ),
    Mutant(
        "a lost lease judged by the snapshot's row",
        (Patch(SWEEP, "lost.outcome, t.status = 'RUNNING',", "lost.outcome, false,"),),
        (
            (
                "tests/races/test_races.py"
                "::test_a_claim_that_commits_while_a_sweep_looks_counts_as_an_attempt"
            ),
        ),
    ),
    Mutant(
        "a failure by our own stop is charged",
        (
            Patch(
                "tasks_app/sdk/outcomes/failures.py",
                "if self._signals.caused(outcome):",
                "if not outcome and self._signals.caused(outcome):",
            ),
        ),
        (
            (
                "tests/sdk/test_signals.py"
                "::test_a_program_that_our_own_stop_signal_ends_costs_no_attempt"
                "[runs_program-threads-TERM-worker-first]"
            ),
        ),
    ),
    Mutant(
        "a loop for each task of a child",
        (
            Patch(
                "tasks_app/sdk/children/child.py", "if self._loop is None:", "if self is not None:"
            ),
        ),
        (
            (
                "tests/sdk/test_habits.py"
                "::test_a_habit_works_for_the_first_task_and_for_every_further_one"
                "[connection-processes]"
            ),
        ),
    ),
    Mutant(
        "a living boot that was replaced is a casualty",
        (Patch(SWEEP, "WHEN 'replaced' THEN 'replaced'", "WHEN 'replaced' THEN 'worker_lost'"),),
        (
            (
                "tests/services/attempts/test_leases.py"
                "::test_two_living_processes_with_one_name_cost_their_tasks_nothing"
            ),
        ),
    ),
    Mutant(
        "a silent worker's leases time out",
        (Patch(SWEEP, "least(statement_timestamp(), h.at)", "statement_timestamp()"),),
        (
            (
                "tests/services/attempts/test_leases.py"
                "::test_the_leases_of_a_silent_worker_are_lost_with_it_and_not_timed_out"
            ),
        ),
    ),
    Mutant(
        "not named by the count of heartbeats",
        (
            Patch(
                SWEEP, "h.at - %(unnamed_for)s * interval", "h.at - 0 * %(unnamed_for)s * interval"
            ),
        ),
        (
            (
                "tests/services/attempts/test_leases.py::test_signs_of_life_that_follow_each_other_at_once"
                "_do_not_reclaim_what_was_just_claimed"
            ),
        ),
    ),
    Mutant(
        "a claim asks no gate again",
        (Patch(LEASES, "       AND {IS_OPEN}\n", ""),),
        (
            "tests/services/dispatch/test_starts.py::test_nothing_begins_from_the_backlog_while",
            (
                "tests/services/dispatch/test_starts.py"
                "::test_a_breaker_that_opens_spares_the_attempts_of_what_waits_in_the_backlog"
            ),
        ),
    ),
    Mutant(
        "a rate holds at the hand-out only",
        (
            Patch(
                "tasks_app/store/dispatch/gates.py",
                "r.tokens - w.ahead < least(w.weight, r.burst)",
                "r.tokens - w.ahead < 0 * least(w.weight, r.burst) - 1000",
            ),
        ),
        (
            (
                "tests/services/dispatch/test_starts.py"
                "::test_a_rate_holds_when_tasks_begin_not_only_when_they_are_handed_out"
            ),
        ),
    ),
    Mutant(
        "overdue tasks are handed out",
        (
            Patch(
                "tasks_app/store/reads/dispatch/ready_queue.py",
                "       AND (deadline_at IS NULL OR deadline_at > statement_timestamp())\n",
                "",
            ),
            Patch(
                "tasks_app/store/dispatch/dispatch.py",
                "           AND (t.deadline_at IS NULL OR t.deadline_at > statement_timestamp())\n",
                "",
            ),
        ),
        (
            (
                "tests/services/dispatch/test_starts.py"
                "::test_of_thousands_that_are_overdue_none_is_handed_out_or_begun"
            ),
        ),
    ),
    Mutant(
        "a lock hides what stands behind it",
        (Patch(ROUNDS, "    if hidden:\n", "    if False:\n"),),
        (
            (
                "tests/services/dispatch/test_windows.py"
                "::test_tasks_of_a_held_lock_that_fill_the_window_do_not_hide_a_free_one"
            ),
        ),
    ),
    Mutant(
        "a wait that begins at the submission",
        (
            Patch(
                "tasks_app/store/reads/dispatch/readiness.py",
                '"greatest(run_at, ready_at)"',
                '"run_at"',
            ),
        ),
        (
            (
                "tests/services/dispatch/test_waits.py"
                "::test_a_dependent_has_the_whole_grace_from_the_end_of_its_need"
            ),
        ),
    ),
    Mutant(
        "a sweep that reads what has ended",
        (
            Patch(SWEEP, "             ORDER BY deadline_at\n", "             ORDER BY id\n"),
            Patch(SWEEP, "sql.rows_by_key(TAKE_OVERDUE,", "sql.rows(TAKE_OVERDUE,"),
        ),
        ("tests/store/test_ended_heavy_plans.py::test_no_statement_reads_what_has_ended",),
    ),
    Mutant(
        "dependency ignored",
        (
            Patch(
                "tasks_app/store/reads/dispatch/ready_queue.py",
                "status = 'PENDING' AND waiting_on = 0",
                "status = 'PENDING'",
            ),
            Patch(
                "tasks_app/store/dispatch/dispatch.py",
                "t.status = 'PENDING' AND t.waiting_on < 1",
                "t.status = 'PENDING'",
            ),
        ),
        (
            (
                "tests/services/jobs/test_dependencies.py"
                "::test_a_dependent_runs_only_after_its_dependency_and_gets_its_result"
            ),
        ),
    ),
    Mutant(
        "compensation in forward order",
        (
            Patch(
                "tasks_app/core/jobs/saga.py",
                "return max(candidates, key=_completion_order",
                "return min(candidates, key=_completion_order",
            ),
        ),
        (
            (
                "tests/services/jobs/test_job_sagas.py"
                "::test_completed_steps_are_undone_one_by_one_in_reverse_order"
            ),
        ),
    ),
    Mutant(
        "limit off by one",
        (
            Patch(
                "tasks_app/core/dispatch/limits.py",
                "self._free[limit.name] < wanted:",
                "self._free[limit.name] + 1 < wanted:",
            ),
        ),
        (
            "tests/services/dispatch/test_gates.py::test_a_limit_holds_across_kinds_and_frees_with_each_end",
        ),
    ),
    Mutant(
        "lost wake-up with polling off",
        (Patch(ROUNDS, "    events.wake_workers(handed)\n", ""),),
        (
            "tests/services/dispatch/test_wake_ups.py::test_a_worker_that_does_not_poll_is_woken_by_the_round",
        ),
    ),
    Mutant(
        "a requeue that announces nothing",
        (
            Patch(
                "tasks_app/store/failures/dead_letters.py",
                "    UNION ALL\n    SELECT id, true FROM requeued WHERE waits\n",
                "",
            ),
        ),
        (
            (
                "tests/services/jobs/test_dependencies.py"
                "::test_what_died_while_it_waited_runs_after_a_requeue_once_its_dependency_is_done"
            ),
            (
                "tests/races/test_races.py"
                "::test_a_dependency_that_completes_while_its_dependent_is_requeued_is_not_missed"
            ),
        ),
    ),
    Mutant(
        "values that forget where they came from",
        (
            Patch(
                "tasks_app/store/intake/submission.py",
                "           i.origins::jsonb\n",
                "           NULL::jsonb\n",
            ),
        ),
        (
            (
                "tests/access/test_travelling.py"
                "::test_no_search_finds_by_a_value_that_came_from_a_hidden_place"
            ),
        ),
    ),
    Mutant(
        "a fingerprint over hidden values",
        (
            Patch(
                "tasks_app/services/masking/fingerprinting.py",
                "replace(end, fingerprint=found[end.task_id]) if end.task_id in found else end",
                "end",
            ),
        ),
        (
            (
                "tests/access/test_travelling.py"
                "::test_a_fingerprint_holds_nothing_that_is_hidden_and_groups_go_on"
            ),
        ),
    ),
    Mutant(
        "an entry of the inbox consumed without effect",
        (
            Patch(
                "tasks_app/services/dispatch/settling.py",
                "    dependencies.put_back(taken.rest)\n",
                "",
            ),
        ),
        (
            (
                "tests/services/dispatch/test_settling.py"
                "::test_the_end_of_a_task_with_many_dependents_is_carried_over_in_portions"
            ),
            (
                "tests/races/test_races.py"
                "::test_a_dependent_that_somebody_holds_is_passed_over_and_settled_next_time"
            ),
        ),
    ),
)
