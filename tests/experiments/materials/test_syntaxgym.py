"""Suites of SyntaxGym: by command and page, with pairs of the predictions and bad suites named."""

import copy
import json
from io import StringIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command

from experiments.models import MaterialSet

pytestmark = pytest.mark.django_db


def condition(name, *regions):
    return {
        "condition_name": name,
        "regions": [{"region_number": n, "content": text} for n, text in enumerate(regions, start=1)],
    }


SUITE = {
    "meta": {"name": "number_prep", "metric": "sum", "author": "", "reference": "", "comment": ""},
    "region_meta": {"1": "subject", "2": "modifier", "3": "verb", "4": "end"},
    "predictions": [
        {"type": "formula", "formula": "((3;%match%) < (3;%mismatch%))"},
        {"type": "formula", "formula": "(3;%match%) - (4;%match%) < (3;%mismatch%) - (4;%mismatch%)"},
    ],
    "items": [
        {
            "item_number": number,
            "conditions": [
                condition("match", f"The {noun}s", "near the door", "are", "red", "."),
                condition("mismatch", f"The {noun}s", "near the door", "is", "red", "."),
            ],
        }
        for number, noun in ((1, "key"), (2, "cup"))
    ],
}


@pytest.fixture(autouse=True)
def media(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def suite(tmp_path):
    def write(document):
        path = tmp_path / "number_prep.json"
        path.write_text(json.dumps(document))
        return path

    return write


def imported(path, format="auto"):
    out = StringIO()
    call_command("import_materials", path, name="Suite", language="en", format=format, json=True, stdout=out)
    return json.loads(out.getvalue())


def pairs_of(materials):
    return {(pair.good.text, pair.bad.text) for pair in materials.pairs.select_related("good", "bad")}


EXPECTED = {
    (f"The {noun}s near the door are red.", f"The {noun}s near the door is red.") for noun in ("key", "cup")
}


def test_a_suite_is_recognized_and_its_comparisons_become_pairs(suite):
    report = imported(suite(SUITE))
    assert report["format"] == "syntaxgym"
    assert "prediction 2" in json.dumps(report) and "makes no pairs" in json.dumps(report)
    materials = MaterialSet.objects.get()
    assert pairs_of(materials) == EXPECTED
    assert set(materials.sentences.values_list("expected", flat=True)) == {"acceptable", "unacceptable"}


def test_the_page_recognizes_a_suite_and_stores_it(ada, suite):
    file = SimpleUploadedFile("number_prep.json", suite(SUITE).read_bytes())
    form = {"name": "Suite", "language": "en"}
    address = ada.post("/materials/upload/", {**form, "files": file}).url
    page = ada.get(address)
    assert page.context["report"]["format"] == "syntaxgym"
    ada.post(address, {**form, "format": "auto", "action": "import"})
    assert pairs_of(MaterialSet.objects.get()) == EXPECTED


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda suite: suite["items"][1].pop("conditions"),
            "row 2, column 'conditions': the item has no conditions",
        ),
        (lambda suite: suite["items"][1].update(item_number=1), "row 2, column 'item_number': item 1 stands"),
        (
            lambda suite: suite["items"][0]["conditions"][0]["regions"][1].update(content=7),
            "row 1, column 'regions': a condition needs",
        ),
        (
            lambda suite: suite["predictions"][0].update(formula="(3;%good%) < (3;%mismatch%)"),
            "column 'predictions': a prediction names 'good'",
        ),
        (lambda suite: suite.pop("items"), "is no suite"),
    ],
)
def test_a_bad_suite_is_named_with_its_place(suite, change, message):
    document = copy.deepcopy(SUITE)
    change(document)
    with pytest.raises(CommandError) as error:
        imported(suite(document), format="syntaxgym")
    assert message in str(error.value)
    assert not MaterialSet.objects.exists()
