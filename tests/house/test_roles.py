"""Every act asks for a role, where it is done and not only where it is shown."""

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import pytest

from controlplane.environment import ROOT
from tasks_app import services
from tasks_app.services.people.people import NEEDED, Actor, NotAllowed, Role, needs


def acts() -> Iterator[str]:
    for found in pkgutil.walk_packages(services.__path__, f"{services.__name__}."):
        if found.name.endswith(".auditing"):  # records an action whose role was asked already
            continue
        module = importlib.import_module(found.name)
        for name, function in inspect.getmembers(module, inspect.isfunction):
            inner = inspect.unwrap(function)
            if inner.__module__ != module.__name__ or name.startswith("_"):
                continue
            if "actor" in inspect.signature(inner).parameters:
                yield f"{module.__name__}.{name}"


def test_each_service_that_takes_an_actor_needs_a_role() -> None:
    """Put ``@needs(Role.OPERATOR)`` above ``@transactional``."""
    found = set(acts())
    assert len(found) > 5
    assert found - set(NEEDED) == set()


def test_whoever_makes_an_actor_says_its_role() -> None:
    """``Actor`` has a default for tests only; web, API and command line have a function each."""
    silent = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted((ROOT / "tasks_app").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "Actor"
        and len(node.args) < 4
        and not any(keyword.arg == "role" for keyword in node.keywords)
    ]
    assert not silent


@pytest.mark.parametrize("given", [Role.NOBODY, Role.VIEWER, Role.OPERATOR])
def test_an_act_below_its_role_is_refused_before_it_begins(given: Role) -> None:
    done: list[str] = []

    @needs(Role.ADMIN)
    def change(what: str, actor: Actor) -> None:
        done.append(what)

    with pytest.raises(NotAllowed, match="needs the role admin; vera has"):
        change("all", Actor("vera", role=given))
    with pytest.raises(NotAllowed):
        change("all", actor=Actor("vera", role=given))
    change("all", actor=Actor("ada", role=Role.ADMIN))
    assert done == ["all"]
