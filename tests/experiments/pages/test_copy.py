"""Copying a study."""

import pytest

from experiments.design.trials import PlannedTrial
from experiments.lists.build import current_lists
from experiments.models import AuditEntry, Design, Experiment
from experiments.studies.lifecycle import open_study, snapshot
from tests import cast

pytestmark = pytest.mark.django_db
ALIKE = ("consent", "instructions", "debrief", "task", "parameters", "materials_id", "questionnaire", "seed")


def copied(client, slug="agreement") -> Experiment:
    answer = client.post(f"/studies/{slug}/copy/")
    assert answer.status_code == 302
    return Experiment.objects.latest("pk")


def test_copy_has_texts_task_design_and_materials_and_no_people(client):
    study = cast.draft("agreement", completion_code="SECRET", target_judgments=7)
    Design.objects.create(experiment=study, n_lists=2, seed=5, trials_per_block=3)
    open_study(study, cast.ada())
    cast.sit(study, "pia")
    client.force_login(cast.ada())
    duplicate = copied(client)
    assert duplicate.slug == "agreement-2" and duplicate.title == "Study agreement (copy)"
    assert [getattr(duplicate, name) for name in ALIKE] == [getattr(study, name) for name in ALIKE]
    assert (duplicate.design.n_lists, duplicate.design.seed, duplicate.design.trials_per_block) == (2, 5, 3)
    assert duplicate.status == "draft" and duplicate.target_judgments == 7
    assert not duplicate.versions.exists() and not duplicate.participants.exists()
    assert duplicate.completion_code == "" and duplicate.opened_at is None


def test_copy_makes_the_same_lists(client):
    study = cast.draft("agreement")
    Design.objects.create(experiment=study, n_lists=2, seed=5)
    client.force_login(cast.ada())
    duplicate = copied(client)
    lists: list[list[PlannedTrial]] = current_lists(duplicate)
    assert lists == current_lists(study)
    assert {**snapshot(duplicate), "slug": "", "title": ""} == {**snapshot(study), "slug": "", "title": ""}


def test_viewer_owns_the_copy_and_both_studies_record_it(client):
    cast.draft("agreement")
    client.force_login(cast.ben())
    duplicate = copied(client)
    assert duplicate.owner == cast.ben()
    assert [(membership.user.username, membership.role) for membership in duplicate.memberships.all()] == [
        ("ben", "owner")
    ]
    entries = AuditEntry.objects.filter(action="copied").values_list("experiment__slug", "details")
    assert sorted(entries) == [("agreement", {"to": "agreement-2"}), ("agreement-2", {"from": "agreement"})]


def test_strangers_copy_nothing_and_a_copy_needs_a_post(client):
    cast.draft("agreement")
    client.force_login(cast.cleo())
    assert client.post("/studies/agreement/copy/").status_code == 404
    client.force_login(cast.ada())
    assert client.get("/studies/agreement/copy/").status_code == 405
    assert Experiment.objects.count() == 1


def test_a_copy_without_materials_keeps_everything_else(client):
    study = cast.study("agreement")
    fillers = cast.material_set("fillers")
    left_out = {"materials": study.materials.checksum, "items": {"identical_members": ["1"]}}
    Design.objects.create(
        experiment=study, filler_materials=fillers, left_out=left_out, n_lists=3, trials_per_block=7, seed=5
    )
    client.force_login(cast.ben())
    assert "Copy without materials" in client.get("/studies/agreement/").content.decode()
    client.post("/studies/agreement/copy/", {"materials": "no"})
    copy = Experiment.objects.exclude(pk=study.pk).get()
    assert (copy.materials, copy.design.filler_materials, copy.design.left_out) == (None, None, {})
    assert (copy.instructions, copy.task, copy.owner) == (study.instructions, study.task, cast.ben())
    assert (copy.design.n_lists, copy.design.trials_per_block, copy.design.seed) == (3, 7, 5)
    assert copy.audit.get(action="copied").details == {"from": "agreement", "materials": "left out"}
    study.refresh_from_db()
    assert study.materials is not None
