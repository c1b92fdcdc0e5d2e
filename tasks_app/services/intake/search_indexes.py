"""Keeping the indexes of searchable payload paths as the kinds declare them."""

from django.db import transaction

from tasks_app.core.intake.search_paths import index_name
from tasks_app.store.intake import search_indexes as store
from tasks_app.store.reads.search.kinds import list_kind_searches


def sync_search_indexes() -> tuple[int, int]:
    """Make the indexes that are missing and drop those that nobody declares: (made, dropped).

    Work goes on meanwhile, so on a large table this may take a minute. Where another process is at
    it, that one sees to it. Must not run within a transaction.
    """
    made = dropped = 0
    if not store.take_turn():
        return 0, 0
    try:
        while True:
            wanted = {
                index_name(kind.name, path): (kind.name, path)
                for kind in list_kind_searches()
                for path in kind.paths
            }
            present = store.present_indexes()
            surplus = [name for name, whole in present.items() if name not in wanted or not whole]
            missing = [name for name in wanted if not present.get(name, False)]
            if not surplus and not missing:
                return made, dropped
            for name in surplus:
                store.drop_index(name)
            for name in missing:
                store.create_index(*wanted[name])
            made, dropped = made + len(missing), dropped + len(surplus)
    finally:
        store.end_turn()


def sync_search_indexes_after_commit() -> None:
    """The same once the transaction that changed a kind is committed."""
    transaction.on_commit(sync_search_indexes)
