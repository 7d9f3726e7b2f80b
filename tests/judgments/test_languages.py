"""Thirteen languages for participants: every text of ours is translated, every sentence stays as it is."""

import ast
import gettext
import re
from functools import cache
from html import unescape
from pathlib import Path

import pytest
from django.template import engines
from django.template.base import Template
from django.templatetags.i18n import BlockTranslateNode
from django.templatetags.i18n import TranslateNode as Translate

from experiments.pages.forms import NewStudyForm
from experiments.studies.languages import NAMES, default_texts, interface_language, interface_translation
from experiments.studies.lifecycle import freeze
from experiments.tasks.registry import tasks
from judgments.models import Trial
from tests.cast import ada, begin, draft, material_set, study
from tests.judgments.screens.walk import action, choices, consent, onward

PACKAGE = Path(__file__).resolve().parents[2] / "judgments"
TASKS = PACKAGE.parent / "experiments" / "tasks"
STUDIES = PACKAGE.parent / "experiments" / "studies"
CATALOGUES = sorted(PACKAGE.glob("locale/*/LC_MESSAGES/django.mo"))
MARKS = {"_", "gettext", "gettext_lazy", "BadResponse"}
PLACEHOLDER = re.compile(r"%(?:\(\w+\)[sd]|%)")
LITERAL = re.compile(r'_\("((?:[^"\\]|\\.)*)"\)')


@cache
def in_templates() -> set[str]:
    """Texts that templates ask to be translated."""
    texts: set[str] = set()
    for path in PACKAGE.rglob("*.html"):
        source = path.read_text(encoding="utf-8")
        nodes = Template(source, engine=engines["django"].engine).nodelist
        texts |= {node.filter_expression.var.literal for node in nodes.get_nodes_by_type(Translate)}
        for node in nodes.get_nodes_by_type(BlockTranslateNode):
            texts.add(node.render_token_list(node.singular)[0])
        texts |= set(LITERAL.findall(source))
    return texts


@cache
def in_code() -> set[str]:
    """Texts that code asks to be translated, and those of tasks."""
    texts: set[str] = set()
    for path in [*PACKAGE.rglob("*.py"), *TASKS.glob("*.py"), *STUDIES.glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            place = {"Parameter": 1, "Message": 1}.get(node.func.id, 0 if node.func.id in MARKS else None)
            words = node.args[place : place + 1] if place is not None else []
            texts |= {word.value for word in words if isinstance(word, ast.Constant) and word.value}
            assert not any(isinstance(word, ast.JoinedStr) for word in words), f"{path.name}: no f-string"
    return {words for words in texts if isinstance(words, str)}


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parts[-3])
def test_every_participant_text_is_translated_with_its_placeholders(path):
    with path.open("rb") as file:
        catalogue = gettext.GNUTranslations(file)._catalog
    catalogued = {key[0] if isinstance(key, tuple) else key for key in catalogue}
    missing = (in_templates() | in_code()) - catalogued
    assert missing == set(), "run `python -m tools.messages` and translate"
    for key, translation in catalogue.items():
        words = key[0] if isinstance(key, tuple) else key
        assert translation.strip(), words
        if words:
            assert sorted(PLACEHOLDER.findall(translation)) == sorted(PLACEHOLDER.findall(words)), translation


def test_every_language_has_a_catalogue_but_english():
    folders = {path.parts[-3].replace("_", "-").lower() for path in CATALOGUES}
    assert folders == set(NAMES) - {"en"}


@pytest.mark.parametrize(
    ("tag", "leads_to"),
    [
        ("de", "de"),
        ("de-AT", "de"),
        ("pt_BR", "pt"),
        ("zh", "zh-hans"),
        ("zh-Hans", "zh-hans"),
        ("zh-CN", "zh-hans"),
        ("zh-Hant", "en"),
        ("zh-TW", "en"),
        ("ar-EG", "ar"),
        ("fi", "en"),
        ("EN-gb", "en"),
    ],
)
def test_a_tag_selects_the_nearest_supported_language(tag, leads_to):
    assert interface_language(tag) == leads_to


@pytest.mark.django_db
@pytest.mark.parametrize("tag", [tag for tag in NAMES if tag != "en"])
def test_pages_speak_the_language_of_the_study(client, tag):
    materials = material_set("agreement", language=tag)
    study(task="likert", language=tag, materials=materials, instructions="…", n_lists=1)
    pages = [client.get("/take/agreement/").content.decode()]
    session = consent(client, "/take/agreement/")
    pages.append(client.get(session).content.decode())
    onward(client, session)
    pages.append(client.get(session).content.decode())
    refused = client.post(action(pages[-1]), {"response": "8"})
    pages.append(refused.content.decode())
    direction = "rtl" if tag == "ar" else "ltr"
    with interface_translation(tag):
        usual = default_texts(tasks()["likert"], tag)
    for html in pages:
        assert f'<html lang="{tag}" dir="{direction}"' in html
        assert not re.search(r"\b(Stop and leave|I agree|Instructions|Next|Please)\b", html)
    assert usual["question"] in unescape(pages[2]) and usual["high_label"] in unescape(pages[2])
    assert refused.status_code == 422


@pytest.mark.django_db
def test_texts_of_a_study_are_kept_and_default_texts_are_frozen_in_its_language():
    experiment = draft(task="likert", language="de", parameters={"low_label": "schräg"})
    words = freeze(experiment).snapshot["parameters"]
    assert words["low_label"] == "schräg"
    assert words["question"] == "Wie natürlich klingt dieser Satz für Sie?"
    english = draft("english", task="likert", parameters={"points": 5})
    assert freeze(english).snapshot["parameters"] == {"points": 5}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("typed", "tag"), [("German", "de"), ("日本語", "ja"), ("chinese, simplified", "zh-Hans"), ("fi", "fi")]
)
def test_a_language_may_be_called_by_its_name(typed, tag):
    form = NewStudyForm({"title": "A", "task": "likert", "language": typed}, user=ada())
    assert form.is_valid(), form.errors
    assert form.cleaned_data["language"] == tag
    assert '<option value="ar">Arabic (العربية)</option>' in str(form["language"])


SENTENCES = {
    "IPA": "[ˈt͡ʃɪɫ.dɹən̩] ɢ‿ʼ ə̃",
    "combining marks, as they were typed": "Cafe\u0301 nai\u0308ve Å \u212b ạ\u0302",
    "emoji": "👩🏽‍🚀 said 🏳️‍🌈, didn't she? ☝🏻",
    "quotes": "“She's” said ‘he’s’ — \"it's\" 'quoted' «là» `x`",
    "apostrophes": "The dog's, dogs', don’t, ʻokina, l'eau",
    "markup signs": "a < b & c > d &amp; <b>bold</b> {{ x }} {% y %} %(n)s 5 %",
    "right to left": "ذهبت الطالبةُ إلى المكتبةِ أمسِ، أليس كذلك؟",
    "both directions": "הוא אמר \u2067hello\u2069 123",
    "spaces": "  two  spaces\u00a0and\u2009thin ",
    "joiners": "می‌خواهم क्‍ष",
    "beyond the first plane": "𐤀𐤁 𝒳 𠮷野家",
}


@pytest.mark.django_db
@pytest.mark.parametrize("text", SENTENCES.values(), ids=SENTENCES.keys())
def test_a_sentence_is_shown_exactly_as_it_is_stored(client, text):
    materials = material_set(n_items=1)
    pair = materials.pairs.get()
    pair.good.text, pair.good.language = text, "ar"
    pair.good.save()
    experiment = study(materials=materials, language="de", instructions="Lesen.", n_lists=1)
    session = consent(client, "/take/agreement/")
    onward(client, session)
    html = client.get(session).content.decode()
    sentence = re.search(
        r'<span class="sentence" lang="ar" dir="rtl" translate="no">(.*?)</span>', html, re.S
    )
    assert unescape(sentence[1]) == text
    assert len(choices(html)) == 2
    plan = client.get(f"/api/v1/sessions/{session.strip('/').split('/')[-1]}/plan/")
    texts = [option for trial in plan.json()["trials"] for option in trial["options"]]
    assert {"text": text, "language": "ar", "direction": "rtl"}.items() <= next(
        option.items() for option in texts if option["language"] == "ar"
    )
    begin(experiment, "quentin")
    assert all(text in [option["text"] for option in trial.shown["options"]] for trial in Trial.objects.all())


def test_catalogues_name_files_of_the_project_only():
    catalogues = sorted((PACKAGE / "locale").glob("*/LC_MESSAGES/django.po"))
    lines = [line for path in catalogues for line in path.read_text().splitlines() if line.startswith("#: ")]
    assert catalogues and [line for line in lines if " /" in line] == []
