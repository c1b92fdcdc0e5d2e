"""The two handlers, called as their worker calls them."""

import dataclasses
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from controlplane.environment import ROOT
from examples.ticket_triage import handlers
from examples.ticket_triage.classifier import Classifier
from examples.ticket_triage.outbox import read
from examples.ticket_triage.replies import FLAGGED, TEMPLATES, compose
from examples.ticket_triage.settings import OWN_HISTORY, OWN_TICKETS, TriageSettings
from examples.ticket_triage.tickets import TicketsError, read_tickets
from tasks_app.sdk.context import Cancelled, Context
from tasks_app.sdk.handlers import PermanentError, load_handlers

pytest.importorskip("sklearn", reason="scikit-learn is not installed; `make test` installs it")

SURE = {"label": "refund_status", "confidence": 0.9, "flagged": False}
TICKET = {"ticket": "T-1", "text": "Where is my refund?"}


def context(
    kind: str, *, attempt: int = 1, task_id: UUID | None = None, **inputs: Mapping[str, Any]
) -> Context:
    return Context(task_id or uuid4(), kind=kind, attempt=attempt, inputs=inputs)


def test_a_worker_finds_both_kinds_in_the_module() -> None:
    assert set(load_handlers([handlers.__name__])) == {"classify_ticket", "draft_reply"}


def test_a_ticket_is_classified_with_its_confidence(triage: TriageSettings) -> None:
    found = handlers.Desk(triage).classify(TICKET, context("classify_ticket"))
    assert found["label"] == "refund_status"
    assert 0.5 < found["confidence"] <= 1
    assert found["flagged"] is False


def test_a_text_about_nothing_in_particular_is_flagged(triage: TriageSettings) -> None:
    payload = {"ticket": "T-2", "text": "Good morning!"}
    found = handlers.Desk(triage).classify(payload, context("classify_ticket"))
    assert found["flagged"] is True
    assert found["confidence"] < 0.5


def test_the_own_tickets_are_recognised_by_several_threads_at_once(triage: TriageSettings) -> None:
    tickets = [ticket for ticket in read_tickets(OWN_TICKETS) if ticket.text]
    triage.folder.mkdir()
    classifier = Classifier(triage.history, triage.folder)
    with ThreadPoolExecutor(8) as pool:
        verdicts = list(pool.map(lambda ticket: classifier.classify(ticket.text), tickets))
    right = sum(v.label == t.label for v, t in zip(verdicts, tickets, strict=True))
    assert right / len(tickets) >= 0.8


def test_processes_that_start_at_once_train_one_model(triage: TriageSettings) -> None:
    code = (
        "import logging, sys; from pathlib import Path\n"
        "from examples.ticket_triage.classifier import Classifier\n"
        "logging.basicConfig(level=logging.INFO)\n"
        "print(Classifier(Path(sys.argv[1]), Path(sys.argv[2])).classify('Where is my refund?'))"
    )
    triage.folder.mkdir()
    command = [sys.executable, "-c", code, str(OWN_HISTORY), str(triage.folder)]
    processes = [
        subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    said = [process.communicate(timeout=60) for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert len({out for out, _ in said}) == 1, "all of them answer alike"
    assert sum("trained a classifier" in err for _, err in said) == 1
    assert len(list(triage.folder.glob("model-*"))) == 1


def test_another_history_is_another_model(
    triage: TriageSettings, csv_of: Callable[..., Path]
) -> None:
    triage.folder.mkdir()
    Classifier(triage.history, triage.folder).classify("any")
    other = csv_of("text,category", "red apple,fruit", "green apple,fruit", "old car,car")
    assert Classifier(other, triage.folder).classify("apple").label == "fruit"
    assert len(list(triage.folder.glob("model-*"))) == 2


def test_a_history_with_one_label_is_refused(
    triage: TriageSettings, csv_of: Callable[..., Path]
) -> None:
    triage.folder.mkdir()
    only = csv_of("text,category", "a b,one", "c d,one")
    with pytest.raises(TicketsError, match="two labels"):
        Classifier(only, triage.folder).classify("any")


@pytest.mark.parametrize(
    "payload",
    [{}, {"text": ""}, {"text": " \n"}, {"text": 7}, {"text": None}, [], "text", None],
    ids=repr,
)
def test_a_malformed_ticket_is_a_permanent_error_at_the_first_attempt(
    triage: TriageSettings, payload: Any
) -> None:
    desk = handlers.Desk(dataclasses.replace(triage, transient_share=1.0))
    with pytest.raises(PermanentError):
        desk.classify(payload, context("classify_ticket"))


def test_some_first_attempts_fail_for_now_and_always_the_same(triage: TriageSettings) -> None:
    desk = handlers.Desk(dataclasses.replace(triage, transient_share=0.05))

    def failing(attempt: int) -> set[int]:
        failed = set()
        for number in range(1000):
            ctx = context("draft_reply", attempt=attempt, classify_ticket=SURE)
            try:
                desk.draft({"ticket": str(number), "text": "any"}, ctx)
            except TimeoutError:
                failed.add(number)
        return failed

    first = failing(1)
    assert 30 < len(first) < 70
    assert failing(1) == first
    assert failing(2) == set()


def test_a_reply_repeated_under_its_key_is_sent_once_and_twice_without(
    triage: TriageSettings,
) -> None:
    task_id = uuid4()
    results = []
    for attempt in (1, 2):
        # A new desk each time: the second attempt is another process's.
        ctx = context("draft_reply", attempt=attempt, task_id=task_id, classify_ticket=SURE)
        results.append(handlers.Desk(triage).draft(TICKET, ctx))
    assert [result["sent"] for result in results] == [True, False]
    assert [entry["key"] for entry in read(triage.outbox)] == [str(task_id)]
    assert [entry["key"] for entry in read(triage.outbox_without_key)] == [str(task_id)] * 2
    assert [entry["attempt"] for entry in read(triage.executions)] == [1, 2]


def test_a_worker_that_stops_while_it_waits_has_sent_the_reply(triage: TriageSettings) -> None:
    desk = handlers.Desk(dataclasses.replace(triage, latency=(60.0, 60.0)))
    ctx = context("draft_reply", classify_ticket=SURE)
    threading.Timer(0.2, ctx.cancel).start()
    with pytest.raises(Cancelled):
        desk.draft(TICKET, ctx)
    assert Counter(entry["key"] for entry in read(triage.outbox)) == {ctx.key: 1}


def test_a_reply_follows_the_label_and_a_flagged_one_is_left_to_a_person() -> None:
    assert TEMPLATES["refund_status"] in compose("T-1", SURE)
    assert "card arrival" in compose("T-1", {**SURE, "label": "card_arrival"})
    assert FLAGGED in compose("T-1", {**SURE, "flagged": True})


def test_each_label_of_the_own_history_has_a_reply() -> None:
    assert {ticket.label for ticket in read_tickets(OWN_HISTORY)} == set(TEMPLATES)
