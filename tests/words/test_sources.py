"""What the sources may not say past a translator, and that the catalogue can hold all they say."""

import ast
import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Final

import pytest
from babel.messages.pofile import read_po

from controlplane.environment import ROOT, languages
from tasks_app.core.words import say, say_count, side_by_side
from tasks_app.translation import translated
from tests.words.catalogue import FILES, marked, of_python, of_script, of_template, written
from tests.words.pseudo import pseudo_language, untranslated

FACES: Final = ("tasks_app/web", "tasks_app/admin", "tasks_app/live", "tasks_app/templatetags")

TELLS: Final = frozenset(
    {"Http404", "NotAllowed", "PermissionDenied", "ValidationError", "message_user", "add_message"}
    | {"debug", "info", "success", "warning", "error"}
)
"""Calls whose texts somebody reads on a page; the last five are those of ``messages``."""

PASSED_ON: Final = {
    "tasks_app/translation.py",  # says what is in a sentence that was marked where it was made
    "tasks_app/admin/people.py",  # the name of a right, which its model marks
}


def modules(*folders: str) -> Iterator[tuple[str, ast.Module]]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text())


def sentence(node: ast.expr) -> bool:
    """Whether it is words as they stand in the source: a text with a space, or an f-string."""
    if isinstance(node, ast.JoinedStr):
        return any(
            isinstance(part, ast.Constant) and " " in str(part.value) for part in node.values
        )
    return isinstance(node, ast.Constant) and bool(re.search(r"[a-z] ", str(node.value)))


def test_no_page_tells_what_no_translator_saw() -> None:
    found = [
        f"{path}:{node.lineno}"
        for path, tree in modules(*FACES)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name | ast.Attribute)
        and (node.func.id if isinstance(node.func, ast.Name) else node.func.attr) in TELLS
        and ast.unparse(node.func).partition(".")[0] not in ("log", "logger", "logging")
        and any(sentence(arg) for arg in node.args)
    ]
    assert not found


def test_what_is_marked_is_a_text_that_the_catalogue_can_hold() -> None:
    """A text made first and marked then is in no catalogue, and an f-string never can be."""
    found = [
        f"{path}:{call.lineno}"
        for path, tree in modules("tasks_app")
        for call, texts in marked(tree)
        if path not in PASSED_ON
        and not all(isinstance(each, ast.Constant) or _handed_on(path, each) for each in texts)
    ]
    assert not found


def _handed_on(path: str, text: ast.expr) -> bool:
    """The short name of one module for sentences with a number."""
    return path == "tasks_app/web/act_words.py" and isinstance(text, ast.Name)


def test_figures_stand_at_named_places() -> None:
    """Only what has a name can stand at another place in another language."""
    for texts in FILES.values():
        for message in texts():
            for text in map(str, message.id if isinstance(message.id, tuple) else [message.id]):
                bare = text.replace("%%", "")
                assert not re.search(r"%(?![(%])", bare) or "%(" not in text, text
                assert not re.search(r"%[-+#0]*[\d.]*[a-zA-Z]|\{\w*\}", bare), text


def test_no_sentence_of_a_template_is_cut_or_counts_by_an_ending() -> None:
    """A text that begins within a sentence cannot be set where another language has it."""
    for path in sorted((ROOT / "templates").rglob("*.html")):
        source = path.read_text()
        assert "pluralize" not in source, f"{path.name}: use count and plural"
        for one, many in of_template(source):
            assert not re.match(r"[,.;:)]", one.strip()), f"{path.name}: {one} {many}"


@pytest.mark.parametrize("path", sorted((ROOT / "static/js").rglob("*.js")), ids=lambda p: p.name)
def test_no_script_says_what_no_translator_saw(path: Path) -> None:
    marked_here = {text for found in of_script(path.read_bytes()) for text in found}
    source = re.sub(r"(?m)^\s*//.*$|\s//\s.*$", "", path.read_text())
    for token in re.finditer(r""" "([^"\n]*)"|`([^`]*)`""", source, re.VERBOSE):
        text = re.sub(r"\$\{[^}]*\}", "", token[1] or token[2] or "")
        technical = text == "use strict" or re.search(r"[\[\]#>{}=]|\d+px", text)
        if re.search(r"[A-Za-z]{2,} [A-Za-z]", text) and not technical:
            assert text in marked_here, text


@pytest.mark.parametrize("name", FILES)
def test_the_catalogue_can_be_written_and_read_again(name: str) -> None:
    """``make words`` writes it for translators; it is built, not kept under version control."""
    texts = FILES[name]()
    again = read_po(BytesIO(written(texts)))
    assert len(again) == len(texts) > 10
    assert {message.id for message in again} == {message.id for message in texts}


def test_a_sentence_is_english_until_somebody_translates_it() -> None:
    said = say("%(kind)s waits for %(what)s.", kind="mail", what=say("a person"))
    both = side_by_side(said, say_count("%(count)s task", "%(count)s tasks", 2000), between="; ")
    assert both == f"{both}" == str(ValueError(both)) == "mail waits for a person.; 2,000 tasks"
    with pseudo_language():
        assert translated(both) == "⟦mail waits for ⟦a person⟧.⟧; ⟦2,000 tasks⟧"
        assert translated("mail") == "mail"
        assert translated(str(ValueError(said))) == "⟦mail waits for ⟦a person⟧.⟧"


def test_a_percent_sign_and_a_stranger_s_places_stay_text() -> None:
    assert say("%(share)s %% of %(what)s", share=5, what="%(share)s") == "5 % of %(share)s"


def test_what_is_outside_of_the_marks_is_found() -> None:
    data = re.compile("zz")
    exempt = {"elements": {"code"}, "classes": {"st"}}
    for bad in (
        "<p>words</p>",
        "<p>⟦words⟧ more</p>",
        '<p title="words">⟦x⟧</p>',
        '<input type="submit" value="words">',
        "<p>⟦words</p>",
        '<td data-label="words">1</td>',
    ):
        assert untranslated(bad, data, **exempt), bad
    good = '<p title="⟦a⟧">⟦A <code>b</code> c⟧ zz 5</p><code>d</code><b class="st">e</b>'
    assert not untranslated(good, data, **exempt)


def test_a_text_is_found_wherever_it_stands() -> None:
    assert list(of_python('say("a" "b", x=f"{1}"); ngettext("c", "d", 2)')) == [
        ("ab", ""),
        ("c", "d"),
    ]
    template = '{% load i18n %}{% translate "a" %}{{ x|default:_("b") }}'
    template += (
        "{% blocktranslate count n=n %}{{ n }} c{% plural %}{{ n }} d{% endblocktranslate %}"
    )
    assert list(of_template(template)) == [("a", ""), ("b", ""), ("%(n)s c", "%(n)s d")]
    assert list(of_script(b'gettext("a"); ngettext("b", "c", 2)')) == [("a", ""), ("b", "c")]


def test_a_language_is_offered_once_its_catalogue_is_compiled(tmp_path: Path) -> None:
    for name in ("en/django.po", "de/django.mo", "pt_BR/django.mo"):
        folder, _, file = name.partition("/")
        (tmp_path / folder / "LC_MESSAGES").mkdir(parents=True)
        (tmp_path / folder / "LC_MESSAGES" / file).touch()
    assert languages(tmp_path) == ["de", "pt-br"]
