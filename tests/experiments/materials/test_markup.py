"""Inline markup: allowed tags keep their meaning, and every other sign of a text survives."""

import doctest
import json
from html.parser import HTMLParser

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from experiments.materials import markup
from experiments.materials.checks import check
from experiments.materials.markup import ATTRIBUTES, TAGS, as_html, as_nodes, paragraphs, plain
from experiments.materials.readers.detect import read_materials
from experiments.studies import lifecycle
from tests.cast import begin, draft

SIGNS = st.characters(exclude_categories=("Cs", "Cc"))
TAGGED = """<em> </em> <b < > & &lt; &amp; &eacute; <!-- --> <script> </script> </span> <ruby> <rt> <br>
<img/src=x/onerror=alert(1)> <span/onclick='x()'> <style> <svg><script> <math> </p> javascript:
a ə̃ 👩🏽‍🚀 l'eau س \""""
PIECES = st.sampled_from([*TAGGED.split(), '<span lang="ar" dir="rtl">', "<img src=x onerror=alert(1)>"])
ANYTHING = st.lists(st.one_of(PIECES, st.text(SIGNS, max_size=5)), max_size=12).map("".join)


class Tags(HTMLParser):
    """The tags of a piece of HTML, with their attributes."""

    def __init__(self, html):
        super().__init__()
        self.seen = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, {name for name, _ in attrs}))

    def handle_comment(self, data):
        self.seen.append(("comment", set()))


def words(nodes):
    return "".join(node if isinstance(node, str) else words(node["nodes"]) for node in nodes)


@given(st.text(SIGNS))
def test_a_text_without_tags_comes_back_sign_by_sign(text):
    text = text.replace("&lt;", "").replace("&gt;", "").replace("&amp;", "")
    text = text.replace("<", "< ")  # no tag begins with a space
    assert as_nodes(text) == ([text] if text else [])
    assert plain(text) == text


@given(ANYTHING)
def test_only_the_allowed_tags_and_attributes_survive(text):
    for tag, attributes in Tags(as_html(text)).seen:
        assert tag in TAGS and attributes <= ATTRIBUTES["*"]


@given(st.text(SIGNS, max_size=20).map(lambda text: text.replace("&", "").replace("<", "")))
def test_a_text_inside_a_tag_is_the_same_text(text):
    assert words(as_nodes(f'<em>{text}</em><span lang="de">{text}</span>')) == text * 2


@given(ANYTHING)
def test_reading_twice_is_reading_once(text):
    rewritten = as_html(text).replace("&nbsp;", "\u00a0")
    assert as_nodes(rewritten) == as_nodes(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a < b, x<y and y>z", "a < b, x<y and y>z"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("AT&T &eacute; R&D", "AT&T &eacute; R&D"),
        ("&lt;em&gt; is a tag", "<em> is a tag"),
        ("<em>open", "open"),
    ],
)
def test_what_is_no_allowed_tag_stays_text(text, expected):
    assert words(as_nodes(text)) == expected


def test_the_examples_are_true():
    assert doctest.testmod(markup).failed == 0


def test_a_language_that_is_none_is_left_out():
    assert as_nodes('<span lang="javascript:x" dir="up">a</span>') == [{"tag": "span", "nodes": ["a"]}]


def test_paragraphs_keep_their_line_breaks():
    assert paragraphs("a\r\nb\n \n\n<em>c</em>\n") == ["a<br>b", "<em>c</em>"]


def table(tmp_path, rows):
    path = tmp_path / "sentences.csv"
    path.write_text("sentence_id,sentence,markup\n" + rows, encoding="utf-8")
    return check(read_materials([path]))


def test_an_unknown_markup_value_is_named_with_its_row(tmp_path):
    (error,) = table(tmp_path, "s1,<em>John</em> left.,inline\ns2,Mary left.,html\n").errors
    assert "'html' is unknown; write inline" in error.message and error.row == 3


def test_tags_without_the_column_are_a_note(tmp_path):
    report = table(tmp_path, "s1,<em>John</em> left.,\ns2,a < b.,\n")
    assert report.counts["tags_shown"] == 1 and not report.errors


def test_tags_that_are_nested_too_deep_are_an_error_with_their_row(tmp_path):
    rows = "".join(f"s{n},{'<b>' * n}a,inline\n" for n in (20, 21, 3000))
    errors = table(tmp_path, rows).errors
    assert [(error.code, error.row) for error in errors] == [("markup_deep", 3), ("markup_deep", 4)]


def test_a_context_has_no_markup_however_deep_its_tags_are(tmp_path):
    path, deep = tmp_path / "sentences.csv", "<b>" * 3000
    path.write_text(f"sentence_id,sentence,markup,context\ns1,<b>Yes</b>.,inline,{deep}Really?\n")
    materials = read_materials([path])
    assert not check(materials).errors
    assert materials.sentences["attributes"][0]["context"] == f"{deep}Really?"


@pytest.mark.django_db
def test_a_text_with_deeper_tags_loses_them_and_none_of_its_words():
    """Instructions and feedback are typed in settings, which no import checks."""
    text = "<b>" * 3000 + "a<br>b" + "</b>" * 2999 + "<i>c</i></b>d"
    assert plain(text) == "a bcd" and json.dumps(as_nodes(text)).count("tag") == 22
    study = draft(instructions=text)
    lifecycle.open_study(study, study.owner)
    session = begin(study)
    assert Client().get(f"/api/v1/sessions/{session.token}/plan/").status_code == 200
