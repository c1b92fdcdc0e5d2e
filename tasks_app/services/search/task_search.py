"""Finding tasks by a query: what a page, the API, the command line and an export all use."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from tasks_app.core.masking.redaction import Hidden
from tasks_app.core.sanitise import clean_text
from tasks_app.core.search.queries import Node, matches_of
from tasks_app.core.search.query_checks import QueryFault
from tasks_app.core.search.query_completion import Completion, complete
from tasks_app.core.search.query_fields import Vocabulary
from tasks_app.core.search.query_parsing import parse
from tasks_app.services.masking.payload_masking import hidden_from, may_see_payloads
from tasks_app.services.masking.word_masking import shown_rows
from tasks_app.store.reads.failures.dead_letters import DeadFilter, list_causes
from tasks_app.store.reads.search.kinds import KindSearch, list_kind_searches
from tasks_app.store.reads.search.task_lists import TaskSearch, list_worker_names
from tasks_app.store.reads.search.task_rows import Sort
from tasks_app.store.reads.search.task_windows import advice

MOST_WORKERS = 500
"""Names of workers that are known; with more of them none is refused."""

MOST_DEAD = 2_000
"""Newest dead letters among whose errors the suggestions are."""


@dataclass(frozen=True, slots=True)
class ReadQuery:
    """A query as it was read: what to look for, or what is wrong with it.

    ``advice``: payload paths that have an index, each with the kind that the query must name to use
    it.
    """

    text: str
    wanted: TaskSearch
    faults: Sequence[QueryFault] = ()
    advice: Sequence[tuple[str, str]] = ()

    @property
    def node(self) -> Node | None:
        """The query as a tree."""
        return self.wanted.node

    def without_index(self, indexed: str) -> Sequence[str]:
        """Paths that are compared task by task, where the index of ``indexed`` finds the tasks.

        Those that advice is given on are left out: it says more.
        """
        compared = [match.name for match in matches_of(self.node) if match.path]
        said = {indexed, *(path for path, _ in self.advice)}
        return [path for path in dict.fromkeys(compared) if path not in said]


@dataclass(frozen=True, slots=True)
class SearchOrder:
    """How to list what is found; see ``TaskSearch``."""

    sort: Sort = Sort.AGE
    backwards: bool = False
    upto: UUID | None = None


def read_query(text: str, *, sees_payloads: bool, order: SearchOrder | None = None) -> ReadQuery:
    """Read a query against the names on record, for somebody who sees payloads whole or not."""
    kinds = list_kind_searches()
    return _read(text, kinds, sees_payloads, order or SearchOrder())


def read_query_of(
    user: AbstractBaseUser | AnonymousUser, text: str, order: SearchOrder | None = None
) -> ReadQuery:
    """The same for a user; their permission is only asked for where there is something to hide."""
    kinds = list_kind_searches()
    hides = any(kind.redacted for kind in kinds)
    return _read(text, kinds, not hides or may_see_payloads(user), order or SearchOrder())


def _read(
    text: str, kinds: Sequence[KindSearch], sees_payloads: bool, order: SearchOrder
) -> ReadQuery:
    text = clean_text(text).strip()
    parsed = parse(text, _vocabulary(kinds, with_workers="worker:" in text.lower()))
    paths = {kind.name: kind.paths for kind in kinds if kind.paths}
    wanted = TaskSearch(
        node=parsed.node,
        sort=order.sort,
        backwards=order.backwards,
        upto=order.upto,
        hidden=hidden_from(sees_payloads, kinds),
        paths=paths,
    )
    return ReadQuery(text, wanted, parsed.faults, tuple(advice(parsed.node, paths)))


def suggest(text: str, caret: int, hidden: Hidden) -> Sequence[Completion]:
    """What may be written next at the caret, for somebody from whom so much is hidden."""
    text = clean_text(text)
    known = _vocabulary(list_kind_searches(), with_workers=True)
    if "cause:" in text.lower():
        causes, _ = list_causes(DeadFilter(), most=MOST_DEAD)
        causes = shown_rows(causes, hidden, "sample", "line")
        known = replace(known, causes=[(c.key, f"{c.name}: {c.line}"[:80]) for c in causes])
    return complete(text, caret, known)


def _vocabulary(kinds: Sequence[KindSearch], *, with_workers: bool) -> Vocabulary:
    workers = list_worker_names(MOST_WORKERS) if with_workers else None
    known = workers if workers is not None and len(workers) < MOST_WORKERS else None
    return Vocabulary(
        kinds=[kind.name for kind in kinds],
        workers=known,
        paths=sorted({path for kind in kinds for path in kind.paths}),
    )
