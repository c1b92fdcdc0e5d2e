"""Saved searches: one's own and shared ones, in the side bar, audited."""

from typing import Any
from urllib.parse import quote

from tasks_app.models import AuditEntry, SavedSearch, SearchPin
from tests.floor import Floor
from tests.web.conftest import Person, message_of, person


def save(who: Person, name: str = "Dead mail", query: str = "status:dead", **more: Any) -> None:
    assert who.post("save_search", name=name, q=query, **more).status_code == 200


def test_a_search_is_kept_with_its_order_and_columns_and_found_again(
    floor: Floor, viewer: Person
) -> None:
    save(
        viewer, query="priority:>3 -status:dead", sort="-priority", cols="status,task", pinned="on"
    )
    html = viewer.text("overview")
    address = "/tasks/?q=" + quote("priority:>3 -status:dead", safe="").replace("%20", "+")
    assert f"{address}&amp;sort=-priority&amp;cols=status%2Ctask" in html
    assert "Dead mail" in html
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.actor, entry.subject) == ("save search", "vera", "a private search")
    assert "Dead mail" not in str([entry.wanted, entry.before, entry.after, entry.detail])


def test_a_search_of_the_same_name_is_replaced(floor: Floor, viewer: Person) -> None:
    save(viewer)
    save(viewer, query="status:failed")
    assert SavedSearch.objects.get().query == "status:failed"


def test_ones_own_search_is_nobody_elses(floor: Floor, viewer: Person, operator: Person) -> None:
    save(viewer, name="Secret")
    search = SavedSearch.objects.get()
    assert "Secret" not in operator.text("searches")
    operator.post("pin_search", search.id)
    assert not SearchPin.objects.exists()
    assert operator.post("delete_search", search.id).status_code == 404


def test_a_shared_search_is_pinned_by_others_and_deleted_by_its_owner_alone(
    floor: Floor, viewer: Person, operator: Person
) -> None:
    save(operator, name="Night watch", shared="on")
    search = SavedSearch.objects.get()
    viewer.post("pin_search", search.id)
    assert "Night watch" in viewer.text("overview")
    assert viewer.post("delete_search", search.id).status_code == 403
    viewer.post("unpin_search", search.id)
    assert "Night watch" not in viewer.text("overview")
    viewer.post("pin_search", search.id)
    save(operator, name="Night watch")
    assert not SearchPin.objects.exists(), "what is shared no more leaves other people's bars"
    assert "deleted" in message_of(operator.post("delete_search", search.id))
    assert not SavedSearch.objects.exists()


def test_sharing_is_for_operators(floor: Floor, viewer: Person) -> None:
    answer = viewer.post("save_search", name="Mine", q="status:dead", shared="on")
    assert answer.status_code == 403
    assert not SavedSearch.objects.exists()
    assert "Shared with everybody" not in viewer.text("save_search")


def test_an_admin_may_delete_what_somebody_shared(floor: Floor, operator: Person) -> None:
    save(operator, name="Old", shared="on")
    admin = person("ada", "admin")
    admin.post("delete_search", SavedSearch.objects.get().id)
    assert not SavedSearch.objects.exists()


def test_a_wrong_query_or_name_is_not_kept_and_says_why(floor: Floor, viewer: Person) -> None:
    for name, query, words in (
        ("", "status:dead", "name: give 1 to 60"),
        ("Wrong", "status:ded", "There is no status"),
    ):
        answer = viewer.post("save_search", name=name, q=query)
        assert answer.status_code == 422
        assert words in answer.content.decode()
    assert not SavedSearch.objects.exists()
