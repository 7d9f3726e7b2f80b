"""Findings of an upload stay on the launch checklist until they are resolved or waived by name."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from experiments.lists.balance_report import proofs
from experiments.lists.build import filler_stimuli
from experiments.models import AuditEntry, Design, MaterialSet, MinimalPair
from experiments.page_cache import cache
from experiments.studies.lifecycle import freeze, snapshot
from experiments.studies.readiness import is_green, steps
from tests import cast
from tests.experiments.test_materials_pages import ABOUT, own_folder, send  # noqa: F401 (a fixture)
from tests.experiments.traps import N_CLEAN, N_CONFLICTING, N_IDENTICAL, trap_lines

pytestmark = pytest.mark.django_db
LAUNCH, LEAVE_OUT = "/studies/traps/launch/", "/studies/traps/design/left-out/"
IDENTICAL, CONFLICTING = "materials-identical_members", "materials-conflicting_status"


@pytest.fixture(autouse=True)
def fresh_lists():
    """No lists of another test."""
    cache.clear()


@pytest.fixture
def traps(tmp_path):
    path = tmp_path / "traps.jsonl"
    path.write_text(trap_lines(), encoding="utf-8")
    return path


@pytest.fixture
def study(traps):
    call_command("import_materials", traps, name="traps", language="fr", owner="", stdout=StringIO())
    materials = MaterialSet.objects.get()
    MaterialSet.objects.update(owner=cast.ada())
    experiment = cast.draft("traps", materials=materials)
    Design.objects.create(experiment=experiment, n_lists=2, seed=1)
    return experiment


def line(study, key):
    return next((step for step in steps(study) if step.key == key), None)


def shown_pairs(study):
    keys = {trial.key for proof in proofs(study) for trials in proof.lists.values() for trial in trials}
    return MinimalPair.objects.filter(pk__in=keys).select_related("good", "bad")


def test_what_the_upload_finds_is_on_the_checklist_with_one_button_that_leaves_it_out(client, study):
    identical = line(study, IDENTICAL)
    assert not identical.is_green and f"{N_IDENTICAL} findings" in identical.reason
    client.force_login(cast.ada())
    page = " ".join(client.get(LAUNCH).content.decode().split())
    assert f"Leave these {N_IDENTICAL} out" in page and "All findings with their rows" in page
    assert "All checks passed" not in page
    before = snapshot(study)
    client.post(LEAVE_OUT, {"check": "identical_members"})
    cache.clear()
    study.refresh_from_db()
    assert line(study, IDENTICAL).is_done and not line(study, CONFLICTING).is_done
    assert not any(pair.good.text == pair.bad.text for pair in shown_pairs(study))
    assert snapshot(study) != before  # what is left out belongs to the frozen version
    client.post(LEAVE_OUT, {"check": "conflicting_status"})
    assert line(study, CONFLICTING).is_done
    assert shown_pairs(study).count() == N_CLEAN
    assert line(study, "coverage").reason == f"{N_CLEAN} of {N_CLEAN} pairs are shown, over 2 lists."
    entry = AuditEntry.objects.filter(action="items left out").latest("pk")
    assert entry.user == cast.ada() and entry.details["check"] == "conflicting_status"
    client.post(LEAVE_OUT, {"check": "conflicting_status", "again": "yes"})
    assert not line(study, CONFLICTING).is_done
    assert shown_pairs(study).count() == N_CLEAN + 2 * N_CONFLICTING


def test_an_item_that_another_check_left_out_is_not_asked_for_again(client, study):
    client.force_login(cast.ada())
    client.post(LEAVE_OUT, {"check": "conflicting_status"})  # identical members conflict as well
    assert line(study, IDENTICAL).is_done
    client.post(LEAVE_OUT, {"check": "conflicting_status", "again": "yes"})
    assert not line(study, IDENTICAL).is_done and not line(study, CONFLICTING).is_done


def test_a_finding_may_be_waived_by_name_and_records_who_waived_it(client, study):
    client.force_login(cast.ada())
    client.post(f"{LAUNCH}waive/", {"check": IDENTICAL, "reason": "Controls"})
    step = line(study, IDENTICAL)
    assert step.is_green and not step.is_done and step.waived == "Controls"
    page = " ".join(client.get(LAUNCH).content.decode().split())
    assert "1 waived" in page and "All checks passed" not in page
    entry = AuditEntry.objects.get(action="check waived")
    assert (entry.user, entry.details["check"]) == (cast.ada(), IDENTICAL)


def test_waived_checks_are_not_called_passed(client, study):
    for step in steps(study):
        if not step.is_done:
            AuditEntry.objects.create(
                experiment=study,
                user=cast.ada(),
                action="check waived",
                details={"check": step.key, "reason": "x"},
            )
    assert is_green(steps(study))
    n_waived = sum(not step.is_done for step in steps(study))
    client.force_login(cast.ada())
    page = " ".join(client.get(LAUNCH).content.decode().split())
    assert f"No check pending, {n_waived} waived" in page


def test_frozen_lists_do_not_show_what_was_left_out(client, study):
    client.force_login(cast.ada())
    client.post(LEAVE_OUT, {"check": "identical_members"})
    client.post(LEAVE_OUT, {"check": "conflicting_status"})
    version = freeze(type(study).objects.get(pk=study.pk))
    pairs = MinimalPair.objects.filter(pk__in=version.lists.values("planned_trials__pair"))
    assert pairs.count() == N_CLEAN


def test_the_preview_of_an_upload_leaves_findings_out_by_one_button(client, traps):
    client.force_login(cast.ada())
    address = send(client, ("traps.jsonl", trap_lines()), name="traps")
    page = " ".join(client.get(address).content.decode().split())
    assert f"Leave these {N_IDENTICAL} out" in page
    choices = {**ABOUT, "name": "traps", "format": "auto"}
    client.post(address, {**choices, "leave_out": "identical_members"})
    page = " ".join(client.get(address).content.decode().split())
    assert "Take them in again" in page and "3 items left out" in page
    client.post(address, {**choices, "leave_out": "conflicting_status"})
    client.post(address, {**choices, "action": "import"})
    materials = MaterialSet.objects.get()
    assert materials.pairs.count() == N_CLEAN
    assert set(materials.report["finding_counts"]) & {"identical_members", "conflicting_status"} == set()
    assert materials.report["finding_counts"]["left_out"] == 2
    assert line(cast.draft("traps", materials=materials), IDENTICAL) is None


def test_the_command_lists_all_rows_and_leaves_out_what_a_check_names(traps):
    out = StringIO()
    call_command("import_materials", traps, name="whole", dry_run=True, stdout=out)
    first = N_CLEAN + 1
    assert f"rows {first}, {first + 1}, {first + 2}" in out.getvalue()
    assert "import_materials --leave-out identical_members" in out.getvalue()
    out = StringIO()
    options = {"leave_out": ["identical_members", "conflicting_status"], "json": True}
    call_command("import_materials", traps, name="clean", stdout=out, **options)
    assert json.loads(out.getvalue())["counts"]["pairs"] == N_CLEAN
    with pytest.raises(CommandError, match="identical_members"):
        call_command(
            "import_materials", traps, name="none", leave_out=["identical_member"], stdout=StringIO()
        )


# Fillers that are a material set of their own


FILLER_IDENTICAL = "fillers-identical_members"


@pytest.fixture
def fillers(study):
    """A study of clean pairs whose filler set has the traps."""
    design = study.design
    design.filler_materials, study.materials = study.materials, cast.material_set("clean")
    study.save()
    design.save()
    return study


def shown_fillers(study):
    trials_shown = [trial for proof in proofs(study) for trials in proof.lists.values() for trial in trials]
    keys = {trial.key for trial in trials_shown if trial.kind == "filler"}
    return MinimalPair.objects.filter(pk__in=keys).select_related("good", "bad")


def test_findings_of_a_filler_set_are_on_the_checklist_and_can_be_left_out(client, fillers):
    assert line(fillers, IDENTICAL) is None
    assert f"{N_IDENTICAL} findings" in line(fillers, FILLER_IDENTICAL).reason
    client.force_login(cast.ada())
    page = " ".join(client.get(LAUNCH).content.decode().split())
    assert "Fillers: identical members" in page and f"Leave these {N_IDENTICAL} out" in page
    assert f"/materials/{fillers.design.filler_materials.slug}/#findings" in page
    before = snapshot(fillers)
    client.post(LEAVE_OUT, {"check": "identical_members", "of": "fillers"})
    fillers = type(fillers).objects.get(pk=fillers.pk)
    assert line(fillers, FILLER_IDENTICAL).is_done and snapshot(fillers) != before
    assert not line(fillers, "fillers-conflicting_status").is_done
    assert not any(pair.good.text == pair.bad.text for pair in shown_fillers(fillers))
    version = freeze(fillers)
    frozen = version.lists.filter(planned_trials__kind="filler").values("planned_trials__pair")
    assert not any(pair.good.text == pair.bad.text for pair in MinimalPair.objects.filter(pk__in=frozen))
    client.post(LEAVE_OUT, {"check": "identical_members", "of": "fillers", "again": "yes"})
    fillers = type(fillers).objects.get(pk=fillers.pk)
    assert not line(fillers, FILLER_IDENTICAL).is_done
    assert any(pair.good.text == pair.bad.text for pair in shown_fillers(fillers))


def test_a_finding_of_the_fillers_is_waived_by_its_own_name(client, fillers):
    client.force_login(cast.ada())
    client.post(f"{LAUNCH}waive/", {"check": FILLER_IDENTICAL, "reason": "Attention checks"})
    assert line(fillers, FILLER_IDENTICAL).waived == "Attention checks"


def test_items_left_out_of_materials_and_fillers_do_not_replace_each_other(client, study):
    design = study.design
    design.filler_materials = cast.material_set("copy")
    MaterialSet.objects.filter(slug="copy").update(checksum=study.materials.checksum)
    design.save()
    client.force_login(cast.ada())
    client.post(LEAVE_OUT, {"check": "identical_members"})
    design.refresh_from_db()
    assert design.fillers_left_out == {} and design.left_out_items(study.materials)
    design.leave_out({"hole": ["1"]}, materials=design.filler_materials, of_fillers=True)
    assert design.fillers_left_out == {"hole": ["1"]}
    assert len(design.left_out_items(study.materials)["identical_members"]) == N_IDENTICAL
    design.leave_out({}, materials=study.materials)
    assert design.left_out_items(study.materials) == {} and design.fillers_left_out == {"hole": ["1"]}


def test_a_filler_set_without_items_named_by_the_check_is_not_found(client, study):
    client.force_login(cast.ada())
    assert client.post(LEAVE_OUT, {"check": "identical_members", "of": "fillers"}).status_code == 404


def test_fillers_of_the_materials_themselves_are_left_out_with_their_items(tmp_path):
    path = tmp_path / "rated.csv"
    rows = [f"{n},{c},Sentence {n} {c}.,no" for n in range(1, 5) for c in "ab"]
    rows += ["f1,,The same filler.,yes", "f2,,Another filler.,yes"]
    path.write_text("\n".join(["item,condition,text,is_filler", *rows]) + "\n", encoding="utf-8")
    call_command(
        "import_materials", path, name="rated", map=["filler=is_filler"], owner="", stdout=StringIO()
    )
    materials = MaterialSet.objects.get(name="rated")
    experiment = cast.draft("rated", materials=materials, task="likert")
    design = Design.objects.create(experiment=experiment, n_lists=2, seed=1)
    assert len(filler_stimuli(experiment, design)) == 2
    design.leave_out({"conflicting_status": ["f1"]}, materials=materials)
    design.save()
    experiment.refresh_from_db()
    assert len(filler_stimuli(experiment, design)) == 1


def test_the_team_may_read_the_findings_of_the_filler_set(client, fillers):
    address = f"/materials/{fillers.design.filler_materials.slug}/"
    client.force_login(cast.ben())
    assert client.get(address).status_code == 200
    client.force_login(cast.cleo())
    assert client.get(address).status_code == 404
