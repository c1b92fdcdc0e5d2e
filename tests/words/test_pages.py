"""Every page in a language that marks what it translates: outside of the marks is only data."""

import itertools
import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any, Final

import pytest
from django.contrib.auth.models import Group, User
from django.forms import FloatField, IntegerField
from django.template.loader import render_to_string
from django.test import Client

from tasks_app.core.actions.bulks import BulkState
from tasks_app.core.alerts.notification import AlertName, ChannelKind
from tasks_app.core.facts import Breaker, Left, Load, Order, StrategyName
from tasks_app.core.jobs.job_states import JobStatus
from tasks_app.core.people.scopes import Scope
from tasks_app.core.states import DeadReason, EdgeState, OnDead, Outcome, Status, WorkerState
from tasks_app.models import ApiToken, AuditEntry
from tasks_app.web.task_address import COLUMNS
from tests.access.routes import PAGES
from tests.access.test_walls import ADMIN_ROUTES, filled
from tests.words.pseudo import pseudo_language, untranslated
from tests.words.scene import Scene

ELEMENTS: Final = {
    "code",  # names that are typed as they stand: kinds, queries, commands, settings
    "kbd",  # keys
    "pre",  # JSON and tracebacks
    "textarea",  # what somebody typed
    "time",  # instants and ages
}
CLASSES: Final = {
    "readonly",  # in the admin: a stored value as it is
    "field-action",  # in the admin: what the audit wrote down
    "field-subject",
    "k",  # a key of some JSON
    "v",  # a value of some JSON
    "recorded",  # what a handler, a person or the product wrote down once, this one in English
    "st",  # the words of the query language, of the API and of the audit: status:dead
}

ENUMS: Final[tuple[type[StrEnum], ...]] = (
    Status,
    JobStatus,
    WorkerState,
    BulkState,
    Outcome,
    DeadReason,
    EdgeState,
    OnDead,
    Breaker,
    Order,
    Load,
    AlertName,
    ChannelKind,
    Left,
    StrategyName,
    Scope,
)
"""Their words are typed into searches, files and programs as they are shown."""

WORDS: Final = "|".join(
    sorted({m.value.replace("_", "[ _]") for each in ENUMS for m in each}, key=len, reverse=True)
)
DATA: Final = re.compile(
    "|".join(
        [
            r"(?i:zz[\w./@-]*)",  # all that the scene names, and what a user typed
            r"[0-9a-f]{8}-[0-9a-f-]{27}",  # ids
            r"\b[0-9a-f]{12,64}\b",  # fingerprints, prefixes of tokens and digests
            r"\b[\d,.]+ ?(?:µs|ms|s|min|h|d|KiB|kB|MB|GB)\b",  # figures with the symbol of a unit
            r"\b(?:CSV|JSON|UTC|T/D|D)\b",  # the names of formats, of a clock, of two figures
            r"\b(?:viewer|operator|admin)\b",  # roles: the names of groups
            r"\bChargehand\b",
            rf"(?i:\b(?:{WORDS})\b)",
            r"\b(?:[A-Z][a-z]+){2,}\b",  # classes of errors
            r"\b(?:join|undo)\b",  # a kind and keys of the supervisor's own
        ]
    )
)


QUERIES: Final = (
    *("", "zz", "status:", "status:zz", "age:", "age:>zz", "age:5", "(", "()", '"zz', "OR", "-"),
    *("zzfield:1", "kind.zz:1", "kind:zzjob payload.zz:1", "payload.zz:1", "payload:>1", "key:"),
    *("reason:zz", "worker:>zz", "payload..zz:1", "cause:zz", "(" * 40, "zz" * 600),
)
"""Right ones, and wrong ones of every sort."""


@pytest.fixture
def boss(record: None) -> User:
    user = User.objects.create_superuser("zzboss", "zz@example.org", "made-up-for-tests")
    user.groups.add(Group.objects.get_or_create(name="admin")[0])
    return user


@pytest.fixture
def scene(boss: User) -> Scene:
    scene = Scene()
    scene.fill(boss)
    return scene


def client_of(user: User | None) -> Client:
    client = Client()
    if user is not None:
        client.force_login(user)
    return client


def fails(answer: Any, where: str, data: "re.Pattern[str]" = DATA) -> list[str]:
    """What the page says outside of the marks, each with where it stands."""
    if "html" not in answer.headers.get("Content-Type", "") or answer.streaming:
        return []
    found = untranslated(answer.content.decode(), data, elements=ELEMENTS, classes=CLASSES)
    return [f"{where}: {each}" for each in dict.fromkeys(found)]


def addresses(scene: Scene) -> Iterator[str]:
    """Every page of the table with every thing of the scene, and what their parts ask for."""
    by_name: dict[str, Sequence[object]] = {
        "task_id": scene.tasks + scene.for_people,
        "job_id": scene.jobs,
        "bulk_id": scene.bulk_ids,
        "worker_id": list(scene.workers.values()),
        "fingerprint": [scene.task(task).fingerprint for task in scene.tasks[1:4]],
        "action": ["requeue", "dismiss", "cancel", "priority", "deadline", "zz"],
        "number": [*AuditEntry.objects.values_list("id", flat=True), 999999],
        "search_id": [scene.search],
        "part": ["payload"],
        "uidb64": ["zz"],
        "token": ["zz"],
    }
    ids = "&".join(f"id={task}" for task in scene.tasks)
    for route, rule in PAGES.items():
        if rule.get is None:
            continue
        filled_in = ["/" + route]
        for name in re.findall(r"<(?:\w+:)?(\w+)>", route):
            filled_in = [
                re.sub(rf"<(\w+:)?{name}>", str(value), each, count=1)
                for each in filled_in
                for value in by_name[name]
            ]
        for each in filled_in:
            yield each
            if "action" in route or route in ("dead-letters/requeue/", "dead-letters/dismiss/"):
                yield f"{each}?{ids}"
                yield f"{each}?id={scene.tasks[2]}"
                yield f"{each}?all=1&q=status%3Apending"
                yield f"{each}?all=1&q=status%3Azz"
    columns = ",".join(COLUMNS)
    for query in QUERIES:
        for sort in ("age", "-age", "priority"):
            yield f"/tasks/?q={query}&sort={sort}&cols={columns}"
        yield f"/tasks/complete/?q={query}&at={len(query)}"
    yield from ("/jobs/?text=zz", "/audit/?text=zznone", "/inbox/?after=zz")
    yield "/kinds/switch/?kind=zzlimited"
    yield f"/acts/{scene.bulk_ids[0]}/?refused"


def test_every_page_is_said_in_the_readers_language(scene: Scene, boss: User) -> None:
    client, found = client_of(boss), []
    with pseudo_language():
        for address in addresses(scene):
            found += fails(client.get(address), address)
            found += fails(client.get(address, headers={"HX-Request": "true"}), f"{address} (part)")
    assert not found, "\n".join(dict.fromkeys(found))


def test_an_empty_floor_is_said_in_the_readers_language(boss: User) -> None:
    client, found = client_of(boss), []
    with pseudo_language():
        for route, rule in PAGES.items():
            if rule.get is not None and "<" not in route:
                found += fails(client.get(f"/{route}"), route)
    assert not found, "\n".join(dict.fromkeys(found))


def test_strangers_and_viewers_are_answered_in_their_language(scene: Scene) -> None:
    viewer, found = User.objects.create_user("zzvera"), []
    with pseudo_language():
        for user in (None, viewer):
            client = client_of(user)
            for address in addresses(scene):
                found += fails(client.get(address), f"{user}: {address}")
        client = client_of(None)
        for _ in range(9):
            answer = client.post("/login/", {"username": "zzvera", "password": "zz"})
            found += fails(answer, "log-in")
        found += fails(client.post("/password/reset/", {"email": "zz"}), "reset")
        found += fails(Client(enforce_csrf_checks=True).post("/login/"), "forged")
    assert not found, "\n".join(dict.fromkeys(found))


Sent = Iterator[tuple[str, dict[str, Any]]]


def test_mail_is_written_in_the_language_of_who_asked(boss: User) -> None:
    known = {"user": boss, "protocol": "https", "domain": "zz", "uid": "zz", "token": "zz"}
    with pseudo_language():
        mail = render_to_string("account/reset_mail.txt", known)
        said = [line for line in mail.splitlines() if line and not line.startswith("https://zz")]
        subject = render_to_string("account/reset_subject.txt").strip()
    assert len(said) == 3
    for line in (subject, *said):
        assert (line[0], line[-1]) == ("⟦", "⟧")


def acts(scene: Scene) -> Sent:
    """Forms that are sent, right and wrong ones, each twice where the second finds it done."""
    yield "/account/log-out-elsewhere/", {}
    yield "/account/password/", {"old_password": "zz", "new_password1": "zz", "new_password2": "z"}
    yield from on_kinds_and_workers(scene)
    for payload in ("{", '{"zz": NaN}', "[]", '{"zz": 1}', '{"zz": 2}'):
        sent = {"payload": payload, "requeues": "0", "because": "zz"}
        yield f"/tasks/{scene.tasks[2]}/edit/", sent
    yield from on_tasks(scene)
    for name, colleague in itertools.product(("assign", "note"), ("zznobody", "zzboss", "")):
        group = scene.task(scene.tasks[1]).fingerprint
        yield f"/dead-letters/{group}/{name}/", {"colleague": colleague, "note": "zz"}
    yield from on_steps(scene)
    names = ("pause", "pause", "resume", "resume", "compensate", "cancel")
    for name, because in itertools.product(names, ("", "zz")):
        yield f"/jobs/{scene.jobs[0]}/{name}/", {"because": because}
    for name, query in (("", "zz"), ("zz", "status:zz"), ("zzkept", "zz"), ("zzkept", "zz")):
        yield "/tasks/searches/save/", {"name": name, "q": query, "shared": "on", "pinned": "on"}
    for name in ("unpin", "pin", "delete", "delete"):
        yield f"/tasks/searches/{scene.search}/{name}/", {}


def on_kinds_and_workers(scene: Scene) -> Sent:
    for name in ("pause", "pause", "resume", "resume", "free", "free"):
        yield f"/kinds/{name}/", {"kind": "zzill", "reason": "zz"}
    yield from [("/kinds/switch/", {"kind": "zzlimited"})] * 2
    worker = scene.workers["zzidle1"]
    for name in ("drain", "drain", "resume", "resume"):
        yield f"/workers/{worker}/{name}/", {}
    for because in ("", "zz", "zz"):
        yield f"/workers/{worker}/evict/", {"because": because}


def on_tasks(scene: Scene) -> Sent:
    nothing: dict[str, Any] = {}
    enough = {"because": "zz", "priority": "1", "deadline": "2130-01-01T00:00"}
    wrong = {"priority": "zz", "deadline": "zz"}
    for action in ("requeue", "dismiss", "cancel", "priority", "deadline"):
        chosen = ([scene.tasks[0]], [scene.tasks[3]], scene.tasks, [scene.jobs[0]])
        for ids, more in itertools.product(chosen, (nothing, enough, wrong)):
            yield f"/acts/{action}/", {"id": ids, **more}
    yield f"/tasks/{scene.tasks[5]}/cancel/", {"because": "zz"}
    for bulk, name in itertools.product(scene.bulk_ids, ("undo", "abort", "abort")):
        yield f"/acts/{bulk}/{name}/", {}


def on_steps(scene: Scene) -> Sent:
    typed = {"field.zztree": "{", "field.zzhow": "zz", "field.zzwhy": "z"}
    for step in scene.for_people:
        for name in ("claim", "claim", "extend"):
            yield f"/inbox/{step}/{name}/", {"token": "0"}
        token = {"token": scene.token_of(step)}
        yield f"/inbox/{step}/complete/", token
        yield f"/inbox/{step}/complete/", {**token, **typed}
        yield f"/inbox/{step}/extend/", token
        yield f"/inbox/{step}/release/", token


def test_what_an_act_answers_is_said_in_the_readers_language(scene: Scene, boss: User) -> None:
    client, found = client_of(boss), []
    with pseudo_language():
        for address, sent in acts(scene):
            found += fails(client.post(address, sent, follow=True), f"{address} {sent}")
    assert not found, "\n".join(dict.fromkeys(found))


def test_the_admin_is_said_in_the_readers_language(scene: Scene, boss: User) -> None:
    client, found = client_of(boss), []
    worker = scene.workers["zzw1"]
    # What the audit wrote down may be filtered by; the rest is Django's and another package's.
    recorded = AuditEntry.objects.values_list("action", flat=True).distinct()
    others = [r"Axes", r"Search", r"True", r"False", r"<unknown>", *map(re.escape, recorded)]
    data = re.compile(f"{DATA.pattern}|{'|'.join(others)}")
    forms = ["kind/zzjob", "limit/zzlimit", "supervisorsettings/1", "alertsettings/1"]
    forms += ["retentionsettings/1", f"apitoken/{ApiToken.objects.get().pk}"]
    forms += [f"auditentry/{AuditEntry.objects.earliest('id').pk}"]
    with pseudo_language():
        for route in ADMIN_ROUTES:
            if not route.startswith("admin/jsi18n"):
                address = filled(route, scene.tasks[0], worker)
                found += fails(client.get(address), address, data)
        for form in forms:
            for page in ("change", "history", "delete"):
                address = f"/admin/tasks_app/{form}/{page}/"
                found += fails(client.get(address), address, data)
            wrong = {"_preview": "1", "name": "", "max_attempts": "zz", "payload_schema": "{"}
            address = f"/admin/tasks_app/{form}/change/"
            found += fails(client.post(address, wrong), f"{address} wrong", data)
            found += previews(client, address, data)
        saved = AuditEntry.objects.filter(action__in=("change kind", "change limit"))
        assert len(saved) == 2
        for act in saved:
            address = f"/admin/tasks_app/{act.action.split()[1]}/revert/{act.pk}/"
            found += fails(client.get(address), address, data)
            found += fails(client.post(address, follow=True), f"{address} done", data)
            found += fails(client.post(address, follow=True), f"{address} done again", data)
    assert not found, "\n".join(dict.fromkeys(found))


def previews(client: Client, address: str, data: "re.Pattern[str]") -> Iterator[str]:
    """The form with every number changed, up and down, and looked at before it is saved."""
    page = client.get(address)
    if page.status_code != 200 or "adminform" not in page.context:
        return
    form = page.context["adminform"].form
    for by in (0.4, 3, None, 2):
        sent = {"_preview": "1"}
        for name, field in form.fields.items():
            value = field.prepare_value(form.get_initial_for_field(field, name))
            if value is None and isinstance(field, IntegerField | FloatField):
                value = 1
            if isinstance(value, int | float) and not isinstance(value, bool):
                least = 1 if isinstance(value, int) else 0.0
                changed = max(least, type(value)(value * (by or 1)))
                value = "" if by is None and not field.required else changed
            sent[name] = "" if value is None else value
        yield from fails(client.post(address, sent), f"{address} times {by}", data)
    del sent["_preview"]
    yield from fails(client.post(address, sent, follow=True), f"{address} saved", data)
