"""Keeping searches under a name: one's own or shared, in one's side bar or not."""

from dataclasses import dataclass

from tasks_app.core.masking.hidden_actions import PRIVATE
from tasks_app.core.words import say
from tasks_app.services.people.auditing import note
from tasks_app.services.people.people import Actor, NotAllowed, Role, needs
from tasks_app.services.search.task_search import read_query
from tasks_app.services.transactions import transactional
from tasks_app.store import searches as store
from tasks_app.store.reads.search.searches import find_search

LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class NewSearch:
    """What to keep; ``address`` is the order and columns as an address has them."""

    name: str
    query: str
    address: str = ""
    shared: bool = False
    pinned: bool = False


@needs(Role.VIEWER)
@transactional
def save_search(search: NewSearch, user: int, actor: Actor) -> int:
    """Keep a search, over one's own of that name. Raises ValueError that says what is wrong.

    Sharing is for operators: raises NotAllowed. The audit names shared ones only.
    """
    name = " ".join(search.name.split())
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise ValueError(
            say("name: give 1 to %(longest)s printable characters", longest=LONGEST_NAME)
        )
    read = read_query(search.query, sees_payloads=True)
    if read.faults:
        raise ValueError(say("query: %(fault)s", fault=str(read.faults[0])))
    if search.shared and actor.role < Role.OPERATOR:
        raise NotAllowed(
            say("sharing a search needs the role operator; %(name)s has none", name=actor.name)
        )
    saved = store.save_search(user, name, read.text, search.address, shared=search.shared)
    if saved is None:
        raise ValueError(
            say(
                "name: %(most)s searches are kept already; delete one first",
                most=store.MOST_OWN,
            )
        )
    if search.pinned:
        store.pin_search(user, saved)
    if search.shared:
        note(actor, "save search", name, wanted=read.text, shared=True, search=saved)
    else:
        note(actor, "save search", PRIVATE, shared=False, search=saved)
    return saved


@needs(Role.VIEWER)
@transactional
def delete_search(search: int, user: int, actor: Actor) -> str | None:
    """Delete one's own search, or as an admin a shared one; its name, or None for no such."""
    found = find_search(user, search)
    if found is None:
        return None
    if found.owner_id != user and actor.role < Role.ADMIN:
        raise NotAllowed(
            say(
                "%(name)s is %(owner)s's search; only they or an admin delete it",
                name=found.name,
                owner=found.owner,
            )
        )
    store.delete_search(search)
    if found.shared:
        note(actor, "delete search", found.name, wanted=found.query, shared=True, search=search)
    else:
        note(actor, "delete search", PRIVATE, shared=False, search=search)
    return found.name


@needs(Role.VIEWER)
@transactional
def pin_search(search: int, user: int, actor: Actor, *, pinned: bool) -> bool:
    """Put a search into one's side bar or take it out; False if nothing changed."""
    change = store.pin_search if pinned else store.unpin_search
    if not change(user, search):
        return False
    note(actor, "pin search" if pinned else "unpin search", str(search))
    return True
