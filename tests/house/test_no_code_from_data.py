"""No process of the site makes code or objects of what the record, the broker or a file says."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kombu.exceptions import ContentDisallowed

from controlplane.celery import app
from controlplane.environment import ROOT

CODE = [
    path
    for folder in ("controlplane", "tasks_app")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if "migrations" not in path.parts
]
# What unpickles: the pipes of multiprocessing, between a worker and the children that it starts.
OWN_PIPES = {
    "tasks_app/sdk/children/child.py",
    "tasks_app/sdk/children/child_handle.py",
    "controlplane/stack.py",
}
UNPICKLE = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "multiprocessing"}
EVALUATE = {"eval", "exec", "compile", "__import__"}
TEMPLATES = {"from_string", "Template"}


def imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


def called(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name):
            yield node.func.id
        elif isinstance(node.func, ast.Attribute) and node.func.attr in TEMPLATES:
            yield node.func.attr


@pytest.mark.parametrize("path", CODE, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_is_unpickled_evaluated_or_rendered_from_data(path: Path) -> None:
    tree = ast.parse(path.read_text())
    if str(path.relative_to(ROOT)) not in OWN_PIPES:
        assert UNPICKLE & set(imported(tree)) == set()
    assert (EVALUATE | TEMPLATES) & set(called(tree)) == set()


def test_a_message_of_the_broker_that_is_not_json_is_refused() -> None:
    # It has no types.
    wire: Any = importlib.import_module("kombu.serialization")
    accept = wire.prepare_accept_content(app.conf.accept_content)
    kind, encoding, body = wire.dumps({"a": 1}, serializer="pickle")
    with pytest.raises(ContentDisallowed):
        wire.loads(body, kind, encoding, accept=accept)
    kind, encoding, body = wire.dumps({"a": 1}, serializer="json")
    assert wire.loads(body, kind, encoding, accept=accept) == {"a": 1}
