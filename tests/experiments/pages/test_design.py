"""The design page: lists, and the proof that they are balanced."""

import re
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from experiments.lists.balance_report import design_document
from experiments.models import Design, MaterialSet
from tests import cast
from tests.experiments import factorial
from tests.experiments.pages.page_forms import sent_by_browser

pytestmark = pytest.mark.django_db


def sent(**changes):
    return {
        "kind": "latin_square",
        "n_lists": 2,
        "catch_per_list": 0,
        "trials_per_block": 50,
        "seed": 1,
    } | changes


def test_lists_are_shown_with_their_balance(client):
    cast.draft("agreement", catch_trials=[{"options": [{"text": "Yes."}, {"text": "No yes."}], "correct": 0}])
    client.force_login(cast.ada())
    client.post("/studies/agreement/design/", sent())
    page = client.get("/studies/agreement/design/?list=2").content.decode()
    assert "does not hold" not in page and "No list shows an item twice" in page
    assert "List 2, in one of its orders" in page
    assert "The keys 1 are here." in page and "No yes." in page


def test_impossible_design_is_explained_instead(client):
    cast.draft("agreement")
    client.force_login(cast.ada())
    page = client.post("/studies/agreement/design/", sent(n_lists=3), follow=True).content.decode()
    assert "multiple of" in page and "as it will be shown" not in page
    assert "no lists can be built from it" in page and "The lists below are built from it" not in page
    page = client.post("/studies/agreement/design/", sent(n_lists=2), follow=True).content.decode()
    assert "The lists below are built from it" in page


def test_order_rules_are_stored_as_the_design_keeps_them(client):
    study = cast.draft("agreement", materials=cast.material_set("two", paradigms=("a", "b")))
    client.force_login(cast.ada())
    client.post("/studies/agreement/design/", sent(apart=["paradigm"], longest_run=""))
    assert Design.objects.get(experiment=study).constraints == {"no_adjacent": ["paradigm"]}
    client.post("/studies/agreement/design/", sent())
    assert Design.objects.get(experiment=study).constraints == {}


def test_order_rules_that_the_page_does_not_ask_for_outlast_saving(client):
    study = cast.draft("agreement", materials=cast.material_set("two", paradigms=("a", "b")))
    rules = {
        "no_adjacent": ["condition", "item"],
        "longest_run": {"paradigm": 3, "condition": 2},
        "min_distance": {"item": 2, "paradigm": 2},
    }
    Design.objects.create(experiment=study, n_lists=2, constraints=rules)
    client.force_login(cast.ada())
    fields = sent(apart=["condition"], longest_run=2, paradigm_distance=2)
    client.post("/studies/agreement/design/", fields)
    assert Design.objects.get().constraints == rules
    client.post("/studies/agreement/design/", sent())
    assert Design.objects.get().constraints == {
        "no_adjacent": ["item"], "longest_run": {"paradigm": 3}, "min_distance": {"item": 2}
    }  # fmt: skip


@pytest.mark.parametrize("n_lists", [0, -1, 201, "many", 10**12])
def test_senseless_number_of_lists_is_refused(client, n_lists):
    cast.draft("agreement")
    client.force_login(cast.ada())
    assert client.post("/studies/agreement/design/", sent(n_lists=n_lists)).status_code == 200
    assert not Design.objects.exists()


def test_study_without_materials_shows_a_notice(client):
    study = cast.draft("agreement")
    study.materials = None
    study.save()
    client.force_login(cast.ben())
    assert "no materials" in client.get("/studies/agreement/design/").content.decode()
    assert client.post("/studies/agreement/design/", sent()).status_code == 403


def test_conditions_of_a_factorial_design_are_in_the_order_of_their_levels(client, tmp_path):
    study = factorial.study(tmp_path)
    client.force_login(cast.ada())
    page = client.get(f"/studies/{study.slug}/design/").content.decode()
    head = page[page.index('<th scope="col">List</th>') :].partition("</thead>")[0]
    conditions = re.findall(r'class="n">([\w-]+:[\w-]+)<', head)
    assert conditions == ["non-island:short", "non-island:long", "island:short", "island:long"]


def test_the_proof_counts_the_items_of_a_spreadsheet_with_merged_cells(client, settings, tmp_path):
    """From the upload of a file of openpyxl: items and a factor merged over their rows, a merged title."""
    settings.MEDIA_ROOT = tmp_path
    client.force_login(cast.ada())
    file = Path(__file__).parents[1] / "materials" / "files" / "merged-openpyxl-3.1.5.xlsx"
    about = {"name": "Islands", "language": "en", "source": "", "licence": ""}
    sent_file = SimpleUploadedFile(file.name, file.read_bytes())
    address = client.post(reverse("material-upload"), {**about, "files": [sent_file]}).url
    first = client.get(address)
    assert "the column names are not in the first row" in first.context["error"]
    form = sent_by_browser(first.content.decode(), "reading")
    client.post(address, {**form, "header_row": "2", "action": "again"})
    form = sent_by_browser(client.get(address).content.decode(), "reading")
    uses = {"column-0": "item", "column-1": "factor", "column-2": "factor", "column-3": "sentence"}
    client.post(address, {**form, **uses, "column-4": "filler", "action": "again"})
    read = client.get(address)
    assert not read.context.get("error") and "merged" in read.content.decode()
    form = sent_by_browser(read.content.decode(), "reading")
    client.post(address, {**form, "action": "import"})
    materials = MaterialSet.objects.get()
    assert sorted(materials.items.values_list("key", flat=True)) == ["1", "2", "3", "4", "f1", "f2"]
    assert materials.sentences.count() == 18
    study = cast.draft("islands", materials=materials, task="likert")
    client.post("/studies/islands/design/", sent(n_lists=4, kind="latin_square", n_fillers=2))
    page = client.get("/studies/islands/design/?list=1").content.decode()
    assert "does not hold" not in page and "No list shows an item twice" in page
    (part,) = design_document(study)["rounds"]
    assert [(row["n_targets"], row["n_trials"]) for row in part["lists"]] == [(4, 6)] * 4
    assert all(claim["holds"] for claim in part["claims"])
