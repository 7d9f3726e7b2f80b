"""The proof of balance: the same on the page, over the API and by the command."""

import json
from collections import Counter
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from rest_framework.test import APIClient

from experiments.lists.balance_report import proofs
from experiments.models import Design, PlannedTrial
from experiments.studies.lifecycle import freeze, open_study
from judgments.frames.build import judgment_frame
from tests import cast

pytestmark = pytest.mark.django_db
ANCHORS = [{"text": "The cat sleeps."}, {"text": "Cat the sleeps."}, {"text": "The cat sleep."}]
ROUND = {"kind": "sample", "n_lists": 2, "items_per_paradigm": 1, "items": "new", "seed": 5}


def study(task="likert", **design):
    materials = cast.material_set("verbs", n_items=4, paradigms=("a", "b"))
    experiment = cast.draft("verbs", materials=materials, task=task)
    Design.objects.create(experiment=experiment, n_lists=2, seed=2, **design)
    return experiment


def fillers():
    return cast.material_set("fillers", n_items=6, paradigms=("a",), texts=("Filler {n}.", "{n} filler."))


def document(slug="verbs"):
    out = StringIO()
    call_command("lists", slug, "--json", stdout=out)
    return json.loads(out.getvalue())


def test_command_and_api_give_the_same_document():
    study(rounds=[ROUND], kind="sample", items_per_paradigm=2)
    api = APIClient()
    api.force_authenticate(cast.ben())
    answer = api.get("/api/v1/studies/verbs/design/")
    assert answer.status_code == 200 and answer.json() == document()
    first, second = answer.json()["rounds"]
    assert answer.json()["balanced"] and [document["list"] for document in second["lists"]] == [
        "R2-1",
        "R2-2",
    ]
    assert [document["n_targets"] for document in first["lists"]] == [4, 4]
    assert second["claims"][-1]["numbers"] == "shown again: 0 of 4"
    api.force_authenticate(cast.cleo())
    assert api.get("/api/v1/studies/verbs/design/").status_code == 404


def test_a_round_that_repeats_items_does_not_claim_new_ones():
    experiment = study(
        "forced_choice", rounds=[ROUND | {"items_per_paradigm": 3}], kind="sample", items_per_paradigm=2
    )
    claim = proofs(experiment)[1].claims[-1]
    assert (claim.holds, claim.numbers) == (False, "shown again: 2 of 6")
    assert not document()["balanced"]


def test_an_order_that_cannot_be_kept_is_named_by_command_api_and_page(client):
    study(constraints={"min_distance": {"paradigm": 3}})
    message = "4 of 8 trials have paradigm 'a': they cannot be at least 3 apart"
    with pytest.raises(CommandError, match=message) as caught:
        call_command("lists", "verbs", stdout=StringIO())
    assert caught.value.returncode == 2
    api = APIClient()
    api.force_authenticate(cast.ben())
    answer = api.get("/api/v1/studies/verbs/design/")
    assert answer.status_code == 422 and message in answer.json()["message"]
    client.force_login(cast.ben())
    assert message in client.get("/studies/verbs/design/").content.decode().replace("&#x27;", "'")


def test_wrong_order_rules_are_bad_input_and_no_crash():
    study(constraints={"min_distance": {"paradigm": "far"}})
    with pytest.raises(CommandError, match="min_distance is 'far'. Write a whole number"):
        call_command("lists", "verbs", stdout=StringIO())


def test_anchors_and_fillers_go_from_the_design_into_lists_sessions_and_frames():
    experiment = study(
        filler_materials=fillers(), filler_ratio=0.5, constraints={"no_adjacent": ["paradigm"]}
    )
    experiment.anchors = ANCHORS
    experiment.save()
    for presentation_list in freeze(experiment).lists.all():
        kinds = list(presentation_list.planned_trials.values_list("kind", flat=True))
        assert kinds[:3] == ["anchor"] * 3 and Counter(kinds) == {"anchor": 3, "target": 8, "filler": 4}
    open_study(experiment, cast.ada())
    session = cast.sit(experiment, "pia")
    frame = judgment_frame(experiment)
    assert Counter(frame["kind"]) == {"anchor": 3, "target": 8, "filler": 4}
    assert set(session.trials.filter(kind="anchor").values_list("shown__text", flat=True)) == {
        anchor["text"] for anchor in ANCHORS
    }
    of_fillers = frame[frame["kind"] == "filler"]
    assert of_fillers["sentence_id"].astype(str).str.startswith("fillers:a-").all()
    targets = frame[frame["kind"] == "target"]
    assert not targets["item"].astype(str).str.contains(":").any() and targets["item"].nunique() == 8
    assert frame.loc[frame["kind"] == "anchor", "item"].isna().all()


def test_anchors_and_fillers_are_no_targets_of_any_mean():
    experiment = study(filler_materials=fillers(), filler_ratio=0.5)
    experiment.anchors = ANCHORS
    experiment.save()
    open_study(experiment, cast.ada())
    for name in ("pia", "quentin"):
        cast.sit(experiment, name)
    out = StringIO()
    call_command("ratings", "verbs", "--json", "--transform", "raw", stdout=out)
    items = json.loads(out.getvalue())["items"]
    assert {item["item"] for item in items} == set(experiment.materials.items.values_list("key", flat=True))
    assert sum(item["n"] for item in items) == 16


def test_fillers_of_forced_choice_have_balanced_sides():
    experiment = study("forced_choice", filler_materials=fillers(), filler_ratio=None)
    freeze(experiment)
    for presentation_list in experiment.lists.all():
        sides = Counter(
            presentation_list.planned_trials.filter(kind="filler").values_list("expected_first", flat=True)
        )
        assert sides == {True: 3, False: 3}
    assert PlannedTrial.objects.filter(kind="filler").values("pair").distinct().count() == 6


def test_the_materials_themselves_are_no_fillers():
    experiment = study()
    experiment.design.filler_materials = experiment.materials
    experiment.design.save()
    with pytest.raises(CommandError, match="the fillers are the study's own materials"):
        call_command("lists", "verbs", stdout=StringIO())
