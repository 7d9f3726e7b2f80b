"""Sets of pairs: preview, draw, edit with a trace, materials, and the validation study by one button."""

import json

import pytest
from django.test import Client

from experiments.generation.pages.editor import BEGINNING
from experiments.generation.stored import pair_sets
from experiments.generation.stored.library import save_paradigm
from experiments.lists.balance_report import design_document
from experiments.models import Experiment, GeneratedPair, Lab, MaterialSet, PairEdit, PairSet
from experiments.models.team import AppendOnly
from experiments.operation import job_runner
from tests import cast

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("few_pairs")]
PREVIEW = "/paradigms/preview/"
PARADIGMS = ["en:anaphor_gender_agreement", "en:adjunct_island"]


def as_user(user):
    client = Client()
    client.force_login(user)
    return client


def drawn(n=8, addresses=PARADIGMS, **fields):
    return pair_sets.create_pair_set(cast.ada(), name="Anaphors", addresses=addresses, n=n, seed=3, **fields)


def sent(**changes):
    return {"paradigm": PARADIGMS, "name": "Anaphors", "n": "8", "seed": "3"} | changes


def test_a_set_is_previewed_then_drawn(ada):
    text = ada.get(PREVIEW, {"paradigm": PARADIGMS, "seed": 3}).content.decode()
    assert text.count("<tr>") == 2 + 2 * 5 and "Draw a set" in text
    answer = ada.post(PREVIEW, sent())
    row = PairSet.objects.get()
    assert answer.url == f"/paradigms/sets/{row.pk}/"
    first = row.pairs.first()
    assert first.good in text and first.fields["seed"] == 3
    assert row.pairs.count() == 16 and [entry["uid"] for entry in row.recipe] == row.paradigms
    page = ada.get(answer.url).content.decode()
    assert "16 of 16 pairs" in page and first.bad in page


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"paradigm": []}, "No paradigm is chosen."),
        ({"paradigm": ["en:wh_iland"]}, "Did you mean &#x27;wh_island&#x27;"),
        ({"paradigm": ["own:999999999999999999999"]}, "There is no paradigm"),
        ({"n": "0"}, "greater than or equal to 1"),
        ({"n": "10001"}, "less than or equal to 10000"),
        ({"seed": "seven"}, "whole number"),
        ({"name": ""}, "required"),
    ],
)
def test_what_cannot_be_drawn_says_why_and_leaves_nothing(ada, changes, said):
    answer = ada.post(PREVIEW, sent(**changes))
    assert answer.status_code == 422 and said in answer.content.decode()
    assert not PairSet.objects.exists()


def test_a_set_has_at_most_a_hundred_thousand_pairs(ada, monkeypatch):
    monkeypatch.setattr(pair_sets, "MAX_PAIRS", 10)
    assert "16 pairs in all. A set has at most 10" in ada.post(PREVIEW, sent()).content.decode()


def test_a_large_set_is_drawn_by_a_job_with_the_same_pairs(ada, monkeypatch):
    small = drawn()
    monkeypatch.setattr(pair_sets, "MAX_IMMEDIATE", 5)
    large = drawn()
    assert large.drawn_at is None
    assert "Pairs are being drawn" in ada.get(f"/paradigms/sets/{large.pk}/").content.decode()
    job_runner.run(large.job_id)
    job_runner.run(large.job_id)  # delivered twice: one effect
    large.refresh_from_db()
    assert large.drawn_at and list(large.pairs.values_list("good", "bad")) == list(
        small.pairs.values_list("good", "bad")
    )


def test_a_job_names_why_it_could_not_draw(ada, monkeypatch):
    monkeypatch.setattr(pair_sets, "MAX_IMMEDIATE", 1)
    own = save_paradigm(cast.ada(), BEGINNING).paradigm
    row = drawn(addresses=[f"own:{own.pk}"])
    own.delete()
    job_runner.run(row.job_id)
    row.job.refresh_from_db()
    assert row.job.error == "the paradigm my_paradigm was deleted. Draw a set without it."
    assert not row.pairs.exists()


def test_own_and_built_in_paradigms_are_drawn_together_at_their_version(ada):
    version = save_paradigm(cast.ada(), BEGINNING)
    row = drawn(addresses=[f"own:{version.paradigm_id}", PARADIGMS[0]])
    entry = row.recipe[0]
    assert (entry["own"], entry["version"], entry["sha256"]) == (version.paradigm_id, 1, version.sha256)
    assert set(row.pairs.values_list("paradigm", flat=True)) == {"my_paradigm", "anaphor_gender_agreement"}


def test_an_edited_pair_says_by_whom_from_what_to_what_and_keeps_the_original(ada):
    row = drawn()
    pair = row.pairs.first()
    before = (pair.good, pair.bad)
    address = f"/paradigms/sets/{row.pk}/pairs/{pair.pk}/"
    changed = {"good": "The nun praised herself.", "bad": "The nun praised himself.", "reason": "plainer"}
    assert ada.post(address, changed).status_code == 302
    ada.post(address, changed)  # a second press changes nothing
    pair.refresh_from_db()
    assert (pair.good, pair.fields["sentence_good"]) == (changed["good"], before[0])
    (edit,) = pair.edits.all()
    assert (edit.user, edit.good_before, edit.bad_before, edit.good_after) == (
        cast.ada(),
        *before,
        changed["good"],
    )
    with pytest.raises(AppendOnly):
        edit.save()
    page = ada.get(address).content.decode()
    assert before[0] in page and "plainer" in page and changed["bad"] in page
    (line,) = [
        fields for fields in pair_sets.current_rows(row) if f"{fields['UID']}:{fields['pairID']}" == pair.key
    ]
    assert line["edits"][0]["from"] == list(before) and line["drawn_good"] == before[0]
    assert (line["one_prefix_prefix"], line["one_prefix_word_bad"]) == ("The nun praised", "himself")


@pytest.mark.parametrize(
    ("good", "bad", "said"),
    [
        ("", "The nun sleep.", "required"),
        ("The nun sleeps.", "The nun, sleeps", "The two sentences are equal."),
        ("The nun <b>sleeps</b>.", "The nun sleep.", "markup"),
        ("x" * 301, "The nun sleep.", "at most 300"),
    ],
)
def test_a_pair_that_cannot_stand_is_refused(ada, good, bad, said):
    row = drawn()
    pair = row.pairs.first()
    answer = ada.post(f"/paradigms/sets/{row.pk}/pairs/{pair.pk}/", {"good": good, "bad": bad})
    assert answer.status_code == 422 and said in answer.content.decode()
    assert not PairEdit.objects.exists()


def test_a_sentence_of_another_pair_is_refused(ada):
    row = drawn()
    pair, other = row.pairs.all()[:2]
    answer = ada.post(
        f"/paradigms/sets/{row.pk}/pairs/{pair.pk}/", {"good": other.good, "bad": "Nobody sleep."}
    )
    assert f"is a sentence of {other.key} already" in answer.content.decode()


def test_a_struck_pair_is_kept_out_and_can_come_back(ada):
    row = drawn()
    pair = row.pairs.first()
    address = f"/paradigms/sets/{row.pk}/pairs/{pair.pk}/"
    ada.post(address, {"strike": "yes", "reason": "odd"})
    assert "1 of 16 pairs" in ada.get(f"/paradigms/sets/{row.pk}/", {"show": "struck"}).content.decode()
    ada.post(address, {"restore": "yes"})
    ada.post(address, {"strike": "yes", "reason": "odd after all"})
    assert list(pair.edits.values_list("kind", flat=True)) == ["struck", "restored", "struck"]
    ada.post(f"/paradigms/sets/{row.pk}/materials/", {"name": "Anaphors", "licence": "CC0-1.0"})
    materials = MaterialSet.objects.get(name="Anaphors")
    struck = materials.pairs.get(discard=True)
    assert (struck.key, struck.discard_reason) == (pair.key, "struck by ada: odd after all")
    assert materials.pairs.filter(discard=False).count() == 15 and materials.licence == "CC0-1.0"
    assert "seed 3" in materials.source and "adjunct_island" in materials.source


def test_pairs_of_materials_change_no_more(ada):
    row = drawn()
    address = f"/paradigms/sets/{row.pk}/materials/"
    assert ada.post(address, {"name": "Anaphors"}).url == "/materials/anaphors/"
    ada.post(address, {"name": "Twice"})
    assert MaterialSet.objects.count() == 1
    pair = row.pairs.first()
    answer = ada.post(f"/paradigms/sets/{row.pk}/pairs/{pair.pk}/", {"strike": "yes"})
    assert answer.status_code == 422 and "materials, which do not change" in answer.content.decode()


def test_a_name_that_materials_have_is_refused(ada):
    cast.material_set("taken")
    row = drawn()
    text = ada.post(f"/paradigms/sets/{row.pk}/materials/", {"name": "taken"}, follow=True).content.decode()
    assert "There is a material set named" in text
    row.refresh_from_db()
    assert row.materials is None


def test_large_materials_are_stored_by_a_job(ada, monkeypatch):
    row = drawn()
    monkeypatch.setattr(pair_sets, "MAX_IMMEDIATE", 5)
    ada.post(f"/paradigms/sets/{row.pk}/materials/", {"name": "Later"})
    row.refresh_from_db()
    job_runner.run(row.job_id)
    row.refresh_from_db()
    assert row.materials.name == "Later" and row.materials.pairs.count() == 16


def test_the_download_has_blimps_fields(ada):
    row = drawn()
    lines = b"".join(ada.get(f"/paradigms/sets/{row.pk}/pairs.jsonl").streaming_content).decode().splitlines()
    first = json.loads(lines[0])
    assert len(lines) == 16 and first["UID"] == "anaphor_gender_agreement" and first["simple_LM_method"]


def test_strangers_find_no_set_and_viewers_change_none(ada):
    row = drawn()
    pair = row.pairs.first()
    cleo = as_user(cast.cleo())
    base = f"/paradigms/sets/{row.pk}/"
    reading = ("", "pairs.jsonl", "validation/", f"pairs/{pair.pk}/")
    changing = ("materials/", "delete/", "share/", "validation/", f"pairs/{pair.pk}/")
    assert {cleo.get(f"{base}{address}").status_code for address in reading} == {404}
    assert {cleo.post(f"{base}{address}").status_code for address in changing} == {404}
    assert {Client().get(f"{base}{address}").status_code for address in reading} == {302}
    study = cast.draft("agreement")
    row.study = study
    row.save()
    ben = as_user(cast.ben())
    assert {ben.get(f"{base}{address}").status_code for address in reading} == {200}
    assert {ben.post(f"{base}{address}").status_code for address in changing} == {403}
    assert not PairEdit.objects.exists() and not Experiment.objects.exclude(pk=study.pk).exists()


def test_the_validation_page_states_people_cost_and_power(ada):
    row = drawn()
    address = f"/paradigms/sets/{row.pk}/validation/"
    text = ada.get(address).content.decode()
    # 2 paradigms × 5 pairs × 20 choices / 5 pairs a person
    assert "40 people" in text and "0.886" in text and "0.097" in text
    form = {"title": "Check", "judgments": "10", "reward": "0.50", "currency": "gbp", "fee": "33.3"}
    text = ada.post(address, form).content.decode()
    # 20 people × 0.50, fee of 33.3 %
    assert "20 people" in text and "13.33" in text
    assert not Experiment.objects.exists()
    assert "Enter a whole number" in ada.post(address, form | {"judgments": "x"}).content.decode()


def test_a_validation_pays_no_more_than_the_lab_of_its_set(ada):
    row = drawn()
    row.lab = cast.lab(ada="manager")
    Lab.objects.update(payment_limits={"GBP": 49})
    row.save(update_fields=["lab"])
    form = {"title": "Check", "judgments": "20", "reward": "0.50", "currency": "GBP", "create": "yes"}
    page = ada.post(f"/paradigms/sets/{row.pk}/validation/", form)
    assert page.status_code == 422 and "more than the lab Syntax lab allows" in page.content.decode()
    assert not Experiment.objects.exists()


def test_one_button_makes_the_draft_of_blimps_design(ada):
    row = drawn()
    address = f"/paradigms/sets/{row.pk}/validation/"
    form = {"title": "Check", "judgments": "20", "reward": "0.50", "currency": "GBP", "create": "yes"}
    answer = ada.post(address, form)
    ada.post(address, form)  # a second press makes no second study
    study = Experiment.objects.get()
    assert answer.url == f"/studies/{study.slug}/settings/"
    assert (study.status, study.task, study.target_judgments, study.reward_minor) == (
        "draft",
        "forced_choice",
        20,
        50,
    )
    assert "4 of 5" in study.description and study.instructions
    pairs = study.materials.pairs.all()
    assert (
        sorted(pair.paradigm.name for pair in pairs)
        == ["adjunct_island"] * 5 + ["anaphor_gender_agreement"] * 5
    )
    document = design_document(study)
    (lists,) = [part["lists"] for part in document["rounds"]]
    assert document["balanced"] and len(lists) == 4
    assert {(part["n_targets"], part["n_catch"], part["n_trials"]) for part in lists} == {(5, 1, 6)}
    (catch,) = study.catch_trials
    texts = {text for pair in pairs for text in (pair.good.text, pair.bad.text)}
    assert catch["options"][0]["text"] not in texts
    page = ada.get(f"/paradigms/sets/{row.pk}/").content.decode()
    assert f"/studies/{study.slug}/" in page


def test_struck_pairs_are_not_judged(ada):
    row = drawn(n=6)
    for pair in row.pairs.filter(paradigm="adjunct_island")[:2]:
        pair_sets.strike_pair(pair, cast.ada())
    text = ada.get(f"/paradigms/sets/{row.pk}/validation/").content.decode()
    assert "adjunct_island has 4 pairs that are not struck" in text.replace("Adjunct", "adjunct")


def test_a_set_is_deleted_by_its_owner_and_its_materials_stay(ada):
    row = drawn()
    ada.post(f"/paradigms/sets/{row.pk}/materials/", {"name": "Anaphors"})
    assert "Delete Anaphors?" in ada.post(f"/paradigms/sets/{row.pk}/delete/").content.decode()
    ada.post(f"/paradigms/sets/{row.pk}/delete/", {"sure": "yes"})
    assert not GeneratedPair.objects.exists() and MaterialSet.objects.get().pairs.count() == 16
