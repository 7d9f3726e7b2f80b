"""Targets count judgments of each sentence or pair; draft, checklist, open study and recruiting agree."""

import pytest

from experiments.models import Design, Item, MaterialSet, Sentence
from experiments.page_cache import cache
from experiments.studies.lifecycle import open_study
from experiments.studies.readiness import steps
from judgments.models import Session
from judgments.monitoring.overview import study_numbers, target_sessions
from judgments.sessions.places import target_reached
from tests import cast
from tests.experiments.pages.page_forms import sent_by_browser

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def fresh_lists():
    """No lists of another test."""
    cache.clear()


def factorial(slug="islands", *, n_items=4, conditions=("a.x", "a.y", "b.x", "b.y"), **fields):
    """A Likert study of ``n_items`` item sets in a Latin square."""
    materials = MaterialSet.objects.create(name=slug, slug=slug, checksum=slug, owner=cast.ada())
    for number in range(n_items):
        item = Item.objects.create(material_set=materials, key=str(number))
        for condition in conditions:
            Sentence.objects.create(
                material_set=materials,
                item=item,
                key=f"{number}-{condition}",
                condition=condition,
                text=f"Who does {number} think that {condition} left?",
            )
    study = cast.draft(slug, materials=materials, task="likert", **fields)
    Design.objects.create(experiment=study, n_lists=len(conditions), seed=5)
    return study


def page(client, path):
    client.force_login(cast.ada())
    return " ".join(client.get(f"/studies/islands/{path}").content.decode().split())


def client_of_ada(client):
    client.force_login(cast.ada())
    return client


def people_line(study):
    return next(step for step in steps(study) if step.key == "people")


def test_a_latin_square_is_full_when_each_sentence_has_its_ratings():
    study = factorial(target_judgments=2)
    open_study(study, cast.ada())
    for number in range(7):
        assert not target_reached(study), number
        cast.begin(study, f"p{number}")
    assert not target_reached(study)
    cast.begin(study, "p7")
    assert target_reached(study)


def test_draft_checklist_overview_and_open_study_name_the_same_participants(client):
    study = factorial(target_judgments=20, reward_minor=150)
    taken = "20 ratings of each sentence take 80 participants (20 for each of 4 lists)"
    assert (
        people_line(study).reason.startswith(taken) and "120.00 GBP in rewards" in people_line(study).reason
    )
    assert "of 80 needed" in page(client, "")
    design = page(client, "design/")
    assert "Ratings of each sentence" in design and "16 sentences × 20" in design
    assert '<td class="n">80</td>' in design and "120.00 GBP" in design
    assert target_sessions(study) == 80
    open_study(study, cast.ada())
    assert target_sessions(study) == 80 == study_numbers(study).target
    assert "of 80 needed" in page(client, "")
    assert people_line(study).reason.startswith(taken)


def test_other_materials_of_a_draft_change_all_numbers_alike(client):
    study = factorial(target_judgments=20, reward_minor=150)
    assert target_sessions(study) == 80
    other = factorial("plain", n_items=6, conditions=("a.x", "a.y")).materials
    html = client_of_ada(client).get("/studies/islands/settings/study/").content.decode()
    sent = sent_by_browser(html, "settings") | {"materials": other.pk}
    assert client.post("/studies/islands/settings/", sent).status_code == 302
    study.refresh_from_db()
    taken = "20 ratings of each sentence take 40 participants (10 for each of 4 lists)"
    assert people_line(study).reason.startswith(taken)
    assert "60.00 GBP in rewards" in people_line(study).reason
    design = page(client, "design/")
    assert "12 sentences × 20" in design and '<td class="n">40</td>' in design
    assert "of 40 needed" in page(client, "") and target_sessions(study) == 40
    open_study(study, cast.ada())
    assert "of 40 needed" in page(client, "") and target_sessions(study) == 40
    assert people_line(study).reason.startswith(taken)


def test_the_target_is_saved_on_the_design_page_and_noted(client):
    study = factorial()
    client.force_login(cast.ada())
    client.post("/studies/islands/design/target/", {"target_judgments": 12, "max_participants": ""})
    study.refresh_from_db()
    assert (study.target_judgments, study.max_participants) == (12, None)
    assert study.audit.filter(action="target changed", details__fields="target_judgments").count() == 1
    client.post("/studies/islands/design/target/", {"target_judgments": 12, "max_participants": ""})
    assert study.audit.filter(action="target changed").count() == 1
    wrong = client.post("/studies/islands/design/target/", {"target_judgments": "many"})
    assert b"Enter a whole number" in wrong.content


def test_sentences_that_lists_show_unequally_need_people_for_the_rarest():
    study = factorial(n_items=3, target_judgments=6)
    Design.objects.filter(experiment=study).update(kind="sample", items_per_paradigm=2, n_lists=8)
    open_study(study, cast.ada())
    assert target_sessions(study) == 48  # one item is in one of the two samples only
    for number in range(48):
        assert not target_reached(study), number
        cast.begin(study, f"p{number}")
    assert target_reached(study)


def test_a_study_with_a_target_for_item_sets_keeps_it(client):
    study = factorial(target_judgments=8, target_unit="item")
    open_study(study, cast.ada())
    assert target_sessions(study) == 8
    assert people_line(study).reason.startswith("8 judgments of each item set take 8 participants")
    for number in range(8):
        assert not target_reached(study)
        cast.begin(study, f"p{number}")
    assert target_reached(study)
    assert "opened with a target for each item set" in page(client, "design/")
    client.post("/studies/islands/design/target/", {"target_judgments": 8, "target_unit": "stimulus"})
    study.refresh_from_db()
    assert not target_reached(study) and target_sessions(study) == 32
    assert Session.objects.count() == 8
