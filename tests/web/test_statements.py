"""How many statements a page sends at most, where every page has something to show."""

from collections.abc import Mapping
from typing import Final

from django.core.management import call_command

from benchmarks.pages import addresses, queries_of, sign_in

MOST: Final[Mapping[str, int]] = {
    "overview": 22,
    "series, 5 minutes": 6,
    "series, a day": 6,
    "series, 30 days": 6,
    "tasks": 15,
    "tasks of a status": 15,
    "tasks of a kind": 15,
    "tasks of a kind and status": 15,
    "tasks of a worker": 15,
    "tasks by text": 15,
    "tasks by key": 15,
    "tasks by error": 15,
    "tasks by payload": 15,
    "tasks by age": 15,
    "tasks of either": 15,
    "tasks without": 15,
    "tasks by result": 15,
    "tasks of a cause": 15,
    "tasks, the longest first": 15,
    "tasks, the most attempts": 15,
    "task, completed": 15,
    "task, dead": 15,
    "task, running": 15,
    "task, pending": 20,
    "dead letters": 12,
    "dead letters, a group": 12,
    "workers": 9,
    "worker": 17,
    "jobs": 7,
    "job": 14,
    "inbox": 9,
    "kinds": 8,
    "kinds, waits and run times": 7,
    "supervisor": 20,
    "bulk acts": 7,
    "audit": 9,
    "searches": 7,
    "account": 7,
}
"""A session and a person are two of each; those of ``benchmarks.pages``, where they are timed."""


def test_no_page_sends_more_statements_than_it_says(record: None) -> None:
    call_command("seed-load", tasks=2_000)
    sent = queries_of(addresses(), sign_in())
    assert sent.keys() == MOST.keys()
    assert {name: n for name, n in sent.items() if n > MOST[name]} == {}
